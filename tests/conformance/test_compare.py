"""The comparison sees what is wrong, and says by how much."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from conformance.compare import FORMATS, Rule, bits, compare

FLOATS = [np.dtype(t) for t in (np.float16, ml_dtypes.bfloat16, np.float32, np.float64)]


def one(actual: Any, expected: float, dtype: Any = np.float32, **rule: Any) -> Any:
    return compare(np.array([actual], dtype), np.array([expected]), Rule(**rule))


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_a_neighbour_is_one_ulp_away(dtype: np.dtype[Any]) -> None:
    values = np.array([1.0, 1.5, -3.25, 100.0]).astype(dtype)
    bumped = (values.view(f"u{dtype.itemsize}") + 1).view(dtype)
    result = compare(bumped, values.astype(np.longdouble), Rule(0.5))
    assert result.wrong == 4
    assert result.max_ulp == pytest.approx(1.0)
    assert compare(bumped, values.astype(np.longdouble), Rule(1.0)).good


@given(arrays(np.float32, 20, elements=st.floats(width=32)))
def test_an_array_equals_itself_whatever_it_holds(values: Any) -> None:
    assert compare(values, values.astype(np.float64), Rule(0.0, zero_sign=True)).good


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_rounding_once_is_within_half_an_ulp(value: float) -> None:
    exact = np.array([value * (1 + 1e-9)])
    assert compare(exact.astype(np.float32), exact, Rule(0.5)).good


def test_one_wrong_element_among_a_million_is_found_and_named() -> None:
    expected = np.ones((1000, 1000))
    actual = expected.astype(np.float32)
    actual[123, 45] = 2
    result = compare(actual, expected, Rule(4))
    assert (result.wrong, result.worst) == (1, (123, 45))
    assert "0x40000000" in result.message()
    assert "0x3f800000" in result.message()


@pytest.mark.parametrize(
    ("actual", "expected"),
    [(np.nan, 1.0), (1.0, np.nan), (np.inf, np.nan), (-np.inf, np.inf), (1e38, np.inf)],
)
def test_nan_and_infinity_must_stand_where_they_belong(actual: float, expected: float) -> None:
    assert not one(actual, expected, tolerance=1e9).good


def test_an_error_where_zero_belongs_is_not_hidden_by_the_size_of_one() -> None:
    # Zero has no exponent: its unit was once taken for that of one half, and poison of 1e-16 passed.
    assert not one(-2.8e-16, 0.0, tolerance=1000).good


def test_signs_of_zero_count_only_where_the_rule_says() -> None:
    assert one(-0.0, 0.0).good
    assert not one(-0.0, 0.0, zero_sign=True).good


def test_overflow_is_judged_like_a_rounding() -> None:
    largest = float(np.finfo(np.float32).max)
    assert one(np.inf, largest * (1 + 2**-24)).good
    assert one(largest, largest * (1 + 2**-25)).good
    assert not one(np.inf, largest).good
    assert not one(largest, largest * 1.5).good


def test_subnormal_results_read_as_zero_are_counted_apart() -> None:
    result = one(0.0, 1e-40)
    assert (result.wrong, result.flushed) == (1, 1)
    assert one(0.0, 1e-30).flushed == 0


@pytest.mark.parametrize(
    ("actual", "expected", "flushed"),
    [(1j, 0, 0), (0, 1e-40, 1), (1j, 1e-40 + 1j, 0), (2j, 1e-40 + 1j, 0), (0, 1e-30, 0), (0, 1e-40 + 1j, 0)],
)
def test_of_a_complex_result_only_zeros_in_the_place_of_subnormals_are_flushed(
    actual: complex, expected: complex, flushed: int
) -> None:
    # Whatever stood where zero belongs was once taken for a flushed subnormal, which is no failure.
    wrong = compare(np.array([actual], np.complex64), np.array([expected], np.complex128), Rule(4))
    assert wrong.flushed == flushed
    assert wrong.good == (actual == 1j and expected != 0)


def test_a_scale_replaces_the_result_as_the_measure() -> None:
    expected, actual = np.array([0.0]), np.array([1e-7], np.float32)
    assert not compare(actual, expected, Rule(4)).good
    assert compare(actual, expected, Rule(4), scale=np.array([1.0])).good


def test_complex_errors_are_measured_in_the_plane() -> None:
    expected = np.array([1 + 0j])
    assert compare(np.array([1 + 1e-7j], np.complex64), expected, Rule(1)).good
    assert not compare(np.array([1 + 1e-6j], np.complex64), expected, Rule(1)).good
    assert not compare(np.array([np.nan + 1j], np.complex64), expected, Rule(1)).good
    assert compare(np.array([np.inf + 0j], np.complex64), np.array([0 + np.inf * 1j]), Rule(1)).good


def test_a_bool_must_be_zero_or_one() -> None:
    odd = np.array([2, 1], np.uint8).view(np.bool_)
    assert compare(odd, np.array([True, True]), Rule()).wrong == 1


def test_integers_and_float8_must_be_met_exactly() -> None:
    assert not compare(np.array([3], np.int8), np.array([4], np.int8), Rule(100)).good
    codes = np.arange(256, dtype=np.uint8).view(ml_dtypes.float8_e4m3fn)
    assert compare(codes, codes, Rule()).good
    assert not compare(codes[:1], codes[128:129], Rule()).good  # 0 and -0


def test_another_shape_is_wrong() -> None:
    assert "shape" in compare(np.zeros(3, np.float32), np.zeros(4), Rule()).reason


@pytest.mark.parametrize("name", FORMATS)
def test_no_elements_are_right(name: str) -> None:
    dtype = np.dtype(getattr(ml_dtypes, name, None) or name)
    wide = np.clongdouble if dtype.kind == "c" else np.longdouble
    assert compare(np.zeros(0, dtype), np.zeros(0, wide), Rule()).good


def test_bits_are_written_most_significant_first() -> None:
    assert bits(np.array(1.0, np.float32)) == "0x3f800000"
