"""Ops of networks, by their decompositions over NumPy primitives, against SciPy, NumPy and plain loops."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import scipy.signal
import scipy.special

from device_api.errors import AttributeValueError, ShapeError

rng = np.random.default_rng(11)


def near(actual, expected, tolerance=1e-12):
    np.testing.assert_allclose(actual.value, expected, rtol=tolerance, atol=tolerance)


def test_convolution_agrees_with_scipy_in_every_rank(ops):
    for rank in (1, 2, 3):
        x, weight = rng.normal(size=(2, 3, *(5,) * rank)), rng.normal(size=(4, 3, *(2,) * rank))
        expected = [
            [
                sum(scipy.signal.correlate(c, k, "valid") for c, k in zip(image, kernel, strict=True))
                for kernel in weight
            ]
            for image in x
        ]
        near(getattr(ops, f"conv{rank}d")(ops.array(x), ops.array(weight)), expected)


def test_stride_padding_dilation_and_groups_do_what_they_say(ops):
    x, weight = rng.normal(size=(1, 4, 7, 6)), rng.normal(size=(2, 2, 2, 3))
    padded = np.pad(x, ((0, 0), (0, 0), (1, 0), (2, 1)))
    made = ops.conv2d(
        ops.array(x), ops.array(weight), stride=(2, 1), padding=(1, 2, 0, 1), dilation=(1, 2), groups=2
    )
    expected = np.zeros(made.shape)
    for o, i, j in np.ndindex(made.shape[1:]):
        window = padded[0, 2 * o : 2 * o + 2, 2 * i : 2 * i + 2, j : j + 5 : 2]
        expected[0, o, i, j] = (window * weight[o]).sum()
    near(made, expected)


@pytest.mark.parametrize("ceil_mode", [False, True])
def test_pooling_is_the_extreme_or_the_mean_of_each_window(ops, ceil_mode):
    x = rng.normal(size=(2, 3, 6, 5))
    options = {"window": 3, "stride": 2, "padding": 1, "ceil_mode": ceil_mode}
    greatest = ops.max_pool2d(ops.array(x), **options)
    means = ops.avg_pool2d(ops.array(x), count_include_pad=False, **options)
    for i, j in itertools.product(range(greatest.shape[2]), range(greatest.shape[3])):
        rows, columns = slice(max(2 * i - 1, 0), 2 * i + 2), slice(max(2 * j - 1, 0), 2 * j + 2)
        window = x[:, :, rows, columns]
        assert np.array_equal(greatest.value[:, :, i, j], window.max((2, 3)))
        np.testing.assert_allclose(means.value[:, :, i, j], window.mean((2, 3)), rtol=1e-12)


def test_a_nan_wins_its_windows_and_no_others(ops):
    x = np.array([[[1.0, np.nan, 2.0, -np.inf]]])
    assert np.array_equal(ops.max_pool1d(ops.array(x), window=2).value, [[[np.nan, 2.0]]], equal_nan=True)
    assert np.array_equal(ops.avg_pool1d(ops.array(x), window=1).value, x, equal_nan=True)


def test_attention_without_any_key_gives_zeros_and_the_causal_mask_looks_back_only(ops):
    query, key, value = (rng.normal(size=(4, 4)) for _ in range(3))
    none = ops.scaled_dot_product_attention(
        ops.array(query), ops.array(key), ops.array(value), ops.array(np.zeros((4, 4), bool))
    )
    assert not none.value.any()
    scores = np.where(np.tri(4, dtype=bool), query @ key.T / 2, -np.inf)
    causal = ops.scaled_dot_product_attention(*map(ops.array, (query, key, value)), causal=True)
    near(causal, scipy.special.softmax(scores, axis=-1) @ value)


def test_losses_leave_out_what_is_ignored_and_weigh_classes(ops):
    scores, target = rng.normal(size=(3, 4)), np.array([1, -100, 3])
    weight = np.array([0.5, 2.0, 1.0, 3.0])
    terms = -scipy.special.log_softmax(scores, axis=1)[[0, 2], [1, 3]] * weight[[1, 3]]
    made = ops.cross_entropy(ops.array(scores), ops.array(target), ops.array(weight), ignore_index=-100)
    near(made, terms.sum() / 5.0)


@pytest.mark.parametrize("right", [False, True])
def test_searchsorted_agrees_with_numpy(ops, right):
    x, values = np.sort(rng.integers(0, 9, 12)), rng.integers(-2, 12, (3, 4))
    made = ops.searchsorted(ops.array(x), ops.array(values), right=right)
    assert np.array_equal(made.value, np.searchsorted(x, values, "right" if right else "left"))


def test_norms_neither_overflow_nor_underflow_on_the_way(ops):
    near(ops.vector_norm(ops.array([3e200, 4e200])), 5e200, 1e-12)
    assert ops.vector_norm(ops.array([3e-200, 4e-200])).value == pytest.approx(5e-200, rel=1e-12)
    assert ops.vector_norm(ops.array(np.zeros(0))).value == 0


def test_calls_that_do_not_fit_name_what_is_wrong(ops):
    image = ops.array(np.ones((1, 3, 4, 4)))
    with pytest.raises(ShapeError, match="conv2d"):
        ops.conv2d(image, ops.array(np.ones((2, 2, 3, 3))))
    with pytest.raises(ShapeError, match="larger than the padded image"):
        ops.conv2d(image, ops.array(np.ones((2, 3, 5, 3))))
    with pytest.raises(AttributeValueError, match="stride"):
        ops.max_pool2d(image, window=2, stride=0)
    with pytest.raises(AttributeValueError, match="half of the window"):
        ops.max_pool2d(image, window=2, padding=2)
    with pytest.raises(ShapeError, match="too few to reflect"):
        ops.pad_mode(ops.array(np.ones(3)), before=(3,), after=(0,), mode="reflect")
    with pytest.raises(AttributeValueError, match="activation"):
        ops.linear_activation(ops.array(np.ones((1, 2))), ops.array(np.ones((1, 2))), None, activation="step")
