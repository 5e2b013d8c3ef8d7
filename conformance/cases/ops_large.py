"""Offsets and counts past 31 bits, where kernels that keep them in 32 go wrong.

Memory that is only allocated costs a CPU nothing, and one element repeated by stride 0 stands for as many as
one likes: so most of this fits everywhere. The case whose output really has so many elements runs where the
device has memory of its own for it, or where the environment asks for it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

import device_api.dtypes as dtypes
from conformance.case import Measure, NotSupported, case, require
from conformance.cases.ops_common import STRIDED_INPUTS, STRIDED_OUTPUTS
from conformance.launching import BareTensor, launch
from conformance.memory import DeviceBytes
from conformance.target import CallFailed, Claim, Target
from device_api.abi import constants

MANY = 2**31 + 9
# Asks for the case that fills memory on devices whose memory is the host's.
VARIABLE = "DEVICE_API_CONFORMANCE_LARGE"
_NARROW = ("uint8", "int8", "bool", "float16", "int32", "float32", "int64")


def _kernel(
    target: Target, op: str, needs: int = 0, names: tuple[str, ...] = _NARROW
) -> tuple[Claim, np.dtype[Any]]:
    """A kernel of the op that has these flags, and the narrowest dtype it takes."""
    for name in names:
        code = dtypes.code(name)
        for claim in target.claims:
            fits = all(mask >> code & 1 for mask in claim.dtypes if mask)
            if claim.op == op and fits and claim.flags & needs == needs:
                return claim, dtypes.from_code(code)
    raise NotSupported(f"no kernel claims {op} for one of {', '.join(names)} with the strides that it takes")


@contextmanager
def _reserved(target: Target, size: int) -> Iterator[DeviceBytes]:
    """That much memory of the device, not written; NotSupported where it has no such room."""
    total = int(target.properties.total_memory)
    if total < 2 * size:
        raise NotSupported(f"it needs {size} bytes, and the device has {total}, not twice as many")
    out = target.ffi.new("void **")
    try:
        error = target.memory.allocate(target.device, constants.DA_MEMORY_DEVICE, size, out)
        target.check(error, "memory.allocate")
    except CallFailed as failed:
        if failed.code == constants.DA_STATUS_OUT_OF_MEMORY:
            raise NotSupported(f"{size} bytes are not free on the device now") from failed
        raise
    memory = DeviceBytes.of(target, size, out[0])
    try:
        yield memory
    finally:
        memory.free()


@case("ops.past_31_bits_offsets", quick=False)
def offsets(target: Target, rng: np.random.Generator) -> Measure:
    """Two rows more than 2**31 elements apart are read, and then written, by the strided copy."""
    claim, dtype = _kernel(target, "copy", STRIDED_INPUTS | STRIDED_OUTPUTS)
    values = rng.integers(0, 2, (2, 5)).astype(dtype)
    far = (MANY, 1)
    attributes = {"dtype": dtype}
    with (
        _reserved(target, (MANY + 8) * dtype.itemsize) as wide,
        _reserved(target, values.nbytes) as source,
        _reserved(target, values.nbytes) as back,
    ):
        source.write(values.reshape(-1).view(np.uint8))
        dense = BareTensor(source, dtype, values.shape, (5, 1))
        spread = BareTensor(wide, dtype, values.shape, far)
        launch(target, claim, [dense], [spread], attributes)
        second = wide.read(5 * dtype.itemsize, MANY * dtype.itemsize).view(dtype)
        require(np.array_equal(second, values[1]), "a row 2**31 + 9 elements away was not written there")
        launch(target, claim, [spread], [BareTensor(back, dtype, values.shape, (5, 1))], attributes)
        found = back.read().view(dtype).reshape(values.shape)
        require(np.array_equal(found, values), "a row 2**31 + 9 elements away was read from elsewhere")
    return Measure(op="copy", dtype=dtype.name, launches=2, elements=20)


@case("ops.past_31_bits_elements", quick=False)
def elements(target: Target, rng: np.random.Generator) -> Measure:
    """The sum of 2**31 + 9 elements, one element repeated by stride 0, has them all."""
    claim, dtype = _kernel(target, "reduce_sum", STRIDED_INPUTS, ("uint8", "int8", "int32", "int64"))
    with _reserved(target, dtype.itemsize) as one, _reserved(target, dtype.itemsize) as out:
        one.write(np.array([3], dtype).view(np.uint8))
        launch(target, claim, [BareTensor(one, dtype, (MANY,), (0,))], [BareTensor(out, dtype, (), ())], {})
        found = int(out.read().view(dtype)[0])
    want = int(np.array([3 * MANY], np.int64).astype(dtype)[0])
    require(found == want, f"2**31 + 9 threes add up to {found} in {dtype.name}, not {want}")
    return Measure(op="reduce_sum", dtype=dtype.name, launches=1, elements=MANY)


@case("ops.past_31_bits_output", quick=False)
def output(target: Target, rng: np.random.Generator) -> Measure:
    """An elementwise op writes 2**31 + 9 elements, the last ones too."""
    visible = target.properties.flags & constants.DA_DEVICE_HOST_VISIBLE
    if visible and not os.environ.get(VARIABLE):
        raise NotSupported(
            f"its memory is the host's, of which it would take {MANY >> 20} MiB; set {VARIABLE}=1 to run it"
        )
    claim, dtype = _kernel(target, "add", STRIDED_INPUTS, ("uint8", "int8", "int32"))
    with _reserved(target, MANY * dtype.itemsize) as wide, _reserved(target, 2 * dtype.itemsize) as two:
        two.write(np.array([3, 4], dtype).view(np.uint8))
        inputs = [BareTensor(two, dtype, (MANY,), (0,), place * dtype.itemsize) for place in (0, 1)]
        launch(target, claim, inputs, [BareTensor(wide, dtype, (MANY,), (1,))], {})
        for place in (0, 2**30 - 1, 2**31 - 3, MANY - 5):
            found = wide.read(5 * dtype.itemsize, place * dtype.itemsize).view(dtype)
            require((found == 7).all(), f"elements {place} to {place + 4} are {found.tolist()}, not 7")
    return Measure(op="add", dtype=dtype.name, launches=1, elements=MANY)
