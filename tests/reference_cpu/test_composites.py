"""Kernels of composite ops on operands that are large enough to be cut into pieces, against NumPy in float64.

The conformance suite judges these ops on small operands, at every edge; here are the sizes at which strips,
tiles, threads and segments meet.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from cpu_driver import child
from numpy.lib.stride_tricks import sliding_window_view

import device_api as da
from device_api.errors import IndexOutOfRange
from device_api.ops import _functions as ops

RNG = np.random.default_rng(0)


def _close(actual: da.Tensor, expected: np.ndarray, units: float) -> None:
    values = actual.numpy().astype(np.float64)
    unit = float(np.finfo(actual.numpy().dtype).eps) * np.abs(expected).max()
    assert np.abs(values - expected).max() <= units * unit


def _columns(x: np.ndarray, window: tuple[int, int], stride: int, dilation: int) -> np.ndarray:
    """(n, c, h, w) -> (n, c, windows down, windows across, i, j)"""
    reach = [dilation * (size - 1) + 1 for size in window]
    view = sliding_window_view(x, reach, axis=(2, 3))
    return view[:, :, ::stride, ::stride, ::dilation, ::dilation]


@pytest.mark.parametrize(
    ("channels", "features", "size", "across", "stride", "dilation"),
    [
        (40, 24, 61, 2, 1, 1),
        (24, 40, 61, 2, 2, 1),
        (33, 7, 47, 2, 1, 3),
        (300, 20, 9, 2, 3, 2),
        (1, 1, 200, 2, 1, 1),
        (48, 9, 62, 3, 1, 1),  # results as wide as the image, so that strips are read where they are
        (400, 3, 20, 3, 1, 1),
        (30, 5, 90, 5, 1, 1),
    ],
)
def test_convolutions_and_their_gradients_in_many_strips_and_tiles(
    channels: int, features: int, size: int, across: int, stride: int, dilation: int
) -> None:
    x = RNG.standard_normal((2, channels, size, size + 3))
    window = (3, across)
    weight = RNG.standard_normal((features, channels, *window))
    bias = RNG.standard_normal(features)
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    columns = _columns(padded, window, stride, dilation)
    result = np.einsum("nchwij,ocij->nohw", columns, weight, optimize=True)
    upstream = RNG.standard_normal(result.shape)
    by_weight = np.einsum("nchwij,nohw->ocij", columns, upstream, optimize=True)
    by_input = np.zeros_like(padded)
    spread = np.einsum("nohw,ocij->nchwij", upstream, weight, optimize=True)
    height, width = (stride * (count - 1) + 1 for count in result.shape[2:])
    for i in range(3):
        for j in range(across):
            top, left = i * dilation, j * dilation
            by_input[:, :, top : top + height : stride, left : left + width : stride] += spread[..., i, j]
    facts = {"stride": stride, "padding": 1, "dilation": dilation}
    for dtype in (np.float32, np.float64):
        a, w, b, g = (da.asarray(each.astype(dtype)) for each in (x, weight, bias, upstream))
        _close(ops.convolution(a, w, b, **facts), result + bias[:, None, None], 40)
        _close(ops.convolution(a, w, **facts), result, 40)
        made = ops.convolution_weight_gradient(a, g, shape=weight.shape, **facts)
        _close(made, by_weight, 120)  # sums of up to 40,000 terms
        made = ops.convolution_input_gradient(g, w, shape=x.shape, **facts)
        _close(made, by_input[:, :, 1:-1, 1:-1], 40)


@pytest.mark.parametrize("length", [700, 5000])
def test_a_convolution_of_lines_is_one_of_images_of_one_line(length: int) -> None:
    x, weight = RNG.standard_normal((2, 30, length)), RNG.standard_normal((9, 30, 5))
    windows = sliding_window_view(np.pad(x, ((0, 0), (0, 0), (2, 2))), 5, axis=2)
    expected = np.einsum("nclk,fck->nfl", windows, weight, optimize=True)
    a, w = (da.asarray(each.astype(np.float32)) for each in (x, weight))
    _close(da.conv1d(a, w, padding=2), expected, 40)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    ("image", "size", "padding"),
    [
        ((8, 16), 3, 1),
        ((8, 15), 3, 1),
        ((7, 40), 3, 1),
        ((11, 23), 3, 0),
        ((130, 300), 5, 2),
        ((16, 37), 5, 4),
        ((29, 31), 7, 3),
        ((29, 31), 4, 2),
    ],
)
def test_channels_on_their_own_meet_windows_of_any_size(
    image: tuple[int, int], size: int, padding: int, dtype: type[np.floating[Any]]
) -> None:
    x = RNG.standard_normal((2, 3, *image)).astype(dtype)
    weight, bias = RNG.standard_normal((3, 1, size, size)).astype(dtype), RNG.standard_normal(3).astype(dtype)
    around = np.pad(x.astype(np.float64), ((0, 0), (0, 0), (padding, padding), (padding, padding)))
    windows = sliding_window_view(around, (size, size), axis=(2, 3))
    expected = np.einsum("nchwij,cij->nchw", windows, weight[:, 0])
    a, w, b = da.asarray(x), da.asarray(weight), da.asarray(bias)
    made = da.conv2d(a, w, padding=padding, groups=3)
    _close(made, expected, 40)
    _close(da.conv2d(a, w, b, padding=padding, groups=3), expected + bias[:, None, None], 40)
    upstream = RNG.standard_normal(expected.shape).astype(dtype)
    spread = np.zeros(around.shape)
    for i in range(size):
        for j in range(size):
            height, width = expected.shape[2:]
            spread[:, :, i : i + height, j : j + width] += upstream * weight[:, 0, i, j, None, None]
    by_input = spread[:, :, padding : padding + image[0], padding : padding + image[1]]
    gradient = ops.convolution_input_gradient(
        da.asarray(upstream), w, shape=x.shape, padding=padding, groups=3
    )
    _close(gradient, by_input, 40)


def test_infinite_weights_of_channels_on_their_own_meet_the_zeros_around_an_image() -> None:
    weight = np.ones((2, 1, 3, 3), np.float32)
    weight[1, 0, 0, 1] = np.inf
    image = da.ones((1, 2, 20, 40))
    made = da.conv2d(image, da.asarray(weight), padding=1, groups=2).numpy()
    assert np.isnan(made[0, 1, 0]).all()
    assert np.isinf(made[0, 1, 1:]).all()
    assert np.isfinite(made[0, 0]).all()
    facts = {"shape": (1, 2, 20, 40), "padding": 1, "groups": 2}
    gradient = ops.convolution_input_gradient(image, da.asarray(weight), **facts).numpy()
    assert not np.isnan(gradient).any()


@pytest.mark.parametrize("padding", [0, 1])
def test_nan_and_infinity_at_the_ends_of_lines_reach_their_own_windows_alone(padding: int) -> None:
    x = np.ones((1, 64, 50, 64), np.float32)
    x[0, 3, (0, 9, 24, 25, 49), -1] = np.nan
    x[0, 5, (0, 7, 22, 30, 49), 0] = np.inf
    windows = _columns(np.pad(x, ((0, 0), (0, 0), (padding,) * 2, (padding,) * 2)), (3, 3), 1, 1)
    made = da.conv2d(da.asarray(x), da.ones((5, 64, 3, 3)), padding=padding).numpy()
    np.testing.assert_array_equal(made, np.broadcast_to(windows.sum(axis=(1, 4, 5))[:, None], made.shape))


@pytest.mark.parametrize(
    ("window", "stride", "padding", "dilation"),
    [((2, 2), 2, 0, 1), ((3, 3), 2, 1, 1), ((3, 2), 1, 1, 2), ((1, 5), 3, 0, 1)],
)
def test_pools_of_many_windows_side_by_side(
    window: tuple[int, int], stride: int, padding: int, dilation: int
) -> None:
    x = RNG.integers(-4, 5, (3, 2, 21, 75)).astype(np.float32)  # equal elements are frequent
    x[0, 0, 5, ::9] = np.nan
    x[1, 1] = -np.inf
    padded = np.pad(x, ((0, 0), (0, 0), (padding,) * 2, (padding,) * 2), constant_values=-np.inf)
    columns = _columns(padded, window, stride, dilation)
    flat = columns.reshape(*columns.shape[:4], -1)
    a = da.asarray(x)
    made = ops.max_pool(a, window=window, stride=stride, padding=padding, dilation=dilation)
    np.testing.assert_array_equal(made.numpy(), flat.max(axis=-1))
    upstream = RNG.integers(1, 99, flat.shape[:4]).astype(np.float32)
    places = np.arange(padded[0, 0].size, dtype=np.int64).reshape(padded.shape[2:])
    inside = np.pad(np.ones(x.shape[2:], bool), padding)
    numbers = _columns(np.where(inside, places, -1)[None, None], window, stride, dilation)
    numbers = np.broadcast_to(numbers, columns.shape).reshape(flat.shape)
    ranks = np.where(numbers < 0, -np.inf, np.where(np.isnan(flat), np.inf, np.maximum(flat, -1e9)))
    winners = np.take_along_axis(numbers, ranks.argmax(axis=-1)[..., None], axis=-1)[..., 0]
    expected = np.zeros((3, 2, padded[0, 0].size), np.float32)
    n, c, _, _ = np.indices(winners.shape)
    np.add.at(expected, (n, c, winners), upstream)
    expected = expected.reshape(padded.shape)[..., padding : padding + 21, padding : padding + 75]
    facts = {"window": window, "stride": stride, "padding": padding, "dilation": dilation}
    made = ops.max_pool_gradient(da.asarray(upstream), a, **facts)
    np.testing.assert_array_equal(made.numpy(), expected)
    if dilation == 1:
        tame = np.nan_to_num(x, nan=1.0, neginf=2.0)
        padded = np.pad(tame, ((0, 0), (0, 0), (padding,) * 2, (padding,) * 2))
        means = _columns(padded, window, stride, 1).mean(axis=(4, 5), dtype=np.float64)
        made = ops.avg_pool(da.asarray(tame), window=window, stride=stride, padding=padding)
        _close(made, means, 2)


@pytest.mark.parametrize("shape", [(5, 3000), (3, 700, 40), (2, 9000), (70, 33)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_softmax_of_long_lines_along_any_axis(shape: tuple[int, ...], dtype: type) -> None:
    x = (RNG.standard_normal(shape) * 5).astype(dtype)
    for axis in range(len(shape)):
        powers = np.exp(x.astype(np.float64) - x.max(axis=axis, keepdims=True))
        expected = powers / powers.sum(axis=axis, keepdims=True)
        _close(da.softmax(da.asarray(x), axis=axis), expected, 16)
        _close(da.log_softmax(da.asarray(x), axis=axis), np.log(expected), 16)


@pytest.mark.parametrize(("rows", "size"), [(700, 768), (9001, 17), (3, 70_001), (1, 5), (0, 6)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_gradients_of_layer_norm_and_rms_norm_add_up_many_rows(rows: int, size: int, dtype: type) -> None:
    x, upstream = ((RNG.standard_normal((rows, size)) + 3).astype(dtype) for _ in range(2))
    weight = RNG.standard_normal(size).astype(dtype)
    wide, above = x.astype(np.float64), upstream.astype(np.float64)
    for centred in (True, False):
        distance = wide - wide.mean(axis=1, keepdims=True) if centred else wide
        scale = 1 / np.sqrt((distance**2).mean(axis=1, keepdims=True) + 1e-5)
        unit, heavy = distance * scale, above * weight
        by_x = heavy - unit * (heavy * unit).mean(axis=1, keepdims=True)
        by_x -= heavy.mean(axis=1, keepdims=True) if centred else 0
        made = ops.layer_norm_gradient(
            da.asarray(upstream), da.asarray(x), da.asarray(weight), centred=centred
        )
        for got, want in zip(
            made, (by_x * scale, (above * unit).sum(axis=0), above.sum(axis=0)), strict=True
        ):
            assert got.shape == want.shape
            if want.size:
                _close(got, want, 64)


def test_the_gradients_of_layer_norm_are_the_same_bits_with_any_number_of_threads() -> None:
    program = (
        "import hashlib, numpy as np, device_api as da\n"
        "from device_api.ops import _functions as ops\n"
        "rng = np.random.default_rng(3)\n"
        "u, x = (da.asarray(rng.standard_normal((4001, 97)).astype(np.float32)) for _ in range(2))\n"
        "made = ops.layer_norm_gradient(u, x)\n"
        "print(hashlib.sha256(b''.join(each.numpy().tobytes() for each in made)).hexdigest())\n"
    )
    found = {child(program, DEVICE_API_CPU_THREADS=str(threads)) for threads in (1, 2, 5)}
    assert len(found) == 1


def test_the_gradient_of_cross_entropy_refuses_targets_that_are_no_class() -> None:
    scores, upstream = da.asarray(np.ones((2, 3), np.float32)), da.asarray(np.float32(1))
    for target in (3, -1):
        with pytest.raises(IndexOutOfRange, match="none of the 3 classes"):
            ops.cross_entropy_gradient(scores, da.asarray([0, target]), upstream)
    made = ops.cross_entropy_gradient(scores, da.asarray([0, 3]), upstream, ignore_index=3).numpy()
    assert made[1].tolist() == [0, 0, 0]


@pytest.mark.parametrize("offset", [0.0, 1000.0])
def test_normalisations_of_groups_longer_than_a_segment(offset: float) -> None:
    x = (RNG.standard_normal((3, 8, 70, 71)) + offset).astype(np.float32)
    wide, weight = x.astype(np.float64), RNG.standard_normal(8).astype(np.float32)

    def standard(axes: tuple[int, ...], array: np.ndarray) -> np.ndarray:
        distance = array - array.mean(axis=axes, keepdims=True)
        made: np.ndarray = distance / np.sqrt((distance**2).mean(axis=axes, keepdims=True) + 1e-5)
        return made

    a, w = da.asarray(x), da.asarray(weight)
    by_channel = weight.astype(np.float64)[:, None, None]
    _close(da.layer_norm(a, axis=1), standard((1, 2, 3), wide), 8)
    groups = standard((2,), wide.reshape(3, 4, -1)).reshape(x.shape)
    _close(da.group_norm(a, w, groups=4), groups * by_channel, 8)
    made, mean, variance = da.batch_norm_training(a, da.zeros((8,)), da.ones((8,)), w, momentum=1.0)
    _close(made, standard((0, 2, 3), wide) * by_channel, 8)
    np.testing.assert_allclose(mean.numpy(), wide.mean(axis=(0, 2, 3)), rtol=1e-6, atol=1e-7)
    _close(variance, wide.var(axis=(0, 2, 3), ddof=1), 8)


def test_a_mean_far_from_zero_takes_no_digits_from_a_normalised_row() -> None:
    x = np.tile(np.array([1e6, 1e6 + 1, 1e6 + 2, 1e6 + 3], np.float32), (4, 300))
    expected = (x.astype(np.float64) - x.astype(np.float64).mean()) / np.sqrt(1.25 + 1e-5)
    _close(da.layer_norm(da.asarray(x)), expected, 4)


def test_sums_of_float32_beyond_its_range_on_the_way_are_finite() -> None:
    x = np.tile(np.array([3e38, 3e38, -3e38, -3e38], np.float32), 1000)
    assert float(da.sum(da.asarray(x))) == 0.0


def test_composites_have_the_same_bits_for_any_number_of_threads() -> None:
    code = """
import hashlib
import numpy as np
import device_api as da
from device_api.errors import IndexOutOfRange
from device_api.ops import _functions as ops
rng = np.random.default_rng(1)
x, w = (da.asarray(rng.standard_normal(s).astype("float32")) for s in ((3, 40, 50, 50), (30, 40, 3, 3)))
y = da.conv2d(x, w, padding=1)
made = [y, ops.convolution_weight_gradient(x, y, shape=w.shape, padding=1), da.sum(x, axis=(0, 2)),
        ops.convolution_input_gradient(y, w, shape=x.shape, padding=1), da.softmax(x, axis=1),
        da.layer_norm(x, axis=1), *da.batch_norm_training(x, da.zeros((40,)), da.ones((40,))),
        da.max_pool2d(x, window=3, stride=2), da.avg_pool2d(x, window=3, stride=2, padding=1),
        *da.top_k(x, 5, axis=1), da.cumulative_sum(x, axis=3)]
rows, updates = (da.asarray(rng.standard_normal(s).astype("float32")) for s in ((30, 70), (2000, 70)))
made.append(da.index_add(rows, da.asarray(rng.integers(-30, 30, 2000)), updates))
print(hashlib.sha256(b"".join(each.numpy().tobytes() for each in made)).hexdigest())
"""
    assert len({child(code, DEVICE_API_CPU_THREADS=count) for count in ("1", "2", "5")}) == 1


@pytest.mark.parametrize("count", [1, 1023, 70_001])
def test_a_mean_of_squared_distances_of_any_length(count: int) -> None:
    x, target = RNG.standard_normal((2, count))
    for dtype, digits in ((np.float32, 1e-6), (np.float64, 1e-14)):
        a, b = (da.asarray(each.astype(dtype), device="cpu") for each in (x, target))
        terms = (a.numpy().astype(np.longdouble) - b.numpy()) ** 2
        np.testing.assert_allclose(float(da.mse_loss(a, b)), float(terms.mean()), rtol=digits)
        np.testing.assert_allclose(float(da.mse_loss(a, b, reduction="sum")), float(terms.sum()), rtol=digits)
        np.testing.assert_allclose(da.mse_loss(a, b, reduction="none").numpy(), terms, rtol=digits)


def test_mean_squared_distances_of_broadcast_and_of_no_elements() -> None:
    x = RNG.standard_normal((3, 4)).astype(np.float32)
    a = da.asarray(x, device="cpu")
    np.testing.assert_allclose(float(da.mse_loss(a, a[:1])), ((x - x[:1]) ** 2).mean(), rtol=1e-6)
    assert np.isnan(float(da.mse_loss(a[:0], a[:0])))
    assert float(da.mse_loss(a[:0], a[:0], reduction="sum")) == 0


@pytest.mark.parametrize("place", [0, 700, 39_999])
@pytest.mark.parametrize("bad", [-41, 40, 1 << 62, -(1 << 63)])
def test_a_position_outside_is_an_error_wherever_it_stands(place: int, bad: int) -> None:
    x, places = da.asarray(RNG.standard_normal((40, 50))), np.zeros((800, 50), np.int64)
    places.flat[place] = bad
    updates = da.zeros((800, 50, 50), dtype=da.float64)
    for call in (
        lambda: da.take_along_axis(x, da.asarray(places), axis=0),
        lambda: da.take(x, da.asarray(places), axis=0),
        lambda: da.embedding(x, da.asarray(places)),
        lambda: da.index_add(x, da.asarray(places), updates),
    ):
        with pytest.raises(IndexOutOfRange, match=f"index {bad} "):
            call()


@pytest.mark.parametrize("k", [1, 64, 65, 300])
def test_the_first_k_are_those_of_a_stable_sort_and_keep_their_bits(k: int) -> None:
    x = RNG.integers(-3, 3, (7, 300, 5)).astype(np.float32)
    x[RNG.random(x.shape) < 0.2] = np.nan
    x[RNG.random(x.shape) < 0.2] = -0.0
    for largest in (False, True):
        order = da.argsort(da.asarray(x), axis=1, descending=largest).numpy()[:, :k]
        values, places = da.top_k(da.asarray(x), k, axis=1, largest=largest)
        assert (places.numpy() == order).all()
        assert values.numpy().tobytes() == np.take_along_axis(x, order, axis=1).tobytes()
