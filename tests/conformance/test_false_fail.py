"""Good plugins pass in whatever configuration: a sample of what `python -m conformance.false_fail` runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from conformance.false_fail import PLUGINS, Row, rows, run_row

SAMPLE = [
    "runtime.device.*", "runtime.memory.*", "ops.fill.float32.*", "ops.copy.float16.*", "ops.add.*32.*",
    "ops.reduce_sum.float32.*", "ops.batch_matmul.float32.shapes", "ops.softmax.float32.*",
    "training.gradient.layer_norm", "training.optimiser.adam_step",
]  # fmt: skip


@pytest.mark.parametrize("name", ["rank_3", "few_ops", "least", "layered"])
def test_the_simulated_accelerator_passes_in_each_configuration(name: str, tmp_path: Path) -> None:
    if not (PLUGINS / "simulated" / "libdevice_api_simulated.so").exists():
        pytest.skip("the simulated accelerator is not built in place")
    (row,) = (each for each in rows() if each.name == f"simulated.{name}")
    options = ["--jobs", "1", "--quick", *(part for glob in SAMPLE for part in ("--include", glob))]
    result = run_row(row, 1, tmp_path, options)
    assert result["failures"] == []
    assert result["exit"] == 0, result["problem"]
    assert result["executed"] > 40


def test_every_shipped_backend_has_rows() -> None:
    names = {row.name.partition(".")[0] for row in rows()}
    folders = {"template", "simulated", "primitives_only", "python_only"}
    assert names >= {"reference_cpu", *(each for each in folders if (PLUGINS / each).is_dir())}


def test_a_failure_is_counted_and_named(tmp_path: Path) -> None:
    result = run_row(Row("nothing", "cpu"), 0, tmp_path, ["--include", "ops.no_such_op"])
    assert result["exit"] != 0
    assert "matches no case" in result["problem"]
