"""The rules of the validation layer: read from rules.yaml, written as C++ and as documentation.

A rule has a stable id, the side that breaks it, and one sentence. The layer itself decides when a rule is
broken; here is only what is said about it. Used when generating and in tests.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, cast

NOTE = "Written by `python -m device_api.layers.generate` from rules.yaml; do not edit."
_ID = re.compile(r"VAL-([A-Z]+)-(\d\d)")


@dataclass(frozen=True)
class Rule:
    """One rule: who breaks it, what holds, and what to do when it does not."""

    id: str
    side: Literal["host", "plugin"]
    text: str

    @property
    def constant(self) -> str:
        return self.id.removeprefix("VAL-").replace("-", "_")


def read(path: Path) -> list[Rule]:
    """The rules in the order of the file. Raises ValueError for a malformed or repeated id."""
    import yaml

    rules: list[Rule] = []
    groups = cast(dict[str, dict[str, dict[str, str]]], yaml.safe_load(path.read_text("utf-8")))
    for group, items in groups.items():
        for identifier, sides in items.items():
            found = _ID.fullmatch(identifier)
            if found is None or found[1] != group.upper():
                raise ValueError(f"{path}: {identifier} is no id of group {group}")
            if any(rule.id == identifier for rule in rules):
                raise ValueError(f"{path}: {identifier} is there twice")
            if len(sides) != 1 or next(iter(sides)) not in ("host", "plugin"):
                raise ValueError(f"{path}: {identifier} needs one side, host or plugin")
            side, text = next(iter(sides.items()))
            rules.append(Rule(identifier, cast(Literal["host", "plugin"], side), text))
    return rules


def header(rules: list[Rule]) -> str:
    """The text of rules.hpp."""
    return "\n".join(
        [
            f"// {NOTE}",
            "// clang-format off",
            "#ifndef DEVICE_API_LAYERS_RULES_HPP",
            "#define DEVICE_API_LAYERS_RULES_HPP",
            "",
            "#include <cstdint>",
            "",
            "namespace device_api::layers {",
            "",
            "enum class Rule : uint32_t {",
            *(f"  {rule.constant}," for rule in rules),
            "};",
            "struct RuleFacts {",
            "  const char *id;",
            "  const char *side;",
            "  const char *text;",
            "};",
            "constexpr RuleFacts kRuleFacts[] = {",
            *(f'    {{"{rule.id}", "{rule.side}", "{rule.text}"}},' for rule in rules),
            "};",
            f"constexpr uint32_t kRules = {len(rules)};",
            "",
            "}  // namespace device_api::layers",
            "",
            "#endif",
            "",
        ]
    )


def document(rules: list[Rule]) -> str:
    """The text of docs/vendors/validation-rules.md."""
    lines = [
        "# Rules of the validation layer",
        "",
        f"<!-- {NOTE} -->",
        "",
        "The layer `validate` reports a finding for each broken rule, with the side that broke it: the host",
        "or the plugin. Ids are stable. How to switch the layer on is said in [Layers](layers.md).",
    ]
    group = ""
    for rule in rules:
        name = rule.id.split("-")[1].lower()
        if name != group:
            lines += ["", f"## {name}", "", "| rule | broken by | what holds |", "|---|---|---|"]
            group = name
        lines.append(f"| `{rule.id}` | {rule.side} | {rule.text} |")
    return "\n".join(lines) + "\n"
