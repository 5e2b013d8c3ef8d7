"""Every rule of the validation layer is broken once, and kept once by nearly the same calls.

`broken` does wrong what one rule forbids: that rule is found, and no other. `kept` does it right: nothing is
found. Cases are in rule_cases*.py; that each rule has both is a test of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import rule_cases_calls
import rule_cases_kernels
import rule_cases_memory
import rule_cases_optional
import rule_cases_streams
from bench import Bench

from device_api.layers import rules

MODULES = (rule_cases_calls, rule_cases_memory, rule_cases_kernels, rule_cases_streams, rule_cases_optional)
CASES = {rule: case for module in MODULES for rule, case in module.CASES.items()}
RULES = rules.read(Path(rules.__file__).with_name("rules.yaml"))


def test_every_rule_has_a_case_and_every_case_a_rule() -> None:
    assert sorted(CASES) == sorted(rule.id for rule in RULES)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_broken_rule_is_found_with_its_side(rule: rules.Rule, bench: Callable[..., Bench]) -> None:
    case = CASES[rule.id]
    made = bench("validate(errors=1)" + case.below, case.mode)
    case.broken(made)
    assert made.rules == [rule.id], made.findings
    assert made.findings[0].side == rule.side
    assert made.findings[0].message


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_kept_rule_is_not_found(rule: rules.Rule, bench: Callable[..., Bench]) -> None:
    case = CASES[rule.id]
    made = bench("validate(errors=1)" + case.below, case.kept_mode)
    case.kept(made)
    if made.running:
        made.stop()
    assert made.findings == ()


@pytest.mark.parametrize(("over", "paired"), [((0, 2), True), ((2, 0), False), ((1, 2), False)])
def test_outputs_lie_over_the_inputs_that_the_op_set_pairs_them_with_and_no_others(
    over: tuple[int, int], paired: bool, bench: Callable[..., Bench]
) -> None:
    made = bench("validate(errors=1)")
    rule_cases_kernels.stepped(made, *over)
    assert made.rules == ([] if paired else ["VAL-KERNEL-13"])
