"""Promotion against NumPy's table where the array API defines one, and the rules beyond it."""

from __future__ import annotations

import numpy as np
import pytest

from device_api import dtypes
from device_api.errors import DTypeError
from device_api.ops._table import BY_NAME
from device_api.ops.promotion import bind_types, result_dtype
from device_api.ops.shape_support import TensorSpec

STANDARD = [code for code in sorted(dtypes.ALL) if dtypes.NAMES[code] in (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float32", "float64", "complex64", "complex128")]  # fmt: skip


def of(name):
    return TensorSpec((2,), dtypes.CODES_BY_NAME[name])


def name(code):
    return dtypes.NAMES[code]


def _kind(code):
    return [code in dtypes.BOOL, code in dtypes.INTEGER, code in dtypes.FLOATING | dtypes.COMPLEX].index(True)


@pytest.mark.parametrize("left", STANDARD, ids=name)
def test_within_a_kind_promotion_is_the_standard_table(left):
    for right in STANDARD:
        if _kind(left) != _kind(right):
            continue
        operands = [TensorSpec((), left), TensorSpec((), right)]
        expected = np.result_type(dtypes.from_code(left), dtypes.from_code(right))
        if _kind(left) == 1 and expected.kind == "f":
            with pytest.raises(DTypeError, match="nothing in common"):
                result_dtype(operands)
        else:
            assert dtypes.from_code(result_dtype(operands)) == expected


@pytest.mark.parametrize(
    ("operands", "expected"),
    [
        ((of("int64"), of("float32")), "float32"),
        ((of("int8"), of("float16")), "float16"),
        ((of("bool"), of("int8")), "int8"),
        ((of("bool"), of("bfloat16")), "bfloat16"),
        ((of("float16"), of("bfloat16")), "float32"),
        ((of("float16"), of("complex64")), "complex64"),
        ((of("float64"), of("complex64")), "complex128"),
        ((of("uint64"), of("int8"), of("float32")), "float32"),
        ((of("float16"), 2.0), "float16"),
        ((of("int8"), 2), "int8"),
        ((of("int8"), True), "int8"),
        ((of("int8"), 2.0), "float32"),
        ((of("bool"), 2), "int64"),
        ((of("float64"), 1j), "complex128"),
        ((of("int32"), 1j), "complex64"),
        ((of("float16"), 1j), "complex64"),
        ((int, float), "float32"),
        ((2, True), "int64"),
        ((bool,), "bool"),
        ((1j,), "complex64"),
        ((of("float8_e5m2"), of("float8_e5m2")), "float8_e5m2"),
    ],
)  # fmt: skip
def test_kinds_meet_and_scalars_are_weak(operands, expected):
    assert name(result_dtype(operands)) == expected


def test_promotion_does_not_depend_on_the_order_of_operands():
    for a in sorted(dtypes.ALL - dtypes.FLOAT8):
        for b in sorted(dtypes.ALL - dtypes.FLOAT8):
            pair = [TensorSpec((), a), TensorSpec((), b)]
            try:
                forwards = result_dtype(pair)
            except DTypeError:
                with pytest.raises(DTypeError):
                    result_dtype(pair[::-1])
            else:
                assert forwards == result_dtype(pair[::-1])


def bound(op, *operands):
    return [None if code is None else name(code) for code in bind_types(BY_NAME[op], operands).inputs]


def test_ops_bind_their_operands_by_their_promotion():
    assert bound("divide", of("int32"), 2) == ["float32", "float32"]
    assert bound("exp", of("bool")) == ["float32"]
    assert bound("add", of("bool"), 1) == ["int64", "int64"]
    assert bound("logical_and", of("float64"), 2) == ["bool", "bool"]
    assert bound("where", of("bool"), 1, of("float16")) == ["bool", "float16", "float16"]
    assert bound("clip", of("int8"), of("int64"), None) == ["int8", "int8", None]
    assert bound("take", of("float8_e5m2"), of("uint8")) == ["float8_e5m2", "int64"]
    assert bound("concat", of("int8"), of("float32"), of("int16")) == ["float32"] * 3
    assert bound("sgd_step", of("float16"), of("float32"), 0.1) == ["float16"] * 3


@pytest.mark.parametrize(
    ("op", "operands"),
    [
        ("add", (of("bool"), of("bool"))),
        ("exp", (of("float8_e5m2"),)),
        ("less", (of("complex64"), 1.0)),
        ("bitwise_and", (of("float32"), 1)),
        ("bitwise_left_shift", (of("bool"), of("bool"))),
        ("where", (of("int8"), of("int8"), of("int8"))),
        ("take", (of("float32"), of("float32"))),
        ("take", (of("float32"), of("bool"))),
        ("real", (of("float32"),)),
        ("batch_matmul", (of("float32"), of("float64"))),
        ("add", (of("float8_e4m3fn"), of("float32"))),
        ("add", (of("uint64"), of("int64"))),
    ],
)  # fmt: skip
def test_dtypes_that_do_not_fit_are_typed_errors_with_op_and_remedy(op, operands):
    with pytest.raises(DTypeError) as caught:
        bind_types(BY_NAME[op], operands)
    assert op in str(caught.value)
    assert caught.value.remedy
