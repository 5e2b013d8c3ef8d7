"""The list of mutants that are counted out, each with the reason why no input can show it.

The list is `explained.toml` beside this module. An entry names mutants by file, function, operator and text,
never by line. Where a function holds the same change more than once, the statement around it tells them
apart (`within`), and where that does not, a number as the third text of a change: "2/3", the second of three.
An entry that matches no mutant of the sources is stale, "2/3" too once there are four, and an entry whose
mutant a case kills is false: both are errors, so that the list cannot outlive the code it speaks of.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import translate
from functools import cache
from pathlib import Path
from typing import Any

from conformance.kill.mutants.schemata import Mutant

PATH = Path(__file__).parent / "explained.toml"
# Why a mutant may be counted out. Nothing else is a reason.
KINDS = {
    "speed": "decides how work is done (pieces, buffers, threads, one of two equal ways), never its result",
    "same": "gives the same result for every input that can come here",
    "accuracy": "stays within the tolerance that the op set allows for every input",
    "open": "changes only results that the op set leaves open",
    "claim": "claims less, or declines more: a plugin may, and is right in what it still claims",
    "contract": "shows only for calls that the interface forbids, which no correct host makes",
}
_FIELDS = {"file", "function", "operator", "within", "changes", "kind", "reason"}
_NUMBER = re.compile(r"[1-9]\d*/[1-9]\d*")


class ListFault(ValueError):
    """The list of explained mutants is not well formed; the text names the entry."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One explanation. The first six are globs in which brackets are plain text; an absent one is "*".
    `number` is one of several equal changes, "2/3"."""

    file: str
    function: str
    operator: str
    before: str
    after: str
    within: str
    number: str
    kind: str
    reason: str

    def matches(self, mutant: Mutant, of: int) -> bool:
        """Whether it speaks of this mutant; `of` is how many equal changes the mutant's function holds."""
        pairs = (
            (mutant.file, self.file),
            (mutant.function, self.function),
            (mutant.operator, self.operator),
            (mutant.before, self.before),
            (mutant.after, self.after),
            (mutant.within, self.within),
        )
        return self.number in ("*", f"{mutant.count}/{of}") and all(_fits(*pair) for pair in pairs)

    def __str__(self) -> str:
        texts = f"{self.file} {self.function} [{self.operator}] {self.before} -> {self.after}"
        place = "" if self.within == "*" else f" within {self.within}"
        return texts + place + ("" if self.number == "*" else f" #{self.number}")


def _fits(text: str, pattern: str) -> bool:
    return pattern in ("*", text) or ("*" in pattern and _glob(pattern).fullmatch(text) is not None)


@cache
def _glob(pattern: str) -> re.Pattern[str]:
    # Brackets stand in code everywhere: they are no sets of characters here.
    return re.compile(translate(pattern.replace("[", "[[]")))


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
    """The entries of one table: `changes` are texts (before, after, number) that share its reason."""
    unknown = sorted(set(given) - _FIELDS)
    if unknown:
        raise ListFault(f"{where}: unknown {', '.join(unknown)}; known are {', '.join(sorted(_FIELDS))}")
    if given.get("kind") not in KINDS:
        raise ListFault(f"{where}: kind {given.get('kind')!r}; kinds are {', '.join(KINDS)}")
    if not str(given.get("reason", "")).strip():
        raise ListFault(f"{where}: an explanation without a reason")
    if "file" not in given or "function" not in given:
        raise ListFault(f"{where}: an explanation names a file and a function")
    for change in given.get("changes", [["*", "*"]]):
        yield _entry(where, given, change)


def _entry(where: str, given: Mapping[str, Any], change: Sequence[str]) -> Entry:
    before, after, number = (*change, "*") if len(change) == 2 else change
    if number != "*" and not _NUMBER.fullmatch(number):
        raise ListFault(f"{where}: {number!r} is no number of one of several equal changes, such as 2/3")
    named = {**given, "before": before, "after": after, "number": number}
    return Entry(**{name: str(named.get(name, "*")) for name in Entry.__slots__})


def match(entries: Iterable[Entry], mutants: Iterable[Mutant]) -> tuple[dict[str, Entry], list[Entry]]:
    """The explained mutants by key, and the stale entries."""
    found: dict[str, Entry] = {}
    everything, listed = tuple(mutants), tuple(entries)
    equal = Counter(_change(mutant) for mutant in everything)
    used = set()
    for mutant in everything:
        for entry in listed:
            if entry.matches(mutant, equal[_change(mutant)]):
                found.setdefault(mutant.key, entry)
                used.add(entry)
    return found, [entry for entry in listed if entry not in used]


def _change(mutant: Mutant) -> tuple[str, ...]:
    """What equal changes of a function have in common."""
    return mutant.file, mutant.function, mutant.operator, mutant.before, mutant.after
