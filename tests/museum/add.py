"""`python tests/museum/add.py NAME [--headers DIR]`: adds an exhibit, built from headers of the present or of
another checkout.

An exhibit is a folder with the source, the binary, and exhibit.json: version and hash of the headers, hash of
the binary, compiler. Exhibits are never rebuilt and never removed within a major: the binary is the point.
Each release of the headers adds one; see docs/abi-change-checklist.md.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import re
import shutil
import subprocess
from pathlib import Path

MUSEUM = Path(__file__).resolve().parent
HEADERS = MUSEUM.parents[1] / "device_api" / "include"
FLAGS = ["-std=c99", "-O1", "-fPIC", "-fvisibility=hidden", "-shared", "-s", "-Wall", "-Wextra", "-Werror"]


def headers_hash(headers: Path) -> str:
    """One hash of all headers, names included."""
    digest = hashlib.sha256()
    for path in sorted(headers.rglob("*.h")):
        digest.update(path.relative_to(headers).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def version_of(headers: Path) -> list[int]:
    """DA_ABI_MAJOR and DA_ABI_MINOR."""
    text = (headers / "device_api" / "base.h").read_text()
    return [int(re.search(rf"#define DA_ABI_{part} (\d+)", text)[1]) for part in ("MAJOR", "MINOR")]


def add(name: str, headers: Path, source: Path = MUSEUM / "plugin.c", museum: Path = MUSEUM) -> Path:
    """Builds and writes the exhibit `name`; FileExistsError when there is one."""
    folder = museum / name
    folder.mkdir()
    shutil.copy(source, folder / "plugin.c")
    library = folder / "libmuseum.so"
    command = ["cc", *FLAGS, f"-I{headers}", str(folder / "plugin.c"), "-o", str(library)]
    subprocess.run(command, check=True)
    compiler = subprocess.run(["cc", "--version"], capture_output=True, text=True, check=True).stdout
    facts = {
        "abi": version_of(headers),
        "headers_sha256": headers_hash(headers),
        "library_sha256": hashlib.sha256(library.read_bytes()).hexdigest(),
        "machine": platform.machine(),
        "compiler": compiler.splitlines()[0],
    }
    (folder / "exhibit.json").write_text(json.dumps(facts, indent=1) + "\n")
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", help="version, and what marks a draft: 0.9-draft6")
    parser.add_argument("--headers", type=Path, default=HEADERS, help="the folder that holds device_api/")
    options = parser.parse_args()
    print(add(options.name, options.headers.resolve()))


if __name__ == "__main__":
    main()
