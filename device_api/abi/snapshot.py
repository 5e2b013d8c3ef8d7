"""The layout of the contract as numbers, and the rule that a released layout only grows at its end.

A snapshot is plain JSON data: every struct with the offset and size of its fields and the rules of its
slots, every enum value and constant. One is kept for each version in this folder; comparing the newest with
the headers shows what a change does to binaries that exist already. Sizes come from cffi, so from the C
rules of this machine (64-bit). Used when generating and testing, never at run time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from device_api.abi.describe import Contract

FOLDER = Path(__file__).resolve().parent

Snapshot = dict[str, Any]


def path_of(version: tuple[int, int], folder: Path = FOLDER) -> Path:
    """Where the snapshot of a version is kept."""
    return folder / f"layout_{version[0]}_{version[1]}.json"


def released(major: int, folder: Path = FOLDER) -> list[Snapshot]:
    """The kept snapshots of one major that still bind, oldest first: all, but for drafts before the last that
    broke."""
    found = [json.loads(path.read_text(encoding="utf-8")) for path in folder.glob(f"layout_{major}_*.json")]
    found.sort(key=lambda snapshot: tuple(snapshot["version"]))
    return [one for one in found if one["version"][1] >= found[-1]["oldest_minor"]]


def take(contract: Contract, ffi: Any, history: list[Snapshot]) -> Snapshot:
    """The snapshot of `contract`; `ffi` holds its declarations, `history` the kept snapshots of the same
    major that bind it. Without any in major 0, it is a draft that breaks with those before.
    """
    structs: dict[str, Any] = {}
    for struct in contract.structs.values():
        size = ffi.sizeof(struct.name)
        first = next((old["structs"][struct.name] for old in history if struct.name in old["structs"]), None)
        fields = dict(ffi.typeof(struct.name).fields)
        structs[struct.name] = {
            "size": size,
            "minimum_size": first["minimum_size"] if first else size,
            "growable": struct.growable,
            "fields": [
                {
                    "name": item.name,
                    "offset": fields[item.name].offset,
                    "size": ffi.sizeof(fields[item.name].type),
                    "declaration": item.declaration,
                    "rules": vars(item.rules) if item.rules else None,
                }
                for item in struct.fields
            ],
        }
    return {
        "version": list(contract.version),
        "oldest_minor": history[-1]["oldest_minor"] if history else contract.version[1],
        "structs": structs,
        "enums": {
            enum.name: {name: number for name, number, _ in enum.values} for enum in contract.enums.values()
        },
        "constants": {
            k: v for k, v in contract.constants.items() if k not in ("DA_ABI_MAJOR", "DA_ABI_MINOR")
        },
        "functions": dict(contract.functions),
    }


def padding(snapshot: Snapshot) -> list[str]:
    """Places where a compiler would insert bytes on its own, and sizes that are no multiple of 8."""
    found = []
    for name, struct in snapshot["structs"].items():
        end = 0
        for item in struct["fields"]:
            if item["offset"] != end:
                found.append(f"{name}: {item['offset'] - end} bytes of padding before {item['name']}")
            end = item["offset"] + item["size"]
        if end != struct["size"]:
            found.append(f"{name}: {struct['size'] - end} bytes of padding at the end")
        if struct["growable"] and struct["size"] % 8:
            found.append(f"{name}: size {struct['size']} is no multiple of 8")
    return found


def violations(old: Snapshot, new: Snapshot) -> list[str]:
    """What in `new` would break a binary built with `old`; empty when every change is an append."""
    return [
        *_changed_structs(old["structs"], new["structs"]),
        *_changed_enums(old["enums"], new["enums"]),
        *_changed_values("constant", old["constants"], new["constants"]),
        *_changed_values("function type", old["functions"], new["functions"]),
    ]


def _changed_values(kind: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for name, value in old.items():
        if name not in new:
            yield f"{kind} {name} was removed"
        elif new[name] != value and not name.endswith("_INTERFACE_VERSION"):
            yield f"{kind} {name} changed from {value!r} to {new[name]!r}"
        elif new[name] != value and new[name] < value:
            yield f"{kind} {name} went back from {value} to {new[name]}"


def _changed_enums(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for name, values in old.items():
        if name not in new:
            yield f"enum {name} was removed"
            continue
        yield from _changed_values(f"{name} value", values, new[name])
    for name, values in new.items():
        if len(set(values.values())) != len(values):
            yield f"enum {name} gives one number to two names"


def _changed_structs(old: Mapping[str, Any], new: Mapping[str, Any]) -> Iterator[str]:
    for name, before in old.items():
        after = new.get(name)
        if after is None:
            yield f"struct {name} was removed"
            continue
        if after["minimum_size"] != before["minimum_size"]:
            yield f"{name}: the minimum size {before['minimum_size']} became {after['minimum_size']}"
        if before["growable"] != after["growable"]:
            yield f"{name}: struct_size was added or removed"
        for position, (was, now) in enumerate(zip(before["fields"], after["fields"], strict=False)):
            for fact in ("name", "offset", "size", "declaration", "rules"):
                if was[fact] != now[fact]:
                    change = f"{fact} was {was[fact]!r}, is {now[fact]!r}"
                    yield f"{name} field {position} ({was['name']}): {change}"
        added = after["fields"][len(before["fields"]) :]
        if len(after["fields"]) < len(before["fields"]):
            yield f"{name}: the last {len(before['fields']) - len(after['fields'])} fields were removed"
        if added and not before["growable"]:
            yield f"{name}: a struct without struct_size cannot grow"
        for item in added:
            if item["offset"] < before["size"]:
                yield f"{name}: new field {item['name']} lies in the old struct's padding"
            if item["rules"] and item["rules"]["mandatory"]:
                yield f"{name}: new slot {item['name']} is mandatory, so older plugins would be refused"
