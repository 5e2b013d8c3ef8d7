"""The list of mutants that are counted out, each with the reason why no input can show it.

The list is `explained.toml` beside this module. An entry names mutants by file, function, operator and text,
never by line; it may cover several by globs. An entry that matches no mutant of the sources is stale, and one
whose mutant a case kills is false: both are errors, so that the list cannot outlive the code it speaks of.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from conformance.kill.mutants.schemata import Mutant

PATH = Path(__file__).parent / "explained.toml"
# Why a mutant may be counted out. Nothing else is a reason.
KINDS = {
    "speed": "decides how work is done (pieces, buffers, threads, one of two equal ways), never its result",
    "same": "gives the same result for every input that can come here",
    "accuracy": "stays within the tolerance that the op set allows for every input",
    "claim": "claims less, or declines more: a plugin may, and is right in what it still claims",
    "contract": "shows only for calls that the interface forbids, which no correct host makes",
}
_FIELDS = {"file", "function", "operator", "changes", "kind", "reason"}


class ListFault(ValueError):
    """The list of explained mutants is not well formed; the text names the entry."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One explanation. The first five are globs; an absent one is "*"."""

    file: str
    function: str
    operator: str
    before: str
    after: str
    kind: str
    reason: str

    def matches(self, mutant: Mutant) -> bool:
        pairs = (
            (mutant.file, self.file),
            (mutant.function, self.function),
            (mutant.operator, self.operator),
            (mutant.before, self.before),
            (mutant.after, self.after),
        )
        return all(pattern == "*" or text == pattern or fnmatchcase(text, pattern) for text, pattern in pairs)

    def __str__(self) -> str:
        return f"{self.file} {self.function} [{self.operator}] {self.before} -> {self.after}"


def read(path: Path = PATH) -> tuple[Entry, ...]:
    """Reads the list. Raises ListFault."""
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ListFault(f"{path}: {error}") from error
    return tuple(
        entry
        for number, given in enumerate(table.get("mutant", ()), 1)
        for entry in _entries(f"{path}, entry {number}", given)
    )


def _entries(where: str, given: Mapping[str, Any]) -> Iterator[Entry]:
    """The entries of one table: `changes` are pairs (before, after) that share its reason."""
    unknown = sorted(set(given) - _FIELDS)
    if unknown:
        raise ListFault(f"{where}: unknown {', '.join(unknown)}; known are {', '.join(sorted(_FIELDS))}")
    if given.get("kind") not in KINDS:
        raise ListFault(f"{where}: kind {given.get('kind')!r}; kinds are {', '.join(KINDS)}")
    if not str(given.get("reason", "")).strip():
        raise ListFault(f"{where}: an explanation without a reason")
    if "file" not in given or "function" not in given:
        raise ListFault(f"{where}: an explanation names a file and a function")
    for before, after in given.get("changes", [["*", "*"]]):
        named = {**given, "before": before, "after": after}
        yield Entry(**{name: str(named.get(name, "*")) for name in Entry.__slots__})


def match(entries: Iterable[Entry], mutants: Iterable[Mutant]) -> tuple[dict[str, Entry], list[Entry]]:
    """The explained mutants by key, and the stale entries."""
    found: dict[str, Entry] = {}
    unused = list(entries)
    everything = tuple(unused)
    for mutant in mutants:
        for entry in everything:
            if entry.matches(mutant):
                found.setdefault(mutant.key, entry)
                if entry in unused:
                    unused.remove(entry)
    return found, unused
