"""Writes the texts that are made from the headers: layout.h, the run-time tables and the reference page.

Each function takes the description (and, where sizes matter, the snapshot) and returns the whole text of
one file. Where the file lies and whether it may change is decided in `generate`.
"""

from __future__ import annotations

from collections.abc import Iterable
from pprint import pformat
from typing import Any

from device_api.abi.describe import OPS, Contract, Enum, Interface, Struct

NOTE = "Written by `python -m device_api.abi.generate` from the headers; do not edit."

_LAYOUT_HEAD = """\
/* device_api/layout.h: what the compiler at hand made of the headers.
 * {note}
 *
 * `da_layout` goes into the plugin's descriptor; the host compares it with its own numbers before the first
 * call. DA_..._MIN_SIZE is the size a struct had when it was first released: a reader accepts any
 * `struct_size` from there on, and it never changes within a major. Attribute structs of ops are not listed:
 * they hold only 8-byte members, which no compiler lays out differently, and there is one for each op.
 */
#ifndef DEVICE_API_LAYOUT_H
#define DEVICE_API_LAYOUT_H

/* clang-format off */
"""

_LAYOUT_ASSERT = """
#if defined(__GNUC__) || defined(__clang__)
#define DA_MAYBE_UNUSED __attribute__((unused))
#else
#define DA_MAYBE_UNUSED
#endif

/* A negative array size where a struct is not what the contract says (64-bit targets). */
#define DA_LAYOUT_ASSERT(name, bytes) \\
  typedef char da_layout_assert_##name[(sizeof(void *) != 8 || sizeof(name) == (bytes)) ? 1 : -1]

"""


def core_structs(contract: Contract) -> list[Struct]:
    """The structs of the contract itself, without the attribute structs of ops."""
    return [struct for struct in contract.structs.values() if struct.header != OPS]


def layout_header(contract: Contract, snapshot: dict[str, Any]) -> str:
    """The text of layout.h."""
    structs = core_structs(contract)
    headers = sorted({struct.header for struct in structs})
    lines = [_LAYOUT_HEAD.format(note=NOTE).rstrip("\n"), ""]
    lines += [f'#include "device_api/{header}"' for header in headers]
    lines.append("")
    for struct in structs:
        if struct.growable:
            minimum = snapshot["structs"][struct.name]["minimum_size"]
            lines.append(f"#define {struct.name.upper()}_MIN_SIZE UINT64_C({minimum})")
    lines.append(_LAYOUT_ASSERT.rstrip("\n"))
    lines.append("")
    for struct in structs:
        lines.append(f"DA_LAYOUT_ASSERT({struct.name}, {snapshot['structs'][struct.name]['size']});")
    lines.append("")
    for struct in structs:
        lines.append(f"static const uint32_t da_layout_of_{struct.name}[] DA_MAYBE_UNUSED = {{")
        lines += [f"    (uint32_t)offsetof({struct.name}, {item.name})," for item in struct.fields]
        lines[-1] = lines[-1].rstrip(",") + "};"
    lines += ["", "static const da_struct_layout da_layout_structs[] DA_MAYBE_UNUSED = {"]
    for struct in structs:
        lines.append(
            f'    {{"{struct.name}", (uint32_t)sizeof({struct.name}), {len(struct.fields)}, '
            f"da_layout_of_{struct.name}}},"
        )
    lines[-1] = lines[-1].removesuffix(",") + "};"
    lines += [
        "",
        "static const da_layout_table da_layout DA_MAYBE_UNUSED = {",
        f"    sizeof(da_layout_table), NULL, da_layout_structs, {len(structs)}}};",
        "/* clang-format on */",
        "",
        "#endif",
        "",
    ]
    return "\n".join(lines)


def tables(contract: Contract, snapshot: dict[str, Any]) -> str:
    """The text of _tables.py: what the loader has to know of the headers, as literals."""
    structs = core_structs(contract)
    interfaces = {item.name: (item.id, item.version, item.struct) for item in contract.interfaces.values()}
    minimum = {struct.name: snapshot["structs"][struct.name]["minimum_size"] for struct in structs}
    slots = {
        struct.name: {item.name: item.rules.mandatory for item in struct.fields if item.rules is not None}
        for struct in structs
        if contract.slots(struct.name)
    }
    return (
        "\n\n".join(
            [
                f'"""Facts of the headers as literals: interfaces, smallest sizes, slots.\n\n{NOTE}\n"""',
                "# fmt: off\nfrom typing import Final",
                f"VERSION: Final = {contract.version!r}",
                "# of major 0: the oldest minor whose plugins are understood, the last that broke\n"
                f"OLDEST_MINOR: Final = {snapshot['oldest_minor']}",
                "# name -> (id, version, struct)\n"
                f"INTERFACES: Final[dict[str, tuple[str, int, str]]] = {_literal(interfaces)}",
                "# struct -> its size when first released; the structs of the layout table\n"
                f"MINIMUM_SIZES: Final[dict[str, int]] = {_literal(minimum)}",
                "# struct -> slot -> mandatory\n"
                f"SLOTS: Final[dict[str, dict[str, bool]]] = {_literal(slots)}",
            ]
        )
        + "\n"
    )


def constants(contract: Contract) -> str:
    """The text of constants.py: every enum value and constant under its C name."""
    parts = [f'"""Every number and name of the headers under its C name.\n\n{NOTE}\n"""', "# fmt: off"]
    parts.append("\n".join(f"{name} = {_value(value)}" for name, value in contract.constants.items()))
    for enum in contract.enums.values():
        rows = "\n".join(f"{name} = {number}" for name, number, _ in enum.values)
        parts.append(f"# enum {enum.name}\n{rows}")
    return "\n\n".join(parts) + "\n"


def _value(value: int | str) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value) if value < 2**20 else hex(value)


def _literal(value: object) -> str:
    text = pformat(value, indent=4, width=100, sort_dicts=False)
    return "{\n " + text[1:-1] + ",\n}" if text.startswith("{") else text


def reference(contract: Contract) -> str:
    """The text of docs/reference/abi.md."""
    major, minor = contract.version
    lines = [
        "# The C contract",
        "",
        f"<!-- {NOTE} -->",
        "",
        f"Version {major}.{minor}. Every function slot of every table, with the rules both sides keep.",
        "The headers in `device_api/include/device_api/` say the same beside each declaration.",
        "",
        "* **need**: an optional slot may be `NULL`; the host then takes another way.",
        "* **thread**: `thread-safe` may be called from any thread at once; `sync: X`: one at a time.",
        "* **order**: `none` has nothing to order, `host` is done on return, `stream` runs in stream order.",
        "* **zero**: `ok` means that zero sizes succeed and do nothing; `never` that the host passes none.",
        "",
    ]
    owners: dict[str, Interface] = {item.struct: item for item in contract.interfaces.values()}
    for struct in core_structs(contract):
        slots = contract.slots(struct.name)
        if not slots:
            continue
        interface = owners.get(struct.name)
        lines += [f"## {interface.name if interface else struct.name}", ""]
        where = f"`{struct.name}` in `{struct.header}`"
        if interface:
            where += f"; id `{interface.id}`, version {interface.version}"
        lines += [f"{where}.{' ' + struct.doc if struct.doc else ''}", ""]
        lines += [
            "| function | need | thread | order | owner | zero | what it does |",
            "|---|---|---|---|---|---|---|",
        ]
        for slot in slots:
            rules = slot.rules
            assert rules is not None
            need = "mandatory" if rules.mandatory else "optional"
            cells = [f"`{slot.name}`", need, rules.thread, rules.order, rules.owner, rules.zero, slot.doc]
            lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
        lines.append("")
    lines += ["## Data", "", "Structs without functions, and their members in order.", ""]
    for struct in core_structs(contract):
        if not contract.slots(struct.name):
            members = ", ".join(f"`{item.declaration}`" for item in struct.fields)
            lines += [
                f"* **`{struct.name}`** ({struct.header}){': ' + struct.doc if struct.doc else ''} {members}"
            ]
    lines += ["", "## Numbers", ""]
    lines += _enums(enum for enum in contract.enums.values() if enum.header != OPS)
    return "\n".join(lines).rstrip("\n") + "\n"


def _enums(enums: Iterable[Enum]) -> list[str]:
    lines: list[str] = []
    for enum in enums:
        lines += [f"### `{enum.name}`", "", *([enum.doc, ""] if enum.doc else [])]
        lines += ["| name | number | meaning |", "|---|---|---|"]
        lines += [f"| `{name}` | {number} | {doc} |" for name, number, doc in enum.values]
        lines.append("")
    return lines
