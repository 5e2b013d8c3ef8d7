"""Which cases a run executes: levels, globs, quick or full, and shards.

Kept free of plugins and processes, so that the rules (a filter that matches nothing is an error, shards are
disjoint and complete) are tested as plain functions.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from conformance.case import LEVELS


class UsageError(ValueError):
    """The run was asked for something that makes no sense; the text says what to change."""


@dataclass(frozen=True, slots=True)
class Shard:
    """Part `index` of `count` equal parts, counted from 1."""

    index: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Reads "2/5"; raises UsageError for anything else."""
        index, slash, count = text.partition("/")
        if not (slash and index.isdecimal() and count.isdecimal()):
            raise UsageError(f"shard {text!r} is not of the form INDEX/COUNT, for example 2/5")
        shard = cls(int(index), int(count))
        if not 1 <= shard.index <= shard.count:
            raise UsageError(f"shard {text!r}: the index runs from 1 to the count")
        return shard

    def takes(self, name: str) -> bool:
        """By the hash of the name, so that adding a case moves no other case to another shard."""
        return zlib.crc32(name.encode()) % self.count == self.index - 1


@dataclass(frozen=True, slots=True)
class Selection:
    """The filter of a run."""

    levels: tuple[str, ...] = LEVELS
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    quick: bool = False
    shard: Shard | None = None

    def __post_init__(self) -> None:
        unknown = [level for level in self.levels if level not in LEVELS]
        if unknown:
            raise UsageError(f"unknown level {', '.join(unknown)}; levels are {', '.join(LEVELS)}")

    @property
    def whole(self) -> bool:
        """Whether nothing is left out."""
        return self == Selection()

    def takes(self, name: str, quick: bool) -> bool:
        """Whether the case runs in this shard."""
        return self.chooses(name, quick) and self.in_shard(name)

    def in_shard(self, name: str) -> bool:
        return self.shard is None or self.shard.takes(name)

    def chooses(self, name: str, quick: bool) -> bool:
        """Whether the case belongs to the run, of whose shards this may be one. A case named in full by
        `include` runs in a quick run too."""
        if name.partition(".")[0] not in self.levels:
            return False
        if self.quick and not quick and name not in self.include:
            return False
        if self.include and not any(fnmatchcase(name, glob) for glob in self.include):
            return False
        return not any(fnmatchcase(name, glob) for glob in self.exclude)

    def unmatched(self, names: Sequence[str]) -> list[str]:
        """Globs that match no case at all: each is a mistake that would make a run look better than it is."""
        return [
            glob
            for glob in (*self.include, *self.exclude)
            if not any(fnmatchcase(name, glob) for name in names)
        ]
