"""Ops of which several answers are right, or whose answer the generator decides.

A factorisation is judged by what its factors must satisfy: they multiply to the matrix, are orthonormal or
triangular, and stand in order. Random numbers are those that the published generator gives for a seed,
carried through the op's definition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import device_api.dtypes as dtypes
from conformance import philox
from conformance.case import Case, Failure, Measure, NotSupported, require
from conformance.framework import device_of, holds, on_device_only, run_op, to_device
from conformance.samples import Sample
from conformance.target import Target
from device_api.autograd import grad
from device_api.ops._table import BY_NAME

Array = Any
# Of a factorisation, in units of the dtype's epsilon times size times the norm of the matrix.
UNITS = 40.0


def property_cases() -> Iterator[Case]:
    """`ops.OP.DTYPE.properties`."""
    for op, judge in _FACTORED.items():
        for name in ("float32", "float64", "complex64", "complex128"):
            text = f"What the results of {op} must satisfy, for tall, wide, square and stacked matrices."
            body = partial(_factorisation, op, judge, dtypes.from_code(dtypes.code(name)))
            yield Case(f"ops.{op}.{name}.properties", body, text, quick=name == "float32")
    for op, (names, drawn) in _DRAWN.items():
        for name in names:
            text = f"{op} of the generator's bits, for seeds of all sizes, one call after the other."
            body = partial(_random, op, drawn, dtypes.from_code(dtypes.code(name)))
            yield Case(f"ops.{op}.{name}.properties", body, text, quick=name == names[0])
    for op, function in (("dropout", _dropout), ("multinomial", _multinomial)):
        for name in ("float32", "float64"):
            text = " ".join((function.__doc__ or "").split())
            single = partial(function, dtypes.from_code(dtypes.code(name)))
            yield Case(f"ops.{op}.{name}.properties", single, text, quick=name == "float32")


def _call(target: Target, op: str, inputs: list[Array], **attributes: Any) -> list[Array]:
    spec, device = BY_NAME[op], device_of(target)
    full = {**{each.name: each.default for each in spec.attributes}, **attributes}
    with on_device_only(f"{op}({', '.join(str(x.shape) for x in inputs)})"):
        tensors = [to_device(x, device) for x in inputs]
        return [x.numpy() for x in run_op(spec, tensors, Sample((), full), device)]


def _dropout(dtype: np.dtype[Any], target: Target, rng: np.random.Generator) -> Measure:
    """What is kept follows the generator, and its gradient is kept with it."""
    if not holds(target, dtype.name, "uint64", "uint32"):
        raise NotSupported(f"the device does not hold {dtype.name}, uint64 and uint32")
    device, x = device_of(target), rng.normal(size=SIZE).astype(dtype)
    for seed, rate in ((3, 0.0), (5, 0.25), (2**40, 0.5)):
        device.manual_seed(seed)
        kept = _unit(philox.stream(seed, 0, SIZE), np.dtype(np.float32)) >= rate
        with on_device_only(f"dropout of {rate}"):
            operand = to_device(x, device, differentiable=True)
            out, held = run_op(BY_NAME["dropout"], [operand], Sample((), {"rate": rate}), device)
            (slope,) = grad([out], [operand], [to_device(np.ones_like(x), device)])
        require(np.array_equal(held.numpy(), kept), f"dropout of {rate} keeps others than its bits say")
        assert slope is not None
        for what, got, full in (("result", out.numpy(), x), ("gradient", slope.numpy(), np.ones_like(x))):
            expected = np.where(kept, full.astype(np.float64) / (1 - rate), 0)
            _same(f"the {what} of dropout of {rate}", got, expected, 2.0)
    return Measure(op="dropout", dtype=dtype.name, launches=3, elements=3 * SIZE)


def _multinomial(dtype: np.dtype[Any], target: Target, rng: np.random.Generator) -> Measure:
    """Weights of 0 are never drawn, shares are about right, and without replacement nothing comes twice."""
    if not holds(target, dtype.name, "uint64", "uint32", "int64"):
        raise NotSupported(f"the device does not hold {dtype.name}, uint64, uint32 and int64")
    device_of(target).manual_seed(int(rng.integers(2**63)))
    weights = np.array([[0.0, 1.0, 3.0, 0.0], [2.0, 0.0, 1.0, 1.0]]).astype(dtype)
    (drawn,) = _call(target, "multinomial", [weights], count=4000, replacement=True)
    require(drawn.shape == (2, 4000) and drawn.min() >= 0 and drawn.max() < 4, "positions are out of range")
    for row, (places, weight) in enumerate(zip(drawn, weights.astype(np.float64), strict=True)):
        found, wanted = np.bincount(places, minlength=4) / 4000, weight / weight.sum()
        require((found[wanted == 0] == 0).all(), f"row {row}: a weight of 0 was drawn")
        # Six standard deviations of a share.
        require((np.abs(found - wanted) < 6 * np.sqrt(0.25 / 4000)).all(), f"row {row}: shares are {found}")
    (chosen,) = _call(target, "multinomial", [weights], count=2, replacement=False)
    for row, (places, weight) in enumerate(zip(chosen, weights, strict=True)):
        require(len(set(places.tolist())) == 2, f"row {row}: {places.tolist()} without replacement")
        require((weight[places] > 0).all(), f"row {row}: a weight of 0 was drawn without replacement")
    return Measure(op="multinomial", dtype=dtype.name, launches=2, elements=8004)


# --- factorisations -----------------------------------------------------------------------------------


class _Judge:
    """Compares products of factors of one matrix with what they must be."""

    def __init__(self, op: str, x: Array) -> None:
        self.op, self.x = op, x
        self.wide = x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)
        real = np.float32 if x.dtype.name in ("float32", "complex64") else np.float64
        self.limit = UNITS * float(np.finfo(real).eps) * max(x.shape[-2:])

    def near(self, what: str, got: Array, want: Array, size: float = 1.0) -> None:
        off = float(np.abs(got - want).max(initial=0))
        allowed = self.limit * size
        if not off <= allowed:
            raise Failure(
                f"{self.op} of {self.x.dtype.name}{list(self.x.shape)}: {what} is off by {off:.3g}, "
                f"{allowed:.3g} allowed",
                {"off": off, "allowed": allowed},
                {"input0": self.x},
            )

    def is_matrix(self, made: Array) -> None:
        self.near("the product of the factors", made, self.wide, float(np.abs(self.wide).max()))

    def is_orthonormal(self, what: str, q: Array) -> None:
        made = np.swapaxes(q, -1, -2).conj() @ q
        self.near(f"{what}^H @ {what}", made, np.broadcast_to(np.eye(q.shape[-1]), made.shape))


def _qr(judge: _Judge, results: list[Array], complete: bool) -> None:
    q, r = results
    rows, columns = judge.x.shape[-2:]
    inner = rows if complete else min(rows, columns)
    require(q.shape[-2:] == (rows, inner), f"q has the shape {q.shape}")
    judge.is_orthonormal("q", q)
    judge.near("what lies below the diagonal of r", np.tril(r, -1), 0)
    judge.is_matrix(q @ r)


def _eigh(judge: _Judge, results: list[Array], complete: bool) -> None:
    values, vectors = results
    require((np.diff(values, axis=-1) >= 0).all(), "the eigenvalues do not ascend")
    judge.is_orthonormal("v", vectors)
    judge.is_matrix((vectors * values[..., None, :]) @ np.swapaxes(vectors, -1, -2).conj())


def _svd(judge: _Judge, results: list[Array], complete: bool) -> None:
    u, s, vh = results
    inner = s.shape[-1]
    rows, columns = judge.x.shape[-2:]
    require(inner == min(rows, columns), f"{inner} singular values of a {rows} x {columns} matrix")
    if complete:
        require((u.shape[-1], vh.shape[-2]) == (rows, columns), f"full u and vh are {u.shape}, {vh.shape}")
    require((s >= 0).all() and (np.diff(s, axis=-1) <= 0).all(), "singular values do not descend to 0")
    judge.is_orthonormal("u", u)
    judge.is_orthonormal("vh^H", np.swapaxes(vh, -1, -2).conj())
    judge.is_matrix((u[..., :inner] * s[..., None, :]) @ vh[..., :inner, :])


def _eig(judge: _Judge, results: list[Array], complete: bool) -> None:
    values, vectors = results
    size = float(np.abs(judge.wide).max()) * 4
    judge.near("x @ v - v * w", judge.wide @ vectors, vectors * values[..., None, :], size)
    judge.near("the norms of the vectors", np.linalg.norm(vectors, axis=-2), 1)


def _eigvals(judge: _Judge, results: list[Array], complete: bool) -> None:
    (values,) = results
    identity = np.eye(judge.x.shape[-1])
    for place in np.ndindex(values.shape):
        rest = judge.wide[place[:-1]] - values[place] * identity
        least = np.linalg.svd(rest, compute_uv=False)[-1]
        judge.near(f"the matrix less its eigenvalue {values[place]:.4g}", np.asarray(least), 0, 8.0)


_FACTORED: dict[str, Callable[[_Judge, list[Array], bool], None]] = {
    "qr": _qr, "eigh": _eigh, "svd": _svd, "eig": _eig, "eigvals": _eigvals,
}  # fmt: skip
_OPTION = {"qr": "complete", "svd": "full_matrices"}


def _factorisation(
    op: str, judge: Any, dtype: np.dtype[Any], target: Target, rng: np.random.Generator
) -> Measure:
    complex_ = "complex64" if dtype.name in ("float32", "complex64") else "complex128"
    if not holds(target, dtype.name, complex_ if op.startswith("eigv") or op == "eig" else dtype.name):
        raise NotSupported(f"the device does not hold what {op} of {dtype.name} takes and gives")
    shapes: tuple[tuple[int, ...], ...] = ((1, 1), (3, 3), (2, 5, 5), (17, 17))
    if op in ("qr", "svd"):
        shapes += ((5, 3), (3, 5), (2, 6, 2))
    measure = Measure(op=op, dtype=dtype.name)
    for shape in shapes:
        x = rng.normal(size=shape) + (1j * rng.normal(size=shape) if dtype.kind == "c" else 0)
        if op == "eigh":
            x = (x + np.swapaxes(x, -1, -2).conj()) / 2
        x = x.astype(dtype)
        for complete in (False, True) if op in _OPTION else (False,):
            options = {_OPTION[op]: complete} if op in _OPTION else {}
            results = _call(target, op, [x], **options)
            judge(_Judge(op, x), [r.astype(np.result_type(r, np.float64)) for r in results], complete)
            measure.launches += 1
            measure.elements += x.size
    return measure


# --- draws ----------------------------------------------------------------------------------------------


def _unit(words: Array, dtype: np.dtype[Any]) -> Array:
    """Words of the generator as numbers in [0, 1), exactly."""
    if dtype.name == "float64":
        return (_whole(words) >> np.uint64(11)).astype(np.float64) * 2.0**-53
    digits = {"float32": 24, "float16": 11, "bfloat16": 8}[dtype.name]
    return (words >> np.uint32(32 - digits)).astype(np.float64) * 2.0**-digits


def _whole(words: Array) -> Array:
    pairs = words.astype(np.uint64).reshape(-1, 2)
    return pairs[:, 0] << np.uint64(32) | pairs[:, 1]


def _wide(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(np.float32) if dtype.itemsize == 2 else dtype


def _words(count: int, dtype: np.dtype[Any]) -> int:
    """How many words so many uniform numbers take."""
    return 2 * count if dtype.name == "float64" else count


Expectation = tuple[dict[str, Any], Callable[[Callable[[int], Array]], Array], float]
SIZE = 301


def _uniforms(dtype: np.dtype[Any]) -> Iterator[Expectation]:
    attributes = {"shape": (7, 43), "dtype": dtype}
    yield attributes, lambda draw: _unit(draw(_words(SIZE, dtype)), dtype).reshape(7, 43), 0.0
    moved = {**attributes, "low": -2.0, "high": 6.0}
    yield moved, lambda draw: _unit(draw(_words(SIZE, dtype)), dtype).reshape(7, 43) * 8 - 2, 1.0


def _integers(dtype: np.dtype[Any]) -> Iterator[Expectation]:
    for low, high in ((0, 5), (-3, 100), (0, 128)):

        def want(draw: Callable[[int], Array], low: int = low, high: int = high) -> Array:
            return ((_whole(draw(2 * SIZE)) % np.uint64(high - low)).astype(np.int64) + low).astype(dtype)

        if low >= 0 or dtype.kind == "i":
            yield {"shape": (SIZE,), "low": low, "high": high, "dtype": dtype}, want, 0.0


def _truths(dtype: np.dtype[Any]) -> Iterator[Expectation]:
    single = np.dtype(np.float32)
    for share in (0.0, 0.25, 1.0):

        def want(draw: Callable[[int], Array], share: float = share) -> Array:
            return _unit(draw(SIZE), single) < share

        yield {"shape": (SIZE,), "p": share}, want, 0.0


def _orders(dtype: np.dtype[Any]) -> Iterator[Expectation]:
    yield {"size": SIZE}, lambda draw: np.argsort(_whole(draw(2 * SIZE)), kind="stable").astype(np.int64), 0.0


def _waits(dtype: np.dtype[Any]) -> Iterator[Expectation]:
    wide = _wide(dtype)
    attributes = {"shape": (SIZE,), "rate": 2.0, "dtype": dtype}
    yield attributes, lambda draw: -np.log1p(-_unit(draw(_words(SIZE, wide)), wide)) / 2, 16.0


def _bells(dtype: np.dtype[Any]) -> Iterator[Expectation]:
    wide, half = _wide(dtype), (SIZE + 1) // 2

    def want(draw: Callable[[int], Array]) -> Array:
        first, second = _unit(draw(_words(2 * half, wide)), wide).reshape(2, half)
        radius, angle = np.sqrt(-2 * np.log(1 - first)), 2 * np.pi * second
        return np.concatenate([radius * np.cos(angle), radius * np.sin(angle)])[:SIZE] * 2 + 1

    yield {"shape": (SIZE,), "mean": 1.0, "std": 2.0, "dtype": dtype}, want, 64.0


_FLOATS = ("float32", "float64", "float16", "bfloat16")
_DRAWN: dict[str, tuple[tuple[str, ...], Callable[[np.dtype[Any]], Iterator[Expectation]]]] = {
    "uniform": (_FLOATS, _uniforms),
    "normal": (_FLOATS, _bells),
    "exponential": (_FLOATS, _waits),
    "randint": (("int64", "int32", "uint8"), _integers),
    "bernoulli": (("bool",), _truths),
    "permutation": (("int64",), _orders),
}


def _random(op: str, drawn: Any, dtype: np.dtype[Any], target: Target, rng: np.random.Generator) -> Measure:
    if not holds(target, dtype.name, "uint64", "uint32"):
        raise NotSupported(f"the device does not hold {dtype.name}, uint64 and uint32")
    measure = Measure(op=op, dtype=dtype.name)
    for seed in (0, 1, 2**32 + 7, int(rng.integers(2**63)) * 2 + 1):
        device_of(target).manual_seed(seed)
        offset = 0

        def draw(count: int, seed: int = seed) -> Array:
            nonlocal offset
            words = philox.stream(seed, offset, count)
            offset += -(-count // 4)
            return words

        # One call after the other: each goes on where the one before ended.
        for attributes, want, units in drawn(dtype):
            (found,) = _call(target, op, [], **attributes)
            expected = want(draw)
            _same(f"{op}({attributes}) after seed {seed}", found, expected, units)
            measure.launches += 1
            measure.elements += found.size
    return measure


def _same(what: str, found: Array, expected: Array, units: float) -> None:
    require(found.shape == expected.shape, f"{what} has the shape {found.shape}")
    if found.dtype.kind not in "fV":
        same = found == expected
    else:
        epsilon = {"float16": 2.0**-10, "bfloat16": 2.0**-7, "float32": 2.0**-23}.get(
            found.dtype.name, 2.0**-52
        )
        # Rounded to 16 bits once more at the end.
        slack = units if found.dtype.itemsize > 2 else min(units, 2.0)
        scale = np.maximum(np.abs(expected), 1.0)
        same = np.abs(found.astype(np.float64) - expected) <= slack * epsilon * scale
    if not same.all():
        place = tuple(int(i) for i in np.argwhere(~same)[0])
        raise Failure(
            f"{what}: {int((~same).sum())} of {same.size} differ, first at {list(place)}: {found[place]}, "
            f"expected {expected[place]}"
        )
