"""Sample calls of an op: shapes for its inputs and values for its attributes, without any data.

The example of an op's entry is a call that is known to be right, so it comes first: it is evaluated with a
namespace that makes NumPy arrays and stops at the op itself. Ops without an example (parts of compositions),
and those whose Python function takes its arguments in another order, are tried with small shapes, one after
the other. Nothing here knows devices or kernels.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np

from device_api import dtypes
from device_api.errors import DeviceApiError
from device_api.ops.binding import bind_call
from device_api.opset.spec import Attribute, OpSpec

# Shapes for the inputs: all alike first, then every mixture.
_SHAPES: tuple[tuple[int, ...], ...] = ((2, 2), (2,), (), (2, 2, 2), (2, 2, 2, 2), (4,))
_MOST_MIXED = 3


@dataclass(frozen=True)
class Sample:
    """The inputs as shapes, Python numbers or None (left out), a variadic one flattened; the attributes."""

    inputs: tuple[Any, ...]
    attributes: dict[str, Any]


def samples(spec: OpSpec, code: int) -> Iterator[Sample]:
    """Calls of an op that may suit it, the best first; `code` is the dtype that dtype attributes get."""
    called = _example(spec)
    if called is not None:
        yield Sample(called.inputs, {**called.attributes, **_dtype_attributes(spec, code)})
    for shapes, attributes in itertools.product(_shapes(spec), _attributes(spec, code)):
        yield Sample(shapes, attributes)


class _Called(Exception):
    """The op was reached, with these arguments."""

    def __init__(self, arguments: tuple[Any, ...], named: dict[str, Any]) -> None:
        self.arguments = arguments
        self.named = named


class _Namespace:
    """What an example takes for the package: arrays are NumPy's, and the op of that name ends it."""

    def __init__(self, op: str) -> None:
        self._op = op

    def __getattr__(self, name: str) -> Any:
        if name == self._op:
            return _call
        if name in ("linalg", "fft"):
            return self
        by_name = {text: code for code, text in dtypes.NAMES.items()}
        return dtypes.from_code(by_name[name]) if name in by_name else getattr(np, name)


def _call(*arguments: Any, **named: Any) -> NoReturn:
    raise _Called(arguments, named)


def _example(spec: OpSpec) -> Sample | None:
    try:
        # The text is part of the package.
        eval(spec.example, {"da": _Namespace(spec.name), "np": np})
    except _Called as called:
        try:
            inputs, attributes = bind_call(spec, called.arguments, called.named)
        except (TypeError, DeviceApiError):
            return None
        if all(
            each is None or isinstance(each, np.ndarray | bool | int | float | complex) for each in inputs
        ):
            return Sample(tuple(getattr(each, "shape", each) for each in inputs), attributes)
    # Whatever else an example runs into, it is then no sample; the tests see to it that examples are right.
    except Exception:
        return None
    return None


def _dtype_attributes(spec: OpSpec, code: int) -> dict[str, Any]:
    return {
        each.name: dtypes.from_code(code) if _says_dtype(spec, each) else each.default
        for each in spec.attributes
        if each.kind == "dtype"
    }


def _says_dtype(spec: OpSpec, attribute: Attribute) -> bool:
    # Without inputs it is the attribute that says which dtype is meant.
    return attribute.kind == "dtype" and (attribute.required or not spec.inputs)


def _shapes(spec: OpSpec) -> Iterator[tuple[Any, ...]]:
    count = len(spec.inputs)
    choices = itertools.chain(
        ((shape,) * count for shape in _SHAPES),
        itertools.product(_SHAPES, repeat=count) if 1 < count <= _MOST_MIXED else (),
    )
    for shapes in choices:
        yield tuple(None if each.optional else shape for each, shape in zip(spec.inputs, shapes, strict=True))


def _attributes(spec: OpSpec, code: int) -> Iterator[dict[str, Any]]:
    choices = [
        _guesses(each, code) if each.required or _says_dtype(spec, each) else [each.default]
        for each in spec.attributes
    ]
    for values in itertools.product(*choices):
        yield {each.name: value for each, value in zip(spec.attributes, values, strict=True)}


def _guesses(attribute: Attribute, code: int) -> list[Any]:
    if attribute.choices:
        return [attribute.choices[0][1]]
    guesses: dict[str, list[Any]] = {
        "int": [1, 0, 2],
        "axis": [0],
        "bool": [False],
        "float": [1.0],
        "scalar": [1],
        "dtype": [dtypes.from_code(code)],
        "axes": [(0,), (0, 1), (1, 0)],
        "shape": [(2, 2), (4,)],
        "ints": [(1, 1), (0, 0), (2, 2), (1,)],
        "string": [""],
    }
    return guesses[attribute.kind]
