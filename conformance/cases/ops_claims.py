"""Cases about the list of kernels itself: is it true, complete and well formed."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

import device_api.dtypes as dtypes
from conformance.case import Case, Failure, require
from conformance.cases.ops_common import Check, Group
from conformance.target import Claim, Target
from device_api.abi import constants
from device_api.ops._table import BY_NAME

# The mandatory families, and an op that shows each. Everything else composes from them.
FAMILIES = {
    "fill": ("fill",),
    "iota": ("iota",),
    "copy": ("copy",),
    "unary": ("negative", "exp", "logical_not"),
    "binary": ("add", "multiply", "divide", "maximum", "less", "logical_and"),
    "select": ("where",),
    "reduce": ("reduce_sum", "reduce_max", "reduce_any", "reduce_argmax"),
    "scan": ("scan_sum",),
    "batch_matmul": ("batch_matmul",),
    "gather_rows": ("gather_rows",),
    "scatter_rows": ("scatter_rows",),
    "compact": ("compact",),
    "argsort": ("argsort_last",),
}
_KNOWN_FLAGS = (
    constants.DA_KERNEL_STRIDED_INPUTS
    | constants.DA_KERNEL_STRIDED_OUTPUTS
    | constants.DA_KERNEL_IN_PLACE
    | constants.DA_KERNEL_DETERMINISTIC
    | constants.DA_KERNEL_IN_PLACE_PAIRS
)


def claim_cases(target: Target) -> Iterator[Case]:
    """One case per mandatory family, and those about the list as a whole."""
    for family, ops in FAMILIES.items():
        description = f"The mandatory family {family}: {', '.join(ops)}, for at least one dtype."
        yield Case(f"ops.mandatory_{family}", partial(_family, family, ops), description)
    for function in (list_is_stable, claims_are_well_formed, dtypes_are_held):
        text = " ".join((function.__doc__ or "").split())
        yield Case(f"ops.{function.__name__}", function, text)


def _family(family: str, ops: tuple[str, ...], target: Target, rng: np.random.Generator) -> None:
    claimed = {claim.op for claim in target.claims}
    missing = [op for op in ops if op not in claimed]
    require(not missing, f"the mandatory family {family} lacks {', '.join(missing)}: no kernel claims it")


def list_is_stable(target: Target, rng: np.random.Generator) -> None:
    """Asking again gives the same list, and one that is not empty."""
    ffi = target.ffi
    require(target.claims, "the list of kernels is empty: the plugin claims nothing")
    lists = [ffi.new("da_kernel_list *") for _ in range(2)]
    for each in lists:
        each.struct_size = ffi.sizeof("da_kernel_list")
        target.expect(target.kernels.list(target.device, each), "kernel.list")
    first, second = ((each.first, each.count, each.stride) for each in lists)
    require(first == second, "kernel.list gave another list the second time, though lists are static")


def claims_are_well_formed(target: Target, rng: np.random.Generator) -> None:
    """Sizes, flags and dtype sets hold only what headers and op set know; release goes with prepare."""
    smallest = 104
    for claim in target.claims:
        where = f"kernel {claim.index} ({claim.op})"
        kernel, ffi = claim.pointer, target.ffi
        require(kernel.struct_size >= smallest, f"{where}: struct_size is {kernel.struct_size}")
        require(not claim.flags & ~_KNOWN_FLAGS, f"{where}: unknown flags {claim.flags:#x}")
        prepares = kernel.prepare != ffi.NULL
        require(prepares or kernel.release == ffi.NULL, f"{where}: has release and no prepare")
        require(not prepares or kernel.release != ffi.NULL, f"{where}: has prepare and no release")
        _check_dtypes(where, claim)


def _check_dtypes(where: str, claim: Claim) -> None:
    spec = BY_NAME.get(claim.op)
    if spec is None:
        return
    for place, mask in enumerate(claim.dtypes):
        codes = {code for code in range(64) if mask >> code & 1}
        if place >= len(spec.types):
            require(not codes, f"{where}: a dtype set for a type variable that the op does not have")
            continue
        variable, allowed = spec.types[place]
        require(codes, f"{where}: the dtype set of {variable} is empty, so the kernel can never run")
        wrong = ", ".join(dtypes.NAMES.get(code, f"code {code}") for code in sorted(codes - allowed))
        require(not wrong, f"{where}: claims {wrong} for {variable}, which the op does not take")


def dtypes_are_held(target: Target, rng: np.random.Generator) -> None:
    """No kernel claims a dtype that the device's properties do not list."""
    held = int(target.properties.dtypes)
    for claim in target.claims:
        for mask in claim.dtypes:
            beyond = [code for code in range(64) if mask & ~held & (1 << code)]
            names = ", ".join(dtypes.NAMES.get(code, str(code)) for code in beyond)
            require(
                not beyond,
                f"kernel {claim.index} ({claim.op}) claims {names}; the device's properties do not list it",
            )


def _no_oracle(check: Check, rng: np.random.Generator) -> None:
    raise Failure(
        f"no oracle: the suite cannot judge {check.kernel.spec.name!r}, so the claim stays unproved"
    )


NO_ORACLE = Group("no_oracle", _no_oracle, description="A claim that the suite cannot judge is not a pass.")
