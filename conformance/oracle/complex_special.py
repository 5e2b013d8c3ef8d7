"""What functions of a complex number give where one of its parts is 0, infinite or NaN.

The rules are those of the array API standard 2025.12, which follow C99; a sign that it leaves open stays open
here. Each part of a result is judged by itself, because `inf + nan j` is more than no number. Points of which
the standard says nothing have no answer here. The sign function's infinities are the op set's own rule.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Part:
    """What the real or the imaginary part of a result must be: with either sign, or NaN as well, where that
    is left open."""

    value: float
    any_sign: bool = False
    or_nan: bool = False

    def __neg__(self) -> Part:
        return replace(self, value=-self.value)

    def scaled(self, factor: float) -> Part:
        return replace(self, value=self.value * factor)

    def fits(self, got: np.floating[Any], tolerance: float) -> bool:
        """Whether a part of a result is this; `tolerance` in ulps, of a number that is neither 0 nor
        infinite."""
        if np.isnan(got):
            return math.isnan(self.value) or self.or_nan
        if math.isnan(self.value):
            return False
        if bool(np.signbit(got)) != (math.copysign(1, self.value) < 0) and not self.any_sign:
            return False
        if self.value == 0 or math.isinf(self.value):
            return abs(float(got)) == abs(self.value)
        unit = float(np.spacing(got.dtype.type(abs(self.value))))
        return abs(abs(float(got)) - abs(self.value)) <= tolerance * unit

    def __str__(self) -> str:
        sign = "±" if self.any_sign else ""
        return f"{sign}{self.value!r}{' or nan' if self.or_nan else ''}"


Pair = tuple[Part, Part]

# One rule a line, "a b: real imaginary", for a + bj; the first that fits holds. Classes of numbers: 0 either
# zero, f finite, nz finite and not 0, p finite and above 0, !0 anything but 0; anything else is that number
# alone. In results ? leaves the sign open, ~ allows NaN too, and *cos and *sin give the sign of the cosine or
# the sine of b. Rules for negative b follow, because f(conj z) = conj f(z).
_LOGARITHM = """
        f inf: inf pi/2
        f nan: nan nan
        -inf p: inf pi
        inf p: inf +0
        -inf inf: inf 3pi/4
        inf inf: inf pi/4
        inf nan: inf nan
        -inf nan: inf nan
        nan f: nan nan
        nan inf: inf nan
        nan nan: nan nan
"""
_RULES = {
    "exp": """
        0 +0: 1 +0
        f inf: nan nan
        f nan: nan nan
        inf +0: inf +0
        -inf f: 0*cos 0*sin
        inf nz: inf*cos inf*sin
        -inf inf: 0? 0?
        inf inf: inf? nan
        -inf nan: 0? 0?
        inf nan: inf? nan
        nan +0: nan +0
        nan !0: nan nan
    """,
    "expm1": """
        0 +0: +0 +0
        f inf: nan nan
        f nan: nan nan
        inf +0: inf +0
        -inf f: -1 0*sin
        inf nz: inf*cos inf*sin
        -inf inf: -1 0?
        inf inf: inf? nan
        -inf nan: -1 0?
        inf nan: inf? nan
        nan +0: nan +0
        nan !0: nan nan
    """,
    "log": "-0 +0: -inf pi\n+0 +0: -inf +0" + _LOGARITHM,
    "log1p": "-1 +0: -inf +0" + _LOGARITHM,
    "sqrt": """
        0 +0: +0 +0
        any inf: inf inf
        f nan: nan nan
        -inf p: +0 inf
        inf p: inf +0
        -inf nan: nan inf?
        inf nan: inf nan
        nan any: nan nan
    """,
    "sinh": """
        +0 +0: +0 +0
        +0 inf: 0? nan
        +0 nan: 0? nan
        p inf: nan nan
        p nan: nan nan
        inf +0: inf +0
        inf p: inf*cos inf*sin
        inf inf: inf? nan
        inf nan: inf? nan
        nan +0: nan +0
        nan nz: nan nan
        nan nan: nan nan
    """,
    "cosh": """
        +0 +0: 1 +0
        +0 inf: nan 0?
        +0 nan: nan 0?
        nz inf: nan nan
        nz nan: nan nan
        inf +0: inf +0
        inf nz: inf*cos inf*sin
        inf inf: inf? nan
        inf nan: inf nan
        nan +0: nan 0?
        nan nz: nan nan
        nan nan: nan nan
    """,
    "tanh": """
        +0 +0: +0 +0
        nz inf: nan nan
        +0 inf: +0~ nan
        nz nan: nan nan
        +0 nan: +0~ nan
        inf p: 1 +0
        inf inf: 1 0?
        inf nan: 1 0?
        nan +0: nan +0
        nan !0: nan nan
    """,
    "acos": """
        0 +0: pi/2 -0
        0 nan: pi/2 nan
        f inf: pi/2 -inf
        nz nan: nan nan
        -inf p: pi -inf
        inf p: +0 -inf
        -inf inf: 3pi/4 -inf
        inf inf: pi/4 -inf
        inf nan: nan inf?
        -inf nan: nan inf?
        nan f: nan nan
        nan inf: nan -inf
        nan nan: nan nan
    """,
    "acosh": """
        0 +0: +0 pi/2
        f inf: inf pi/2
        nz nan: nan nan
        +0 nan: nan pi/2?
        -inf p: inf pi
        inf p: inf +0
        -inf inf: inf 3pi/4
        inf inf: inf pi/4
        inf nan: inf nan
        -inf nan: inf nan
        nan f: nan nan
        nan inf: inf nan
        nan nan: nan nan
    """,
    "asinh": """
        +0 +0: +0 +0
        p inf: inf pi/2
        f nan: nan nan
        inf p: inf +0
        inf inf: inf pi/4
        nan +0: nan +0
        nan nz: nan nan
        nan inf: inf? nan
        nan nan: nan nan
    """,
    "atanh": """
        +0 +0: +0 +0
        +0 nan: +0 nan
        1 +0: inf +0
        p inf: +0 pi/2
        nz nan: nan nan
        inf p: +0 pi/2
        inf inf: +0 pi/2
        inf nan: +0 nan
        nan f: nan nan
        nan inf: 0? pi/2
        nan nan: nan nan
    """,
    "sign": """
        0 0: 0? 0?
        nan any: nan nan
        any nan: nan nan
        inf f: 1 0?
        f inf: 0? 1
        inf inf: nan nan
    """,
}  # fmt: skip

# f(-z) = -f(z); of the hyperbolic cosine f(-z) = f(z).
_ODD = frozenset({"sinh", "tanh", "asinh", "atanh", "sign"})
_EVEN = frozenset({"cosh"})
# Of these the standard says that they are the hyperbolic function of x j: cosh, or -j times the other.
_TURNED = {"sin": "sinh", "cos": "cosh", "tan": "tanh"}
_SCALED = {"log2": 1 / math.log(2), "log10": 1 / math.log(10)}

OPS = frozenset({*_RULES, *_TURNED, *_SCALED, "asin", "atan"})

_CLASSES: dict[str, Callable[[float], bool]] = {
    "0": lambda x: x == 0,
    "f": math.isfinite,
    "nz": lambda x: math.isfinite(x) and x != 0,
    "p": lambda x: math.isfinite(x) and x > 0,
    "!0": lambda x: x != 0,
    "nan": math.isnan,
    "any": lambda x: True,
}
_FRACTIONS = {"pi": math.pi, "pi/2": math.pi / 2, "pi/4": math.pi / 4, "3pi/4": 3 * math.pi / 4}
_PARTS = (0.0, -0.0, 1.0, -1.0, 3.0, -3.0, math.inf, -math.inf, math.nan)


def points(dtype: np.dtype[Any]) -> Array:
    """Numbers with every pair of these parts: zeros, infinities, NaN, and some between."""
    grid = np.empty((len(_PARTS), len(_PARTS)), dtype)
    grid.real, grid.imag = np.array(_PARTS)[:, None], np.array(_PARTS)[None, :]
    return grid.ravel()


def answer(op: str, z: complex) -> Pair | None:
    """What the parts of op(z) must be; None where no rule speaks of z."""
    a, b = z.real, z.imag
    if op in _SCALED:
        found = answer("log", z)
        return found and (found[0].scaled(_SCALED[op]), found[1].scaled(_SCALED[op]))
    if op in _TURNED:
        found = answer(_TURNED[op], complex(-b, a))
        return found if found is None or op == "cos" else (found[1], -found[0])
    if op in ("asin", "atan"):  # -j times the inverse hyperbolic function of z j
        found = answer(op + "h", complex(-b, a))
        return found and (found[1], -found[0])
    mirrored, conjugated = math.copysign(1, a) < 0 and not math.isnan(a), math.copysign(1, b) < 0
    conjugated = conjugated and not math.isnan(b)
    if op in _ODD | _EVEN:
        a = abs(a)
    else:
        mirrored = False
    found = _ruled(op, a, abs(b))
    if found is None:
        return None
    real, imaginary = found
    if mirrored and op in _ODD:
        real = -real
    if conjugated != (mirrored and op in _EVEN):
        imaginary = -imaginary
    return real, imaginary


def _ruled(op: str, a: float, b: float) -> Pair | None:
    for (first, second), (real, imaginary) in _rules(op):
        if _is(first, a) and _is(second, b):
            return _part(real, b), _part(imaginary, b)
    return None


@cache
def _rules(op: str) -> tuple[tuple[list[str], list[str]], ...]:
    lines = (line.split(":") for line in _RULES[op].split("\n") if line.strip())
    return tuple((given.split(), result.split()) for given, result in lines)


def _is(name: str, x: float) -> bool:
    if name in _CLASSES:
        return _CLASSES[name](x)
    number = float(name)
    return x == number and math.copysign(1, x) == math.copysign(1, number)


def _part(text: str, b: float) -> Part:
    any_sign, or_nan = text.endswith("?"), text.endswith("~")
    size, _, function = text.rstrip("?~").partition("*")
    value = _FRACTIONS[size] if size in _FRACTIONS else float(size)
    if function:
        value = math.copysign(value, math.cos(b) if function == "cos" else math.sin(b))
    return Part(value, any_sign, or_nan)
