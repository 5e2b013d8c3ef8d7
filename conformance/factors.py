"""Factorisations as functions that can be differentiated: NumPy's, with the free signs of the factors fixed.

QR, eigenvectors and singular vectors are unique but for a sign per column. Here the signs are those that a
given answer has, so that differences see one smooth function, and a device's answer is on the same branch.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from conformance.samples import Draw, Sample
from device_api.ops._table import BY_NAME

Array = Any
FACTORED = frozenset({"qr", "eigh", "svd"})
_OPTIONS: dict[str, dict[str, Any]] = {
    "qr": {"complete": False},
    "eigh": {},
    "svd": {"full_matrices": False},
}


def factored_samples(op: str, draw: Draw) -> Iterator[Sample]:
    """Matrices whose factors are well apart."""
    defaults = {each.name: each.default for each in BY_NAME[op].attributes}
    shapes = ((3, 3), (4, 3)) if op != "eigh" else ((3, 3), (2, 4, 4))
    for shape in shapes:
        yield Sample((_matrix(op, draw, shape),), {**defaults, **_OPTIONS[op]})


def _matrix(op: str, draw: Draw, shape: tuple[int, ...]) -> Array:
    if op == "eigh":
        return draw.definite(*shape)
    # Singular values about 1, 3, 5: far from each other and from 0.
    spread = np.diag(2.0 * np.arange(shape[-1]) + 1)
    values = np.zeros(shape)
    values[..., : shape[-1], :] = spread
    return (values + draw.rng.normal(size=shape) * 0.3).astype(draw.dtype)


def factors(op: str, x: Array, like: Sequence[Array]) -> list[Array]:
    """The factors of x in float64, with the signs of `like`, which has about the same ones."""
    found = any_factors(op, x)
    if op == "eigh":
        return [found[0], found[1] * _signs(found[1], like[1])[..., None, :]]
    sign = _signs(found[0], like[0])
    return [found[0] * sign[..., None, :], *found[1:-1], found[-1] * sign[..., :, None]]


def any_factors(op: str, x: Array) -> list[Array]:
    """The factors of x in float64, with whatever signs."""
    wide = np.asarray(x, np.float64)
    if op == "qr":
        return list(np.linalg.qr(wide))
    if op == "eigh":
        return list(np.linalg.eigh((wide + np.swapaxes(wide, -1, -2)) / 2))
    return list(np.linalg.svd(wide, full_matrices=False))


def _signs(columns: Array, like: Array) -> Array:
    return np.where((columns * np.asarray(like, np.float64)).sum(axis=-2) < 0, -1.0, 1.0)
