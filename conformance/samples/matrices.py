"""Samples of products, attention, factorisations and transforms."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from conformance.samples.draw import Draw, Sample
from conformance.samples.table import makes


@makes("matmul")
def matmul(d: Draw, op: str) -> Iterator[Sample]:
    for left, right in (
        ((4,), (4,)), ((3, 4), (4,)), ((4,), (4, 5)), ((3, 4), (4, 5)), ((2, 3, 4), (2, 4, 5)),
        ((2, 3, 4), (4, 5)), ((3, 4), (2, 4, 5)), ((2, 1, 3, 4), (3, 4, 2)),
    ):  # fmt: skip
        yield Sample((d.normal(*left), d.normal(*right)))


@makes("matmul", large=True)
def large_matmul(d: Draw, op: str) -> Iterator[Sample]:
    for m, k, n in ((33, 100, 17), (65, 257, 70), (1, 1000, 9)):
        yield Sample((d.normal(m, k), d.normal(k, n)))


@makes("vecdot")
def vecdot(d: Draw, op: str) -> Iterator[Sample]:
    yield Sample((d.normal(7), d.normal(7)))
    yield Sample((d.normal(3, 5), d.normal(3, 5)), {"axis": -1})
    yield Sample((d.normal(3, 5), d.normal(3, 1)), {"axis": -2})


@makes("outer")
def outer(d: Draw, op: str) -> Iterator[Sample]:
    yield Sample((d.normal(2), d.normal(3)))
    yield Sample((d.normal(7), d.normal(1)))


@makes("cross")
def cross(d: Draw, op: str) -> Iterator[Sample]:
    yield Sample((d.normal(2, 3), d.normal(2, 3)), {"axis": -1})
    yield Sample((d.normal(3, 2), d.normal(3, 1)), {"axis": -2})


@makes("trace")
def trace(d: Draw, op: str) -> Iterator[Sample]:
    wide = "int64" if d.dtype.kind == "i" else "uint64" if d.dtype.kind == "u" else d.dtype
    for shape, offset in (((3, 3), 0), ((2, 3, 4), 1), ((4, 3), -1)):
        yield Sample((d.normal(*shape),), {"offset": offset, "dtype": None}, np.dtype(wide))


@makes("linear")
def linear(d: Draw, op: str) -> Iterator[Sample]:
    for shape in ((4,), (3, 4), (2, 3, 4)):
        yield Sample((d.normal(*shape), d.normal(5, 4), d.normal(5)))
        yield Sample((d.normal(*shape), d.normal(5, 4), None))


@makes("linear_activation")
def linear_activation(d: Draw, op: str) -> Iterator[Sample]:
    for activation in ("none", "relu", "gelu", "silu", "sigmoid", "tanh"):
        yield Sample((d.normal(3, 4), d.normal(5, 4), d.normal(5)), {"activation": activation})
    yield Sample((d.normal(3, 4), d.normal(5, 4), None))


@makes("attention_weights")
def attention_weights(d: Draw, op: str) -> Iterator[Sample]:
    query, key = d.normal(2, 3, 4), d.normal(2, 5, 4)
    yield Sample((query, key, None, None))
    yield Sample((query, key, d.mask(3, 5), None), {"scale": 0.5})
    yield Sample((query, key, d.mask(2, 3, 5), d.normal(2, 3, 5)))
    yield Sample((query, key, None, None), {"causal": True})
    yield Sample((query, key, None, None), {"causal": True, "offset": 1})


@makes("scaled_dot_product_attention")
def attention(d: Draw, op: str) -> Iterator[Sample]:
    query, key, value = d.normal(2, 3, 4), d.normal(2, 5, 4), d.normal(2, 5, 2)
    yield Sample((query, key, value, None, None))
    yield Sample((query, key, value, d.mask(3, 5), None), {"scale": 0.5})
    yield Sample((query, key, value, d.mask(2, 3, 5), d.normal(2, 3, 5)))
    yield Sample((query, key, value, None, None), {"causal": True})
    yield Sample((query, key[0], value[0], None, None))


@makes("scaled_dot_product_attention", large=True)
def large_attention(d: Draw, op: str) -> Iterator[Sample]:
    for causal in (False, True):
        inputs = (d.normal(2, 3, 65, 16), d.normal(2, 3, 129, 16), d.normal(2, 3, 129, 17), None, None)
        yield Sample(inputs, {"causal": causal})


@makes("rotary_embedding")
def rotary(d: Draw, op: str) -> Iterator[Sample]:
    for interleaved in (False, True):
        yield Sample((d.normal(2, 3, 4), d.normal(3, 2), d.normal(3, 2)), {"interleaved": interleaved})


@makes("cholesky")
def cholesky(d: Draw, op: str) -> Iterator[Sample]:
    for upper in (False, True):
        for shape in ((3, 3), (2, 4, 4)):
            yield Sample((d.definite(*shape),), {"upper": upper})


@makes("eigvalsh")
def eigvalsh(d: Draw, op: str) -> Iterator[Sample]:
    for shape in ((3, 3), (2, 4, 4)):
        yield Sample((d.definite(*shape),))


@makes("svdvals")
def svdvals(d: Draw, op: str) -> Iterator[Sample]:
    for shape in ((3, 3), (2, 3, 2), (2, 4)):
        yield Sample((d.normal(*shape),))


@makes("inv", "det", "slogdet")
def square(d: Draw, op: str) -> Iterator[Sample]:
    for shape in ((3, 3), (2, 4, 4), (1, 1)):
        yield Sample((d.matrix(*shape),))


@makes("solve")
def solve(d: Draw, op: str) -> Iterator[Sample]:
    yield Sample((d.matrix(3, 3), d.normal(3, 2)))
    yield Sample((d.matrix(4, 4), d.normal(4)))
    yield Sample((d.matrix(2, 3, 3), d.normal(2, 3, 1)))


@makes("fourier")
def fourier(d: Draw, op: str) -> Iterator[Sample]:
    for inverse in (False, True):
        yield Sample((d.normal(7),), {"axes": (0,), "inverse": inverse})
        yield Sample((d.normal(3, 8),), {"axes": (0, 1), "inverse": inverse})


@makes("fourier_real")
def fourier_real(d: Draw, op: str) -> Iterator[Sample]:
    for shape, axis in (((7,), 0), ((3, 8), 1), ((8, 3), 0)):
        yield Sample((d.normal(*shape),), {"axis": axis}, _complex(d))


@makes("fourier_hermitian")
def fourier_hermitian(d: Draw, op: str) -> Iterator[Sample]:
    for shape, n, axis in (((4,), 7, 0), ((3, 5), 8, 1)):
        values = d.rng.normal(size=shape) + 1j * d.rng.normal(size=shape)
        yield Sample((values.astype(_complex(d)),), {"n": n, "axis": axis}, d.dtype)


def _complex(d: Draw) -> np.dtype[np.generic]:
    return np.dtype(np.complex64 if d.dtype == np.float32 else np.complex128)
