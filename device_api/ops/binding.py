"""From the arguments of a call to an op's inputs and attributes.

Dispatch hands over flat tuples, rules call ops as Python functions; both end here as a list of inputs in the
order of the op's entry (a variadic input flattened at the end) and a dictionary of attributes with one form
per kind: integers, floats, tuples of integers, a `numpy.dtype`, a choice by its number. What does not fit is
a typed error that names op and argument.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from device_api import dtypes
from device_api.errors import AttributeValueError
from device_api.opset.spec import Attribute, OpSpec


def bind_call(
    spec: OpSpec, arguments: Sequence[Any], named: Mapping[str, Any]
) -> tuple[list[Any], dict[str, Any]]:
    """Binds a call written as Python: inputs first, by position or name, then attributes."""
    named = dict(named)
    positional = list(arguments)
    inputs: list[Any] = []
    for each in spec.inputs:
        if positional:
            value = positional.pop(0)
        elif each.name in named:
            value = named.pop(each.name)
        elif each.optional:
            value = None
        else:
            raise TypeError(f"{spec.name}() misses its argument {each.name!r}")
        if each.variadic:
            inputs.extend(value)
        else:
            inputs.append(value)
    values: dict[str, Any] = {}
    for attribute in spec.attributes:
        if positional:
            values[attribute.name] = normalize(spec, attribute, positional.pop(0))
        elif attribute.name in named:
            values[attribute.name] = normalize(spec, attribute, named.pop(attribute.name))
        elif attribute.required:
            raise TypeError(f"{spec.name}() misses its argument {attribute.name!r}")
        else:
            values[attribute.name] = normalize(spec, attribute, attribute.default)
    if positional or named:
        extra = ", ".join(named) or f"{len(positional)} positional argument(s) too many"
        raise TypeError(f"{spec.name}() got what it does not take: {extra}")
    return inputs, values


def bind_attributes(spec: OpSpec, values: Sequence[Any]) -> dict[str, Any]:
    """Binds the flat attribute tuple of a dispatch; missing ones at the end take their defaults."""
    if len(values) > len(spec.attributes):
        raise TypeError(f"{spec.name} has {len(spec.attributes)} attributes, got {len(values)}")
    padded = [*values, *(attribute.default for attribute in spec.attributes[len(values) :])]
    return {
        attribute.name: normalize(spec, attribute, value)
        for attribute, value in zip(spec.attributes, padded, strict=True)
    }


def normalize(spec: OpSpec, attribute: Attribute, value: Any) -> Any:
    """One attribute in the form of its kind; raises `AttributeValueError` for what has no such form."""
    if value is None:
        if attribute.required or not attribute.optional:
            raise _unfit(spec, attribute, value)
        return None
    try:
        return _normalized(attribute, value)
    except (TypeError, ValueError, OverflowError) as error:
        raise _unfit(spec, attribute, value) from error


def _normalized(attribute: Attribute, value: Any) -> Any:
    kind = attribute.kind
    if attribute.choices and isinstance(value, str):
        return dict(attribute.choices)[value] if value in dict(attribute.choices) else _reject()
    if kind in ("int", "axis"):
        number = operator.index(value)
        # Kernels get int64; what only the host reads may be the end of a range of uint64 too. An axis is
        # judged with its tensor.
        if kind == "int" and not -(2**63) <= number <= (2**64 if attribute.host else 2**63 - 1):
            _reject()
        if attribute.choices and number not in dict(attribute.choices).values():
            _reject()
        return number
    if kind == "bool":
        return value if isinstance(value, bool) else bool(operator.index(value))
    if kind == "float":
        return float(value)
    if kind == "dtype":
        return dtypes.from_code(dtypes.code(value))
    if kind == "scalar":
        return _scalar(value)
    if kind == "string":
        return value if isinstance(value, str) else _reject()
    numbers = _integers(value)
    if kind == "ints" and any(not -(2**63) <= number < 2**63 for number in numbers):
        _reject()
    return numbers


def _integers(value: Any) -> tuple[int, ...]:
    if isinstance(value, Iterable):
        return tuple(operator.index(each) for each in value)
    return (operator.index(value),)


def _scalar(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    return value if isinstance(value, bool | int | float | complex) else _reject()


def _reject() -> Any:
    raise ValueError


def _unfit(spec: OpSpec, attribute: Attribute, value: Any) -> AttributeValueError:
    wanted = {
        "int": "an integer of 64 bits",
        "axis": "an integer",
        "bool": "True or False",
        "float": "a number",
        "dtype": f"one of {', '.join(dtypes.NAMES.values())}",
        "scalar": "a Python number",
        "axes": "an integer or a tuple of integers",
        "shape": "an integer or a tuple of integers",
        "ints": "an integer of 64 bits or a tuple of them",
        "string": "a text",
    }[attribute.kind]
    if attribute.choices:
        wanted = "one of " + ", ".join(name for name, _ in attribute.choices)
    return AttributeValueError(
        f"{spec.name} cannot take {attribute.name}",
        subject=repr(value),
        remedy=f"Give {wanted}{' or None' if attribute.optional else ''}.",
        op=spec.name,
        argument=attribute.name,
        value=value,
    )
