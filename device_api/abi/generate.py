"""`python -m device_api.abi.generate [--check]`: writes every file that is made from the headers.

Writes layout.h, the cffi declarations, the run-time tables, the constants, the golden snapshot and the
reference page. A header change that is not an append is refused, because binaries exist that were built
with the old one; while the contract is a draft (major 0), `--break-draft` accepts it together with a new
minor, and hosts from then on refuse plugins of the drafts before. With `--check`
nothing is written and the exit status is 1 when a file is not current.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from device_api.abi import emit, snapshot
from device_api.abi.describe import HEADERS, Contract, HeaderError, describe

ROOT = Path(__file__).resolve().parent.parent.parent
MODULE = "device_api.abi._declarations"


class RefusedChange(ValueError):
    """The headers changed in a way that breaks binaries built before."""


def declare(contract: Contract) -> Any:
    """A cffi FFI that holds the declarations of `contract`, and can write them out of line."""
    import cffi

    ffi = cffi.FFI()
    constants = [f"#define {k} {v}" for k, v in contract.constants.items() if isinstance(v, int)]
    entry = f"const da_plugin *{contract.constants['DA_PLUGIN_ENTRY']}(const da_plugin_request *request);"
    ffi.cdef("\n".join([*constants, *contract.declarations, entry]))
    ffi.set_source(MODULE, None)
    return ffi


def texts(root: Path = ROOT, *, break_draft: bool = False) -> dict[Path, str]:
    """Path -> text of every generated file. Raises RefusedChange, HeaderError."""
    contract = describe(root / "device_api" / "include" / "device_api")
    ffi = declare(contract)
    folder = root / "device_api" / "abi"
    draft = contract.version[0] == 0
    if break_draft and not draft:
        raise RefusedChange(f"ABI {contract.version[0]} is released: --break-draft is for major 0")
    history = snapshot.released(contract.version[0], folder)
    taken = snapshot.take(contract, ffi, history)
    broken = [
        f"since {'.'.join(map(str, old['version']))}: {text}"
        for old in history
        for text in snapshot.violations(old, taken)
    ]
    if broken and break_draft:
        if any(old["version"] == list(contract.version) for old in history):
            broken.append("a draft breaks only with a new minor: raise DA_ABI_MINOR in base.h")
        else:
            taken, broken = snapshot.take(contract, ffi, []), []
    if problems := [*snapshot.padding(taken), *broken]:
        raise RefusedChange("\n".join(problems))
    return {
        root / HEADERS.relative_to(ROOT) / "layout.h": emit.layout_header(contract, taken),
        folder / "_declarations.py": _declarations(ffi),
        folder / "_tables.py": emit.tables(contract, taken),
        folder / "constants.py": emit.constants(contract),
        snapshot.path_of(contract.version, folder): json.dumps(taken, indent=1) + "\n",
        root / "docs" / "reference" / "abi.md": emit.reference(contract),
    }


def _declarations(ffi: Any) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "declarations.py"
        with contextlib.redirect_stdout(io.StringIO()):  # cffi prints the name of the file it writes
            ffi.emit_python_code(str(path))
        body = path.read_text(encoding="utf-8").removeprefix("# auto-generated file\n")
    head = f'"""The headers as cffi declarations, compiled.\n\n{emit.NOTE}\n"""\n\n'
    return f"{head}# ruff: noqa\n# fmt: off\n{body}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m device_api.abi.generate", description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 when a file is not current"
    )
    parser.add_argument(
        "--break-draft", action="store_true", help="accept a change that is not an append (major 0)"
    )
    parser.add_argument("--root", type=Path, default=ROOT, help="the source tree")
    options = parser.parse_args(arguments)
    try:
        wanted = texts(options.root, break_draft=options.break_draft)
    except RefusedChange as error:
        print(f"refused, because binaries built before would break:\n{error}", file=sys.stderr)
        return 1
    except HeaderError as error:
        print(error, file=sys.stderr)
        return 1
    stale = [
        path for path, text in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    for path in stale:
        print(f"{'not current' if options.check else 'written'}: {path.relative_to(options.root)}")
        if not options.check:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(wanted[path], encoding="utf-8")
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    raise SystemExit(main())
