"""The schema of a custom op: one line of text, from Python and from C alike.

    acme.mix(x: T, bias: T?, rest: T[], *, beta: float = 1.0, axes: axes?) -> out: T @ x, parts: T[rest]

Inputs come first: a type variable (a capital and letters or digits) or a dtype name, with ? for an input that
may be absent and [] for the last one, which takes any number of tensors. Behind * stand attributes, of the
kinds that the op set knows; ? says that None is a value, and what has no default must be given. Outputs name
a variable, a dtype or real(variable); "@ x" says that this output may be exactly the memory of input x. The
last one may be a list: [n] has as many tensors as the int attribute n says, [rest] as many as the list rest,
[] as many as the shape function says.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

from device_api import dtypes
from device_api.errors import AttributeValueError
from device_api.opset.spec import ATTRIBUTE_KINDS, Attribute, Input, Output

_NAME = r"[a-z][a-z0-9_]*"
_SCHEMA = re.compile(
    rf"\s*(?P<name>{_NAME}\.{_NAME})\s*\((?P<arguments>.*)\)\s*->\s*(?P<outputs>.+?)\s*", re.DOTALL
)
_INPUT = re.compile(rf"({_NAME})\s*:\s*(\w+)(\?|\[\])?")
_ATTRIBUTE = re.compile(rf"({_NAME})\s*:\s*(\w+)(\?)?(?:\s*=\s*(.+))?", re.DOTALL)
_OUTPUT = re.compile(rf"({_NAME})\s*:\s*(\w+|real\(\w+\))(?:\s*@\s*({_NAME})|(\[({_NAME})?\]))?")
_VARIABLE = re.compile(r"[A-Z][A-Za-z0-9]*")

RESERVED = ("da", "device_api")


@dataclass(frozen=True, slots=True)
class Schema:
    """What a text says. `variables` are the type variables in the order in which they appear."""

    name: str
    inputs: tuple[Input, ...]
    attributes: tuple[Attribute, ...]
    outputs: tuple[Output, ...]
    in_place: tuple[tuple[int, int], ...]
    variables: tuple[str, ...]


def parse(text: str) -> Schema:
    """Reads a schema; raises `AttributeValueError` that quotes the part that cannot be read."""
    found = _SCHEMA.fullmatch(text)
    if found is None:
        _refuse(text, text, "it must read vendor.name(inputs, *, attributes) -> outputs")
    if found["name"].partition(".")[0] in RESERVED:
        _refuse(text, found["name"], f"{' and '.join(RESERVED)} are reserved for the op set")
    before, star, behind = _split_star(found["arguments"])
    inputs = tuple(_input(text, part) for part in _parts(before))
    if star and not behind.strip():
        _refuse(text, "*", "no attribute follows")
    attributes = tuple(_attribute(text, part) for part in _parts(behind))
    outputs, in_place = _outputs(text, found["outputs"], inputs)
    lengths = {each.name for each in inputs if each.variadic}
    lengths |= {each.name for each in attributes if each.kind == "int" and not each.optional}
    for each in outputs:
        if each.length and each.length not in lengths:
            _refuse(
                text, each.length, "the length of a list is an int attribute or the list among the inputs"
            )
    names = [each.name for each in inputs] + [each.name for each in attributes]
    names += [each.name for each in outputs]
    if not outputs:
        _refuse(text, text, "it has no output")
    if "out" in names[: len(inputs) + len(attributes)]:
        _refuse(text, "out", "under this name kernels and callers get the outputs; choose another")
    for name in names:
        if names.count(name) > 1:
            _refuse(text, name, "the name is used twice")
    lists = [each.name for each in inputs[:-1] if each.variadic]
    lists += [each.name for each in outputs[:-1] if each.variadic]
    for name in lists:
        _refuse(text, name, "only the last input and the last output may be lists")
    types = [each.type for each in inputs] + [each.type for each in outputs]
    plain = [each.removeprefix("real(").removesuffix(")") for each in types]
    variables = tuple(dict.fromkeys(each for each in plain if _VARIABLE.fullmatch(each)))
    bound = {each.type for each in inputs} | ({"dtype"} & {each.name for each in attributes})
    for variable in variables:
        if variable not in bound and "dtype" not in bound:
            _refuse(text, variable, "no input has this type, and there is no attribute dtype to give it")
    if len(variables) > 4:
        _refuse(text, ", ".join(variables), "a kernel tells at most four type variables apart")
    return Schema(found["name"], inputs, attributes, outputs, in_place, variables)


def _split_star(arguments: str) -> tuple[str, str, str]:
    """What stands before and behind the lone * between commas."""
    parts = _parts(arguments)
    if "*" not in parts:
        return arguments, "", ""
    place = parts.index("*")
    return ",".join(parts[:place]), "*", ",".join(parts[place + 1 :])


def _parts(text: str) -> list[str]:
    """Split at commas that stand outside of brackets and quotes."""
    parts, depth, quote = [""], 0, ""
    for mark in text:
        if quote:
            quote = "" if mark == quote else quote
        elif mark in "\"'":
            quote = mark
        else:
            depth += (mark in "([{") - (mark in ")]}")
        if mark == "," and depth == 0 and not quote:
            parts.append("")
        else:
            parts[-1] += mark
    stripped = [part.strip() for part in parts]
    return [] if stripped == [""] else stripped


def _input(text: str, part: str) -> Input:
    found = _INPUT.fullmatch(part)
    if found is None:
        _refuse(text, part, "an input reads name: type, with ? or [] behind it")
    _check_type(text, found[2])
    return Input(found[1], found[2], found[3] == "?", found[3] == "[]")


def _check_type(text: str, kind: str) -> None:
    if kind not in dtypes.CODES_BY_NAME and not _VARIABLE.fullmatch(kind):
        _refuse(text, kind, "it is neither a dtype nor a type variable such as T")


def _attribute(text: str, part: str) -> Attribute:
    found = _ATTRIBUTE.fullmatch(part)
    if found is None:
        _refuse(text, part, "an attribute reads name: kind = default")
    if found[2] not in ATTRIBUTE_KINDS:
        _refuse(text, found[2], f"the kinds of attributes are {', '.join(ATTRIBUTE_KINDS)}")
    default = None
    if found[4] is not None:
        try:
            default = ast.literal_eval(found[4].strip())
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            _refuse(text, part, "the default is no number, text, bool, None or tuple of them")
    if isinstance(default, list):
        default = tuple(default)
    optional = found[3] == "?"
    return Attribute(found[1], found[2], default, found[4] is None and not optional, optional)


def _outputs(
    text: str, part: str, inputs: tuple[Input, ...]
) -> tuple[tuple[Output, ...], tuple[tuple[int, int], ...]]:
    outputs: list[Output] = []
    in_place: list[tuple[int, int]] = []
    places = {each.name: place for place, each in enumerate(inputs)}
    for place, each in enumerate(_parts(part)):
        found = _OUTPUT.fullmatch(each)
        if found is None:
            _refuse(text, each, "an output reads name: type, name: type @ input, or name: type[length]")
        _check_type(text, found[2].removeprefix("real(").removesuffix(")"))
        if found[3] is not None:
            if found[3] not in places or inputs[places[found[3]]].type != found[2]:
                _refuse(text, each, f"no input {found[3]} has the type {found[2]}")
            if inputs[places[found[3]]].variadic:
                _refuse(text, each, f"{found[3]} is any number of tensors, and the output is one")
            in_place.append((place, places[found[3]]))
        outputs.append(Output(found[1], found[2], found[4] is not None, found[5] or ""))
    return tuple(outputs), tuple(in_place)


_KINDS: Mapping[str, frozenset[int]] = {
    "bool": dtypes.BOOL,
    "signed": dtypes.SIGNED,
    "unsigned": dtypes.UNSIGNED,
    "integer": dtypes.INTEGER,
    "floating": dtypes.FLOATING,
    "complex": dtypes.COMPLEX,
    "real": dtypes.REAL,
    "number": dtypes.NUMERIC,
    "any": dtypes.ALL,
}


def codes_of(words: object) -> frozenset[int]:
    """The dtypes that a text of kinds and dtype names ("floating bool"), or an iterable of dtypes, means."""
    codes: set[int] = set()
    for each in words.split() if isinstance(words, str) else tuple(words):  # type: ignore[arg-type]
        codes |= _KINDS[each] if isinstance(each, str) and each in _KINDS else {dtypes.code(each)}
    return frozenset(codes)


def _refuse(text: str, part: str, why: str) -> NoReturn:
    raise AttributeValueError(
        "a schema cannot be read", subject=repr(part), why=why, argument="schema", value=text
    )
