"""Every op of this process: those of the op set, and the custom ops that were added since.

Planning, gradients and mixed precision look ops up here by the number that dispatch takes. A custom op adds
its entry and its rules to the same tables that the op set's own stand in, so that nothing above tells the two
apart. Numbers are never used twice: a plan or a recorded call of a removed op stays what it was.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from device_api import _core
from device_api.ops._rules import DECOMPOSE, GRADIENT_NEEDS
from device_api.ops._table import BY_NAME, OPS
from device_api.ops.shape_support import Rule, check_limits
from device_api.ops.shapes import RULES
from device_api.opset.spec import OpSpec

# Gives the gradients of all inputs at once: (g, *inputs, *outputs, **attributes) -> one for each input.
JointGradient = Callable[..., tuple[Any, ...]]

JOINT_GRADIENTS: dict[str, JointGradient] = {}

_added: list[OpSpec] = []
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Rules:
    """What a custom op brings besides its entry."""

    shape: Rule
    decompose: Callable[..., Any] | None = None
    gradient: JointGradient | None = None
    needs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def spec_of(op: int) -> OpSpec:
    """The entry of an op by its number."""
    return OPS[op] if op < len(OPS) else _added[op - len(OPS)]


def all_specs() -> tuple[OpSpec, ...]:
    """The entries of all ops by their numbers, those of removed custom ops included."""
    return (*OPS, *_added)


def custom_specs() -> tuple[OpSpec, ...]:
    """The entries of the custom ops that are there, in the order of their registration."""
    return tuple(spec for spec in _added if BY_NAME.get(spec.name) is spec)


def add(spec: OpSpec, rules: Rules) -> OpSpec:
    """Adds an op under a name that is free, and gives its entry with its number. Raises `ValueError` for a
    name that is taken."""
    with _lock:
        if spec.name in BY_NAME:
            raise ValueError(f"there is an op named {spec.name!r} already")
        spec = replace(spec, id=len(OPS) + len(_added), shape=f"custom {spec.name}")

        def limited(op: OpSpec, inputs: Any, attributes: Any) -> Any:
            return check_limits(op, rules.shape(op, inputs, attributes))

        RULES[spec.shape] = limited
        if rules.decompose is not None:
            DECOMPOSE[spec.name] = rules.decompose
        if rules.gradient is not None:
            JOINT_GRADIENTS[spec.name] = rules.gradient
            GRADIENT_NEEDS.update({(spec.name, name): needed for name, needed in rules.needs.items()})
        _added.append(spec)
        BY_NAME[spec.name] = spec
    _core.set_op_names({spec.id: spec.name})
    return spec


def remove(spec: OpSpec) -> None:
    """Takes a custom op away; nothing happens when it is gone. Recorded calls lose their gradient."""
    with _lock:
        if BY_NAME.get(spec.name) is not spec or spec.id < len(OPS):
            return
        del BY_NAME[spec.name]
        del RULES[spec.shape]
        DECOMPOSE.pop(spec.name, None)
        JOINT_GRADIENTS.pop(spec.name, None)
        for each in spec.inputs:
            GRADIENT_NEEDS.pop((spec.name, each.name), None)
    _core.clear_plans()
