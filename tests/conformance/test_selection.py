"""Filters, shards, waivers and journals, as plain functions."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.case import Result, Status
from conformance.runner.journal import Journal
from conformance.selection import Selection, Shard, UsageError
from conformance.waivers import Waiver, apply_waivers, read_waivers, without_waivers

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


def waiver(cases: str, expires: datetime.date = datetime.date(2031, 1, 1), matches: int = 1) -> Waiver:
    return Waiver(cases, "known", "https://example.com/1", expires, matches)


def test_a_waived_failure_is_waived_and_says_why() -> None:
    results = [result("ops.a", Status.FAIL), result("ops.b", Status.PASS)]
    assert apply_waivers(results, [waiver("ops.*", matches=2)], TODAY) == []
    assert [r.status for r in results] == [Status.WAIVED, Status.PASS]
    assert "known" in results[0].waiver
    assert results[0].waived == "fail"


def test_a_waiver_taken_away_gives_the_status_back() -> None:
    results = [result("ops.a", Status.CRASH), result("ops.b", Status.PASS)]
    apply_waivers(results, [waiver("ops.*", matches=2)], TODAY)
    without_waivers(results)
    assert results == [result("ops.a", Status.CRASH), result("ops.b", Status.PASS)]


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        (waiver("ops.a", datetime.date(2029, 12, 31)), "expired"),
        (waiver("ops.zz", matches=0), "matches no case"),
        (waiver("ops.a"), "pass; remove"),
    ],
)
def test_a_stale_waiver_is_a_problem(entry: Waiver, problem: str) -> None:
    (text,) = apply_waivers([result("ops.a", Status.PASS)], [entry], TODAY)
    assert problem in text


def test_a_waiver_whose_failing_cases_are_in_another_shard_is_not_stale() -> None:
    assert apply_waivers([result("ops.a", Status.PASS)], [waiver("ops.*", matches=2)], TODAY) == []


def test_a_waiver_knows_how_many_cases_it_names() -> None:
    assert waiver("ops.*").counted(["ops.a", "ops.b", "abi.a"]).matches == 2


def test_an_expired_waiver_waives_nothing() -> None:
    results = [result("ops.a", Status.FAIL)]
    apply_waivers(results, [waiver("ops.a", datetime.date(2029, 1, 1))], TODAY)
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


def _whole_journal(path: Path, cases: int = 4) -> bytes:
    journal = Journal(path, HEADER, resume=False)
    for number in range(cases):
        journal.add(result(f"ops.case{number}", Status.PASS))
    journal.close()
    return path.read_bytes()


@given(data=st.data())
def test_a_journal_torn_at_any_byte_resumes_with_its_whole_lines(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("torn") / "journal"
    written = _whole_journal(path)
    size = data.draw(st.integers(0, len(written)))
    path.write_bytes(written[:size])
    whole = max(0, written[:size].count(b"\n") - 1)
    again = Journal(path, HEADER, resume=True)
    assert [each.name for each in again.results] == [f"ops.case{number}" for number in range(whole)]
    again.add(result("ops.last", Status.PASS))
    again.close()
    assert [each.name for each in Journal(path, HEADER, resume=True).results][-1] == "ops.last"
    assert len(path.read_bytes().splitlines()) == 1 + whole + 1


@given(data=st.data())
def test_a_damaged_journal_gives_back_only_results_that_were_written(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("damaged") / "journal"
    written = _whole_journal(path)
    begin = written.index(b"\n") + 1
    place = data.draw(st.integers(begin, len(written) - 1))
    path.write_bytes(written[:place] + data.draw(st.binary(max_size=3)) + written[place + 1 :])
    before = written[begin:place].count(b"\n")
    kept = Journal(path, HEADER, resume=True).results
    assert [each.name for each in kept[:before]] == [f"ops.case{number}" for number in range(before)]


@pytest.mark.parametrize("text", ["notes of mine\n", "notes", '{"format": "x"}\n', "5\n"])
def test_a_file_that_is_no_journal_is_not_overwritten(text: str, tmp_path: Path) -> None:
    path = tmp_path / "journal"
    path.write_text(text)
    with pytest.raises(UsageError, match="no journal"):
        Journal(path, HEADER, resume=True)
    assert path.read_text() == text


def test_a_journal_of_another_run_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    Journal(path, HEADER, resume=False).close()
    with pytest.raises(UsageError, match="seed is 0, not 1"):
        Journal(path, {**HEADER, "seed": 1}, resume=True)
