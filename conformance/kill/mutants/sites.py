"""Where a source may be mutated: the places that run, each with its function's name and its replacements.

Left alone is what the compiler must know (template arguments, array bounds, constant expressions, case
labels, types), what does not run in a function, and the words of exceptions. A macro's body is text to the
parser and is left alone too. Knows the syntax tree and the operators; nothing of switches or numbers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tree_sitter import Node

from conformance.kill.mutants.operators import Replacement, condition_negated, replacements
from conformance.kill.mutants.parse import Source


@dataclass(frozen=True, slots=True)
class Site:
    """A node that mutants replace, with the text of the statement around it. `statement` says that the node
    is a statement itself, which they delete."""

    node: Node
    function: str
    within: str
    text: str
    replacements: tuple[Replacement, ...]
    statement: bool = False


# Nodes in which nothing is mutated.
_CLOSED = {
    "template_argument_list", "template_parameter_list", "sizeof_expression", "alignof_expression",
    "decltype", "static_assert_declaration", "type_descriptor", "alias_declaration", "type_definition",
    "enum_specifier", "attribute_declaration", "attribute_specifier", "alignas_qualifier",
    "alignas_specifier", "noexcept", "bitfield_clause", "using_declaration", "throw_statement",
    "string_literal", "char_literal", "asm", "gnu_asm_expression", "requires_clause", "preproc_def",
    "preproc_function_def", "preproc_include", "preproc_call", "preproc_if_condition", "parameter_list",
    "comment", "ERROR",
}  # fmt: skip
_EXPRESSIONS = {
    "binary_expression", "assignment_expression", "update_expression", "unary_expression", "number_literal",
    "true", "false", "call_expression",
}  # fmt: skip
_DELETED = {"assignment_expression", "call_expression", "update_expression"}
_CONDITIONS = {"if_statement", "while_statement", "do_statement", "conditional_expression"}
_HEADED = {"for_statement", "for_range_loop", "if_statement", "while_statement", "switch_statement"}
_WHOLE = {
    "declaration", "field_declaration", "expression_statement", "return_statement", "field_initializer",
    "break_statement", "continue_statement", "do_statement",
}  # fmt: skip
# A statement of one of these stands alone: it can be put into braces.
_BODIES = {
    "compound_statement", "if_statement", "else_clause", "for_statement", "while_statement", "do_statement",
    "case_statement", "for_range_loop", "labeled_statement",
}  # fmt: skip


def flat(source: Source, node: Node, end: int | None = None) -> str:
    """The node's text up to `end` on one line, without comments."""
    parts, position = [], node.start_byte
    end = node.end_byte if end is None else end
    for comment in _comments(node):
        if comment.end_byte <= end:
            parts.append(source.text[position : comment.start_byte])
            position = comment.end_byte
    parts.append(source.text[position:end])
    return " ".join(b" ".join(parts).decode().split())


def within(source: Source, node: Node) -> str:
    """The text of the statement around a node: of a loop or a branch what stands before its body."""
    inner = node
    while inner.parent is not None:
        outer = inner.parent
        if outer.type in _HEADED:
            body = outer.child_by_field_name("body") or outer.child_by_field_name("consequence")
            if body is not None and inner.start_byte < body.start_byte:
                return flat(source, outer, body.start_byte)
        if inner.type in _WHOLE:
            return flat(source, inner)
        inner = outer
    return ""


def _comments(node: Node) -> Iterator[Node]:
    if node.type == "comment":
        yield node
    for child in node.children:
        yield from _comments(child)


def sites(source: Source) -> Iterator[Site]:
    """Every site of a file, outer ones before those inside them."""
    yield from _outside(source, source.root, "")


def _outside(source: Source, node: Node, scope: str) -> Iterator[Site]:
    """Looks for what runs: bodies of functions, and the starting values of members."""
    for child in node.children:
        kind = child.type
        if kind == "function_definition":
            yield from _function(source, child, scope)
        elif kind in ("class_specifier", "struct_specifier", "union_specifier"):
            name = child.child_by_field_name("name")
            inner = scope if name is None else _joined(scope, flat(source, name))
            yield from _outside(source, child, inner)
        elif kind == "field_declaration":
            value = child.child_by_field_name("default_value")
            runs = not (_is_constant(source, child) or _is_function(child) or _has_constants(source, scope))
            if value is not None and runs:
                yield from _inside(source, value, scope)
            yield from _outside(source, child, scope)
        elif kind not in _CLOSED:
            yield from _outside(source, child, scope)


def _is_function(declaration: Node) -> bool:
    """Whether `= 0` of a member makes a function abstract, and is no value."""
    declarator = declaration.child_by_field_name("declarator")
    while declarator is not None and declarator.type != "function_declarator":
        declarator = declarator.child_by_field_name("declarator")
    return declarator is not None


def _has_constants(source: Source, scope: str) -> bool:
    """Whether the file makes constants of a class, whose members' starting values the compiler must know."""
    name = re.escape(scope.rpartition("::")[2]).encode()
    return re.search(rb"\bconstexpr\s+(?:const\s+)?" + name + rb"\b", source.text) is not None


def _joined(scope: str, name: str) -> str:
    return f"{scope}::{name}" if scope else name


def _is_constant(source: Source, declaration: Node) -> bool:
    """Whether a declaration's value must be known to the compiler, or is made once for all."""
    words = {source.of(child) for child in declaration.children}
    return bool(words & {"constexpr", "consteval", "constinit"}) or (
        declaration.type == "field_declaration" and "static" in words
    )


def _function(source: Source, node: Node, scope: str) -> Iterator[Site]:
    if _is_constant(source, node):
        return
    declarator = node.child_by_field_name("declarator")
    name = _joined(scope, _name_of(source, declarator))
    for child in node.children:
        if child.type == "field_initializer_list":
            yield from _inside(source, child, name)
    body = node.child_by_field_name("body")
    if body is not None:
        yield from _inside(source, body, name)


def _name_of(source: Source, declarator: Node | None) -> str:
    """The name of a function, without its parameters."""
    while declarator is not None and declarator.type != "function_declarator":
        declarator = declarator.child_by_field_name("declarator") or next(
            (child for child in declarator.named_children if child.type.endswith("declarator")), None
        )
    name = None if declarator is None else declarator.child_by_field_name("declarator")
    return "?" if name is None else flat(source, name)


def _inside(source: Source, node: Node, function: str) -> Iterator[Site]:
    """The sites of code that runs."""
    kind = node.type
    if kind in _CLOSED or not node.is_named:
        return
    if kind in ("declaration", "field_declaration") and _is_constant(source, node):
        return
    if kind in ("class_specifier", "struct_specifier"):
        yield from _outside(source, node, function)
        return
    site = _site(source, node, function)
    if site is not None:
        yield site
    constant = any(source.of(child) == "constexpr" for child in node.children)
    for index, child in enumerate(node.children):
        field = node.field_name_for_child(index)
        if kind == "if_statement" and constant and field == "condition":
            continue
        if kind == "case_statement" and field == "value":
            continue
        if kind == "array_declarator" and field == "size":
            continue
        yield from _inside(source, child, function)


def _site(source: Source, node: Node, function: str) -> Site | None:
    def text(part: Node) -> str:
        return flat(source, part)

    made: list[Replacement] = []
    if node.type in ("expression_statement", "break_statement", "continue_statement"):
        if _can_be_deleted(node):
            made.append(Replacement("delete", "", ""))
        return Site(node, function, within(source, node), text(node), tuple(made), True) if made else None
    if node.type in _EXPRESSIONS:
        made += replacements(node, text)
    if _is_condition(source, node):
        negated = condition_negated(node, text)
        if negated is not None:
            made.append(negated)
    return Site(node, function, within(source, node), text(node), tuple(made)) if made else None


def _can_be_deleted(node: Node) -> bool:
    if node.parent is None or node.parent.type not in _BODIES:
        return False
    if node.type != "expression_statement":
        return True
    return node.named_child_count > 0 and node.named_children[0].type in _DELETED


def _is_condition(source: Source, node: Node) -> bool:
    """Whether the node decides a branch at run time."""
    parent = node.parent
    if parent is not None and parent.type == "condition_clause":
        if parent.named_child_count != 1 or node.type == "declaration":
            return False
        owner = parent.parent
        return (
            owner is not None
            and owner.type in _CONDITIONS
            and not any(source.of(child) == "constexpr" for child in owner.children)
        )
    if parent is None or parent.type not in ("conditional_expression", "do_statement"):
        return False
    condition = parent.child_by_field_name("condition")
    return condition == node
