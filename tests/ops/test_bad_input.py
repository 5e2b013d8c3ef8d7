"""What no op can take, tried on every op of the op set: each answer is an error of a documented type that
names the op that was called. The calls that are made wrong are those of the ops' own examples."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest
from masked_devices import Mask, masked

import device_api as da
from device_api import _core, dtypes
from device_api.cli.samples import samples
from device_api.errors import (
    AttributeValueError,
    AxisError,
    DeviceMismatch,
    DeviceOutOfMemory,
    DTypeError,
    IndexOutOfRange,
    KernelFailed,
    OpError,
    ShapeError,
)
from device_api.ops._table import BY_NAME, OPS
from device_api.opset.spec import OpSpec

CALLED = [spec.name for spec in OPS if spec.public or spec.level in ("view", "primitive")]
TRIED = 400
Call = tuple[list[Any], dict[str, Any]]
# An axis may be named twice: the shifts add up.
REPEATED = {"roll"}
# Values that the type allows and the numbers do not: the kernel says so.
UNSOLVABLE = {"cholesky", "solve", "inv"}


def run(spec: OpSpec, inputs: list[Any], attributes: dict[str, Any]) -> Any:
    placed = any(isinstance(x, _core.Tensor) for x in inputs)
    values = tuple(attributes[each.name] for each in spec.attributes)
    return _core.dispatch(spec.id, tuple(inputs), values, device=None if placed else da.device("cpu"))


def ones(shape: tuple[int, ...], code: int, device: Any = "cpu") -> _core.Tensor:
    return da.asarray(np.ones(shape, dtypes.from_code(code)), device=device)


def code_of(spec: OpSpec, place: int, wanted: int) -> int:
    """The dtype of an input: the wanted one where its type allows it."""
    declared = spec.inputs[min(place, len(spec.inputs) - 1)].type
    fixed = dtypes.CODES_BY_NAME.get(declared)
    if fixed is not None:
        return fixed
    allowed = spec.allowed(declared)
    return wanted if wanted in allowed else min(allowed)


@cache
def _good(op: str) -> Call:
    spec = BY_NAME[op]
    wanted = dtypes.FLOAT32
    if spec.types and wanted not in spec.types[0][1]:
        wanted = min(spec.types[0][1])
    for sample in itertools.islice(samples(spec, wanted), TRIED):
        inputs = [
            ones(x, code_of(spec, place, wanted)) if isinstance(x, tuple) else x
            for place, x in enumerate(sample.inputs)
        ]
        try:
            run(spec, inputs, sample.attributes)
        except (OpError, TypeError):
            continue
        return inputs, sample.attributes
    raise AssertionError(f"no call of {op} is right")


def good(op: str) -> Call:
    """A call that runs."""
    inputs, attributes = _good(op)
    return list(inputs), dict(attributes)


def tensors(inputs: list[Any]) -> list[int]:
    return [place for place, x in enumerate(inputs) if isinstance(x, _core.Tensor)]


def refused(op: str, call: Call, *kinds: type[Exception]) -> None:
    """The call raises one of these, which names the op."""
    with pytest.raises(kinds) as caught:
        run(BY_NAME[op], *call)
    assert op in str(caught.value)


def answer(op: str, call: Call, kinds: tuple[type[Exception], ...]) -> Exception | None:
    """None for a call that runs, else its error, which is one of these."""
    try:
        run(BY_NAME[op], *call)
    except kinds as error:
        return error
    return None


def taken_or_refused(op: str, inputs: list[Any], attributes: dict[str, Any], *kinds: type[Exception]) -> None:
    """The call runs, or raises one of these, which names the op. Nothing else may happen."""
    error = answer(op, (inputs, attributes), kinds)
    assert error is None or op in str(error)


def changed(op: str, kind: str, *values: Any) -> Iterator[tuple[str, Call]]:
    """Good calls with one attribute of a kind replaced; and the attribute's name."""
    for each in BY_NAME[op].attributes:
        if each.kind == kind:
            for value in values:
                inputs, attributes = good(op)
                yield each.name, (inputs, {**attributes, each.name: value})


def with_kind(*kinds: str) -> list[str]:
    return [op for op in CALLED if any(each.kind in kinds for each in BY_NAME[op].attributes)]


@pytest.mark.parametrize("op", with_kind("axis", "axes"))
def test_an_axis_out_of_range_or_given_twice(op: str) -> None:
    for _, call in changed(op, "axis", 99, -99, 2**70):
        refused(op, call, AxisError)
    repeats = [] if op in REPEATED else [(0, 0)]
    for _, call in changed(op, "axes", (99,), (-99,), (2**70,), *repeats):
        refused(op, call, AxisError, AttributeValueError, ShapeError)


@pytest.mark.parametrize("op", with_kind("shape"))
def test_sizes_that_are_negative_or_too_large(op: str) -> None:
    for _, call in changed(op, "shape", (-3, -2), (2**62, 4), (2**70,)):
        refused(op, call, ShapeError, AttributeValueError)


@pytest.mark.parametrize("op", with_kind("int", "ints"))
def test_integers_of_any_size(op: str) -> None:
    kinds = (OpError, DeviceOutOfMemory)
    for _, call in changed(op, "int", -7, 2**40, 2**63 - 1):
        taken_or_refused(op, *call, *kinds)
    for _, call in changed(op, "int", 2**70, -(2**70)):
        refused(op, call, AttributeValueError)
    for _, call in changed(op, "ints", (2**70,)):
        refused(op, call, AttributeValueError)


@pytest.mark.parametrize("op", [op for op in CALLED if BY_NAME[op].attributes])
def test_attributes_of_another_kind_are_named(op: str) -> None:
    for kind in ("int", "axis", "float", "bool", "shape", "axes", "ints", "scalar", "dtype"):
        for name, call in changed(op, kind, "nonsense", object()):
            with pytest.raises(AttributeValueError) as caught:
                run(BY_NAME[op], *call)
            assert (caught.value.op, caught.value.argument) == (op, name)


@pytest.mark.parametrize("op", [op for op in CALLED if BY_NAME[op].inputs])
def test_operands_of_other_ranks_sizes_and_dtypes(op: str) -> None:
    spec = BY_NAME[op]
    inputs, attributes = good(op)
    kinds = (OpError, KernelFailed) if op in UNSOLVABLE else (OpError,)
    for place in tensors(inputs):
        code = inputs[place].dtype_code
        for shape in ((), (3,), (2, 3, 4, 5, 6, 7), (5, 3), (0,), (0, 3)):
            wrong = [ones(shape, code) if each == place else x for each, x in enumerate(inputs)]
            taken_or_refused(op, wrong, attributes, *kinds)
        declared = spec.inputs[min(place, len(spec.inputs) - 1)].type
        fixed = dtypes.CODES_BY_NAME.get(declared)
        allowed = spec.allowed(declared) if fixed is None else frozenset({fixed})
        for other in (dtypes.BOOL_CODE, dtypes.INT64, dtypes.COMPLEX64, dtypes.FLOAT8_E5M2):
            if other not in allowed:
                wrong = [ones(x.shape, other) if each == place else x for each, x in enumerate(inputs)]
                taken_or_refused(op, wrong, attributes, *kinds)
        storage = [ones(x.shape, dtypes.FLOAT8_E5M2) if isinstance(x, _core.Tensor) else x for x in inputs]
        if dtypes.FLOAT8_E5M2 not in allowed:
            refused(op, (storage, attributes), DTypeError)


@pytest.mark.parametrize("op", [op for op in CALLED if BY_NAME[op].elementwise])
def test_shapes_that_do_not_broadcast(op: str) -> None:
    inputs, attributes = good(op)
    if len(tensors(inputs)) > 1:
        wrong = [
            ones((3 + place,), x.dtype_code) if isinstance(x, _core.Tensor) else x
            for place, x in enumerate(inputs)
        ]
        with pytest.raises(ShapeError) as caught:
            run(BY_NAME[op], wrong, attributes)
        assert caught.value.op == op
        assert caught.value.shapes


@pytest.mark.parametrize("op", [op for op in CALLED if len(BY_NAME[op].inputs) > 1])
def test_operands_on_two_devices(op: str) -> None:
    inputs, attributes = good(op)
    places = tensors(inputs)
    if len(places) > 1:
        moved = inputs[places[-1]]
        inputs[places[-1]] = ones(moved.shape, moved.dtype_code, masked(Mask()))
        with pytest.raises(DeviceMismatch) as caught:
            run(BY_NAME[op], inputs, attributes)
        assert caught.value.op == op
        assert set(caught.value.devices) == {"cpu:0", str(masked(Mask()))}


@pytest.mark.parametrize(
    ("op", "call"),
    [
        ("take", lambda x, i: da.take(x, i, axis=0)),
        ("take_along_axis", lambda x, i: da.take_along_axis(x, i, axis=0)),
        ("embedding", lambda x, i: da.embedding(da.reshape(x, (3, 1)), i)),
        ("index_add", lambda x, i: da.index_add(x, i, x[:2], axis=0)),
    ],
)
@pytest.mark.parametrize("index", [3, -4, 2**62])
def test_indices_out_of_range_name_the_op_that_was_called(op: str, call: Any, index: int) -> None:
    x = da.asarray([1.0, 2.0, 3.0])
    with pytest.raises(IndexOutOfRange, match=op):
        call(x, da.asarray([0, index]))
