"""copy between all pairs of element types and strides; fill and iota."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np
import pytest
from cpu_driver import (
    ALL,
    COMPLEX,
    E4M3FN,
    E5M2,
    FLOAT,
    HALF,
    INTEGER,
    Plugin,
    fill_attributes,
    iota_attributes,
)
from cpu_oracle import all_codes, wide
from hypothesis import given, settings
from hypothesis import strategies as st

FLOAT8 = [E4M3FN, E5M2]
NARROW = [*HALF, *FLOAT8]


def samples(dtype: np.dtype[Any]) -> np.ndarray:
    if dtype.kind == "b":
        return np.array([False, True, True])
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        powers = [sign * (1 << n) + d for n in range(64) for d in (-1, 0, 1) for sign in (1, -1)]
        ties = [(257 << n) + d for n in range(50) for d in (-1, 0, 1)]
        return np.array([v for v in [*powers, *ties, info.min, info.max] if info.min <= v <= info.max], dtype)
    if dtype in NARROW:
        return all_codes(dtype)
    rng = np.random.default_rng(9)
    special = [
        0.0,
        -0.0,
        np.nan,
        np.inf,
        -np.inf,
        0.5,
        -0.5,
        1.5,
        2.5,
        65504,
        65519.99,
        65520,
        448,
        464,
        464.1,
    ]
    special += [
        480,
        57344,
        61440,
        -129,
        127.9,
        128,
        255.9,
        256,
        3.3e38,
        1e-45,
        2.0**-25,
        1.5 * 2.0**-24,
        2.0**63,
    ]
    powers = [sign * 2.0**n * f for n in range(-30, 70) for f in (1, 1.00390625, 1.5) for sign in (1, -1)]
    loose = rng.standard_normal(3000) * 2.0 ** rng.integers(-40, 40, 3000)
    with np.errstate(all="ignore"):
        x = np.concatenate([special, powers, loose])
        if dtype.kind == "c":
            return (x + 1j * x[::-1]).astype(dtype)
        x = x.astype(dtype)
        if dtype == np.float64:  # just beside the ties of narrower types: a double rounding shows
            ties = np.concatenate([all_codes(t).astype(np.float64) for t in NARROW[:1]])
            ties = ties[np.isfinite(ties)]
            middle = (ties[:-1] + ties[1:]) / 2
            x = np.concatenate([x, np.nextafter(middle, np.inf), middle, np.nextafter(middle, -np.inf)])
        return x


def round_exactly(x: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    """Exact numbers to a narrow float, rounded once, by search in the sorted list of its numbers."""
    with np.errstate(invalid="ignore"):
        values = all_codes(dtype).astype(np.float64)
    finite = np.unique(values[np.isfinite(values)])
    step = finite[-1] - finite[-2]
    ladder = np.concatenate([finite, [finite[-1] + step]])
    size = np.abs(x)
    high = np.searchsorted(ladder, size).clip(1, len(ladder) - 1)
    low = high - 1
    to_high, to_low = ladder[high] - size, size - ladder[low]
    even = (np.searchsorted(np.unique(np.abs(finite)), ladder[low]) % 2) == 0
    pick = np.where((to_low < to_high) | ((to_low == to_high) & even), low, high)
    made = ladder[pick]
    made = np.where(pick == len(ladder) - 1, np.nan if dtype == E4M3FN else np.inf, made)
    made = np.where(size == ladder[high], size, made) if dtype != E4M3FN else made
    made = np.where(size > ladder[-1], np.nan if dtype == E4M3FN else np.inf, made)
    return np.copysign(np.where(np.isnan(x), np.nan, made), x)


def saturate(x: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
    info = np.iinfo(dtype)
    made = [
        0 if np.isnan(v) else (info.max if v >= info.max else info.min if v <= info.min else int(v))
        for v in x.tolist()
    ]
    return np.array(made, dtype)


def expected_cast(x: np.ndarray, to: np.dtype[Any]) -> np.ndarray:
    kind = x.dtype.kind
    if to.kind == "b":
        return wide(x) != 0
    if kind == "c" and to.kind != "c":
        x = x.real
    floating = x.dtype in FLOAT or x.dtype in FLOAT8
    with np.errstate(all="ignore"):
        if to.kind in "iu":
            return saturate(x.astype(np.float64), to) if floating else x.astype(to)
        if to in NARROW:
            if floating:
                return round_exactly(x.astype(np.float64), to).astype(to)
            # Past 2^53 an integer is marked, so that rounding it to float64 decides nothing.
            exact = np.array(
                [v if abs(v) < 2**53 else (v >> 11 | (v & 2047 != 0)) << 11 for v in x.tolist()], object
            )
            return round_exactly(exact.astype(np.float64), to).astype(to)
        if x.dtype in NARROW:
            x = x.astype(np.float64)
        return x.astype(to)


@pytest.mark.parametrize("source", ALL, ids=str)
def test_casts_to_every_type_follow_their_rules(plugin: Plugin, source: np.dtype[Any]) -> None:
    x = samples(source)
    for to in ALL:
        got, expected = plugin.run("copy", x, dtype=to), expected_cast(x, to)
        if source == to:
            assert got.tobytes() == x.tobytes()
        elif to in NARROW:
            got, expected = wide(got), wide(expected)
            np.testing.assert_array_equal(got, expected, err_msg=str(to))
            assert (np.signbit(got) == np.signbit(expected))[~np.isnan(got)].all()
        else:
            np.testing.assert_array_equal(got, expected, err_msg=str(to))


@pytest.mark.parametrize("to", FLOAT8, ids=str)
def test_float32_to_float8_is_what_ml_dtypes_does(plugin: Plugin, to: np.dtype[Any]) -> None:
    # Each float32 whose last 12 bits are a tie, just below or just above it, near every float8 there is.
    bits = np.arange(0, 1 << 32, 0x7FF1F, np.uint64).astype(np.uint32)
    x = np.concatenate([bits, bits & ~np.uint32(0xFFFFF), (bits & ~np.uint32(0xFFFFF)) + np.uint32(1)]).view(
        np.float32
    )
    with np.errstate(all="ignore"):
        expected = x.astype(to)
    np.testing.assert_array_equal(
        plugin.run("copy", x, dtype=to).astype(np.float32), expected.astype(np.float32)
    )


@pytest.mark.parametrize("to", HALF, ids=str)
def test_float32_to_16_bits_is_what_numpy_does_for_a_million_numbers(
    plugin: Plugin, to: np.dtype[Any]
) -> None:
    x = np.arange(0, 1 << 32, 4001, np.uint64).astype(np.uint32).view(np.float32)
    with np.errstate(all="ignore"):
        expected = x.astype(to)
    np.testing.assert_array_equal(
        plugin.run("copy", x, dtype=to).astype(np.float32), expected.astype(np.float32)
    )


@st.composite
def strided(
    draw: st.DrawFn, shape: tuple[int, ...]
) -> tuple[tuple[int, ...], tuple[slice, ...], tuple[int, ...]]:
    """How to cut a view of this shape from a larger array: axis order, slices, repeated axes."""
    order = tuple(draw(st.permutations(range(len(shape)))))
    slices = []
    for _ in shape:
        step = draw(st.sampled_from([1, 1, 2, -1, -3]))
        slices.append(slice(None, None, step))
    repeated = tuple(draw(st.lists(st.booleans(), min_size=len(shape), max_size=len(shape))))
    return order, tuple(slices), tuple(int(r) for r in repeated)


def cut(
    shape: tuple[int, ...],
    how: tuple[tuple[int, ...], tuple[slice, ...], tuple[int, ...]],
    dtype: np.dtype[Any],
    seed: int,
    repeat: bool,
) -> np.ndarray:
    order, slices, repeated = how
    base_shape = [0] * len(shape)
    for axis, place in enumerate(order):
        size = 1 if repeat and repeated[axis] else shape[axis]
        base_shape[place] = max(size * abs(slices[axis].step), 0)
    base = np.random.default_rng(seed).integers(0, 100, base_shape).astype(dtype)
    view = base.transpose(order)
    view = view[(..., *slices)]  # the ellipsis keeps an array of rank 0 an array
    view = view[(..., *(slice(0, 1 if repeat and repeated[a] else shape[a]) for a in range(len(shape))))]
    return np.broadcast_to(view, shape) if repeat else view


SHAPES = (
    st.lists(st.sampled_from([0, 1, 2, 3, 5, 8, 33]), min_size=0, max_size=5)
    .map(tuple)
    .filter(lambda s: np.prod(s, dtype=np.int64) <= 20_000)
)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_copy_between_any_strides(plugin: Plugin, data: st.DataObject) -> None:
    shape = data.draw(SHAPES)
    source, to = data.draw(st.sampled_from(ALL)), data.draw(st.sampled_from(ALL))
    x = cut(shape, data.draw(strided(shape)), source, 1, repeat=True)
    out = cut(shape, data.draw(strided(shape)), to, 2, repeat=False)
    if out.size == 0:
        return
    plugin.launch("copy", [x], [out])
    expected = x.astype(np.float64) if source not in COMPLEX else x.real.astype(np.float64)
    if to.kind == "b":
        expected = expected != 0
    got = out.real.astype(np.float64) if to in COMPLEX else out.astype(np.float64)
    if to in FLOAT8:
        expected = expected.astype(to).astype(np.float64)
    np.testing.assert_array_equal(got, expected.astype(np.float64))


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_binary_and_where_take_any_strides_and_write_their_own_elements_only(
    plugin: Plugin, data: st.DataObject
) -> None:
    shape = data.draw(SHAPES)
    dtype = data.draw(
        st.sampled_from([np.dtype(n) for n in ("int8", "int16", "float32", "float64", "complex128")] + HALF)
    )
    a, b = (cut(shape, data.draw(strided(shape)), dtype, seed, repeat=True) for seed in (1, 2))
    condition = cut(shape, data.draw(strided(shape)), np.dtype(np.uint8), 3, repeat=True) % 2 == 0
    if a.size == 0:
        return
    for op, inputs, expected in (
        ("maximum" if dtype.kind != "c" else "add", [a, b], None),
        ("where", [condition, a, b], np.where(condition, a, b)),
    ):
        memory = np.zeros(tuple(3 * n for n in shape), dtype)
        out = memory[(..., *(slice(n, 2 * n) for n in shape))]
        plugin.launch(op, inputs, [out])
        if expected is None:
            expected = np.maximum(a, b) if op == "maximum" else a + b
        np.testing.assert_array_equal(out, expected)
        out[...] = 0
        assert not memory.any()


@pytest.mark.parametrize(
    "source", [np.dtype(np.float32), np.dtype(np.uint8), np.dtype(np.complex128)], ids=str
)
def test_unaligned_offsets_are_read_and_written(plugin: Plugin, source: np.dtype[Any]) -> None:
    memory = np.zeros(4000, np.uint8)
    x = np.ndarray((100,), source, memory, 3)
    x[:] = np.arange(100)
    out = np.ndarray((50,), source, memory, 2001)
    plugin.launch("copy", [x[::2]], [out])
    assert (out == np.arange(0, 100, 2)).all()
    doubled = np.ndarray((100,), source, np.zeros(4000, np.uint8), 5)
    plugin.launch("add", [x, x], [doubled])
    assert (doubled == (2 * np.arange(100))).all()


@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_fill_writes_the_element_bit_for_bit(plugin: Plugin, dtype: np.dtype[Any]) -> None:
    value = np.array([1.5 + 2j if dtype in COMPLEX else 1.5]).astype(dtype)[0]
    attributes = fill_attributes(value)
    for shape in ((), (1,), (5, 7), (3, 40_000)):
        got = plugin.run("fill", dtype=dtype, shape=shape, attributes=attributes)
        assert (got == value).all()
    memory = np.zeros((6, 8), dtype)
    plugin.launch("fill", [], [memory[::2, ::-3]], attributes)
    assert (memory[::2, ::-3] == value).all()
    memory[::2, ::-3] = 0
    assert (memory == np.zeros((), dtype)).all()


@pytest.mark.parametrize("dtype", INTEGER, ids=str)
@pytest.mark.parametrize(("start", "step"), [(0, 1), (-5, 3), (2**62, 2**61), (7, 0), (10, -4)])
def test_integer_iota_wraps(plugin: Plugin, dtype: np.dtype[Any], start: int, step: int) -> None:
    got = plugin.run("iota", dtype=dtype, shape=(300,), attributes=iota_attributes(start, step))
    bits = 8 * dtype.itemsize
    expected = np.array([(start + i * step) % (1 << bits) for i in range(300)], np.uint64)
    assert (got.view(f"u{dtype.itemsize}") == expected).all()


@pytest.mark.parametrize("dtype", FLOAT, ids=str)
@pytest.mark.parametrize(("start", "step"), [(0.0, 0.1), (1.0, -3.25), (1e6, 1e-3)])
def test_float_iota_is_computed_in_float64_and_rounded_once(
    plugin: Plugin, dtype: np.dtype[Any], start: float, step: float
) -> None:
    memory = np.zeros(400, dtype)
    plugin.launch("iota", [], [memory[::2]], iota_attributes(start_float=start, step_float=step))
    exact = start + np.arange(200) * step
    with np.errstate(all="ignore"):
        expected = round_exactly(exact, dtype).astype(dtype) if dtype in HALF else exact.astype(dtype)
    assert (memory[::2] == expected).all()
    assert (memory[1::2] == np.zeros((), dtype)).all()


def test_a_copy_past_two_to_the_31_bytes_reaches_its_end(plugin: Plugin) -> None:
    # One byte per mebibyte of memory that is never touched in between, and so never there.
    rows, step = 2100, 1 << 20
    with mmap.mmap(-1, rows * step) as memory:
        memory.madvise(mmap.MADV_NOHUGEPAGE)
        column = np.frombuffer(memory, np.uint8).reshape(rows, step)[:, -1]
        column[:] = np.arange(rows) % 251
        assert (plugin.run("copy", column) == np.arange(rows) % 251).all()
        del column


def test_every_pair_of_types_is_claimed(plugin: Plugin) -> None:
    assert plugin.dtypes("copy", 0) == ALL
    assert plugin.dtypes("copy", 1) == ALL
