"""Solving and factorising stacks of matrices, by NumPy's LAPACK."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def cholesky(x: Array, *, upper: bool) -> Array:
    """The triangular factor of positive definite matrices."""
    return np.asarray(np.linalg.cholesky(x, upper=bool(upper)))


def qr(x: Array, *, complete: bool) -> tuple[Array, Array]:
    """Orthonormal columns and an upper triangle."""
    made = np.linalg.qr(x, mode="complete" if complete else "reduced")
    return made.Q, made.R


def eigh(x: Array) -> tuple[Array, Array]:
    """Ascending eigenvalues and the eigenvectors of Hermitian matrices."""
    made = np.linalg.eigh(x)
    return made.eigenvalues, made.eigenvectors


def eigvalsh(x: Array) -> Array:
    """Ascending eigenvalues of Hermitian matrices."""
    return np.asarray(np.linalg.eigvalsh(x))


def eig(x: Array) -> tuple[Array, Array]:
    """Eigenvalues and eigenvectors of square matrices."""
    made = np.linalg.eig(x)
    return made.eigenvalues, made.eigenvectors


def eigvals(x: Array) -> Array:
    """Eigenvalues of square matrices."""
    return np.asarray(np.linalg.eigvals(x))


def svd(x: Array, *, full_matrices: bool) -> tuple[Array, Array, Array]:
    """Singular vectors and values."""
    made = np.linalg.svd(x, full_matrices=bool(full_matrices))
    return made.U, made.S, made.Vh


def svdvals(x: Array) -> Array:
    """Descending singular values."""
    return np.asarray(np.linalg.svd(x, compute_uv=False))


def solve(x1: Array, x2: Array) -> Array:
    """The x of x1 @ x = x2."""
    return np.asarray(np.linalg.solve(x1, x2))


def inv(x: Array) -> Array:
    """The inverse of square matrices."""
    return np.asarray(np.linalg.inv(x))


def det(x: Array) -> Array:
    """The determinant of square matrices."""
    return np.asarray(np.linalg.det(x))


def slogdet(x: Array) -> tuple[Array, Array]:
    """Sign and logarithm of the determinant."""
    made = np.linalg.slogdet(x)
    return np.asarray(made.sign), np.asarray(made.logabsdet)
