"""Drawing the operands of a call in whatever dtype it is for."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance.inputs import random_values

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Sample:
    """One call: tensors (None where an optional one is absent) and every attribute, those that only the host
    sees included. `dtype` is that of the result where the tensors do not tell."""

    inputs: tuple[Array | None, ...]
    attributes: dict[str, Any] = field(default_factory=dict)
    dtype: np.dtype[Any] | None = None

    def __str__(self) -> str:
        given = ("absent" if x is None else f"{x.dtype.name}{list(x.shape)}" for x in self.inputs)
        return ", ".join((*given, *(f"{name}={value}" for name, value in self.attributes.items())))


class Draw:
    """Draws arrays of one dtype. What is drawn as real numbers becomes small integers, booleans or complex
    numbers where the dtype asks for it."""

    def __init__(self, rng: np.random.Generator, dtype: np.dtype[Any], moderate: bool = False) -> None:
        self.rng, self.dtype, self._moderate = rng, dtype, moderate

    def _cast(self, values: Array) -> Array:
        kind = self.dtype.kind
        if kind == "b":
            return values > 0
        if kind in "iu":
            whole = np.round(values * 3)
            return np.asarray(np.abs(whole) if kind == "u" else whole).astype(self.dtype)
        if kind == "c":
            return np.asarray(
                values + 1j * self.rng.permutation(values.reshape(-1)).reshape(values.shape)
            ).astype(self.dtype)
        return np.asarray(values).astype(self.dtype)

    def normal(self, *shape: int) -> Array:
        return self._cast(self.rng.normal(size=shape))

    def grid(self, *shape: int) -> Array:
        """Between -3 and 3, at least 0.05 from every multiple of 1/8: away from the kinks of functions."""
        return self._cast((self.rng.integers(-24, 24, shape) + 0.5) / 8 + 0.01)

    def other(self, *shape: int) -> Array:
        """Like `grid`, and at least 0.04 from every element of a grid."""
        return self._cast(self.rng.integers(-24, 24, shape) / 8 + 0.03)

    def positive(self, *shape: int) -> Array:
        return self._cast(self.rng.uniform(0.3, 2.5, shape))

    def share(self, *shape: int) -> Array:
        """Between 0 and 1, away from both."""
        return self._cast(self.rng.uniform(0.15, 0.85, shape))

    def distinct(self, *shape: int) -> Array:
        """No two alike, in any dtype that holds so many numbers."""
        order = self.rng.permutation(int(np.prod(shape))).reshape(shape)
        return self._cast(
            (order - order.size // 2) / 3 if self.dtype.kind in "iu" else order * 0.25 - order.size / 8
        )

    def signs(self, *shape: int) -> Array:
        return self._cast(self.rng.choice((-1.0, 1.0), shape))

    def number(self, value: float) -> Array:
        return np.asarray(value).astype(self.dtype)

    def anything(self, *shape: int) -> Array:
        """Elements of any value, for ops that only carry them; of about one where differences are taken."""
        if self._moderate:
            return self.normal(*shape)
        return random_values(self.rng, "copy", self.dtype, shape)

    def mask(self, *shape: int) -> Array:
        return self.rng.random(shape) < 0.6

    def index(self, size: int, *shape: int, negative: bool = False) -> Array:
        """Positions in [0, size), or counted from the end too."""
        return self.rng.integers(-size if negative else 0, size, shape).astype(np.int64)

    def matrix(self, *shape: int) -> Array:
        """Square matrices that are far from singular."""
        values = self.rng.normal(size=shape) * 0.3 + np.eye(shape[-1]) * 2
        return self._cast(values)

    def definite(self, *shape: int) -> Array:
        """Symmetric (Hermitian) positive definite matrices with eigenvalues that are apart."""
        base = self.rng.normal(size=shape) * 0.3
        if self.dtype.kind == "c":
            base = base + 1j * self.rng.normal(size=shape) * 0.3
        lift = np.diag(np.arange(1.0, shape[-1] + 1)) * 2
        return np.asarray(base @ np.conj(np.swapaxes(base, -1, -2)) + lift).astype(self.dtype)
