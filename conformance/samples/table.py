"""Which function makes the samples of which op."""

from __future__ import annotations

import importlib
import itertools
from collections.abc import Callable, Iterable
from functools import cache

from conformance.samples.draw import Draw, Sample
from device_api.ops._table import BY_NAME

Maker = Callable[[Draw, str], Iterable[Sample]]

_MAKERS: dict[str, Maker] = {}
_LARGE: dict[str, Maker] = {}
_FAMILIES = ("primitives", "elements", "rows", "images", "carried", "matrices", "training")


def makes(*names: str, large: bool = False) -> Callable[[Maker], Maker]:
    """Registers a function from a Draw and an op's name to its samples. `large` samples are for sizes at
    which kernels block and use several threads; others are small, so that differences can be taken."""

    def register(function: Maker) -> Maker:
        for name in names:
            table = _LARGE if large else _MAKERS
            if name in table:
                raise ValueError(f"{name} has two makers of samples")
            table[name] = function
        return function

    return register


@cache
def _load() -> None:
    for family in _FAMILIES:
        importlib.import_module(f"conformance.samples.{family}")


def has_samples(op: str) -> bool:
    _load()
    return op in _MAKERS


def samples(op: str, draw: Draw) -> list[Sample]:
    """Small calls of an op, one for each variant of it. Attributes that a maker leaves out have their
    default."""
    _load()
    return [_complete(op, sample) for sample in _MAKERS[op](draw, op)]


def has_large_samples(op: str) -> bool:
    _load()
    return op in _LARGE


def large_samples(op: str, draw: Draw) -> list[Sample]:
    """Larger calls, where there are any."""
    _load()
    return [_complete(op, sample) for sample in _LARGE[op](draw, op)] if op in _LARGE else []


def _complete(op: str, sample: Sample) -> Sample:
    defaults = {attribute.name: attribute.default for attribute in BY_NAME[op].attributes}
    return Sample(sample.inputs, {**defaults, **sample.attributes}, sample.dtype)


def axis_sets(rank: int) -> list[tuple[int, ...]]:
    """Every set of axes of a rank that is not empty."""
    return [axes for count in range(1, rank + 1) for axes in itertools.combinations(range(rank), count)]
