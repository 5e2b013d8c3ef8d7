"""All cases: the hand-written ones, which register themselves, and those generated from the op set."""

from __future__ import annotations

import importlib
from functools import cache
from weakref import WeakKeyDictionary

from conformance.case import Case, Entry, registered
from conformance.target import Target

_MODULES = ("abi_entry", "abi_interfaces", "abi_life", "runtime_device", "runtime_memory", "runtime_stream",
            "runtime_random", "runtime_claims", "runtime_sharing", "ops_large", "training_steps")  # fmt: skip

_generated: WeakKeyDictionary[Target, dict[str, Case]] = WeakKeyDictionary()


@cache
def _hand_written() -> dict[str, Case]:
    """The cases that exist for every plugin: registered ones, and those generated from the op set alone."""
    from conformance.cases.abi_hosts import host_cases
    from conformance.cases.ops_composed import composed_cases
    from conformance.cases.ops_denied import denied_cases
    from conformance.cases.ops_properties import property_cases
    from conformance.cases.training_gradients import gradient_cases
    from conformance.cases.training_steps import optimiser_cases

    for module in _MODULES:
        importlib.import_module(f"conformance.cases.{module}")
    generated = (
        *host_cases(),
        *composed_cases(),
        *denied_cases(),
        *property_cases(),
        *gradient_cases(),
        *optimiser_cases(),
    )
    return {case.name: case for case in (*registered(), *generated)}


def _of_ops(target: Target) -> dict[str, Case]:
    """Generated cases depend on what the plugin claims, so they are made once per target."""
    from conformance.cases.ops import op_cases

    if target not in _generated:
        _generated[target] = {case.name: case for case in op_cases(target)}
    return _generated[target]


def registered_entries() -> list[Entry]:
    """The cases that exist for every plugin."""
    return [case.entry for case in _hand_written().values()]


def entries(target: Target) -> list[Entry]:
    """Every case of a target; opens the device."""
    return registered_entries() + [case.entry for case in _of_ops(target).values()]


def case_by_name(target: Target, name: str) -> Case | None:
    """The case of a name, or None. A hand-written one is found without opening anything."""
    case = _hand_written().get(name)
    return case if case is not None or not name.startswith("ops.") else _of_ops(target).get(name)


def all_cases(target: Target) -> list[Case]:
    """The cases themselves, for a runner in the same process."""
    return [*_hand_written().values(), *_of_ops(target).values()]
