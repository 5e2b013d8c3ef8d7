"""One text that holds many mutants: each mutated place becomes a switch on the number of the active mutant.

The branch of a mutant holds the plain text of its operands, and only the branch of the original goes on to
hold the switches within: one mutant is active at a time, so nothing else is ever needed, and the text stays
small. A switch takes no line of its own: line numbers are those of the source.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tree_sitter import Node

from conformance.kill.mutants.operators import ID, Replacement
from conformance.kill.mutants.parse import Source
from conformance.kill.mutants.sites import Site, sites


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of one place. `key` names it as long as the code around stays: file, function, operator,
    texts, and a count where the same change is possible more than once in a function. `within` is the text of
    the statement around it."""

    file: str
    line: int
    function: str
    operator: str
    before: str
    after: str
    count: int
    within: str = ""

    @property
    def key(self) -> str:
        change = f"{self.before} -> {self.after}" if self.after else self.before
        number = f" #{self.count}" if self.count > 1 else ""
        return f"{self.file} {self.function} [{self.operator}] {change}{number}"

    def rank(self, seed: int) -> int:
        """Its place in the order of a sample: by seed and key alone, so that other code does not move it."""
        return zlib.crc32(f"{seed} {self.key}".encode())


@dataclass(frozen=True, slots=True)
class Place:
    """A site with its mutants, in the order of the site's replacements."""

    site: Site
    mutants: tuple[Mutant, ...]


def places(source: Source) -> list[Place]:
    """Every mutant of a file."""
    seen: Counter[tuple[str, ...]] = Counter()

    def mutant(site: Site, replacement: Replacement) -> Mutant:
        what = (site.function, replacement.operator, site.text, replacement.text)
        seen[what] += 1
        line = site.node.start_point[0] + 1
        return Mutant(source.name, line, *what, count=seen[what], within=site.within)

    return [
        Place(site, tuple(mutant(site, replacement) for replacement in site.replacements))
        for site in sites(source)
    ]


def sample(mutants: Iterable[Mutant], size: int | None, seed: int) -> list[Mutant]:
    """The `size` first by rank; all for None."""
    ordered = sorted(mutants, key=lambda mutant: (mutant.rank(seed), mutant.key))
    return ordered if size is None else ordered[:size]


# What tells nodes apart: the parser's own numbers are shared by equal leaves.
_Span = tuple[int, int, str]


def _span(node: Node) -> _Span:
    return node.start_byte, node.end_byte, node.type


def switched(source: Source, found: Sequence[Place], numbers: Mapping[str, int]) -> bytes:
    """The file's text with a switch for each mutant that has a number, by key. Mutants of one place have
    consecutive numbers."""
    chosen: dict[_Span, list[tuple[int, Replacement]]] = {}
    statements: set[_Span] = set()
    for place in found:
        pairs = zip(place.mutants, place.site.replacements, strict=True)
        kept = [(numbers[mutant.key], change) for mutant, change in pairs if mutant.key in numbers]
        if kept:
            chosen[_span(place.site.node)] = kept
            if place.site.statement:
                statements.add(_span(place.site.node))
    if not chosen:
        return source.text
    return _render(source.text, source.root, chosen, statements, 0, len(source.text))


def _render(
    text: bytes,
    node: Node,
    chosen: Mapping[_Span, list[tuple[int, Replacement]]],
    statements: set[_Span],
    begin: int,
    end: int,
) -> bytes:
    parts, position = [], begin
    for child in node.children:
        parts.append(text[position : child.start_byte])
        parts.append(_render(text, child, chosen, statements, child.start_byte, child.end_byte))
        position = child.end_byte
    parts.append(text[position:end])
    made = b"".join(parts)
    here = chosen.get(_span(node))
    if here is None:
        return made
    first, last = here[0][0], here[-1][0]
    reached = f"da_mutants::here({first}, {last})"
    if _span(node) in statements:
        return f"{{ if (!{reached}) {{ ".encode() + made + b" } }"
    *others, (number, change) = here
    code = f"({_numbered(change, number)})"
    for number, change in reversed(others):
        code = f"(da_mutants::is({number}) ? ({_numbered(change, number)}) : {code})"
    return f"({reached} ? {code} : (".encode() + made + b"))"


def _numbered(change: Replacement, number: int) -> str:
    return change.code.replace(ID, str(number))
