"""The archive of a claim: report, list of cases, waivers, and a table of contents with their hashes.

It is an ordinary zip file. The table of contents names every member with its SHA-256, and the library with
its own; whatever is changed, added or taken away afterwards is then seen. The reader takes an archive for
hostile: it is bounded in members and size, and nothing is unpacked to disk.
"""

from __future__ import annotations

import hashlib
import json
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance import environment
from conformance.reading import Malformed, parse, parse_report
from conformance.selection import UsageError

FORMAT = "device_api.conformance.claim"
VERSION = 1
CONTENTS, REPORT, CASES, WAIVERS, MANIFEST = (
    "contents.json",
    "report.json",
    "cases.txt",
    "waivers.toml",
    "manifest.json",
)
OPTIONAL = frozenset({WAIVERS, MANIFEST})
MOST_BYTES = 1 << 30
# Zip files keep a time; a fixed one makes equal claims equal files.
_TIME = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Bundle:
    """What an archive holds. `damage` lists what does not fit its table of contents."""

    contents: dict[str, Any]
    report: dict[str, Any]
    cases: list[str]
    damage: list[str]


def write_bundle(
    report: Mapping[str, Any],
    path: Path,
    *,
    library: Path,
    waivers: Path | None = None,
    manifest: Path | None = None,
) -> None:
    """Writes the claim that a report makes about a library file.

    Raises UsageError when the library is not the one of the report, or the report is of a shard: merge the
    shards first. A report of failures or of a part of the cases can be bundled too; verification says so.
    """
    sha256 = environment.sha256(library)
    if sha256 != report["target"]["library_sha256"]:
        raise UsageError(f"{library} is not the library of the report: its SHA-256 is {sha256}")
    if report["selection"]["shard"] is not None:
        raise UsageError("the report is of a shard; merge the shards first")
    members = {
        REPORT: json.dumps(report, indent=1, allow_nan=False).encode(),
        CASES: "".join(f"{name}\n" for name in sorted(r["name"] for r in report["results"])).encode(),
    }
    for name, source in ((WAIVERS, waivers), (MANIFEST, manifest)):
        if source is not None:
            members[name] = source.read_bytes()
    contents = {
        "format": FORMAT,
        "version": VERSION,
        "suite_version": report["suite_version"],
        "library": {"name": library.name, "sha256": sha256},
        "files": {name: hashlib.sha256(data).hexdigest() for name, data in sorted(members.items())},
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in ((CONTENTS, json.dumps(contents, indent=1).encode()), *sorted(members.items())):
            archive.writestr(zipfile.ZipInfo(name, _TIME), data, zipfile.ZIP_DEFLATED)


def read_bundle(path: Path) -> Bundle:
    """Reads an archive. Raises UsageError when it is none, or its report or contents cannot be read."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = _members(archive)
        contents = _contents(members.get(CONTENTS, b""))
        if REPORT not in members or CASES not in members:
            raise Malformed(f"it has no {REPORT} or no {CASES}")
        report = parse_report(members[REPORT])
        cases = members[CASES].decode().splitlines()
    except OSError as error:
        raise UsageError(f"claim {path}: {error.strerror or error}") from error
    except (zipfile.BadZipFile, zlib.error, NotImplementedError, EOFError, RuntimeError) as error:
        raise UsageError(f"claim {path}: it is no sound zip file: {error}") from error
    except ValueError as error:  # Malformed, and text that is not UTF-8
        raise UsageError(f"claim {path}: {error}") from error
    return Bundle(contents, report, cases, _damage(contents["files"], members))


def _members(archive: zipfile.ZipFile) -> dict[str, bytes]:
    known = {CONTENTS, REPORT, CASES, *OPTIONAL}
    entries = archive.infolist()
    names = [entry.filename for entry in entries]
    if len(set(names)) != len(names):
        raise Malformed("a member is in it twice")
    if unknown := sorted(set(names) - known):
        raise Malformed(f"it has members that no claim has: {', '.join(map(repr, unknown[:5]))}")
    if sum(entry.file_size for entry in entries) > MOST_BYTES:
        raise Malformed(f"it is larger than {MOST_BYTES} bytes")
    # zipfile reads no more than the size that was declared.
    return {name: archive.read(name) for name in names}


def _contents(data: bytes) -> dict[str, Any]:
    found = parse(data)
    if not isinstance(found, dict) or found.get("format") != FORMAT or found.get("version") != VERSION:
        raise Malformed(f"its contents are not those of a claim of version {VERSION}")
    library, files = found.get("library"), found.get("files")
    if not (
        isinstance(files, dict)
        and all(isinstance(digest, str) for digest in files.values())
        and isinstance(library, dict)
        and all(isinstance(library.get(key), str) for key in ("name", "sha256"))
        and isinstance(found.get("suite_version"), str)
    ):
        raise Malformed("its contents lack the suite version, the library or the files")
    return found


def _damage(files: Mapping[str, str], members: Mapping[str, bytes]) -> list[str]:
    found = [f"{name} is missing" for name in sorted(set(files) - set(members))]
    found += [f"{name} was added" for name in sorted(set(members) - set(files) - {CONTENTS})]
    found += [
        f"{name} was changed"
        for name, digest in sorted(files.items())
        if name in members and hashlib.sha256(members[name]).hexdigest() != digest
    ]
    return found
