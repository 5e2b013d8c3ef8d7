"""The oracle against independent sources: published answers, ml_dtypes, exact integers, rational numbers."""

from __future__ import annotations

import cmath
from contextlib import suppress
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import scipy.signal
import scipy.special
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from conformance import philox
from conformance.cases.ops_claims import FAMILIES
from conformance.oracle import WITHOUT_ORACLE, NoOracle, complex_special, expected, has_oracle
from conformance.oracle.binary import integer_power
from conformance.oracle.precision import round_to
from conformance.samples import has_samples
from device_api import dtypes
from device_api.ops._table import BY_NAME, OPS

NARROW = [
    np.dtype(t) for t in (np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2)
]


def ask(op: str, *inputs: Any, **attributes: Any) -> Any:
    return expected(BY_NAME[op], inputs, attributes)[0].values


@pytest.mark.parametrize(("counter", "key", "answer"), philox.KNOWN_ANSWERS)
def test_philox_gives_the_published_answers(counter: Any, key: Any, answer: Any) -> None:
    words = philox.philox(np.array([counter], np.uint64), key)
    assert tuple(int(word) for word in words[0]) == answer


def test_a_philox_stream_is_cut_anywhere() -> None:
    whole = philox.stream(3, 2**32 - 2, 40)
    assert np.array_equal(philox.stream(3, 2**32 - 1, 36), whole[4:])
    assert np.array_equal(philox.stream(3, 2**32 - 2, 7), whole[:7])


@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_rounding_agrees_with_ml_dtypes(dtype: np.dtype[Any]) -> None:
    rng = np.random.default_rng(0)
    values = (rng.normal(size=20_000) * np.exp2(rng.integers(-30, 20, 20_000))).astype(np.float32)
    with np.errstate(all="ignore"):
        theirs = values.astype(dtype).astype(np.float32)
        ours = round_to(values, dtype).astype(np.float32)
    assert np.array_equal(ours, theirs, equal_nan=True)


@given(st.integers(-(2**63), 2**63 - 1))
def test_rounding_of_integers_is_to_nearest_even(number: int) -> None:
    rounded = int(round_to(np.array([number], np.int64), np.dtype(np.float32))[0])
    assert rounded == int(np.float32(Fraction(number))) or abs(number) > 2**53
    error = abs(Fraction(rounded) - number)
    step = Fraction(2) ** max(abs(number).bit_length() - 24, 0)
    assert error <= step / 2


@given(st.integers(-128, 127), st.integers(-128, 127))
def test_integer_powers_wrap_as_python_says(base: int, exponent: int) -> None:
    (got,) = integer_power(np.array([base], np.int8), np.array([exponent], np.int8))
    if exponent >= 0:
        assert int(got) == (pow(base, exponent) + 128) % 256 - 128
    else:
        assert int(got) == {1: 1, -1: 1 if exponent % 2 == 0 else -1}.get(base, 0)


def test_casts_follow_the_op_set() -> None:
    def cast(values: Any, source: Any, target: Any) -> list[Any]:
        (want,) = expected(BY_NAME["copy"], [np.array(values, source)], {}, np.dtype(target))
        return list(want.values.tolist())

    assert cast([np.nan, 1e10, -1e10, 2.9, -2.9], np.float32, np.int8) == [0, 127, -128, 2, -2]
    assert cast([300, -1], np.int32, np.uint8) == [44, 255]
    assert cast([np.nan, 0.0, -0.0, 0.5], np.float32, np.bool_) == [True, False, False, True]
    assert cast([3 + 4j], np.complex64, np.float32) == [3.0]
    assert cast([2**63 - 1], np.int64, np.float64) == [float(2**63)]


def test_sorting_is_stable_with_nan_last_both_ways() -> None:
    values = np.array([1.0, np.nan, 0.0, -0.0, 1.0], np.float32)
    assert ask("argsort_last", values, descending=False).tolist() == [2, 3, 0, 4, 1]
    assert ask("argsort_last", values, descending=True).tolist() == [0, 4, 2, 3, 1]


def test_shifts_beyond_the_width_have_a_value() -> None:
    values, counts = np.array([1, -8, -8], np.int8), np.array([8, -1, 9], np.int8)
    assert ask("bitwise_left_shift", values, counts).tolist() == [0, 0, 0]
    assert ask("bitwise_right_shift", values, counts).tolist() == [0, -1, -1]


def test_scatter_applies_updates_in_order() -> None:
    x, index = np.zeros((2, 1), np.int8), np.array([1, 1], np.int64)
    updates = np.array([[100], [100]], np.int8)
    assert ask("scatter_rows", x, index, updates, reduction=1).tolist() == [[0], [100]]
    assert ask("scatter_rows", x, index, updates, reduction=2).tolist() == [[0], [-56]]


def test_every_op_has_an_oracle_or_a_reason_to_have_none() -> None:
    without = {spec.name for spec in OPS if not has_oracle(spec.name)}
    assert without == set(WITHOUT_ORACLE)
    assert all(len(reason) > 20 for reason in WITHOUT_ORACLE.values())


def test_every_composite_with_an_oracle_has_samples_to_ask_it_about() -> None:
    judged = [spec.name for spec in OPS if spec.level != "primitive" and has_oracle(spec.name)]
    assert [name for name in judged if not has_samples(name)] == []


def test_every_differentiable_op_with_an_oracle_has_samples() -> None:
    judged = [spec.name for spec in OPS if spec.gradient and has_oracle(spec.name)]
    assert [name for name in judged if not has_samples(name)] == []


def test_an_op_without_oracle_is_refused() -> None:
    with pytest.raises(NoOracle, match="multinomial"):
        expected(BY_NAME["multinomial"], [], {})


def test_a_formula_of_terms_that_cancel_is_judged_by_the_terms() -> None:
    x, target = np.array([1e4, 1.0], np.float32), np.array([1e4 - 1, 0.0], np.float32)
    (want,) = expected(BY_NAME["mse_loss"], [x, target], {"reduction": "none"})
    assert want.scale is not None
    assert want.scale[0] > 1e4
    assert want.scale[1] < 10


def test_convolutions_agree_with_scipy() -> None:
    rng = np.random.default_rng(1)
    x, weight = rng.normal(size=(2, 3, 6, 5)), rng.normal(size=(4, 3, 3, 2))
    attributes = {"stride": (1, 1), "padding": (0, 0), "dilation": (1, 1), "groups": 1}
    got = ask("convolution", x, weight, None, **attributes)
    for n, o in np.ndindex(2, 4):
        parts = [scipy.signal.correlate(a, b, "valid") for a, b in zip(x[n], weight[o], strict=True)]
        assert np.allclose(got[n, o].astype(float), sum(parts))
    upstream = rng.normal(size=got.shape)
    back = ask("convolution_input_gradient", upstream, weight, **attributes, shape=x.shape)
    slope = ask("convolution_weight_gradient", x, upstream, **attributes, shape=weight.shape)
    # The product of both sides with anything is the same: that is what a transpose is.
    assert np.allclose(float((got * upstream).sum()), float((back * x).sum()))
    assert np.allclose(float((got * upstream).sum()), float((slope * weight).sum()))


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_a_window_around_the_whole_image_holds_padding_alone(dtype: Any) -> None:
    x = np.array([[[3, 1, 2]]], dtype)
    attributes = {"window": 2, "stride": 1, "padding": 1, "dilation": 4, "ceil_mode": False}
    least = np.iinfo(dtype).min if dtype is np.int32 else -np.inf
    assert ask("max_pool", x, **attributes).tolist() == [[[least]]]
    if dtype is np.float32:
        gradient = ask("max_pool_gradient", np.ones((1, 1, 1), dtype), x, **attributes)
        assert gradient.tolist() == [[[0, 0, 0]]]


# Python's cmath follows C99, as the standard does, but for a zero of tanh and one number of acosh.
@pytest.mark.parametrize(
    "op", ["exp", "log", "sqrt", "sinh", "cosh", "acos", "asin", "asinh", "atan", "atanh"]
)
def test_rules_of_complex_special_values_agree_with_python(op: str) -> None:
    judged = 0
    for z in complex_special.points(np.dtype(np.complex128)).tolist():
        want = complex_special.answer(op, z)
        with suppress(ValueError, OverflowError):  # Python refuses what C answers with NaN or a pole
            got = getattr(cmath, op)(z)
            if want is not None:
                judged += 1
                assert want[0].fits(np.float64(got.real), 2), (z, got, str(want[0]))
                assert want[1].fits(np.float64(got.imag), 2), (z, got, str(want[1]))
    assert judged > 20


def test_rules_of_complex_special_values_are_no_empty_promise() -> None:
    half_pi = complex_special.answer("acos", complex(-0.0, -0.0))
    assert half_pi is not None
    assert [str(part) for part in half_pi] == ["1.5707963267948966", "0.0"]
    assert not half_pi[1].fits(np.float64(-0.0), 4)
    assert not half_pi[0].fits(np.float64(1.571), 4)
    assert complex_special.answer("exp", 1 + 2j) is None


def test_factorisations_agree_with_lapack() -> None:
    rng = np.random.default_rng(2)
    base = rng.normal(size=(4, 4)) + 1j * rng.normal(size=(4, 4))
    definite = base @ base.conj().T + np.eye(4)
    assert np.allclose(ask("cholesky", definite, upper=False).astype(complex), np.linalg.cholesky(definite))
    assert np.allclose(ask("eigvalsh", definite).astype(float), np.linalg.eigvalsh(definite))
    assert np.allclose(ask("svdvals", base[:3]).astype(float), np.linalg.svd(base[:3], compute_uv=False))
    assert np.allclose(ask("inv", base).astype(complex), np.linalg.inv(base))
    assert np.allclose(
        ask("fourier", base, axes=(1,), inverse=False).astype(complex), np.fft.fft(base, axis=1)
    )


def test_every_op_of_a_mandatory_family_is_a_primitive() -> None:
    assert all(BY_NAME[op].level == "primitive" for ops in FAMILIES.values() for op in ops)


def test_float64_is_judged_with_more_than_its_own_precision() -> None:
    assert ask("exp", np.array([1.0])).dtype == np.longdouble
    assert ask("exp", np.array([1.0], np.float32)).dtype == np.float64


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_composites_agree_with_scipy_and_numpy(axis: int) -> None:
    x = np.random.default_rng(0).normal(size=(3, 4, 5)).astype(np.float32)
    wide = x.astype(np.float64)
    assert np.allclose(ask("softmax", x, axis=axis), scipy.special.softmax(wide, axis))
    assert np.allclose(ask("log_softmax", x, axis=axis), scipy.special.log_softmax(wide, axis))
    assert np.allclose(ask("logsumexp", x, axis=(axis,), keepdims=False), scipy.special.logsumexp(wide, axis))
    for op, function in (("sum", np.sum), ("mean", np.mean), ("max", np.max), ("prod", np.prod)):
        assert np.allclose(ask(op, x, axis=(axis,), keepdims=True), function(wide, axis, keepdims=True))
    for op, function in (("var", np.var), ("std", np.std)):
        got = ask(op, x, axis=(0, axis), keepdims=False, correction=1.0) if axis else None
        assert got is None or np.allclose(got, function(wide, (0, axis), ddof=1))
    assert np.array_equal(ask("argmin", x, axis=axis, keepdims=False), np.argmin(wide, axis))
    assert np.array_equal(ask("sort", x, axis=axis, descending=False), np.sort(wide, axis))
    assert np.allclose(ask("matmul", x[0], x[1].T), wide[0] @ wide[1].T)


def test_activations_agree_with_their_formulas() -> None:
    x = np.linspace(-5, 5, 41).astype(np.float32)
    wide = x.astype(np.float64)
    assert np.allclose(ask("sigmoid", x), scipy.special.expit(wide))
    assert np.allclose(ask("gelu", x, approximate=False), wide * scipy.stats.norm.cdf(wide))
    assert np.allclose(ask("softplus", x), np.log1p(np.exp(wide)))
    assert np.allclose(ask("rsqrt", np.abs(x) + 1), 1 / np.sqrt(np.abs(wide) + 1))
    normal = ask("layer_norm", x.reshape(1, -1), None, None, axis=1, epsilon=0.0)
    assert np.allclose(normal, (wide - wide.mean()) / wide.std())


ONE_INPUT = [spec.name for spec in OPS if spec.elementwise and len(spec.inputs) == 1]


@pytest.mark.parametrize("op", list(filter(has_oracle, ONE_INPUT)))
def test_the_answer_for_a_number_is_a_number(op: str) -> None:
    name = sorted(map(dtypes.NAMES.__getitem__, BY_NAME[op].types[0][1]))[0]
    x = np.ones((), dtypes.from_code(dtypes.code(name)))
    defaults = {each.name: each.default for each in BY_NAME[op].attributes}
    assert [answer.values.shape for answer in expected(BY_NAME[op], [x], defaults)] == [()]
