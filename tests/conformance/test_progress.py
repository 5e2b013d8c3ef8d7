"""What a run says about its progress where no terminal is."""

from __future__ import annotations

import pytest

from conformance.case import Result, Status
from conformance.report.progress import make_progress


def result(status: Status = Status.PASS) -> Result:
    return Result("ops.add.float32", "ops", status)


class Clock:
    """Each case takes `step` seconds."""

    def __init__(self, step: float) -> None:
        self.step = step
        self.now = 1000.0 - step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


def test_a_log_gets_a_line_each_half_minute_with_the_time_that_is_left(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with make_progress(None, 24, [result(), result()], Clock(10)) as advance:
        for number in range(22):
            advance(result(Status.FAIL if number == 4 else Status.PASS))
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert lines[:2] == [
        "conformance: 5 of 24 cases, 0 bad, about 3 min left",
        "conformance: 8 of 24 cases, 1 bad, about 3 min left",
    ]
    assert lines[-1] == "conformance: 23 of 24 cases, 1 bad, about 10 s left"


def test_a_short_run_and_one_that_wants_no_progress_say_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    for wanted, step in ((None, 1), (False, 100)):
        with make_progress(wanted, 10, [], Clock(step)) as advance:
            for _ in range(10):
                advance(result())
    assert capsys.readouterr() == ("", "")
