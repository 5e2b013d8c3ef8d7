"""The declared table of named faults, and the same with its results as Markdown.

The table lies beside the plugin, plugins/faulty/faults.toml, a section for each fault, in
groups. Nothing here runs anything.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TABLE = Path(__file__).resolve().parents[2] / "plugins" / "faulty" / "faults.toml"
DEADLINE = 20.0
BASES = ("cpu", "simulated")
LIBRARY = "libdevice_api_faulty.so"
_FIELDS = {"base", "defect", "cases", "deadline", "library", "only_with_fault"}
_NAME = re.compile(r"[a-z][a-z0-9_]*")


class TableError(ValueError):
    """The table, or what was asked of it, makes no sense; the text says what to change."""


@dataclass(frozen=True, slots=True)
class Fault:
    """One named fault. Each glob of `cases` must match a case that fails when the fault is on.

    Without the fault it must pass, unless `only_with_fault`: the case is about something that only the fault
    offers. `kind` is the heading of a group, `library` a file beside the table, `deadline` is in seconds
    per case.
    """

    name: str
    kind: str
    base: str
    defect: str
    cases: tuple[str, ...]
    deadline: float = DEADLINE
    library: str = LIBRARY
    only_with_fault: bool = False


def read_table(path: Path = TABLE) -> tuple[Fault, ...]:
    """The faults in the order of the file; raises TableError for a table that is not well formed."""
    try:
        sections = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise TableError(f"{path}: {error}") from error
    return tuple(
        _fault(path, group["title"], name, section)
        for group in sections.values()
        for name, section in group.items()
        if name != "title"
    )


def _fault(path: Path, kind: str, name: str, section: Any) -> Fault:
    def need(condition: object, message: str) -> None:
        if not condition:
            raise TableError(f"{path}: fault {name}: {message}")

    need(_NAME.fullmatch(name), "names are lower-case words with underscores")
    need(isinstance(section, dict), "a fault is a section")
    unknown = section.keys() - _FIELDS
    need(not unknown, f"unknown fields {', '.join(sorted(unknown))}; known are {', '.join(sorted(_FIELDS))}")
    need(str(section.get("defect", "")).strip(), "defect must say something")
    need(section.get("base", "cpu") in BASES, f"base is one of {', '.join(BASES)}")
    cases = section.get("cases")
    need(
        isinstance(cases, list) and cases and all(isinstance(c, str) for c in cases),
        "cases is a list of globs",
    )
    return Fault(
        name,
        kind,
        section.get("base", "cpu"),
        " ".join(section["defect"].split()),
        tuple(section["cases"]),
        float(section.get("deadline", DEADLINE)),
        section.get("library", LIBRARY),
        bool(section.get("only_with_fault", False)),
    )


_HEAD = """# Kill table

<!-- Written by `python -m conformance.kill --pages FOLDER`; do not edit. -->

Each row is a plugin with one fault. The suite must fail it in every case named here, and must pass the same
plugin without the fault in all of them. [What the table proves](../vendors/kill-table.md) explains it.
"""


def markdown(results: Mapping[str, Any]) -> str:
    """The table, one section for each kind of fault, in the order of the declaration; `results` is the JSON
    of a run of the named faults."""
    total, killed = results["total"], results["killed"]
    lines = [_HEAD, f"{killed} of {total} faults are caught in all of their cases."]
    kinds: dict[str, list[Mapping[str, Any]]] = {}
    for fault in results["faults"]:
        kinds.setdefault(fault["kind"], []).append(fault)
    for kind, faults in kinds.items():
        lines += ["", f"## {kind}", "", "| fault | what it stands for | caught by |", "|---|---|---|"]
        lines += [f"| `{f['name']}` | {_cell(f['defect'])} | {_caught(f)} |" for f in faults]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _caught(fault: Mapping[str, Any]) -> str:
    return "<br>".join(f"`{case['cases']}`: {case['status']}" for case in fault["cases"])
