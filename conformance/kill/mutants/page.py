"""A run over mutants as a page of Markdown: the share, who survived, and what was counted out and why."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

_HEAD = """# Mutants of the reference kernels

<!-- Written by `python -m conformance.kill --pages FOLDER`; do not edit. -->

A mutant is the reference CPU with one small change in the source of its kernels, made by a program. The ops
level should find each. [What the kill table proves](../vendors/kill-table.md) explains how they are made and
judged.
"""


def markdown(results: Mapping[str, Any]) -> str:
    """The page; `results` is the JSON of a run over mutants."""
    parts = (_share(results), _survivors(results), _explained(results), _left_out(results))
    return "\n".join([_HEAD, *chain.from_iterable(parts)]) + "\n"


def _share(results: Mapping[str, Any]) -> Iterator[str]:
    counted = results["killed"] + results["survived"] + results["unreached"]
    yield (
        f"Of {results['exist']} mutants {results['sample']} ran (seed {results['seed']}), against "
        f"{results['cases']} cases. {results['killed']} of {counted} were killed: "
        f"{results['killed_share']:.1%}, where {results['target']:.0%} are asked for. "
        f"{results['explained']} were counted out with a reason, {results['invalid']} do not compile."
    )


def _survivors(results: Mapping[str, Any]) -> Iterator[str]:
    yield "\n## Survivors\n"
    if not results["survivors"]:
        yield "None."
        return
    yield "| mutant | in the statement | cases it met |\n|---|---|---|"
    for each in results["survivors"]:
        met = f"{each['ran']} of {each['reaching']}" if each["reaching"] else "no case reaches it"
        yield f"| {_code(each['mutant'])} | {_code(each.get('within', ''))} | {met} |"


def _explained(results: Mapping[str, Any]) -> Iterator[str]:
    yield "\n## Counted out\n"
    yield "| where | kind | reason | mutants | of the sample |\n|---|---|---|---|---|"
    for each in results["explanations"]:
        place = _code(f"{each['file']} {each['function']}")
        yield f"| {place} | {each['kind']} | {_cell(each['reason'])} | {each['exist']} | {each['sample']} |"


def _left_out(results: Mapping[str, Any]) -> Iterator[str]:
    yield "\n## Not mutated\n\n| sources | why not |\n|---|---|"
    for glob, why in results["left_out"].items():
        yield f"| `{glob}` | {_cell(why)} |"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _code(text: str) -> str:
    return f"`` {_cell(text)} ``" if "`" in text else f"`{_cell(text)}`"
