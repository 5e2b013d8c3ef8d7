"""The mutation operators: what may be put in place of a node of the syntax tree.

Each gives C++ text built from the plain text of the node's parts. Arithmetic is replaced through function
objects of switch.hpp, because whether `a * b` compiles where `a + b` does depends on types that a syntax tree
does not know. Knows nothing of where mutation is allowed (sites.py) nor of switches (schemata.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tree_sitter import Node

Text = Callable[[Node], str]
ID = "@ID@"  # in compiled text: the number of the mutant


@dataclass(frozen=True, slots=True)
class Replacement:
    """`text` stands for the node in the source's own language, for people; `code` is what is compiled, in
    which ID stands for the number of the mutant."""

    operator: str
    text: str
    code: str


_RELATIONAL = {
    "<": ("<=", ">="),
    "<=": ("<", ">"),
    ">": (">=", "<="),
    ">=": (">", "<"),
    "==": ("!=",),
    "!=": ("==",),
}
_LOGICAL = {"&&": "||", "||": "&&"}
# Operator -> its replacement, and the function objects of both.
_ARITHMETIC = {"+": "-", "-": "+", "*": "/", "/": "*", "%": "*"}
_BITS = {"&": "|", "|": "&", "^": "|", "<<": ">>", ">>": "<<"}
_FUNCTIONS = {
    "+": "Plus", "-": "Minus", "*": "Times", "/": "Over", "%": "Modulo", "&": "And", "|": "Or", "^": "Xor",
    "<<": "Left", ">>": "Right",
}  # fmt: skip
_COMPOUND = {
    f"{old}=": f"{new}=" for old, new in (_ARITHMETIC | _BITS).items() if f"{old}=" != "<=" and old != "%"
}
_EXTREMES = {"min": "max", "max": "min"}
_INTEGER = re.compile(r"(0[xX][0-9a-fA-F']+|0[bB][01']+|[0-9][0-9']*)([uUlLzZ]*)")


def replacements(node: Node, text: Text) -> Iterator[Replacement]:
    """What may stand for an expression node."""
    kind = node.type
    if kind == "binary_expression":
        yield from _binary(node, text)
    elif kind == "assignment_expression":
        yield from _compound(node, text)
    elif kind == "update_expression":
        yield from _update(node, text)
    elif kind == "unary_expression":
        yield from _unary(node, text)
    elif kind == "number_literal":
        yield from _number(text(node))
    elif kind in ("true", "false"):
        other = "false" if kind == "true" else "true"
        yield Replacement("constant", other, other)
    elif kind == "call_expression":
        yield from _extreme(node, text)


def _binary(node: Node, text: Text) -> Iterator[Replacement]:
    left, right, sign = (node.child_by_field_name(name) for name in ("left", "right", "operator"))
    if left is None or right is None or sign is None:
        return
    a, b, old = text(left), text(right), text(sign)
    for new in _RELATIONAL.get(old, ()):
        yield Replacement("relation", f"{a} {new} {b}", f"({a}) {new} ({b})")
    if old in _LOGICAL:
        yield Replacement("logic", f"{a} {_LOGICAL[old]} {b}", f"({a}) {_LOGICAL[old]} ({b})")
    for operator, table in (("arithmetic", _ARITHMETIC), ("bits", _BITS)):
        if old in table:
            functions = f"da_mutants::{_FUNCTIONS[table[old]]}{{}}, da_mutants::{_FUNCTIONS[old]}{{}}"
            code = f"da_mutants::instead({ID}, {functions}, {a}, {b})"
            yield Replacement(operator, f"{a} {table[old]} {b}", code)


def _compound(node: Node, text: Text) -> Iterator[Replacement]:
    left, right, sign = (node.child_by_field_name(name) for name in ("left", "right", "operator"))
    if left is None or right is None or sign is None:
        return
    old = text(sign)
    if old in _COMPOUND:
        made = f"{text(left)} {_COMPOUND[old]} {text(right)}"
        yield Replacement("compound", made, f"({made})")


def _update(node: Node, text: Text) -> Iterator[Replacement]:
    old = text(node)
    new = old.replace("++", "--") if "++" in old else old.replace("--", "++")
    yield Replacement("step", new, new)


def _unary(node: Node, text: Text) -> Iterator[Replacement]:
    sign, argument = node.child_by_field_name("operator"), node.child_by_field_name("argument")
    if sign is None or argument is None:
        return
    old, a = text(sign), text(argument)
    if old == "!":
        yield Replacement("negation", a, f"static_cast<bool>({a})")
    elif old in "-~" and argument.type != "number_literal":
        yield Replacement("sign" if old == "-" else "bits", a, f"+({a})")


def _number(old: str) -> Iterator[Replacement]:
    """0 becomes 1; others grow and shrink by 1."""
    match = _INTEGER.fullmatch(old)
    if match is None:
        steps = ("1",) if float_value(old) == 0 else ("+", "-")
        for step in steps:
            made = f"static_cast<decltype({old})>(1)" if step == "1" else f"({old} {step} 1)"
            yield Replacement("constant", "1.0" if step == "1" else f"{old} {step} 1", made)
        return
    digits, suffix = match[1].replace("'", ""), match[2]
    base = 8 if len(digits) > 1 and digits[0] == "0" and digits.isdigit() else 0
    value = int(digits, base)
    for new in (1,) if value == 0 else (value + 1, value - 1):
        yield Replacement("constant", f"{new}{suffix}", f"{new}{suffix}")


def float_value(text: str) -> float:
    """The value of a C++ floating literal, decimal or hexadecimal, signed where the parser counts that in."""
    plain = text.replace("'", "").rstrip("lL")
    if plain.lstrip("+-")[:2].lower() == "0x":
        return float.fromhex(plain.rstrip("fF") if "p" in plain.lower() else plain)
    return float(plain.rstrip("fF"))


def _extreme(node: Node, text: Text) -> Iterator[Replacement]:
    """min and max of the standard library, each for the other."""
    function = node.child_by_field_name("function")
    if function is None:
        return
    match = re.match(r"(std::)(min|max)\b", text(function))
    if match:
        made = f"std::{_EXTREMES[match[2]]}" + text(node)[match.end() :]
        yield Replacement("extreme", made, made)


def condition_negated(node: Node, text: Text) -> Replacement | None:
    """The negation of a condition that no other operator negates."""
    inner = node
    while inner.type == "parenthesized_expression" and inner.named_child_count == 1:
        inner = inner.named_children[0]
    sign = inner.child_by_field_name("operator")
    if inner.type == "binary_expression" and sign is not None and text(sign) in _RELATIONAL:
        return None
    if inner.type in ("unary_expression", "true", "false"):
        return None
    return Replacement("condition", f"!({text(node)})", f"!({text(node)})")
