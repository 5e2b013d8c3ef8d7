"""The suite bites: each named fault fails the named cases, with the status it deserves, and the same plugin
without the fault passes them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from conformance import Outcome, run
from conformance.case import BAD

# fault -> {case: status}. Every other case that runs must pass.
KILLS = {
    "ignores_strides": {"ops.add.float32.layouts": "fail", "ops.add.int32.broadcast_left": "fail"},
    "vector_tail": {"ops.exp.float32.sizes": "fail"},
    "loses_nan": {"ops.maximum.float32.special": "fail"},
    "writes_past_the_end": {"ops.square.float32.sizes": "fail"},
    "changes_its_input": {"ops.negative.int32.shapes": "fail"},
    "crashes": {"ops.sqrt.float32.claim": "crash", "ops.sqrt.float64.claim": "crash"},
    "hangs": {"ops.sqrt.float32.claim": "timeout"},
    "exits": {"ops.sqrt.float32.claim": "crash"},
    "floods_the_log": {"ops.sqrt.float32.claim": "fail"},
    "claims_too_much": {"ops.add.float16.claim": "fail"},
    "declines_its_claims": {"ops.add.float32.claim": "fail"},
    "claims_an_unknown_op": {"ops.vendor_magic.unknown": "fail"},
    "claims_what_nobody_judges": {"ops.qr.float32.no_oracle": "fail"},
    "none_with_softmax": {"ops.softmax.float32.samples": "pass", "ops.softmax.float32.large": "pass"},
    "softmax_of_the_last_axis": {"ops.softmax.float32.samples": "fail"},
    "lacks_a_family": {"ops.mandatory_compact": "fail"},
    "empty_inner_product": {"ops.batch_matmul.float32.empty_inner": "fail"},
    "clamps_indices": {"ops.gather_rows.float32.out_of_range": "fail"},
    "unstable_sort": {"ops.argsort_last.int32.special": "fail"},
    "naive_sum": {"ops.reduce_sum.float32.long": "fail"},
    "random_bits_in_results": {"ops.multiply.float32.repeats": "fail"},
    "inexact": {"ops.exp.float32.values": "fail"},
    "clears_before_computing": {"ops.subtract.float32.in_place": "fail"},
    "flushes_subnormals": {"ops.multiply.float32.special": "quality_warning"},
    "leaks_errors": {"abi.errors.leak": "fail"},
    "leaks_memory": {"runtime.memory.leak": "fail"},
    "short_copy": {"runtime.memory.round_trip": "fail"},
    "exits_when_memory_is_out": {"runtime.memory.out_of_memory": "crash"},
    "answers_unknown_ids": {"abi.interfaces.unknown": "fail"},
    "second_shutdown_fails": {"abi.life.end_twice": "crash"},
    "exports_more": {"abi.entry.one_symbol": "fail"},
    "noisy_query": {"abi.entry.pure": "fail"},
}
# Cases next to the fault that it must leave alone.
UNTOUCHED = ("ops.multiply.float64.claim", "runtime.device.count")


def judge(library: Path, *names: str, tmp_path: Path, **options: object) -> Outcome:
    settings = {"jobs": 1, "progress": False, "artifacts": tmp_path, **options}
    return run(str(library), include=names, **settings)  # type: ignore[arg-type]


def statuses(outcome: Outcome) -> dict[str, str]:
    return {result.name: str(result.status) for result in outcome.results}


@pytest.mark.parametrize("fault", KILLS)
def test_a_fault_fails_its_cases_and_no_others(
    fault: str, faulty: Callable[..., Path], tmp_path: Path
) -> None:
    wanted = KILLS[fault] | dict.fromkeys(UNTOUCHED, "pass")
    outcome = judge(faulty(fault), *wanted, tmp_path=tmp_path, deadline=3 if fault == "hangs" else None)
    assert statuses(outcome) == wanted
    assert outcome.exit_code == int(any(status in BAD for status in wanted.values()))


def test_the_plugin_without_a_fault_passes_all_of_these_cases(
    faulty: Callable[..., Path], tmp_path: Path
) -> None:
    names = {name for cases in KILLS.values() for name in cases}
    names = {name for name in names if not name.startswith(("ops.vendor_", "ops.adam_", "ops.softmax."))}
    outcome = judge(faulty(), *sorted(names), tmp_path=tmp_path)
    assert {name: status for name, status in statuses(outcome).items() if status != "pass"} == {
        "ops.add.float16.claim": "not_supported"
    }
    assert outcome.exit_code == 0


def test_a_case_that_fails_only_in_company_is_flaky_and_no_pass(
    faulty: Callable[..., Path], tmp_path: Path
) -> None:
    outcome = judge(
        faulty("works_only_once_warm"),
        "ops.floor.float64.shapes",
        "ops.floor.float64.special",
        tmp_path=tmp_path,
    )
    assert statuses(outcome) == {"ops.floor.float64.shapes": "pass", "ops.floor.float64.special": "flaky"}
    assert outcome.exit_code == 1


def test_a_crash_names_the_signal_and_an_exit_its_status(faulty: Callable[..., Path], tmp_path: Path) -> None:
    (crash,) = judge(faulty("crashes"), "ops.sqrt.float32.claim", tmp_path=tmp_path).results
    assert "SIGSEGV" in crash.message
    (ended,) = judge(faulty("exits"), "ops.sqrt.float32.claim", tmp_path=tmp_path).results
    assert "exited with status 0" in ended.message


def test_output_of_a_failing_case_is_kept_up_to_a_limit(faulty: Callable[..., Path], tmp_path: Path) -> None:
    (result,) = judge(faulty("floods_the_log"), "ops.sqrt.float32.claim", tmp_path=tmp_path).results
    assert "the last words" in result.output
    assert len(result.output) < 20_000


def test_a_plugin_that_claims_nothing_fails(faulty: Callable[..., Path], tmp_path: Path) -> None:
    outcome = run(str(faulty("claims_nothing")), levels=["ops"], jobs=1, progress=False, artifacts=tmp_path)
    failed = {name for name, status in statuses(outcome).items() if status == "fail"}
    assert {"ops.mandatory_binary", "ops.list_is_stable"} <= failed
    assert outcome.exit_code == 1


@pytest.mark.parametrize("fault", ["crashes_at_start", "null_slot"])
def test_a_plugin_that_cannot_be_started_gets_a_report_of_what_was_seen(
    fault: str, faulty: Callable[..., Path], tmp_path: Path
) -> None:
    outcome = run(
        str(faulty(fault)),
        include=["abi.interfaces.*", "abi.descriptor.*"],
        progress=False,
        artifacts=tmp_path,
    )
    found = statuses(outcome)
    assert outcome.exit_code == 1
    assert found["abi.open"] == ("crash" if fault == "crashes_at_start" else "fail")
    assert found["abi.descriptor.texts"] == "pass"
    assert found["abi.interfaces.slots"] == ("pass" if fault == "crashes_at_start" else "fail")


def test_a_plugin_without_devices_is_unavailable(faulty: Callable[..., Path], tmp_path: Path) -> None:
    outcome = judge(faulty("has_no_device"), "abi.*", tmp_path=tmp_path)
    assert outcome.exit_code == 3
    assert "0 devices" in outcome.message
