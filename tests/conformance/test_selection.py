"""Filters, shards, waivers and journals, as plain functions."""

from __future__ import annotations

import datetime
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.case import Result, Status
from conformance.runner.journal import Journal
from conformance.selection import Selection, Shard, UsageError
from conformance.waivers import Waiver, apply_waivers, read_waivers

TODAY = datetime.date(2030, 1, 1)
HEADER = {"target": "cpu", "seed": 0}
NAMES = st.lists(st.text("abc.", min_size=1, max_size=12), max_size=50, unique=True)


@given(NAMES, st.integers(1, 7))
def test_shards_are_disjoint_and_complete(names: list[str], count: int) -> None:
    shards = [Shard(index, count) for index in range(1, count + 1)]
    assert all(sum(shard.takes(name) for shard in shards) == 1 for name in names)


@given(NAMES, st.text("abc.", min_size=1), st.integers(1, 7))
def test_a_new_case_moves_no_other_case_to_another_shard(names: list[str], new: str, count: int) -> None:
    before = {name: Shard(1, count).takes(name) for name in names}
    after = {name: Shard(1, count).takes(name) for name in [new, *names]}
    assert all(after[name] == taken for name, taken in before.items())


@pytest.mark.parametrize("text", ["", "1", "0/3", "4/3", "a/b", "1/0", "-1/3", "1/3/5"])
def test_a_malformed_shard_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="shard"):
        Shard.parse(text)


def test_include_and_exclude_are_globs_over_whole_names() -> None:
    selection = Selection(include=("ops.add.*",), exclude=("*.float16.*",))
    assert selection.takes("ops.add.float32.shapes", quick=True)
    assert not selection.takes("ops.add.float16.shapes", quick=True)
    assert not selection.takes("ops.addition.float32.shapes", quick=True)


def test_a_case_named_in_full_runs_in_a_quick_run_too() -> None:
    assert Selection(include=("ops.add.int8.sizes",), quick=True).takes("ops.add.int8.sizes", quick=False)
    assert not Selection(include=("ops.add.int8.*",), quick=True).takes("ops.add.int8.sizes", quick=False)


def test_a_glob_that_matches_nothing_is_named() -> None:
    assert Selection(include=("abi.*", "obi.*"), exclude=("x",)).unmatched(["abi.a"]) == ["obi.*", "x"]


def test_an_unknown_level_is_refused() -> None:
    with pytest.raises(UsageError, match="speed"):
        Selection(levels=("speed",))


# --- waivers ----------------------------------------------------------------------------------------


def result(name: str, status: Status) -> Result:
    return Result(name, name.partition(".")[0], status, "what happened")


def waiver(cases: str, expires: datetime.date = datetime.date(2031, 1, 1)) -> Waiver:
    return Waiver(cases, "known", "https://example.com/1", expires)


def test_a_waived_failure_is_waived_and_says_why() -> None:
    results = [result("ops.a", Status.FAIL), result("ops.b", Status.PASS)]
    assert apply_waivers(results, [waiver("ops.*")], ["ops.a", "ops.b"], TODAY) == []
    assert [r.status for r in results] == [Status.WAIVED, Status.PASS]
    assert "known" in results[0].waiver


@pytest.mark.parametrize(
    ("entry", "names", "problem"),
    [
        (waiver("ops.a", datetime.date(2029, 12, 31)), ["ops.a"], "expired"),
        (waiver("ops.zz"), ["ops.a"], "matches no case"),
        (waiver("ops.a"), ["ops.a"], "pass; remove"),
    ],
)
def test_a_stale_waiver_is_a_problem(entry: Waiver, names: list[str], problem: str) -> None:
    results = [result(name, Status.PASS) for name in names]
    (text,) = apply_waivers(results, [entry], names, TODAY)
    assert problem in text


def test_an_expired_waiver_waives_nothing() -> None:
    results = [result("ops.a", Status.FAIL)]
    apply_waivers(results, [waiver("ops.a", datetime.date(2029, 1, 1))], ["ops.a"], TODAY)
    assert results[0].status is Status.FAIL


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("waiver = 3", "only"),
        ("[[waiver]]\ncases = 'a'", "exactly the fields"),
        ("[[waiver]]\ncases = 'a'\nreason = ''\nissue = 'x'\nexpires = 2030-01-01", "reason"),
        ("[[waiver]]\ncases = 'a'\nreason = 'r'\nissue = 'x'\nexpires = '2030-01-01'", "date"),
        ("other = 1", "other"),
        ("[[", "waivers"),
    ],
)
def test_a_malformed_waiver_file_is_refused_by_name(text: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "waivers.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=says) as caught:
        read_waivers(path)
    assert "waivers.toml" in str(caught.value)


# --- the journal ------------------------------------------------------------------------------------


def test_a_journal_gives_back_what_was_written(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    journal = Journal(path, HEADER, resume=False)
    written = [result("ops.a", Status.FAIL), result("ops.b", Status.PASS)]
    for each in written:
        journal.add(each)
    journal.close()
    assert Journal(path, HEADER, resume=True).results == written


@given(cut=st.integers(1, 400))
def test_a_journal_cut_anywhere_keeps_its_whole_lines(
    tmp_path_factory: pytest.TempPathFactory, cut: int
) -> None:
    path = tmp_path_factory.mktemp("cut") / "journal"
    journal = Journal(path, HEADER, resume=False)
    for number in range(4):
        journal.add(result(f"ops.case{number}", Status.PASS))
    journal.close()
    path.write_bytes(path.read_bytes()[:-cut])
    again = Journal(path, HEADER, resume=True)
    kept = len(again.results)
    again.add(result("ops.last", Status.PASS))
    again.close()
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(lines) == 1 + kept + 1
    assert lines[-1]["name"] == "ops.last"


def test_a_journal_of_another_run_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    Journal(path, HEADER, resume=False).close()
    with pytest.raises(UsageError, match="seed is 0, not 1"):
        Journal(path, {**HEADER, "seed": 1}, resume=True)
