"""One bad call costs one case: runs on faulty plugins end with a full report. Which fault each case must find
is the kill table's matter."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from conformance import Outcome, run

Faulty = Callable[..., Path]
# Cases next to the fault that it must leave alone.
UNTOUCHED = ("abi.descriptor.texts", "runtime.device.count", "ops.multiply.float64.claim")


def judge(library: Path, *names: str, **options: object) -> Outcome:
    settings = {"jobs": 1, "progress": False, "artifacts": "failures", **options}
    return run(str(library), include=names, **settings)  # type: ignore[arg-type]


def statuses(outcome: Outcome) -> dict[str, str]:
    return {result.name: str(result.status) for result in outcome.results}


@pytest.mark.parametrize(
    ("fault", "status", "says"),
    [
        ("crashes", "crash", "SIGSEGV"),
        ("aborts", "crash", "SIGABRT"),
        ("throws_across_the_border", "crash", "SIGABRT"),
        ("overflows_its_stack", "crash", "SIGSEGV"),
        ("corrupts_the_heap", "crash", "ended by"),
        ("exits_quietly", "crash", "exited with status 0"),
        ("hangs", "timeout", "no answer within 5 s"),
        ("floods_its_output", "fail", "ulp"),
    ],
)
def test_a_fault_costs_its_case_only_and_the_run_ends_with_a_full_report(
    fault: str, status: str, says: str, faulty: Faulty
) -> None:
    names = ("ops.sqrt.float32.claim", *UNTOUCHED)
    outcome = judge(faulty(fault), *names, deadline=5 if fault == "hangs" else None, json_path="report.json")
    assert statuses(outcome) == {"ops.sqrt.float32.claim": status, **dict.fromkeys(UNTOUCHED, "pass")}
    assert outcome.exit_code == 1
    (bad,) = (result for result in outcome.results if result.status == status)
    assert says in bad.message
    report = json.loads(Path("report.json").read_text())
    assert {result["name"] for result in report["results"]} == set(names)


def test_a_case_that_fails_only_in_company_is_flaky_and_no_pass(faulty: Faulty) -> None:
    outcome = judge(faulty("breaks_when_warm"), "ops.floor.float64.shapes", "ops.floor.float64.special")
    assert statuses(outcome) == {"ops.floor.float64.shapes": "pass", "ops.floor.float64.special": "flaky"}
    assert outcome.exit_code == 1


def test_output_of_a_failing_case_is_kept_up_to_a_limit(faulty: Faulty) -> None:
    (result,) = judge(faulty("floods_its_output"), "ops.sqrt.float32.claim").results
    assert "the last words" in result.output
    assert len(result.output) < 20_000


def test_flushing_subnormal_results_is_poor_and_not_wrong(faulty: Faulty) -> None:
    outcome = judge(faulty("flushes_subnormal_results"), "ops.multiply.float32.special")
    assert (statuses(outcome), outcome.exit_code) == ({"ops.multiply.float32.special": "quality_warning"}, 0)


def test_a_plugin_that_claims_nothing_fails(faulty: Faulty) -> None:
    outcome = judge(
        faulty("claims_nothing"), "ops.mandatory_*", "ops.list_is_stable", "ops.add.float32.claim"
    )
    failed = {name for name, status in statuses(outcome).items() if status == "fail"}
    assert {"ops.mandatory_binary", "ops.list_is_stable"} <= failed
    assert outcome.exit_code == 1


@pytest.mark.parametrize("fault", ["crashes_at_start", "copy_is_null"])
def test_a_plugin_that_cannot_be_started_gets_a_report_of_what_was_seen(fault: str, faulty: Faulty) -> None:
    outcome = judge(faulty(fault), "abi.interfaces.*", "abi.descriptor.*")
    found = statuses(outcome)
    assert outcome.exit_code == 1
    assert found["abi.open"] == ("crash" if fault == "crashes_at_start" else "fail")
    assert found["abi.descriptor.texts"] == "pass"
    assert found["abi.interfaces.slots"] == ("pass" if fault == "crashes_at_start" else "fail")


def test_a_plugin_without_devices_is_unavailable(faulty: Faulty, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIM_DEVICES", "0")
    outcome = judge(faulty("none_simulated"), "abi.*")
    assert outcome.exit_code == 3
    assert "0 devices" in outcome.message
