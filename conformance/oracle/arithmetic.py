"""Arithmetic whose every result may be altered: how a formula behaves outside the oracle's higher precision.

A formula is written once, over NumPy's functions. Over arrays of this module it is computed as a kernel
would: in the range of a narrower type, where what grows past the greatest number is infinite, or with an
error in each step, which shows how far rounding leads. Knows no op, no tolerance.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from conformance.compare import FORMATS, FloatFormat

# NumPy's own annotations say Any of most results.
Array = Any
Alter = Callable[[Array], Array]

# Functions that give one of their operands, or a whole number: no kernel rounds there.
_EXACT = frozenset(
    {np.maximum, np.minimum, np.fmax, np.fmin, np.negative, np.positive, np.absolute, np.sign, np.copysign,
     np.conjugate, np.floor, np.ceil, np.trunc, np.rint}
)  # fmt: skip


class Altered(np.ndarray[Any, Any]):
    """A floating or complex array of which every result of arithmetic goes through `alter`."""

    alter: Alter

    def __array_finalize__(self, source: Any) -> None:
        self.alter = getattr(source, "alter", _unaltered)

    def __array_ufunc__(
        self, ufunc: np.ufunc, method: str, *inputs: Any, out: tuple[Any, ...] = (), **options: Any
    ) -> Any:
        if out:
            options["out"] = tuple(_plain(x) for x in out)
        result = getattr(ufunc, method)(*(_plain(x) for x in inputs), **options)
        if method == "at":
            return None
        if isinstance(result, tuple):
            return tuple(self._result(each, ufunc) for each in result)
        altered = self._result(result, ufunc)
        if not out:
            return altered
        np.copyto(options["out"][0], _plain(altered))
        return out[0]

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        result = super().__array_function__(function, types, args, kwargs)
        return self._wrapped(result) if isinstance(result, np.ndarray) else result

    def _result(self, result: Any, ufunc: np.ufunc) -> Any:
        values = np.asarray(result)
        if values.dtype.kind not in "fc":
            return result
        return self._wrapped(values if ufunc in _EXACT else self.alter(values))

    def _wrapped(self, values: Array) -> Array:
        return altered(values, self.alter)


def altered(values: Array, alter: Alter) -> Array:
    """The same elements, for arithmetic that goes through `alter`; what is not floating or complex stays."""
    elements = np.asarray(values)
    if elements.dtype.kind not in "fc":
        return values
    view = elements.view(Altered)
    view.alter = alter
    return view


def _plain(x: Any) -> Any:
    return x.view(np.ndarray) if isinstance(x, Altered) else x


def _unaltered(values: Array) -> Array:
    return values


def within(dtype: np.dtype[Any]) -> Alter:
    """Keeps results in the range of `dtype`: what rounds past its greatest number becomes infinite, and what
    is smaller than its normal numbers keeps the digits that a subnormal number has."""
    form = FORMATS[dtype.name]

    def alter(values: Array) -> Array:
        if values.dtype.kind != "c":
            return _limited(values, form)
        # Put together by part: infinity times the imaginary unit is no number.
        out = np.empty_like(values)
        out.real, out.imag = _limited(values.real, form), _limited(values.imag, form)
        return out

    return alter


def _limited(values: Array, form: FloatFormat) -> Array:
    top = np.ldexp(values.dtype.type(1), form.greatest_exponent + 1)
    limit = top - np.ldexp(values.dtype.type(1), form.greatest_exponent - form.precision)
    size = np.abs(values)
    tiny = np.ldexp(values.dtype.type(1), form.least_exponent - form.precision + 1)
    kept = np.where(size < form.smallest_normal, np.rint(values / tiny) * tiny, values)
    return np.where(size >= limit, np.copysign(values.dtype.type(np.inf), values), kept)


def jittered(rng: np.random.Generator, step: float) -> Alter:
    """Moves every result by about one part in 1 / step, up or down. By how much is drawn too: of movements of
    one size, two that go the same way would show nothing of a difference."""

    def alter(values: Array) -> Array:
        sizes = rng.uniform(0.5, 1.5, values.shape) * rng.choice((-step, step), values.shape)
        moved: Array = values * (1 + sizes)
        return moved

    return alter
