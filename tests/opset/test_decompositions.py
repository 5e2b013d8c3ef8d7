"""Composites, by their decompositions over NumPy primitives, against NumPy and SciPy themselves."""

from __future__ import annotations

import warnings

import ml_dtypes
import numpy as np
import pytest
import scipy.special
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from device_api.ops import _rules

SHAPES = [(), (1,), (5,), (0,), (3, 4), (2, 0, 3), (2, 3, 4)]
rng = np.random.default_rng(7)


def near(actual, expected, tolerance=1e-12):
    np.testing.assert_allclose(actual.value, expected, rtol=tolerance, atol=tolerance)


def axes_of(shape):
    yield None
    yield from range(-len(shape), len(shape))
    if len(shape) > 1:
        yield (0, len(shape) - 1)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("keepdims", [False, True])
def test_reductions_agree_with_numpy_on_every_axis(ops, shape, keepdims):
    x = rng.normal(size=shape)
    for axis in axes_of(shape):
        named = {"axis": axis, "keepdims": keepdims}
        near(ops.sum(ops.array(x), **named), np.sum(x, **named))
        near(ops.prod(ops.array(x), **named), np.prod(x, **named))
        assert np.array_equal(ops.any(ops.array(x), **named).value, np.any(x, **named))
        assert np.array_equal(ops.all(ops.array(x > 0), **named).value, np.all(x > 0, **named))
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NumPy warns of the mean of nothing
            near(ops.mean(ops.array(x), **named), np.mean(x, **named))
            near(ops.var(ops.array(x), **named), np.var(x, **named))
            near(ops.std(ops.array(x), correction=1.0, **named), np.std(x, ddof=1, **named))
        if x.size:
            assert np.array_equal(ops.max(ops.array(x), **named).value, np.max(x, **named))
            assert np.array_equal(ops.min(ops.array(x), **named).value, np.min(x, **named))
            near(ops.logsumexp(ops.array(x), **named), scipy.special.logsumexp(x, **named))
            if not isinstance(axis, tuple):
                assert np.array_equal(ops.argmax(ops.array(x), **named).value, np.argmax(x, **named))
                assert np.array_equal(ops.argmin(ops.array(x), **named).value, np.argmin(x, **named))


@pytest.mark.parametrize("name", ["bool", "int8", "uint16", "int64", "float16", "float32", "complex64"])
def test_sums_widen_small_integers_and_keep_other_dtypes(ops, name):
    x = np.ones((3, 2)).astype(name)
    total = ops.sum(ops.array(x))
    assert total.dtype == {"bool": "int64", "int8": "int64", "uint16": "uint64"}.get(name, name)
    assert total.value == 6
    assert ops.sum(ops.array(x), dtype="float64").dtype == np.float64


def test_sixteen_bit_means_do_not_overflow_on_the_way(ops):
    x = np.full((70000,), 60000, np.float16)
    assert ops.mean(ops.array(x)).value == np.float16(60000)
    spread = np.array([30000, -30000], np.float16)
    assert ops.std(ops.array(spread)).value == np.float16(30000)


def test_variance_survives_a_large_offset(ops):
    x = np.array([1e8, 1e8 + 1, 1e8 + 2])
    near(ops.var(ops.array(x)), 2 / 3)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_softmax_and_its_logarithm_are_stable(ops, axis):
    x = np.array([[1e4, 0.0, -1e4], [3.0, 3.0, 2.0], [-800.0, -801.0, -802.0]])
    near(ops.softmax(ops.array(x), axis=axis), scipy.special.softmax(x, axis=axis))
    near(ops.log_softmax(ops.array(x), axis=axis), scipy.special.log_softmax(x, axis=axis))


def test_softmax_of_empty_shapes_is_empty(ops):
    for shape in [(0,), (3, 0), (0, 3)]:
        assert ops.softmax(ops.array(np.zeros(shape)), axis=0).shape == shape


def test_logsumexp_of_infinities_and_of_nothing(ops):
    inf = np.inf
    for row in ([-inf, -inf], [inf, 0.0], [-inf, 1.0], [inf, -inf], [np.nan, 1.0], []):
        with np.errstate(all="ignore"):
            expected = np.log(np.sum(np.exp(np.array(row, np.longdouble))))
        near(ops.logsumexp(ops.array(row, np.float64)), float(expected))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((3,), (3,)),
        ((2, 3), (3,)),
        ((3,), (3, 4)),
        ((2, 3), (3, 4)),
        ((5, 2, 3), (3, 4)),
        ((2, 3), (5, 3, 4)),
        ((3,), (5, 3, 4)),
        ((5, 2, 3), (3,)),
        ((5, 1, 2, 3), (6, 3, 4)),
        ((2, 0), (0, 3)),
        ((0, 3), (3, 2)),
        ((4, 2, 0), (0, 3)),
        ((0, 2, 3), (0, 3, 2)),
    ],
)
def test_matmul_agrees_with_numpy_for_every_rank(ops, left, right):
    a, b = rng.normal(size=left), rng.normal(size=right)
    near(ops.matmul(ops.array(a), ops.array(b)), a @ b)


def test_vecdot_conjugates_its_first_operand(ops):
    a = rng.normal(size=(2, 3)) + 1j * rng.normal(size=(2, 3))
    b = rng.normal(size=(4, 2, 3)) + 0j
    near(ops.vecdot(ops.array(a), ops.array(b)), np.sum(a.conj() * b, axis=-1))
    near(ops.vecdot(ops.array(a), ops.array(b), axis=-2), np.sum(a.conj() * b, axis=-2))


def test_linear_is_a_product_with_the_transposed_weight(ops):
    x, w, b = rng.normal(size=(2, 5, 3)), rng.normal(size=(4, 3)), rng.normal(size=4)
    near(ops.linear(ops.array(x), ops.array(w), ops.array(b)), x @ w.T + b)
    near(ops.linear(ops.array(x), ops.array(w)), x @ w.T)


@pytest.mark.parametrize("k", [-5, -1, 0, 1, 5])
def test_triangles_and_diagonals(ops, k):
    x = rng.normal(size=(2, 3, 4))
    assert np.array_equal(ops.tril(ops.array(x), k=k).value, np.tril(x, k))
    assert np.array_equal(ops.triu(ops.array(x), k=k).value, np.triu(x, k))
    assert np.array_equal(ops.eye(3, 4, k=k).value, np.eye(3, 4, k))


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_take_and_take_along_axis_agree_with_numpy(make_ops, data):
    ops = make_ops()
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=4, max_side=4))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    n = shape[axis]
    x = np.arange(np.prod(shape)).reshape(shape)
    indices = data.draw(
        hnp.arrays(
            np.int64, hnp.array_shapes(min_dims=0, max_dims=2, max_side=3), elements=st.integers(-n, n - 1)
        )
    )
    assert np.array_equal(
        ops.take(ops.array(x), ops.array(indices), axis=axis).value, np.take(x, indices, axis=axis)
    )
    along = list(shape)
    along[axis] = data.draw(st.integers(0, 5))
    index = data.draw(hnp.arrays(np.int64, tuple(along), elements=st.integers(-n, n - 1)))
    got = ops.take_along_axis(ops.array(x), ops.array(index), axis=axis).value
    assert np.array_equal(got, np.take_along_axis(x, index, axis))
    updates = rng.normal(size=index.shape)
    expected = np.zeros(shape)
    for place in np.ndindex(index.shape):
        target = list(place)
        target[axis] = index[place]
        expected[tuple(target)] += updates[place]
    near(ops.put_along_axis_add(ops.array(updates), ops.array(index), shape=shape, axis=axis), expected)


@pytest.mark.parametrize("index", [-4, 3])
def test_an_index_out_of_its_row_is_an_error_and_never_a_neighbour(ops, index):
    x = ops.array(np.arange(6).reshape(2, 3))
    with pytest.raises(IndexError):
        ops.take_along_axis(x, ops.array([[index], [0]]), axis=1)
    with pytest.raises(IndexError):
        ops.take(x, ops.array([index]), axis=1)


@pytest.mark.parametrize("target", [-1, 3])
def test_a_target_class_out_of_range_is_an_error(ops, target):
    scores = ops.array(rng.normal(size=(2, 3)))
    with pytest.raises(IndexError):
        ops.cross_entropy(scores, ops.array([0, target]))


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
def test_losses_agree_with_their_formulas(ops, reduction):
    finish = {"none": lambda x: x, "mean": np.mean, "sum": np.sum}[reduction]
    scores, target = rng.normal(size=(4, 3, 5)) * 50, rng.integers(0, 3, size=(4, 5))
    logs = scipy.special.log_softmax(scores, axis=1)
    plain = -np.take_along_axis(logs, target[:, None], 1)[:, 0]
    named = {"reduction": reduction}
    near(ops.cross_entropy(ops.array(scores), ops.array(target), axis=1, **named), finish(plain))
    near(ops.nll_loss(ops.array(logs), ops.array(target), axis=1, **named), finish(plain))
    x, t = rng.normal(size=(3, 4)) * 100, rng.uniform(size=(4,))
    near(ops.mse_loss(ops.array(x), ops.array(t), **named), finish((x - t) ** 2))
    both = -(t * scipy.special.log_expit(x) + (1 - t) * scipy.special.log_expit(-x))
    near(ops.binary_cross_entropy_with_logits(ops.array(x), ops.array(t), **named), finish(both), 1e-10)


def test_activations_agree_with_their_formulas_far_out(ops):
    x = np.array([-800.0, -30.0, -2.0, -0.5, -0.0, 0.0, 0.5, 2.0, 30.0, 800.0])
    a = ops.array(x)
    sigmoid = scipy.special.expit(x)
    near(ops.relu(a), np.maximum(x, 0))
    near(ops.leaky_relu(a, slope=0.2), np.where(x > 0, x, 0.2 * x))
    near(ops.elu(a, alpha=1.5), np.where(x > 0, x, 1.5 * np.expm1(np.minimum(x, 0))))
    near(ops.sigmoid(a), sigmoid)
    near(ops.silu(a), x * sigmoid)
    near(ops.gelu(a), x * scipy.special.ndtr(x))
    near(ops.gelu(a, approximate=True), 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))))
    near(ops.softplus(a), np.logaddexp(x, 0))
    assert ops.gelu(ops.array(-30.0)).value < 0


def test_activations_pass_nan_on(ops):
    for name in ("relu", "sigmoid", "silu", "gelu", "softplus", "elu", "leaky_relu"):
        assert np.isnan(getattr(ops, name)(ops.array(np.nan)).value), name


@pytest.mark.parametrize("axis", [-1, 1, 0])
def test_normalisations_agree_with_their_formulas(ops, axis):
    x = rng.normal(size=(2, 3, 4)) + 1e4
    axes = tuple(range(axis % 3, 3))
    w, b = rng.normal(size=x.shape[axis % 3 :]), rng.normal(size=x.shape[axis % 3 :])
    mean, var = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    expected = (x - mean) / np.sqrt(var + 1e-5) * w + b
    near(ops.layer_norm(ops.array(x), ops.array(w), ops.array(b), axis=axis), expected, 1e-9)
    rms = x / np.sqrt((x * x).mean(axes, keepdims=True) + 1e-5) * w
    near(ops.rms_norm(ops.array(x), ops.array(w), axis=axis), rms)


@settings(max_examples=60, deadline=None)
@given(data=st.data())
def test_joining_and_moving_agree_with_numpy(make_ops, data):
    ops = make_ops()
    shape = data.draw(hnp.array_shapes(min_dims=1, max_dims=3, min_side=0, max_side=4))
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    x = np.arange(np.prod(shape)).reshape(shape)
    y = np.concatenate([x, x], axis)
    assert np.array_equal(
        ops.concat([ops.array(x), ops.array(y)], axis=axis).value, np.concatenate([x, y], axis)
    )
    assert np.array_equal(
        ops.concat([ops.array(x), ops.array(y)], axis=None).value, np.concatenate([x, y], None)
    )
    assert np.array_equal(ops.stack([ops.array(x), ops.array(-x)], axis=axis).value, np.stack([x, -x], axis))
    shift = data.draw(st.integers(-9, 9))
    assert np.array_equal(ops.roll(ops.array(x), shift, axis=axis).value, np.roll(x, shift, axis))
    assert np.array_equal(ops.roll(ops.array(x), shift).value, np.roll(x, shift))
    counts = tuple(data.draw(st.lists(st.integers(0, 3), min_size=1, max_size=4)))
    assert np.array_equal(ops.tile(ops.array(x), counts).value, np.tile(x, counts))
    sides = [(data.draw(st.integers(0, 2)), data.draw(st.integers(0, 2))) for _ in shape]
    before, after = tuple(a for a, _ in sides), tuple(b for _, b in sides)
    padded = ops.pad(ops.array(x), 7, before=before, after=after).value
    assert np.array_equal(padded, np.pad(x, sides, constant_values=7))


@pytest.mark.parametrize("descending", [False, True])
def test_sorting_is_stable_and_puts_nan_last(ops, descending):
    x = np.array([[2.0, np.nan, 1.0, 2.0, -0.0, 0.0], [np.nan, np.nan, 5.0, 5.0, 5.0, 1.0]])
    places = ops.argsort(ops.array(x), descending=descending).value
    key = [[(v != v, -v if descending else v) for v in row] for row in x.tolist()]
    expected = [sorted(range(6), key=lambda i, row=row: row[i]) for row in key]
    assert places.tolist() == expected
    down = ops.sort(ops.array(x.T), axis=0, descending=descending).value
    np.testing.assert_array_equal(down, np.take_along_axis(x, places, 1).T)


@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
def test_running_results_agree_with_numpy(ops, name):
    reference = {"cumulative_sum": np.cumsum, "cumulative_prod": np.cumprod}[name]
    x = rng.integers(-3, 4, size=(2, 3, 4)).astype(np.int8)
    for axis in (0, 1, -1):
        got = getattr(ops, name)(ops.array(x), axis=axis)
        assert got.dtype == np.int64
        assert np.array_equal(got.value, reference(x, axis=axis))
        longer = getattr(ops, name)(ops.array(x), axis=axis, include_initial=True).value
        assert np.array_equal(np.delete(longer, 0, axis), reference(x, axis=axis))
        assert (np.take(longer, 0, axis) == (name == "cumulative_prod")).all()


def test_clip_takes_bounds_of_any_kind(ops):
    x = np.array([-5, 0, 5, 9], np.int8)
    assert ops.clip(ops.array(x), -1, 6).value.tolist() == [-1, 0, 5, 6]
    assert ops.clip(ops.array(x), None, ops.array([0, 1, 2, 3])).value.tolist() == [-5, 0, 2, 3]
    assert ops.clip(ops.array(x), 7, 3).value.tolist() == [3, 3, 3, 3]
    assert ops.clip(ops.array(x)).value.tolist() == x.tolist()
    assert np.isnan(ops.clip(ops.array(np.nan), 0.0, 1.0).value)


def test_rounding_leaves_integers_alone(ops):
    # Their decompositions serve integers only; floats have kernels.
    for name in ("floor", "ceil", "trunc", "round"):
        assert getattr(ops, name)(ops.array([2**62 + 1])).value.tolist() == [2**62 + 1]


def test_predicates_of_integers_are_constant(ops):
    x = ops.array([0, -1, 2**63 - 1])
    assert not ops.isnan(x).value.any()
    assert not ops.isinf(x).value.any()
    assert ops.isfinite(x).value.all()


def test_one_hot_places_its_axis(ops):
    i = np.array([[0, 2], [1, 5]])
    got = ops.one_hot(ops.array(i), 3, axis=1).value
    assert np.array_equal(got, (i[:, None, :] == np.arange(3)[None, :, None]).astype(np.float32))


def test_logaddexp_is_stable_where_its_operands_are_equal_or_infinite(ops):
    x, y = np.array([1e3, -np.inf, np.inf, 0.0]), np.array([1e3, -np.inf, np.inf, 2.0])
    near(_rules.logaddexp_decompose(ops, ops.array(x), ops.array(y)), np.logaddexp(x, y))


def test_optimiser_steps_follow_their_formulas(ops):
    p, g, m, v = (rng.normal(size=(3, 2)) for _ in range(4))
    v = np.abs(v)
    a = ops.array
    near(ops.sgd_step(a(p), a(g), 0.1, weight_decay=0.2), p - 0.1 * (g + 0.2 * p))
    new_p, new_m = ops.momentum_step(a(p), a(g), a(m), 0.1, momentum=0.8, nesterov=True)
    near(new_m, 0.8 * m + g)
    near(new_p, p - 0.1 * (g + 0.8 * (0.8 * m + g)))
    new_p, new_m, new_v = ops.adam_step(a(p), a(g), a(m), a(v), 3, 0.1)
    want_m, want_v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
    near(new_m, want_m)
    near(new_v, want_v)
    near(new_p, p - 0.1 * (want_m / (1 - 0.9**3)) / (np.sqrt(want_v / (1 - 0.999**3)) + 1e-8), 1e-10)
    decayed, *_ = ops.adamw_step(a(p), a(g), a(m), a(v), 3, 0.1, weight_decay=0.3)
    near(decayed, new_p.value - 0.1 * 0.3 * p, 1e-10)


def test_the_bias_correction_of_adam_keeps_its_digits_in_float32(ops):
    one = np.ones(1, np.float32)
    zero = ops.array(np.zeros(1, np.float32))
    moved, *_ = ops.adam_step(ops.array(one), ops.array(one), zero, zero, 1, 1.0, beta2=0.9999)
    assert abs(float(moved.value[0])) < 1e-6


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32])
def test_narrow_dtypes_stay_themselves(ops, dtype):
    x = ops.array(rng.normal(size=(3, 4)), dtype)
    for made in (ops.softmax(x), ops.mean(x), ops.layer_norm(x), ops.gelu(x), ops.logsumexp(x), x * 2.0 + 1):
        assert made.dtype == dtype
