"""Shape rules of factorisations and Fourier transforms: what LAPACK and an FFT make of a stack of matrices or
of an axis. Inputs have been promoted; attributes are in normal form."""

from __future__ import annotations

from device_api import dtypes
from device_api.ops.shape_support import (
    Attributes,
    Inputs,
    Rule,
    TensorSpec,
    axes_of,
    axis_of,
    broadcast,
    dtype_of,
    first,
    real_dtype,
    second,
    shape_error,
    value_error,
)
from device_api.opset.spec import OpSpec

_COMPLEX = {dtypes.FLOAT32: dtypes.COMPLEX64, dtypes.FLOAT64: dtypes.COMPLEX128}


def _stack(op: OpSpec, inputs: Inputs, square: bool) -> tuple[tuple[int, ...], int, int]:
    """The batch axes, rows and columns of the first input."""
    shape = first(inputs).shape
    if len(shape) < 2:
        raise shape_error(op, "a matrix, or a stack of them, is needed", [shape], op.inputs[0].name)
    if square and shape[-1] != shape[-2]:
        raise shape_error(op, "square matrices are needed", [shape], op.inputs[0].name)
    return shape[:-2], shape[-2], shape[-1]


def _complex(code: int) -> int:
    return _COMPLEX.get(code, code)


def square_matrix(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """(..., n, n) -> (..., n, n)."""
    _stack(op, inputs, square=True)
    return [first(inputs)]


def qr(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """(..., m, n) -> (..., m, k) and (..., k, n), k being m with complete, else the smaller of both."""
    batch, rows, columns = _stack(op, inputs, square=False)
    inner = rows if attributes["complete"] else min(rows, columns)
    code = first(inputs).dtype
    return [TensorSpec((*batch, rows, inner), code), TensorSpec((*batch, inner, columns), code)]


def eigh(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """(..., n, n) -> (..., n) real, (..., n, n)."""
    batch, rows, _ = _stack(op, inputs, square=True)
    code = first(inputs).dtype
    return [TensorSpec((*batch, rows), real_dtype(code)), first(inputs)]


def eig(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """(..., n, n) -> (..., n) and (..., n, n), complex."""
    batch, rows, _ = _stack(op, inputs, square=True)
    code = _complex(first(inputs).dtype)
    return [TensorSpec((*batch, rows), code), TensorSpec((*batch, rows, rows), code)]


def eigenvalues(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """(..., n, n) -> (..., n)."""
    batch, rows, _ = _stack(op, inputs, square=True)
    code = first(inputs).dtype
    return [
        TensorSpec((*batch, rows), real_dtype(code) if op.outputs[0].type == "real(T)" else _complex(code))
    ]


def svd(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """(..., m, n) -> (..., m, m or k), (..., k) real, (..., n or k, n), k being the smaller of m and n."""
    batch, rows, columns = _stack(op, inputs, square=False)
    inner = min(rows, columns)
    left, right = (rows, columns) if attributes["full_matrices"] else (inner, inner)
    code = first(inputs).dtype
    return [
        TensorSpec((*batch, rows, left), code),
        TensorSpec((*batch, inner), real_dtype(code)),
        TensorSpec((*batch, right, columns), code),
    ]


def singular_values(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """(..., m, n) -> (..., k) real, k being the smaller of m and n."""
    batch, rows, columns = _stack(op, inputs, square=False)
    return [TensorSpec((*batch, min(rows, columns)), real_dtype(first(inputs).dtype))]


def solve(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """(..., n, n) and (..., n, k), or (n) for one column -> the shape of x2, batches broadcast."""
    batch, rows, _ = _stack(op, inputs, square=True)
    right = second(inputs).shape
    size = right[-1:] if len(right) == 1 else right[-2:-1]
    if size != (rows,):
        raise shape_error(op, f"x2 needs {rows} rows, as x1 has", [first(inputs).shape, right], "x2")
    code = first(inputs).dtype
    if len(right) == 1:
        return [TensorSpec((*batch, rows), code)]
    return [TensorSpec((*broadcast(op, [batch, right[:-2]]), *right[-2:]), code)]


def determinant(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """(..., n, n) -> (...)."""
    batch, _, _ = _stack(op, inputs, square=True)
    return [TensorSpec(batch, first(inputs).dtype)]


def slogdet(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """(..., n, n) -> (...) and (...) real."""
    batch, _, _ = _stack(op, inputs, square=True)
    code = first(inputs).dtype
    return [TensorSpec(batch, code), TensorSpec(batch, real_dtype(code))]


def _check_length(op: OpSpec, shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    for axis in axes:
        if shape[axis] == 0:
            raise shape_error(op, f"there is no transform of no elements, along axis {axis}", [shape])


def fourier(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """The shape of x."""
    x = first(inputs)
    _check_length(op, x.shape, axes_of(op, attributes["axes"], len(x.shape)))
    return [TensorSpec(x.shape, dtype_of(op, inputs, attributes))]


def fourier_real(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """n along the axis become n // 2 + 1, complex."""
    x = first(inputs)
    axis = axis_of(op, attributes["axis"], len(x.shape))
    _check_length(op, x.shape, (axis,))
    shape = (*x.shape[:axis], x.shape[axis] // 2 + 1, *x.shape[axis + 1 :])
    return [TensorSpec(shape, _complex(x.dtype))]


def fourier_hermitian(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """n // 2 + 1 along the axis become n, real."""
    x = first(inputs)
    axis = axis_of(op, attributes["axis"], len(x.shape))
    n = attributes["n"]
    if n < 1:
        raise value_error(op, "n", n, "a transform has one element at least")
    if x.shape[axis] != n // 2 + 1:
        raise shape_error(op, f"axis {axis} needs {n // 2 + 1} elements for n = {n}", [x.shape])
    return [TensorSpec((*x.shape[:axis], n, *x.shape[axis + 1 :]), real_dtype(x.dtype))]


RULES: dict[str, Rule] = {
    rule.__name__: rule
    for rule in (
        square_matrix, qr, eigh, eig, eigenvalues, svd, singular_values, solve, determinant, slogdet, fourier,
        fourier_real, fourier_hermitian,
    )
}  # fmt: skip
