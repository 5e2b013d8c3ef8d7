"""What is measured comes from the op set; how measurements are compared does not depend on the clock."""

from __future__ import annotations

import copy
import json
import os
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import device_api as da
from device_api.bench import cases, document, measure, plot, timing, units
from device_api.ops._table import OPS

ROOT = Path(__file__).parents[2]


SIMULATED = ROOT / "plugins" / "simulated"
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")])),
}


def bench(*arguments: str, environment: dict[str, str] = ENVIRONMENT) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-P", "-m", "device_api.cli", "bench", *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


# --- cases ------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def chosen() -> list[cases.Case]:
    return list(cases.select(da.device("cpu")))


def test_nearly_every_public_op_has_a_case(chosen: list[cases.Case]) -> None:
    computing = {op.name for op in OPS if op.public and op.level != "view" and op.family != "amp"}
    assert len(computing - {case.spec.name for case in chosen}) <= 3


def test_no_two_cases_have_one_name(chosen: list[cases.Case]) -> None:
    assert len({case.name for case in chosen}) == len(chosen) > 300


def test_large_cases_are_large_and_bounded(chosen: list[cases.Case]) -> None:
    (large,) = [case for case in chosen if case.name == "add float32 1024x1024, 1024x1024"]
    assert large.inputs == ((1024, 1024), (1024, 1024))
    elements = [cases._elements(case.inputs) for case in chosen]
    assert max(elements) <= 8 * cases.LARGE


@pytest.mark.parametrize(
    ("op", "shapes", "flops"),
    [
        ("matmul", "512x512, 512x512", 2 * 512**3),
        ("linear", "512x512, 512x512", 2 * 512**3),
        ("conv2d", "1x8x4x4, 8x8x3x3", 2 * 8 * 2 * 2 * 8 * 9),
    ],
)
def test_operations_of_products_are_counted(
    op: str, shapes: str, flops: int, chosen: list[cases.Case]
) -> None:
    (case,) = [case for case in chosen if case.name == f"{op} float32 {shapes}"]
    assert case.flops == flops


def test_another_dtype_leaves_out_ops_that_lack_it() -> None:
    device = da.device("cpu")
    names = {case.spec.name for case in cases.select(device, ["add", "exp", "bitwise_and"], dtype="int8")}
    assert names == {"add", "bitwise_and"}


def test_a_case_can_be_called_on_its_device(chosen: list[cases.Case]) -> None:
    small = [case for case in chosen if cases._elements(case.inputs) <= cases.SMALL][::7]
    for case in small:
        cases.call(case, da.device("cpu"))()


# --- measuring --------------------------------------------------------------------------------------


def test_a_row_has_times_rates_and_ratios() -> None:
    device = da.device("cpu")
    chosen = list(cases.select(device, ["matmul"]))
    rows = list(measure.rows(chosen, [device], numpy=True, effort=measure.Effort(3, 0.001)))
    assert [row["name"] for row in rows if isinstance(row, dict)] == [case.name for case in chosen]
    for row in rows:
        assert isinstance(row, dict)
        assert {"latency", "latency_mad", "seconds", "seconds_mad", "flops_per_second"} <= set(row)
        assert set(row["ratio"]) == {"numpy"}


@pytest.mark.skipif(not any(SIMULATED.glob("*.so")), reason="the simulated accelerator is not built in place")
def test_a_device_that_works_beside_the_host_is_timed_by_its_own_events_too() -> None:
    environment = {**ENVIRONMENT, "DEVICE_API_PLUGIN_PATH": str(SIMULATED)}
    done = bench("sim", "--op", "exp", "--quick", "--json", environment=environment)
    assert done.returncode == 0, done.stderr
    assert all(row["device_seconds"] > 0 for row in json.loads(done.stdout)["rows"])


def test_events_count_milliseconds_of_all_calls_and_a_row_seconds_of_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Event:
        def __init__(self, timing: bool) -> None:
            assert timing

        def record(self, stream: object) -> None:
            pass

        def elapsed_time(self, end: Event) -> float:
            return 4.0

    monkeypatch.setattr(measure._core, "Event", Event)
    calls = measure.DeviceCalls(lambda: None, lambda: None)
    calls.timeit(2)
    assert calls.seen == [0.002]


class _FakeTimer:
    """Takes a known time for each call."""

    def __init__(self, seconds: list[float]) -> None:
        self.seconds = seconds

    def timeit(self, number: int = 1) -> float:
        return number * (self.seconds.pop(0) if len(self.seconds) > 1 else self.seconds[0])


def test_medians_and_their_deviations_ignore_an_outlier() -> None:
    # The first two calls find how many fit into a slice, and the first of each slice does not count.
    seconds = [1, 1, *(each for counted in (2, 2, 900, 2, 3) for each in (50, counted))]
    timings = timing.rotate({"a": _FakeTimer(seconds)}, rounds=5, slice_seconds=0.1)
    assert (timings["a"].median, timings["a"].mad) == (2, 0)


def test_threads_of_one_candidate_get_time_to_fall_asleep_before_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    happened: list[str] = []

    class Told(_FakeTimer):
        def timeit(self, number: int = 1) -> float:
            happened.append("call")
            return super().timeit(number)

    monkeypatch.setattr(timing.time, "sleep", lambda seconds: happened.append(f"rest {seconds}"))
    timing.rotate({"a": Told([1]), "b": Told([1])}, rounds=5, slice_seconds=0.1, rest_seconds=0.25)
    begun = happened.index("rest 0.25")
    assert happened[begun:] == ["rest 0.25", "call", "call"] * 10


# --- comparing --------------------------------------------------------------------------------------


def _row(name: str, seconds: float, scatter: float = 0.0) -> dict[str, Any]:
    return {
        "name": name,
        "op": name,
        "latency": seconds,
        "latency_mad": scatter,
        "seconds": seconds,
        "seconds_mad": scatter,
        "ratio": {},
    }


def _document(*rows: dict[str, Any]) -> dict[str, Any]:
    return document.document("npu:0", rows, {})


def test_a_case_is_slower_only_beyond_threshold_and_scatter() -> None:
    before = _document(_row("a", 1.0), _row("b", 1.0), _row("c", 1.0, 0.2), _row("d", 1.0), _row("gone", 1.0))
    now = _document(_row("a", 1.5), _row("b", 1.1), _row("c", 1.5, 0.1), _row("d", 0.5), _row("new", 1.0))
    found = document.compare(before, now, threshold=0.2)
    assert [change.name for change in found.slower] == ["a"]
    assert [change.name for change in found.faster] == ["d"]
    assert {change.name for change in found.same} == {"b", "c"}
    assert (found.missing, found.new) == (["gone"], ["new"])


def test_a_document_comes_back_from_its_file_and_from_a_conformance_report(tmp_path: Path) -> None:
    whole = _document(_row("a", 1.0))
    path = tmp_path / "bench.json"
    path.write_text(json.dumps(whole))
    assert document.read(path) == whole
    path.write_text(json.dumps({"schema": "x", "performance": whole}))
    assert document.read(path) == whole


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": "device_api.bench", "version": 2}', "[" * 5000])
def test_a_file_that_is_no_measurement_is_refused_by_name(text: str, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(text)
    with pytest.raises(document.BenchError, match=r"x\.json"):
        document.read(path)


def test_a_row_without_its_times_is_refused(tmp_path: Path) -> None:
    whole = copy.deepcopy(_document(_row("a", 1.0)))
    for value in (None, -1, "1", float("inf")):
        whole["rows"][0]["seconds"] = value
        path = tmp_path / "x.json"
        path.write_text(json.dumps(whole))
        with pytest.raises(document.BenchError):
            document.read(path)


# --- the command ------------------------------------------------------------------------------------


def test_the_command_measures_compares_and_draws(tmp_path: Path) -> None:
    first, page = tmp_path / "first.json", tmp_path / "page.html"
    done = bench("cpu", "--op", "add", "--op", "exp", "--quick", "--json", "--compare", "numpy")
    assert done.returncode == 0, done.stderr
    whole = json.loads(done.stdout)
    assert {row["op"] for row in whole["rows"]} == {"add", "exp"}
    assert all(row["ratio"]["numpy"] > 0 for row in whole["rows"])
    for row in whole["rows"]:
        row["seconds"], row["seconds_mad"] = 1e-12, 0.0
    first.write_text(json.dumps(whole))
    options = ("cpu", "--op", "add", "--quick", "--html", str(page), "--compare", str(first))
    # A row that scatters as much as it takes counts as the same, which a busy machine can bring about.
    runs = (bench(*options, "--threshold", "0.5") for _ in range(5))
    done = next(run for run in runs if "2 slower, 0 faster" in run.stdout)
    assert done.returncode == 1, done.stderr
    assert bench(*options).returncode == 0
    assert "add float32 1024x1024" in page.read_text()


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("cpu", "--op", "no_such_op"), 1),
        (("cpu", "--dtype", "float7"), 2),
        (("cpu", "--threshold", "0.2"), 2),
        (("npu_that_nobody_sells",), 3),
        (("cpu", "--compare", "npu_that_nobody_sells"), 3),
    ],
)
def test_a_bad_request_has_its_exit_code(arguments: tuple[str, ...], code: int) -> None:
    done = bench(*arguments, "--quick")
    assert done.returncode == code
    assert "Traceback" not in done.stderr


# --- the plot ---------------------------------------------------------------------------------------


def test_a_plot_escapes_what_a_plugin_names() -> None:
    whole = document.document(
        "<b>", [_row("<script>alert(1)</script>", 1e-3), measure.Failure("<i>", "<u>", "<s>")], {}
    )
    tags: list[str] = []

    class Reader(HTMLParser):
        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            tags.append(tag)

    Reader().feed(plot.page(whole))
    assert not {"script", "b", "i", "u", "s"} & set(tags)
    assert {"svg", "rect"} <= set(tags)


def test_durations_and_rates_have_units() -> None:
    assert [units.duration(x) for x in (2, 0.0015, 2e-6, 5e-9)] == ["2.00 s", "1.50 ms", "2.00 us", "5.0 ns"]
    assert units.rate(2.5e9, "B/s") == "2.50 GB/s"
