"""Oracles of Fourier transforms, by the sum that defines them, and of solving and factorising matrices, by
elimination and rotation in extended precision, which LAPACK does not have."""

from __future__ import annotations

import numpy as np

from conformance.oracle.forms import Array, formula
from conformance.oracle.precision import real_dtype, widen
from conformance.oracle.registry import Call, Expected, oracle

_PI = np.longdouble("3.14159265358979323846264338327950288")


def _dft(x: Array, axis: int, sign: int) -> Array:
    n = x.shape[axis]
    turns = np.outer(np.arange(n), np.arange(n)) % max(n, 1)
    matrix = np.exp(sign * 2j * _PI * turns / max(n, 1))
    return np.moveaxis(np.tensordot(x.astype(np.clongdouble), matrix, (axis, 0)), -1, axis)


def _total(call: Call) -> Array:
    return np.asarray(np.abs(call.inputs[0]).sum())


@formula("fourier", measure=_total)
def fourier(call: Call) -> Array:
    (x,) = call.inputs
    for axis in call.attributes["axes"]:
        x = _dft(x, axis, 1 if call.attributes["inverse"] else -1)
    return np.asarray(x)


@formula("fourier_real", measure=_total)
def fourier_real(call: Call) -> Array:
    (x,) = call.inputs
    axis = call.attributes["axis"]
    return np.take(_dft(x, axis, -1), range(x.shape[axis] // 2 + 1), axis=axis)


@formula("fourier_hermitian", measure=_total)
def fourier_hermitian(call: Call) -> Array:
    (x,), n = call.inputs, call.attributes["n"]
    axis = call.attributes["axis"] % x.ndim
    half = np.moveaxis(x, axis, -1)[..., : n // 2 + 1].astype(np.clongdouble)
    half[..., 0] = half[..., 0].real
    if n % 2 == 0:
        half[..., -1] = half[..., -1].real
    rest = np.conj(half[..., 1 : (n + 1) // 2])[..., ::-1]
    return np.moveaxis(_dft(np.concatenate([half, rest], axis=-1), -1, 1).real, -1, axis)


def _matrices(x: Array) -> tuple[Array, tuple[int, ...]]:
    wide = widen(x).astype(np.clongdouble if x.dtype.kind == "c" else np.longdouble)
    return wide.reshape(-1, *x.shape[-2:]), x.shape[:-2]


def _eliminate(matrix: Array, right: Array) -> tuple[Array, Array]:
    """Gauss and Jordan with row exchanges: the solution, and the determinant."""
    a, b, n = matrix.copy(), right.copy(), len(matrix)
    determinant = a.dtype.type(1)
    for i in range(n):
        pivot = i + int(np.argmax(np.abs(a[i:, i])))
        if pivot != i:
            a[[i, pivot]], b[[i, pivot]] = a[[pivot, i]], b[[pivot, i]]
            determinant = -determinant
        determinant = determinant * a[i, i]
        b[i], a[i] = b[i] / a[i, i], a[i] / a[i, i]
        for j in range(n):
            if j != i:
                b[j], a[j] = b[j] - a[j, i] * b[i], a[j] - a[j, i] * a[i]
    return b, determinant


def _condition(matrix: Array, inverse: Array) -> Array:
    """How much an error of one unit may grow."""
    return np.abs(matrix).sum(axis=1).max() * np.abs(inverse).sum(axis=1).max()


@oracle("solve", "inv", "det", "slogdet")
def elimination(call: Call) -> list[Expected]:
    """Errors are measured against the size of the result times the condition of the matrix."""
    matrices, batch = _matrices(call.inputs[0])
    n, dtype = matrices.shape[-1], call.inputs[0].dtype
    right = np.broadcast_to(np.eye(n, dtype=matrices.dtype), matrices.shape)
    vector = call.op == "solve" and call.inputs[1].ndim == 1
    if call.op == "solve":
        given = widen(call.inputs[1]).astype(matrices.dtype)
        given = given[:, None] if vector else given
        right = np.broadcast_to(given, (*batch, *given.shape[-2:])).reshape(-1, *given.shape[-2:])
    solved = [_eliminate(a, b) for a, b in zip(matrices, right, strict=True)]
    inverses = [_eliminate(a, np.eye(n, dtype=a.dtype))[0] for a in matrices]
    conditions = np.array([_condition(a, i) for a, i in zip(matrices, inverses, strict=True)]) * n
    if call.op in ("det", "slogdet"):
        values = np.array([determinant for _, determinant in solved]).reshape(batch)
        scale = conditions.reshape(batch)
        if call.op == "det":
            return [Expected(values, dtype, np.abs(values) * scale)]
        size = np.abs(values)
        return [
            Expected(values / size, dtype, scale),
            Expected(np.log(size), real_dtype(dtype), np.maximum(np.abs(np.log(size)), scale)),
        ]
    values = np.stack([value for value, _ in solved])
    scale = np.abs(values).max(axis=(1, 2), keepdims=True) * conditions[:, None, None] * np.ones(values.shape)
    shape = (n,) if vector else (*batch, *values.shape[1:])
    return [Expected(values.reshape(shape), dtype, scale.reshape(shape))]


@oracle("cholesky")
def cholesky(call: Call) -> list[Expected]:
    matrices, batch = _matrices(call.inputs[0])
    n = matrices.shape[-1]
    out, scale = np.zeros_like(matrices), np.zeros(matrices.shape, np.longdouble)
    for a, lower, size in zip(matrices, out, scale, strict=True):
        for i in range(n):
            for j in range(i + 1):
                rest = a[i, j] - (lower[i, :j] * np.conj(lower[j, :j])).sum()
                lower[i, j] = np.sqrt(rest.real) if i == j else rest / lower[j, j].real
        inverse = _eliminate(a, np.eye(n, dtype=a.dtype))[0]
        size[...] = np.abs(lower).max() * _condition(a, inverse)
    if call.attributes["upper"]:
        out = np.conj(np.swapaxes(out, -1, -2))
    shape = (*batch, n, n)
    return [Expected(out.reshape(shape), call.inputs[0].dtype, scale.reshape(shape))]


def _symmetric_eigenvalues(matrix: Array) -> Array:
    """Jacobi's rotations on a real symmetric matrix, until nothing is left beside the diagonal."""
    a, n = matrix.copy(), len(matrix)
    for _ in range(30):
        if np.abs(a - np.diag(np.diag(a))).max(initial=0) <= np.finfo(a.dtype).eps * np.abs(a).max(initial=0):
            break
        for p in range(n):
            for q in range(p + 1, n):
                if a[p, q] == 0:
                    continue
                theta = (a[q, q] - a[p, p]) / (2 * a[p, q])
                t = (1 if theta >= 0 else -1) / (np.abs(theta) + np.sqrt(theta * theta + 1))
                c = 1 / np.sqrt(t * t + 1)
                a[[p, q]] = c * a[p] - t * c * a[q], t * c * a[p] + c * a[q]
                a[:, [p, q]] = np.stack(
                    [c * a[:, p] - t * c * a[:, q], t * c * a[:, p] + c * a[:, q]], axis=1
                )
    return np.sort(np.diag(a))


def _real_form(matrix: Array) -> Array:
    """A Hermitian matrix as a real symmetric one with every eigenvalue twice."""
    if matrix.dtype.kind != "c":
        return matrix
    return np.block([[matrix.real, -matrix.imag], [matrix.imag, matrix.real]])


@oracle("eigvalsh")
def eigvalsh(call: Call) -> list[Expected]:
    matrices, batch = _matrices(call.inputs[0])
    step = 2 if matrices.dtype.kind == "c" else 1
    values = np.stack([_symmetric_eigenvalues(_real_form(a))[::step] for a in matrices])
    return [_spectrum(values.reshape(*batch, -1), call)]


@oracle("svdvals")
def svdvals(call: Call) -> list[Expected]:
    """The positive eigenvalues of [[0, A], [A^H, 0]]."""
    matrices, batch = _matrices(call.inputs[0])
    rows, columns = matrices.shape[-2:]
    step, kept = (2 if matrices.dtype.kind == "c" else 1), min(rows, columns)
    found = []
    for a in matrices:
        both = np.zeros((rows + columns,) * 2, a.dtype)
        both[:rows, rows:], both[rows:, :rows] = a, np.conj(a.T)
        found.append(_symmetric_eigenvalues(_real_form(both))[::-1][::step][:kept])
    return [_spectrum(np.maximum(np.stack(found), 0).reshape(*batch, -1), call)]


def _spectrum(values: Array, call: Call) -> Expected:
    """Eigenvalues are as exact as the greatest of them is."""
    scale = np.abs(values).max(axis=-1, keepdims=True) * np.ones(values.shape) * call.inputs[0].shape[-1]
    return Expected(values, real_dtype(call.inputs[0].dtype), scale)
