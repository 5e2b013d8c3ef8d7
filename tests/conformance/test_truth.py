"""Denials are tried; older and newer hosts talk to the plugin; each untruth has its case."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import device_api.dtypes as dtypes
from conformance import run
from conformance.case import Status
from conformance.cases import all_cases, case_by_name, ops_properties
from conformance.hosts import Host, hosts
from conformance.oracle import has_oracle
from conformance.runner.worker import execute
from conformance.target import Target
from device_api.abi import _tables, snapshot, versions
from device_api.ops._table import OPS

SIMULATED = Path(__file__).resolve().parents[2] / "plugins" / "simulated" / "sim.json"


def test_there_is_a_host_for_each_kept_layout_one_older_and_newer_ones() -> None:
    minors = {host.minor for host in hosts()}
    kept = {each["version"][1] for each in snapshot.released(versions.HOST[0])}
    assert minors >= {*kept, max(kept) + 1}
    assert min(kept) == 0 or min(kept) - 1 in minors
    assert {host.grown for host in hosts()} == {0, 8, 64, 512}


def test_a_struct_of_a_host_notices_writes_behind_its_end() -> None:
    struct = Host("short", 1, (("da_copy", _tables.MINIMUM_SIZES["da_copy"]),)).make("da_copy")
    assert struct.overrun() == 0
    buffer = np.frombuffer(memoryview(struct._bytes), np.uint8)
    buffer[_tables.MINIMUM_SIZES["da_copy"] + 3] = 1
    assert struct.overrun() == 1


def test_a_plugin_that_writes_past_a_hosts_struct_fails(faulty: Callable[..., Path], tmp_path: Path) -> None:
    outcome = run(
        str(faulty("properties_write_past_smaller_structs")),
        include=["abi.host.*"],
        jobs=1,
        progress=False,
        artifacts=tmp_path,
    )
    failed = [result for result in outcome.results if result.status is Status.FAIL]
    assert failed
    assert all("bytes behind a da_device_properties" in result.message for result in failed)


@pytest.mark.parametrize(("fault", "status"), [("none_cpu", "pass"), ("denies_and_works", "fail")])
def test_a_kernel_that_supports_less_than_it_does_fails(
    faulty: Callable[..., Path], fault: str, status: str
) -> None:
    target = Target(str(faulty(fault)))
    case = case_by_name(target, "ops.denied_supports")
    assert case is not None
    result, _ = execute(case, target, 0)
    assert result.status == status, json.dumps(result.to_json())
    assert fault == "none_cpu" or "denied but works: add" in result.message


def test_every_unary_op_is_tried_on_all_codes_of_both_small_float_types() -> None:
    target = Target("cpu")
    names = {case.name for case in all_cases(target)}
    unary = {s.name for s in OPS if s.elementwise and len(s.inputs) == 1 and has_oracle(s.name)}
    tried = 0
    for claim in target.claims:
        for name in ("float16", "bfloat16") if claim.op in unary else ():
            if claim.dtypes[0] >> dtypes.code(name) & 1:
                assert f"ops.{claim.op}.{name}.all_codes" in names
                tried += 1
    assert tried > 60


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        (
            "ops.qr.float64.properties",
            lambda made: [made[0], made[1] + np.eye(made[1].shape[-1])[: made[1].shape[-2]]],
        ),
        ("ops.svd.float32.properties", lambda made: [made[0] * 1.01, *made[1:]]),
        ("ops.eigh.float64.properties", lambda made: [made[0][..., ::-1], made[1]]),
        ("ops.uniform.float32.properties", lambda made: [np.roll(made[0], 1)]),
        ("ops.randint.int64.properties", lambda made: [made[0] + 1]),
        ("ops.multinomial.float32.properties", lambda made: [np.zeros_like(made[0])]),
    ],
)
def test_wrong_factors_and_draws_fail(
    name: str, spoil: Callable[[list[Any]], list[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    target = Target("cpu")
    case = case_by_name(target, name)
    assert case is not None
    assert execute(case, target, 0)[0].status is Status.PASS
    right = ops_properties._call
    monkeypatch.setattr(ops_properties, "_call", lambda *a, **k: spoil(right(*a, **k)))
    assert execute(case, target, 0)[0].status is Status.FAIL


def test_a_kernel_whose_operands_have_more_axes_than_the_device_takes_is_no_untruth(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """One list of kernels serves devices of all ranks: volumes have five axes, this device takes three."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SIM_MAX_RANK", "3")
    names = ["ops.adaptive_avg_pool3d.float32.claim", "ops.add.float32.claim"]
    outcome = run(str(SIMULATED), include=names, jobs=1, progress=False, artifacts="failures")
    found = {result.name: result.status for result in outcome.results}
    assert found == dict(zip(names, (Status.NOT_SUPPORTED, Status.PASS), strict=True))
    assert outcome.exit_code == 0


def test_a_case_that_goes_through_the_framework_runs_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """In a process of its own, where no other case has used the framework before."""
    monkeypatch.chdir(tmp_path)
    outcome = run("cpu", include=["ops.uniform.float32.properties"], jobs=1, progress=False)
    assert [result.status for result in outcome.results] == [Status.PASS]
