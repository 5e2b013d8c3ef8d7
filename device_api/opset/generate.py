"""`python -m device_api.opset.generate [--check]`: writes everything that follows from the op set, or
says what is stale. The list of what is generated, and from which writer, is here and nowhere else."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from device_api.opset.function_module import write_functions
from device_api.opset.header import write_header
from device_api.opset.reference import write_reference
from device_api.opset.rule_module import write_rules
from device_api.opset.schema import Entry, load
from device_api.opset.table import write_table


def root() -> Path:
    """The folder that holds the package."""
    return Path(__file__).parents[2]


def generated(entries: tuple[Entry, ...]) -> dict[str, str]:
    """The text of every generated file, by its path from the root of the source tree."""
    specs = [entry.spec for entry in entries]
    return {
        "device_api/include/device_api/ops.h": write_header(specs),
        "device_api/ops/_table.py": write_table(specs),
        "device_api/ops/_functions.py": write_functions(specs),
        "device_api/ops/_rules.py": write_rules(entries),
        "docs/reference/ops.md": write_reference(entries),
    }


def stale(entries: tuple[Entry, ...], where: Path) -> list[str]:
    """The generated files that differ from what the op set says now."""
    return [
        name
        for name, text in generated(entries).items()
        if not (where / name).is_file() or (where / name).read_text(encoding="utf-8") != text
    ]


def main(arguments: list[str] | None = None) -> int:
    """0 when everything is written or current, 1 when `--check` finds a stale file."""
    parser = argparse.ArgumentParser(prog="python -m device_api.opset.generate", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, fail when a file is stale")
    options = parser.parse_args(arguments)
    entries = load()
    outdated = stale(entries, root())
    if options.check:
        for name in outdated:
            print(f"{name} is stale: run python -m device_api.opset.generate", file=sys.stderr)
        return 1 if outdated else 0
    texts = generated(entries)
    for name in outdated:
        path = root() / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(texts[name], encoding="utf-8")
        print(f"wrote {name}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
