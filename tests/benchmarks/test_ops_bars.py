"""The judgement of the benchmark `ops`: which bars hold for which rows."""

from __future__ import annotations

import pytest

from benchmarks.__main__ import main
from benchmarks.ops import judged
from benchmarks.ops_cases import BARS, CASES
from device_api.bench.timing import Row


def _rows(ratio: float, **others: float) -> list[Row]:
    return [
        Row(each.name, 1.0, {"torch": others.get(each.group, ratio), "numpy": None}, 1.0) for each in CASES
    ]


def test_there_are_sixty_rows_with_names_of_their_own_and_each_bar_has_some() -> None:
    assert len({each.name for each in CASES}) == len(CASES) >= 60
    assert {each.group for each in CASES} == set(BARS)


def test_every_bar_holds_when_all_rows_are_fast() -> None:
    bars = judged(_rows(0.3))
    assert set(bars) == {"geometric mean", *BARS}
    assert all(bar["holds"] for bar in bars.values())


def test_one_slow_row_misses_its_own_bar_and_names_itself() -> None:
    bars = judged(_rows(0.3, **{"elementwise 10M": 0.41}))
    assert [name for name, bar in bars.items() if not bar["holds"]] == ["elementwise 10M"]
    assert str(bars["elementwise 10M"]["row"]).endswith("10M")


def test_no_row_of_any_group_may_pass_the_common_bar() -> None:
    bars = judged(_rows(0.3, **{"matmul 1024": 1.3}))
    assert {name for name, bar in bars.items() if not bar["holds"]} == {"any", "matmul 1024"}


def test_rows_without_pytorch_are_judged_by_nothing() -> None:
    assert judged([Row(CASES[0].name, 1.0, {"torch": None, "numpy": 1.0}, 1.0)]) == {}


def test_a_pattern_that_no_row_matches_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ops", "--only", "convolution of nothing"]) == 2
    assert "'convolution of nothing'" in capsys.readouterr().err


def test_rows_are_chosen_of_the_benchmark_that_has_rows_to_choose_from() -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["memory", "--only", "*"])
    assert stopped.value.code == 2
