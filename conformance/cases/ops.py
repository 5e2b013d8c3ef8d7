"""The op cases of a target, generated from the op set and from what the plugin claims.

For every primitive and every dtype it may have there is at least one case: `ops.OP.DTYPE.claim`, which is
not_supported where no kernel claims the dtype. A claimed kernel gets the groups of its family. Kernels of
composite ops are tested where the suite has an oracle, and fail where it has none: a claim that nobody can
check is not a pass. A second kernel for the same op and dtype has `kernel2` in its names.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from functools import partial

import numpy as np

import device_api.dtypes as dtypes
from conformance.case import Case, Failure, Measure, NotSupported
from conformance.cases import (
    ops_claims,
    ops_composite,
    ops_creation,
    ops_custom,
    ops_elementwise,
    ops_matrix,
    ops_reduction,
    ops_rows,
)
from conformance.cases.ops_common import Check, Group, Kernel, dtype_of, is_main_dtype
from conformance.declared import judges_itself
from conformance.oracle import has_oracle
from conformance.target import Claim, Target
from device_api.abi import constants
from device_api.ops._table import BY_NAME, OPS
from device_api.ops.op_registry import custom_specs
from device_api.opset.spec import OpSpec

_FLAG_NAMES = {
    constants.DA_KERNEL_STRIDED_INPUTS: "strided inputs",
    constants.DA_KERNEL_STRIDED_OUTPUTS: "strided outputs",
    constants.DA_KERNEL_IN_PLACE: "in-place operation",
    constants.DA_KERNEL_IN_PLACE_PAIRS: "several outputs in place",
    constants.DA_KERNEL_DETERMINISTIC: "determinism",
}
# In a quick run the dtypes that programs use most get everything, the others what differs between dtypes.
_QUICK_DTYPES = {"bool", "uint8", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64"}
_QUICK_GROUPS = {"claim", "shapes", "special", "values", "order", "out_of_range", "empty_inner"}
_ROWS = {"gather_rows", "scatter_rows", "compact"}
_CREATION = {"fill", "iota", "copy"}


def op_cases(target: Target) -> list[Case]:
    """Every generated case of a target, by op, dtype and group."""
    cases = list(ops_claims.claim_cases(target))
    streams = target.optional_interface("stream") is not None
    claimed: dict[str, list[Claim]] = {}
    for claim in sorted(target.claims, key=lambda claim: (-claim.priority, claim.index)):
        claimed.setdefault(claim.op, []).append(claim)
    for spec in (*OPS, *custom_specs()):
        if spec.level == "primitive" or spec.name in claimed:
            cases += _cases_of(spec, claimed.get(spec.name, []), streams)
    cases += [_unknown(name) for name in sorted(set(claimed) - set(BY_NAME))]
    cases += ops_custom.cases(target)
    return cases


def _on_stream(claim: Group) -> Group:
    """The plainest launches of a kernel, queued on a stream of their own."""

    def body(check: Check, rng: np.random.Generator) -> None:
        check.on_stream = True
        claim.body(check, rng)

    return Group("on_stream", body, description="A small contiguous launch, queued on a stream.")


def _unprepared(claim: Group) -> Group:
    """The plainest launches of a kernel that offers to prepare, without doing so."""

    def body(check: Check, rng: np.random.Generator) -> None:
        check.prepared = False
        claim.body(check, rng)

    text = "A small contiguous launch whose state is NULL gives the right result, or declines."
    return Group("unprepared", body, description=text)


def _cases_of(spec: OpSpec, claims: list[Claim], streams: bool) -> Iterator[Case]:
    variables = [name for name, _ in spec.types]
    choices = [sorted(spec.allowed(name)) for name in variables]
    for codes in itertools.product(*choices):
        kernels = [
            Kernel(spec, claim, dict(zip(variables, map(dtype_of, codes), strict=True)))
            for claim in claims
            if all(claim.dtypes[place] >> code & 1 for place, code in enumerate(codes))
        ]
        prefix = f"ops.{spec.name}.{dtypes.NAMES[codes[0]] if codes else spec.inputs[0].type}"
        if spec.level != "primitive" and len(codes) > 1 and codes[1] != codes[0]:
            prefix += f".to_{dtypes.NAMES[codes[1]]}"
        if not kernels:
            yield _unclaimed(spec, prefix, codes)
            continue
        for number, kernel in enumerate(kernels, 1):
            place = prefix if number == 1 else f"{prefix}.kernel{number}"
            groups = list(groups_of(kernel))
            claim = next((group for group in groups if group.name == "claim"), None)
            if claim is not None and streams:
                groups.append(_on_stream(claim))
            if claim is not None and kernel.claim.prepares and is_main_dtype(kernel):
                groups.append(_unprepared(claim))
            yield from (_case(f"{place}.{group.name}", kernel, group) for group in groups)


def groups_of(kernel: Kernel) -> list[Group]:
    """The groups of a kernel: those of its family, and of outputs that replace inputs."""
    found = _groups_of_family(kernel)
    return found if found == [ops_claims.NO_ORACLE] else [*found, *ops_composite.pair_groups(kernel)]


def _groups_of_family(kernel: Kernel) -> list[Group]:
    spec = kernel.spec
    if spec.level != "primitive" and not has_oracle(spec.name):
        return [ops_claims.NO_ORACLE]
    if judges_itself(spec.name):
        return ops_custom.groups(kernel)
    if spec.level != "primitive":
        return ops_composite.groups(kernel)
    if spec.name in _CREATION:
        return ops_creation.groups(kernel)
    if spec.name in _ROWS:
        return ops_rows.groups(kernel)
    if spec.name == "batch_matmul":
        return ops_matrix.groups(kernel)
    if spec.elementwise and has_oracle(spec.name):
        return ops_elementwise.groups(kernel)
    if spec.name.startswith(("reduce_", "scan_")) or spec.name == "argsort_last":
        return ops_reduction.groups(kernel)
    return [ops_claims.NO_ORACLE]


def _case(name: str, kernel: Kernel, group: Group) -> Case:
    common = kernel.dtype.name in _QUICK_DTYPES or group.name in _QUICK_GROUPS
    return Case(
        name,
        partial(_run, kernel, group),
        group.description,
        quick=group.quick and common,
        capabilities=tuple(text for flag, text in _FLAG_NAMES.items() if group.needs & flag),
    )


def _run(kernel: Kernel, group: Group, target: Target, rng: np.random.Generator) -> Measure:
    missing = [name for flag, name in _FLAG_NAMES.items() if group.needs & flag & ~kernel.claim.flags]
    if missing:
        raise NotSupported(f"the kernel does not claim {' and '.join(missing)}")
    check = Check(target, kernel)
    group.body(check, rng)
    return check.done() if group.name != "claim" else _must_have_run(check)


def _must_have_run(check: Check) -> Measure:
    """A kernel that declines the plainest input of a dtype it claims has told the host an untruth. One that
    no tensor of this device can reach, since all of them have too few axes, has not."""
    try:
        return check.done()
    except NotSupported as error:
        if not check.measure.declined:
            raise
        raise Failure(
            f"claims {check.kernel.spec.name} for {check.kernel.dtype.name}, and declines a small contiguous "
            f"launch: {error.reason}"
        ) from error


def _unclaimed(spec: OpSpec, prefix: str, codes: tuple[int, ...]) -> Case:
    names = " to ".join(dtypes.NAMES[code] for code in codes)
    converts = spec.level == "primitive" and len(codes) > 1 and codes[0] != codes[1]
    suffix = f"to_{dtypes.NAMES[codes[1]]}" if converts else "claim"

    def not_claimed(target: Target, rng: np.random.Generator) -> None:
        raise NotSupported(f"no kernel claims {spec.name} for {names}")

    return Case(f"{prefix}.{suffix}", not_claimed, "A dtype of the op that the plugin does not claim.")


def _unknown(name: str) -> Case:
    def unknown(target: Target, rng: np.random.Generator) -> None:
        raise Failure(
            f"a kernel claims the op {name!r}, which is not in the op set: nothing will ever use it, and the "
            "claim stays unproved. Import the module that declares a custom op and its cases with --import"
        )

    plain = re.sub(r"[^A-Za-z0-9_]+", "_", name) or "empty"
    return Case(f"ops.{plain}.unknown", unknown, "Claims name ops of the op set.")
