"""A trace holds every call, and can be made again without the program; the reader trusts nothing."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from bench import Bench
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from device_api import loading
from device_api.layers import wrap
from device_api.layers.replay import main as replay_main
from device_api.layers.replay import replay
from device_api.layers.trace import main as trace_main
from device_api.layers.trace_file import TraceError, hash_of, payload_bytes, read

ROOT = Path(__file__).parents[2]
CPU = ROOT / "reference_cpu" / "libdevice_api_cpu.so"
SIMULATED = ROOT / "plugins" / "simulated" / "libdevice_api_simulated.so"

PROGRAM = """
import sys
import numpy as np
import device_api as da
if sys.argv[1].startswith("sim"):
    da.register_plugin("plugins/simulated/sim.json")
x = da.asarray(np.linspace(-2, 2, 60, dtype=np.float32).reshape(5, 12), device=sys.argv[1])
x.requires_grad = True
y = (da.softmax(x * 2, axis=1) @ x.T).sum()
y.backward()
print(x.grad.numpy().sum(), da.sum(x, axis=(0, 1)).numpy(), da.sort(x, axis=0).numpy()[0, 0])
"""


@pytest.fixture
def recorded(python: Any, tmp_path: Path) -> Callable[..., Path]:
    """Traces the program on a device; the file."""

    def record(device: str = "cpu", payload: str = "inline") -> Path:
        file = tmp_path / f"{device.partition(':')[0]}.jsonl"
        done = python(PROGRAM, device, DEVICE_API_LAYERS=f"trace(file={file};payload={payload})")
        assert done.returncode == 0, done.stderr
        return file

    return record


def again(python: Any, trace: Path, library: Path) -> Any:
    """Replays in a fresh process, because a plugin is started once per process."""
    program = "import sys; from device_api.layers.replay import main; sys.exit(main(sys.argv[1:]))"
    return python(program, trace, "--library", library)


def test_a_trace_is_replayed_with_equal_results(recorded: Callable[..., Path], python: Any) -> None:
    file = recorded()
    done = again(python, file, CPU)
    assert (done.returncode, done.stderr) == (0, "")
    assert "0 results differ" in done.stdout


@pytest.mark.skipif(not SIMULATED.exists(), reason="the simulated device is not built")
def test_a_trace_of_an_asynchronous_device_is_replayed(recorded: Callable[..., Path], python: Any) -> None:
    done = again(python, recorded("sim:1"), SIMULATED)
    assert (done.returncode, done.stderr) == (0, "")
    assert "0 results differ" in done.stdout


def test_a_wrong_result_is_found_in_a_replay(recorded: Callable[..., Path], python: Any) -> None:
    program = """
import sys
from device_api import loading
from device_api.layers import wrap
from device_api.layers.replay import replay
from device_api.layers.trace_file import read
plugin = wrap(loading.open_library(sys.argv[2]), [sys.argv[3]])
for difference in replay(read(sys.argv[1]), plugin).differences:
    print(difference)
"""
    file = recorded()
    flipped = python(program, file, CPU, "fault(spec=kernel.launch[reduce_sum]:1+:flip)").stdout
    assert "memory.copy" in flipped
    assert "recorded was" in flipped
    failed = python(program, file, CPU, "fault(spec=memory.copy:1:internal)").stdout
    assert "ended with status 5" in failed
    hidden = python(program, recorded(payload="hash"), CPU, "fault(spec=)").stdout
    assert "record with payload=inline" in hidden


def test_every_call_is_there_with_thread_time_and_order(recorded: Callable[..., Path]) -> None:
    trace = read(recorded())
    assert trace.head["plugin"] == "reference_cpu"
    assert not trace.cut_off
    assert [record.number for record in trace.records] == list(range(len(trace.records)))
    slots = {record.slot for record in trace.records}
    assert {"plugin.initialize", "device.open", "kernel.list", "kernel.prepare", "kernel.launch"} <= slots
    assert {"memory.allocate", "memory.copy", "plugin.shutdown"} <= slots
    assert all(record.thread > 0 and record.duration_ns >= 0 for record in trace.records)


def test_payloads_are_kept_hashed_or_left_out(bench: Callable[..., Bench], tmp_path: Path) -> None:
    found = {}
    for payload in ("inline", "hash", "none"):
        file = tmp_path / payload
        made = bench(f"trace(file={file};payload={payload})")
        made.start()
        handle, source, target = (
            made.allocate(),
            made.new("char[]", b"0123456789abcdef"),
            made.new("char[]", 16),
        )
        for kind, a, b in ((1, source, handle), (2, handle, target)):
            copy = made.copy(kind=kind, source=a, destination=b)
            made.call("memory.copy", made.device, made.ffi.NULL, copy)
        made.free(handle)
        made.stop()
        copies = [record for record in read(file).records if record.slot == "memory.copy"]
        found[payload] = (copies[0].inputs["copy"]["payload"], copies[1].outputs["payload"])
    assert [payload_bytes(item) for item in found["inline"]] == [b"0123456789abcdef"] * 2
    assert [item["hash"] for item in found["hash"]] == [hash_of(b"0123456789abcdef")] * 2
    assert found["none"] == ({"size": 16}, {"size": 16})


def test_an_asynchronous_copy_is_written_when_its_stream_was_waited_for(
    bench: Callable[..., Bench], tmp_path: Path
) -> None:
    made = bench(f"trace(file={tmp_path / 't'})")
    made.start()
    handle, stream, target = made.allocate(), made.stream(), made.new("char[]", 16)
    made.set(stream, handle)
    made.call("memory.copy", made.device, stream, made.copy(kind=2, source=handle, destination=target))
    made.call("stream.synchronize", made.device, stream)
    made.free(handle)
    made.call("stream.destroy", made.device, stream)
    made.stop()
    trace = read(tmp_path / "t")
    assert [payload_bytes(item) for item in trace.later.values()] == [b"\0" * 16]


def test_errors_are_recorded_with_code_and_message(bench: Callable[..., Bench], tmp_path: Path) -> None:
    made = bench(f"trace(file={tmp_path / 't'})")
    made.start()
    made.allocate(64, 3)
    made.stop()
    failed = [record for record in read(tmp_path / "t").records if record.error is not None]
    assert [record.slot for record in failed] == ["memory.allocate"]
    assert failed[0].error == {"code": 1, "message": "no managed memory"}


def test_a_flushed_trace_survives_a_crash(python: Any, tmp_path: Path) -> None:
    program = "import os, device_api as da; x = da.ones(3) + 1; os.kill(os.getpid(), 9)"
    file = tmp_path / "t"
    python(program, DEVICE_API_LAYERS=f"trace(file={file};flush=1)")
    assert "kernel.launch" in {record.slot for record in read(file).records}


def test_a_trace_opens_in_a_browser(recorded: Callable[..., Path], tmp_path: Path, capsys: Any) -> None:
    file, out = recorded(), tmp_path / "chrome.json"
    assert trace_main([str(file), "--chrome", str(out)]) == 0
    events = json.loads(out.read_text())["traceEvents"]
    assert len(events) == len(read(file).records)
    assert {"name", "ph", "ts", "dur", "pid", "tid"} <= events[0].keys()
    assert any(event["name"].startswith("kernel.launch ") for event in events)
    assert trace_main([str(file)]) == 0
    assert "kernel.launch" in capsys.readouterr().out


def test_a_file_that_is_no_trace_ends_with_status_2(tmp_path: Path, capsys: Any) -> None:
    bad = tmp_path / "bad"
    bad.write_text("{}\n")
    assert trace_main([str(bad)]) == 2
    assert replay_main([str(bad), "--library", str(CPU)]) == 2
    assert trace_main([str(tmp_path / "missing")]) == 2
    assert "cannot read trace" in capsys.readouterr().err


def test_an_unfinished_last_line_is_dropped(recorded: Callable[..., Path]) -> None:
    file = recorded()
    whole = read(file)
    file.write_bytes(file.read_bytes()[:-10])
    cut = read(file)
    assert cut.cut_off
    assert len(cut.records) == len(whole.records) - 1


HEAD = '{"format":"device_api trace","version":1}'


@pytest.mark.parametrize(
    "line",
    [
        "",
        "[]",
        "{",
        '{"n":1}',
        '{"n":-1,"slot":"a","thread":1,"t":0,"d":0}',
        '{"n":1,"slot":"a","thread":1,"t":0,"d":0,"in":[]}',
        "[" * 100000,
        '{"later":"x"}',
        '{"later":1,"payload":3}',
    ],
)
def test_a_malformed_line_is_named(tmp_path: Path, line: str) -> None:
    file = tmp_path / "t"
    file.write_text(f"{HEAD}\n{line}\n")
    with pytest.raises(TraceError, match=r"t:2"):
        read(file)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(data=st.binary(max_size=200))
def test_no_bytes_break_the_reader(tmp_path: Path, data: bytes) -> None:
    file = tmp_path / "t"
    for content in (data, HEAD.encode() + b"\n" + data):
        file.write_bytes(content)
        with suppress(TraceError):
            read(file)


def test_damaged_records_end_in_an_error_or_a_difference(
    recorded: Callable[..., Path], naughty: Path, tmp_path: Path
) -> None:
    """Values are replaced at random; the naughty plugin is called with what is left, and computes nothing."""
    lines = recorded().read_text().splitlines()
    rng = random.Random(5)
    file = tmp_path / "damaged"
    for _ in range(150):
        rows = [json.loads(line) for line in lines]
        for _ in range(3):
            _damage(rng, rng.choice(rows[1:]))
        file.write_text("\n".join(map(json.dumps, rows)) + "\n")
        plugin = wrap(loading.open_library(naughty), "validate(errors=1)")
        with suppress(TraceError):
            replay(read(file), plugin)
        plugin.release()


def _damage(rng: random.Random, row: dict[str, Any]) -> None:
    """Replaces one value somewhere in a record."""
    at: Any = row
    while True:
        keys = list(at) if isinstance(at, dict) else list(range(len(at)))
        key = rng.choice(keys)
        if isinstance(at[key], dict | list) and at[key] and rng.random() < 0.8:
            at = at[key]
            continue
        at[key] = rng.choice([None, -1, 2**70, "x", "0x99", [], {}, 1.5, 7])
        return
