"""The function slots of the contract as call signatures: names, parameters, results, thread rules.

The headers are read through `device_api.abi.describe`; this module only takes the text of each declaration
apart. It is used when the interposers are generated, never at run time, and knows nothing of what a layer
does with a call.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from device_api.abi.describe import OPS, Contract, Field

# Tables that are no interface of their own: prefix of their slots -> struct.
TABLES = {
    "plugin": "da_plugin",
    "error": "da_error_interface",
    "kernel": "da_kernel",
    "pass": "da_pass",
    "custom": "da_custom_op",
    "host": "da_host",
    "context": "da_kernel_context",
}

_WORD = re.compile(r"(\w+)(?:\[\d*\])?$")


@dataclass(frozen=True)
class Parameter:
    """One parameter: its name, its C declaration, and its type without the name."""

    name: str
    declaration: str
    type: str

    @property
    def is_output(self) -> bool:
        """Whether the callee writes through it."""
        return self.name.startswith("out_")


@dataclass(frozen=True)
class Slot:
    """One function slot: "memory.allocate" of da_memory_interface."""

    group: str
    name: str
    struct: str
    result: str
    parameters: tuple[Parameter, ...]
    mandatory: bool
    thread: str

    @property
    def title(self) -> str:
        return f"{self.group}.{self.name}"

    @property
    def constant(self) -> str:
        """The name in enum Slot."""
        return f"{self.group}_{self.name}"

    @property
    def type(self) -> str:
        """The name of the struct of its arguments."""
        return "".join(part.capitalize() for part in f"{self.group}_{self.name}".split("_"))

    @property
    def synchronised_on(self) -> str | None:
        """The parameter on which calls must not overlap; "plugin" for all calls of the plugin; None for
        thread-safe slots."""
        found = re.fullmatch(r"sync: (\w+)", self.thread)
        if found is None or found[1] == "launch":
            return None
        return found[1]


def slots(contract: Contract) -> list[Slot]:
    """Every slot with rules, interfaces first, in the order of the headers."""
    groups = {interface.name: interface.struct for interface in contract.interfaces.values()}
    found = []
    for group, struct in [*groups.items(), *TABLES.items()]:
        for field in contract.slots(struct):
            found.append(_slot(contract, group, struct, field))
    return found


def attribute_pointers(contract: Contract) -> list[tuple[str, str, str | None]]:
    """(struct, pointer, field with its count or None for text) of every pointer in an attribute struct."""
    rows = []
    for struct in contract.structs.values():
        if struct.header != OPS:
            continue
        for field in struct.fields[2:]:
            if "*" in field.declaration:
                count = None if "char" in field.declaration else f"{field.name}_count"
                rows.append((struct.name, field.name, count))
    return rows


def _slot(contract: Contract, group: str, struct: str, field: Field) -> Slot:
    declaration = field.declaration.rstrip(";")
    first = declaration.split()[0]
    if first in contract.functions:
        declaration = contract.functions[first].removeprefix("typedef ")
    found = re.match(r"(.*?)\(\s*\*\s*\w+\s*\)\((.*)\)\s*$", declaration, re.DOTALL)
    if found is None or field.rules is None:
        raise ValueError(f"{struct}.{field.name}: cannot read {declaration!r}")
    parameters = tuple(_parameter(text) for text in _split(found[2]) if text != "void")
    return Slot(
        group, field.name, struct, _tidy(found[1]), parameters, field.rules.mandatory, field.rules.thread
    )


def _split(text: str) -> list[str]:
    """The parameters, at commas outside of parentheses."""
    parts, depth, start = [], 0, 0
    for at, mark in enumerate(text):
        depth += {"(": 1, ")": -1}.get(mark, 0)
        if mark == "," and depth == 0:
            parts.append(text[start:at])
            start = at + 1
    return [part.strip() for part in [*parts, text[start:]] if part.strip()]


def _parameter(text: str) -> Parameter:
    text = text.replace("struct da_", "da_")
    function = re.search(r"\(\s*\*\s*(\w+)\s*\)", text)
    if function is not None:
        return Parameter(function[1], text, "function")
    word = _WORD.search(text)
    if word is None:
        raise ValueError(f"cannot read the parameter {text!r}")
    return Parameter(word[1], _tidy(text), _tidy(text[: word.start()]))


def _tidy(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("* *", "**").strip()
