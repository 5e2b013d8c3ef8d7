"""C++ text to a syntax tree, with the project's macros out of the parser's way.

The parser does not expand macros. Those that stand for attributes and pragmas, and calls of macros that make
declarations, would break the tree around them: they are overwritten with blanks of the same length, so that
every offset in the tree is an offset in the real text. Knows nothing of mutants.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import tree_sitter_cpp
from tree_sitter import Language, Node, Parser

_LANGUAGE = Language(tree_sitter_cpp.language())
_DEFINE = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)(?!\w|\()((?:.*\\\n)*.*)$", re.MULTILINE)
_ATTRIBUTE = re.compile(rb'inline|static|__attribute__\s*\(\(.*?\)\)(?=\s|$)|_Pragma\s*\("[^"]*"\)|\\\n|\s')
_DIRECTIVE = re.compile(rb"^[ \t]*#(?:.*\\\n)*.*$", re.MULTILINE)
_DECLARING_CALL = re.compile(rb"^[A-Z][A-Z0-9_]*\(.*\)$", re.MULTILINE)


def attribute_macros(texts: Iterable[bytes]) -> frozenset[bytes]:
    """The names of object-like macros whose every definition is attributes, pragmas or nothing."""
    bodies: dict[bytes, list[bytes]] = {}
    for text in texts:
        for name, body in _DEFINE.findall(text):
            bodies.setdefault(name, []).append(re.sub(rb"//.*", b"", body))
    return frozenset(
        name for name, found in bodies.items() if not any(_ATTRIBUTE.sub(b"", body) for body in found)
    )


@dataclass(frozen=True, slots=True)
class Source:
    """A parsed file. `text` is as it is on disk; the nodes of `root` are offsets into it."""

    name: str
    text: bytes
    root: Node

    def of(self, node: Node) -> str:
        """The node's text."""
        return self.text[node.start_byte : node.end_byte].decode()

    def faults(self) -> list[int]:
        """The lines at which the parser did not understand the text."""
        return sorted({node.start_point[0] + 1 for node in _broken(self.root)})


def _broken(node: Node) -> Iterator[Node]:
    if node.type == "ERROR" or node.is_missing:
        yield node
    elif node.has_error:
        for child in node.children:
            yield from _broken(child)


def parse(name: str, text: bytes, macros: frozenset[bytes]) -> Source:
    """Parses a file; `macros` are the attribute macros of all files together."""
    plain = bytearray(text)
    directives = [match.span() for match in _DIRECTIVE.finditer(text)]
    if macros:
        uses = re.compile(rb"\b(?:" + b"|".join(map(re.escape, sorted(macros))) + rb")\b")
        for match in uses.finditer(text):
            if not any(begin <= match.start() < end for begin, end in directives):
                plain[match.start() : match.end()] = b" " * len(match.group())
    for match in _DECLARING_CALL.finditer(text):
        plain[match.start() : match.end()] = b" " * len(match.group())
    return Source(name, text, Parser(_LANGUAGE).parse(bytes(plain)).root_node)
