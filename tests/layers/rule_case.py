"""What a case of a rule is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from bench import Bench


@dataclass(frozen=True)
class Case:
    """Calls that break a rule, and calls that keep it. A mistake of the plugin is switched on by `mode`;
    `below` are further layers under the one that is tested.
    """

    broken: Callable[[Bench], object]
    kept: Callable[[Bench], object]
    mode: str = ""
    kept_mode: str = ""
    below: str = ""


def by_mode(mode: str, calls: Callable[[Bench], object], kept_mode: str = "") -> Case:
    """The same calls with and without a mistake of the plugin."""
    return Case(calls, calls, mode, kept_mode)
