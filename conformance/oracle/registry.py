"""The oracle of each op, found by name, and the form of an answer.

An answer is held in higher precision: float64 for types up to 32 bits, extended precision for float64, and
the complex types likewise. Integer and bool answers are exact. Nothing here or in the modules of the families
asks a plugin, or the package's own kernels, anything.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from device_api.opset.spec import OpSpec

Array = npt.NDArray[Any]


class NoOracle(LookupError):
    """The suite does not know what this op should give."""


@dataclass(frozen=True, slots=True)
class Expected:
    """One output. `dtype` is what the kernel must write; `values` the answer, in higher precision.

    `scale` is the size that a unit in the last place refers to where that is not the answer itself: a sum of
    absolute values for sums. `extra_ulp` is what the length of a reduction adds to the op set's tolerance.
    `narrow`, where given, is what the op's own formula gives in the range of the dtype: as right as the
    answer, and where it is not finite, nothing finite can be demanded. `unsettled` is where a single rounding
    decides what is finite, infinite or NaN: any result is right there.
    """

    values: Array
    dtype: np.dtype[Any]
    scale: Array | None = None
    zero_sign: bool = False
    extra_ulp: float = 0.0
    narrow: Array | None = None
    unsettled: Array | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """What an oracle is asked. `dtype` and `shape` are those of the output where inputs do not tell."""

    op: str
    inputs: tuple[Any, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    dtype: np.dtype[Any] | None = None
    shape: tuple[int, ...] = ()


Oracle = Callable[[Call], list[Expected]]

_ORACLES: dict[str, Oracle] = {}
# What an op's oracle computes before it judges how exact a kernel must be: kept where that judgement is dear.
_VALUES: dict[str, Callable[[Call], tuple[Array, ...]]] = {}
_FAMILIES = (
    "unary", "binary", "reduction", "movement", "linear", "composite", "activation", "loss", "normalisation",
    "convolution", "pooling", "attention", "arrangement", "indexing", "algebra", "optimiser", "transforms",
)  # fmt: skip

_SEVERAL = "several answers are right: the properties cases judge what they must satisfy"
_DRAWN = "its result comes from the device's generator: the properties cases judge it for given seeds"
# Ops without an oracle, and why. An op in neither place is a fault of the suite, which a test finds.
WITHOUT_ORACLE = {
    **dict.fromkeys(("qr", "eigh", "svd", "eig", "eigvals"), _SEVERAL),
    **dict.fromkeys(
        ("philox_bits", "random_bits", "uniform", "normal", "randint", "bernoulli", "exponential",
         "permutation", "dropout", "multinomial"),
        _DRAWN,
    ),
}  # fmt: skip


def oracle(*names: str) -> Callable[[Oracle], Oracle]:
    """Registers a function as the oracle of ops."""

    def register(function: Oracle) -> Oracle:
        for name in names:
            if name in _ORACLES:
                raise ValueError(f"{name} has two oracles")
            _ORACLES[name] = function
        return function

    return register


def values_by(function: Callable[[Call], tuple[Array, ...]], *names: str) -> None:
    """Registers the plain values of ops: those of the oracle, without what they may differ by."""
    _VALUES.update(dict.fromkeys(names, function))


@cache
def _load() -> dict[str, Oracle]:
    for family in _FAMILIES:
        importlib.import_module(f"conformance.oracle.{family}")
    return _ORACLES


def has_oracle(op: str) -> bool:
    return op in _load()


def has_formula(op: str) -> bool:
    """Whether the op's values can be computed for inputs of any precision."""
    return has_oracle(op) and op in _VALUES


def expected(
    spec: OpSpec,
    inputs: Sequence[Array | None],
    attributes: Mapping[str, Any],
    dtype: np.dtype[Any] | None = None,
    shape: tuple[int, ...] = (),
) -> list[Expected]:
    """The right outputs of an op; raises NoOracle for an op that nobody has written one for."""
    function = _load().get(spec.name)
    if function is None:
        raise NoOracle(f"the suite has no oracle for {spec.name!r}")
    with np.errstate(all="ignore"):
        return function(Call(spec.name, tuple(inputs), attributes, dtype, shape))


def values_of(
    spec: OpSpec,
    inputs: Sequence[Array | None],
    attributes: Mapping[str, Any],
    dtype: np.dtype[Any] | None = None,
) -> list[Array]:
    """The right values alone, for inputs of any precision; raises NoOracle."""
    _load()
    function = _VALUES.get(spec.name)
    if function is None:
        return [want.values for want in expected(spec, inputs, attributes, dtype)]
    with np.errstate(all="ignore"):
        return list(function(Call(spec.name, tuple(inputs), attributes, dtype)))
