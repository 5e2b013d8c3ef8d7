"""The array API's linear algebra: `device_api.linalg`.

Factorisations are ops; the other functions are compositions of ops, so gradients follow. Matrices are
the last two axes, all others are a stack. Integers count as default floats where factors need floats.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from device_api import _activation as _activation
from device_api import _core, dtypes
from device_api.errors import AttributeValueError, ShapeError
from device_api.ops import _functions as F
from device_api.ops.views import normalize_axes, normalize_axis
from device_api.tensor.creation import eye
from device_api.tensor.inspection import finfo
from device_api.tensor.rearranging import broadcast_shapes, tensordot

__all__ = [
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]

Tensor = _core.Tensor

matmul = F.matmul
matrix_transpose = F.matrix_transpose
vecdot = F.vecdot


class QRResult(NamedTuple):
    """Orthonormal columns, and an upper triangle."""

    Q: Tensor
    R: Tensor


class EighResult(NamedTuple):
    """Ascending eigenvalues, and eigenvectors as columns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class EigResult(NamedTuple):
    """Complex eigenvalues, and eigenvectors as columns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class SVDResult(NamedTuple):
    """Orthonormal columns, descending singular values, and orthonormal rows."""

    U: Tensor
    S: Tensor
    Vh: Tensor


class SlogdetResult(NamedTuple):
    """The sign of a determinant, and the logarithm of its magnitude."""

    sign: Tensor
    logabsdet: Tensor


def cholesky(x: Tensor, /, *, upper: bool = False) -> Tensor:
    """The lower (or upper) triangular factor of positive definite Hermitian matrices.

    Raises `KernelFailed` for a matrix that is not positive definite.
    """
    return F.cholesky(x, upper=upper)


def qr(x: Tensor, /, *, mode: Literal["reduced", "complete"] = "reduced") -> QRResult:
    """Matrices as Q @ R; with mode "complete", Q is square."""
    if mode not in ("reduced", "complete"):
        raise AttributeValueError(
            "qr has no such mode",
            subject=repr(mode),
            why="modes are 'reduced' and 'complete'",
            op="qr",
            argument="mode",
            value=mode,
        )
    return QRResult(*F.qr(x, complete=mode == "complete"))


def eigh(x: Tensor, /) -> EighResult:
    """Eigenvalues and eigenvectors of Hermitian matrices."""
    return EighResult(*F.eigh(x))


def eigvalsh(x: Tensor, /) -> Tensor:
    """Eigenvalues of Hermitian matrices, ascending."""
    return F.eigvalsh(x)


def eig(x: Tensor, /) -> EigResult:
    """Eigenvalues and eigenvectors of square matrices, complex."""
    return EigResult(*F.eig(x))


def eigvals(x: Tensor, /) -> Tensor:
    """Eigenvalues of square matrices, complex."""
    return F.eigvals(x)


def svd(x: Tensor, /, *, full_matrices: bool = True) -> SVDResult:
    """Matrices as U @ diag(S) @ Vh; with full_matrices, U and Vh are square."""
    return SVDResult(*F.svd(x, full_matrices=full_matrices))


def svdvals(x: Tensor, /) -> Tensor:
    """Singular values, descending."""
    return F.svdvals(x)


def solve(x1: Tensor, x2: Tensor, /) -> Tensor:
    """The x of x1 @ x = x2; a one-dimensional x2 is one column. Raises `KernelFailed` for singular x1."""
    return F.solve(x1, x2)


def inv(x: Tensor, /) -> Tensor:
    """The inverse of square matrices; raises `KernelFailed` for a singular one."""
    return F.inv(x)


def det(x: Tensor, /) -> Tensor:
    """The determinant of square matrices."""
    return F.det(x)


def slogdet(x: Tensor, /) -> SlogdetResult:
    """Sign and logarithm of the determinant of square matrices."""
    return SlogdetResult(*F.slogdet(x))


def _check_matrix(x: Tensor, op: str, *, square: bool = False) -> None:
    if x.ndim < 2 or (square and x.shape[-1] != x.shape[-2]):
        raise ShapeError(
            f"{op} takes {'square ' if square else ''}matrices, or stacks of them",
            subject=str(x.shape),
            op=op,
            shapes=(x.shape,),
        )


def outer(x1: Tensor, x2: Tensor, /) -> Tensor:
    """Every element of one vector times every element of another."""
    if x1.ndim != 1 or x2.ndim != 1:
        raise ShapeError(
            "outer takes two vectors",
            subject=f"{x1.shape} and {x2.shape}",
            op="outer",
            shapes=(x1.shape, x2.shape),
        )
    return F.multiply(F.expand_dims(x1, axis=1), x2)


def cross(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """The cross product of vectors of three elements along an axis."""
    shape = broadcast_shapes(x1.shape, x2.shape)
    axis = normalize_axis(axis, min(x1.ndim, x2.ndim), "cross") - min(x1.ndim, x2.ndim)
    if x1.shape[axis] != 3 or x2.shape[axis] != 3:
        raise ShapeError(
            "cross takes vectors of three elements",
            subject=f"{x1.shape} and {x2.shape} along axis {axis}",
            op="cross",
            shapes=(x1.shape, x2.shape),
        )
    key: tuple[Any, ...] = (slice(None),) * (axis + len(shape))
    a, b = F.broadcast_to(x1, shape), F.broadcast_to(x2, shape)
    parts = []
    for i, j in ((1, 2), (2, 0), (0, 1)):
        first = F.multiply(a[(*key, i)], b[(*key, j)])
        parts.append(F.subtract(first, F.multiply(a[(*key, j)], b[(*key, i)])))
    return F.stack(parts, axis=axis)


def diagonal(x: Tensor, /, *, offset: int = 0) -> Tensor:
    """The diagonal `offset` above the main one (below, when negative) of each matrix; a view, unless a
    gradient is recorded."""
    _check_matrix(x, "diagonal")
    rows, columns = x.shape[-2:]
    size = max(min(rows + min(offset, 0), columns - max(offset, 0)), 0)
    if x.requires_grad and _core.grad_enabled():
        flat = F.reshape(x, (*x.shape[:-2], rows * columns))
        first = max(offset, 0) + max(-offset, 0) * columns
        if not size:
            return flat[..., :0]
        return flat[..., slice(first, first + (size - 1) * (columns + 1) + 1, columns + 1)]
    row_step, column_step = x.strides[-2:]
    place = x.byte_offset
    if size:
        place += (max(offset, 0) * column_step + max(-offset, 0) * row_step) * x.itemsize
    strides = (*x.strides[:-2], row_step + column_step)
    return _core.view(x, x.dtype_code, (*x.shape[:-2], size), strides, place)


def trace(x: Tensor, /, *, offset: int = 0, dtype: npt.DTypeLike | None = None) -> Tensor:
    """The sum of a diagonal of each matrix; small integers are added as 64-bit ones."""
    wanted = None if dtype is None else dtypes.from_code(dtypes.code(dtype))
    return F.sum(diagonal(x, offset=offset), axis=-1, dtype=wanted)


def matrix_power(x: Tensor, n: int, /) -> Tensor:
    """Square matrices multiplied n times; their inverses, for a negative n."""
    _check_matrix(x, "matrix_power", square=True)
    if n == 0:
        return F.broadcast_to(eye(x.shape[-1], dtype=x.dtype, device=x.device), x.shape) + F.multiply(x, 0)
    if n < 0:
        x, n = inv(x), -n
    factors: list[Tensor] = []
    while n:
        if n & 1:
            factors.append(x)
        n >>= 1
        if n:
            x = F.matmul(x, x)
    return functools.reduce(F.matmul, factors[1:], F.copy(factors[0]))


def matrix_norm(
    x: Tensor, /, *, keepdims: bool = False, ord: int | float | Literal["fro", "nuc"] | None = "fro"
) -> Tensor:
    """A norm of each matrix: Frobenius, nuclear, 1, -1, inf, -inf (sums of columns and rows), 2, -2 (singular
    values)."""
    _check_matrix(x, "matrix_norm")
    if ord == "fro" or ord is None:
        made = F.sqrt(F.sum(F.square(_magnitude(x)), axis=(-2, -1)))
    elif ord == "nuc":
        made = F.sum(F.svdvals(x), axis=-1)
    elif ord in (2, -2):
        made = _extreme(F.svdvals(x), -1, ord > 0)
    elif ord in (1, -1):
        made = _extreme(F.sum(_magnitude(x), axis=-2), -1, ord > 0)
    elif ord in (math.inf, -math.inf):
        made = _extreme(F.sum(_magnitude(x), axis=-1), -1, ord > 0)
    else:
        raise AttributeValueError(
            "no such norm of matrices",
            subject=repr(ord),
            why="norms are 'fro', 'nuc', 1, -1, 2, -2, inf and -inf",
            op="matrix_norm",
            argument="ord",
            value=ord,
        )
    return F.expand_dims(made, axis=(-2, -1)) if keepdims else made


def _extreme(x: Tensor, axis: int, greatest: bool) -> Tensor:
    """The greatest or least along an axis; 0 of nothing, as norms of empty matrices are."""
    if x.shape[axis] == 0:
        return F.sum(x, axis=axis)
    return F.max(x, axis=axis) if greatest else F.min(x, axis=axis)


def _magnitude(x: Tensor) -> Tensor:
    if x.dtype_code not in dtypes.FLOATING | dtypes.COMPLEX:
        x = F.copy(x, dtype=dtypes.from_code(dtypes.default_code(float)))
    return F.abs(x)


def vector_norm(
    x: Tensor,
    /,
    *,
    axis: int | Sequence[int] | None = None,
    keepdims: bool = False,
    ord: int | float = 2,
) -> Tensor:
    """The norm of some order of vectors along axes (of all elements by default): the root of the sum of
    powers, or for 0 the number of elements that are not 0, and for inf and -inf the extremes."""
    size = _magnitude(x)
    if axis is None:
        axes = tuple(range(x.ndim))
    else:
        axes = normalize_axes((axis,) if isinstance(axis, int) else axis, x.ndim, "vector_norm")
    if ord == math.inf or ord == -math.inf:
        if math.prod(x.shape[each] for each in axes) == 0 and ord > 0:
            return F.sum(size, axis=axes, keepdims=keepdims)
        reduce = F.max if ord > 0 else F.min
        return reduce(size, axis=axes, keepdims=keepdims) if axes else size
    if ord == 0:
        return F.sum(F.astype(F.not_equal(size, 0), size.dtype), axis=axes, keepdims=keepdims)
    if ord == 1:
        return F.sum(size, axis=axes, keepdims=keepdims)
    if ord == 2:
        return F.sqrt(F.sum(F.square(size), axis=axes, keepdims=keepdims))
    return F.pow(F.sum(F.pow(size, float(ord)), axis=axes, keepdims=keepdims), 1.0 / ord)


def matrix_rank(x: Tensor, /, *, rtol: float | Tensor | None = None) -> Tensor:
    """How many singular values are greater than `rtol` times the greatest; int64.

    Without rtol, the longer side of the matrix times the dtype's epsilon.
    """
    _check_matrix(x, "matrix_rank")
    values = F.svdvals(x)
    if values.shape[-1] == 0:
        return F.sum(F.astype(values, np.int64), axis=-1)
    bound = F.multiply(F.max(values, axis=-1, keepdims=True), _tolerance(x, values, rtol))
    return F.sum(F.astype(F.greater(values, bound), np.int64), axis=-1)


def _tolerance(x: Tensor, values: Tensor, rtol: float | Tensor | None) -> Any:
    if rtol is None:
        return max(x.shape[-2:]) * finfo(values).eps
    return F.expand_dims(rtol, axis=-1) if isinstance(rtol, Tensor) else rtol


def pinv(x: Tensor, /, *, rtol: float | Tensor | None = None) -> Tensor:
    """The Moore-Penrose inverse of matrices; singular values up to `rtol` times the greatest count as 0.

    Without rtol, the longer side of the matrix times the dtype's epsilon.
    """
    _check_matrix(x, "pinv")
    u, s, vh = F.svd(x, full_matrices=False)
    adjoint_u = F.conjugate(F.matrix_transpose(u))
    adjoint_v = F.conjugate(F.matrix_transpose(vh))
    if s.shape[-1] == 0:
        return F.matmul(adjoint_v, adjoint_u)
    bound = F.multiply(F.max(s, axis=-1, keepdims=True), _tolerance(x, s, rtol))
    kept = F.greater(s, bound)
    inverse = F.where(kept, F.reciprocal(F.where(kept, s, 1.0)), 0.0)
    return F.matmul(adjoint_v, F.multiply(F.expand_dims(inverse, axis=-1), adjoint_u))
