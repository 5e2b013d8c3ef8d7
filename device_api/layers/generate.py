"""`python -m device_api.layers.generate [--check]`: writes what the layers take from the headers and rules.

Writes the interposers in native/generated, the table of rules for C++ and for the documentation, and the
cffi declarations of the layer library. With `--check` nothing is written and the exit status is 1 when a
file is not current.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from device_api.abi.describe import describe
from device_api.layers import declarations, emit, rules
from device_api.layers.signatures import slots

ROOT = Path(__file__).resolve().parent.parent.parent


def texts(root: Path = ROOT) -> dict[Path, str]:
    """Path -> text of every generated file."""
    contract = describe(root / "device_api" / "include" / "device_api")
    found = slots(contract)
    layers = root / "device_api" / "layers"
    folder = layers / "native" / "generated"
    files = {
        folder / "slots.hpp": emit.slots_header(contract, found),
        folder / "interfaces.hpp": emit.interfaces_header(contract),
        folder / "attributes.hpp": emit.attributes_header(contract),
        folder / "rules.hpp": rules.header(rules.read(layers / "rules.yaml")),
        layers / "_slots.py": declarations.slot_table(contract, found),
        layers / "_native.py": declarations.compiled(contract),
        root / "docs" / "vendors" / "validation-rules.md": rules.document(rules.read(layers / "rules.yaml")),
    }
    for name in contract.interfaces:
        own = [slot for slot in found if slot.struct == contract.interfaces[name].struct]
        files[folder / f"{name}.cpp"] = emit.interposer(contract, name, own)
    return files


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m device_api.layers.generate", description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 when a file is not current"
    )
    options = parser.parse_args(arguments)
    wanted = texts()
    stale = [path for path, text in wanted.items() if not path.exists() or path.read_text("utf-8") != text]
    for path in stale:
        print(f"{'not current' if options.check else 'written'}: {path.relative_to(ROOT)}")
        if not options.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(wanted[path], encoding="utf-8")
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    raise SystemExit(main())
