"""Layers as function tables: every slot passes through, in order, and errors and lists stay whole."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from bench import Bench

from device_api import layers, loading
from device_api.errors import PluginError, PluginLoadError
from device_api.layers import generate
from device_api.layers._slots import SLOTS
from device_api.layers.stack import Layer, parse

ALL = "stats,validate,trace(file={trace}),fault(spec=),stats"


def call_everything(b: Bench) -> None:
    """Calls each slot of each interface once or more, rightly."""
    b.mode("scratch")
    device = b.start()
    ffi, one = b.ffi, b.new("int32_t *")
    b.call("device.count", b.new("uint32_t *"))
    b.call("device.synchronize", device)
    handle, other = b.allocate(256), b.allocate(256)
    b.allocate(1, 3)  # an error: code, message and destroy
    b.call("memory.copy", device, ffi.NULL, b.copy(source=handle, destination=other))
    stream, event, end = b.stream(), b.event(1), b.event(1)
    b.set(stream, handle)
    b.call("memory.info", device, b.new("uint64_t *"), b.new("uint64_t *"))
    place = b.new("char[]", 64)
    b.call("memory.unwrap", device, b.make("memory.wrap", "void *", device, place, 64))
    b.call("random.bits", device, ffi.NULL, 1, 0, handle, 0, 4)
    state, kernel = b.prepare(), b.kernels()[0]
    b.launch(0, [b.tensor(handle)], [b.tensor(other)], state=state)
    kernel.release(state)
    tensors = b.new("const da_tensor *[]", [b.tensor(ffi.NULL)])
    b.check(kernel.supports(device, kernel, tensors, 1, tensors, 1, ffi.NULL, one))
    for slot, arguments in (
        ("query", (stream, one)),
        ("wait_event", (stream, event)),
        ("add_callback", (stream, b.callback())),
        ("event_record", (event, stream)),
        ("event_query", (event, one)),
        ("event_synchronize", (event, 0)),
        ("event_elapsed", (event, end, b.new("double *"))),
        ("synchronize", (stream,)),
    ):
        b.call(f"stream.{slot}", device, *arguments)
    wrapped = b.make("stream.wrap", "da_stream *", device, place)
    capture = b.capture(stream)
    b.call("capture.is_capturing", device, stream, one)
    b.call("capture.replay", capture, stream)
    b.call("capture.destroy", capture)
    call_collectives(b, b.tensor(handle))
    call_graphs(b)
    assert b.infer().rank == 1
    for slot in ("start", "stop"):
        b.call(f"profiler.{slot}", device)
    sink = ffi.callback("void(void *, const da_activity *)", lambda data, activity: None)
    b.call("profiler.collect", device, sink, ffi.NULL)
    for item in (stream, wrapped):
        b.call("stream.destroy", device, item)
    for item in (event, end):
        b.call("stream.event_destroy", device, item)
    b.mode("")
    b.free(handle)
    b.free(other)
    b.foreign.naughty_log(2, b"line")
    b.foreign.naughty_span()
    b.mode("good_async")
    b.call("device.synchronize", device)
    b.mode("")
    b.stop()


def call_collectives(b: Bench, tensor: Any) -> None:
    ffi, one = b.ffi, b.communicator()
    listed = b.new("const da_tensor *[]", [tensor, tensor])
    b.call("collective.unique_id", b.struct("da_unique_id"))
    for slot, arguments in (
        ("abort", ()),
        ("async_error", ()),
        ("all_reduce", (ffi.NULL, tensor, tensor, 1)),
        ("reduce", (ffi.NULL, tensor, tensor, 1, 0)),
        ("broadcast", (ffi.NULL, tensor, tensor, 0)),
        ("all_gather", (ffi.NULL, tensor, listed)),
        ("reduce_scatter", (ffi.NULL, listed, tensor, 1)),
        ("all_to_all", (ffi.NULL, listed, listed)),
        ("gather", (ffi.NULL, tensor, listed, 0)),
        ("scatter", (ffi.NULL, listed, tensor, 0)),
        ("send", (ffi.NULL, tensor, 1)),
        ("receive", (ffi.NULL, tensor, 1)),
        ("barrier", (ffi.NULL,)),
        ("group_start", ()),
        ("group_end", ()),
    ):
        b.call(f"collective.{slot}", one, *arguments)
    b.call("collective.destroy", b.make("collective.split", "da_communicator *", one, 0, 0))
    b.call("collective.destroy", one)


def call_graphs(b: Bench) -> None:
    passes, made = b.struct("da_pass_list"), b.executable()
    b.call("graph.passes", b.device, passes)
    b.check(passes.first.run(b.device, passes.first, b"graph", 5, b.struct("da_bytes")))
    b.call("graph.claim", b.device, b"graph", 5, b.struct("da_claim_list"))
    other = b.make("graph.deserialise", "da_executable *", b.device, b"graph", 5)
    b.call("graph.serialise", made, b.struct("da_bytes"))
    b.call("graph.execute", made, b.context(), b.ffi.NULL, 0, b.ffi.NULL, 0)
    for item in (made, other):
        b.call("graph.destroy", item)


def test_every_slot_passes_through_five_layers(bench: Callable[..., Bench], tmp_path: Path) -> None:
    made = bench(ALL.format(trace=tmp_path / "t.jsonl"))
    call_everything(made)
    assert made.findings == ()
    reports = [layers.library.report(shown) for shown in made.plugin._shown]
    outer, inner = ({row["slot"]: row for row in reports[at]} for at in (0, 4))
    # The host's spans are optional, and this host has none.
    assert set(SLOTS) - set(outer) == {"host.trace_begin", "host.trace_end"}
    # validate and trace read every error themselves.
    reading = {"error.code", "error.message"}
    assert {slot: row["calls"] for slot, row in outer.items() if slot not in reading} == {
        slot: row["calls"] for slot, row in inner.items() if slot not in reading
    }


def test_generated_files_are_current() -> None:
    assert generate.main(["--check"]) == 0


def test_the_first_layer_is_nearest_to_the_host(bench: Callable[..., Bench]) -> None:
    above = bench("stats,fault(spec=device.count:1:internal)")
    above.start()
    above.call("device.count", above.new("uint32_t *"))
    assert layers.statistics(above.plugin)["device.count"].failures == 1
    below = bench("fault(spec=device.count:1:internal),stats")
    below.start()
    below.call("device.count", below.new("uint32_t *"))
    assert "device.count" not in layers.statistics(below.plugin)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("validate,trace", (Layer("validate"), Layer("trace"))),
        (" stats ,, ", (Layer("stats"),)),
        ("fault(spec=memory.free:1:drop,random.bits:*:flip),stats", None),
        ("", ()),
    ],
)
def test_a_text_is_read_as_a_stack(text: str, expected: tuple[Layer, ...] | None) -> None:
    fault = (Layer("fault", {"spec": "memory.free:1:drop,random.bits:*:flip"}), Layer("stats"))
    assert parse(text) == (fault if expected is None else expected)


@pytest.mark.parametrize("text", ["trace(", "(x=1)", "trace(file)", "fault(spec=a"])
def test_a_malformed_stack_is_refused(text: str) -> None:
    with pytest.raises(PluginError, match="cannot read layers"):
        parse(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("magic", "no layer of that name"),
        ("stats(x=1)", "takes no option"),
        ("trace(file=/nonexistent/t)", "cannot write"),
        ("validate(errors=2)", "errors is 0 or 1"),
    ],
)
def test_a_wrong_layer_or_option_is_said(naughty: Path, text: str, why: str) -> None:
    with pytest.raises(PluginError, match=why):
        layers.wrap(loading.open_library(naughty), text)


def test_a_file_that_is_no_layer_is_said(naughty: Path, tmp_path: Path) -> None:
    with pytest.raises(PluginLoadError, match="does not export device_api_layer"):
        layers.wrap(loading.open_library(naughty), [str(naughty)])
    with pytest.raises(PluginLoadError, match="cannot load layer"):
        layers.wrap(loading.open_library(naughty), [str(tmp_path / "none.so")])


def test_a_running_plugin_takes_no_layers(python: Any) -> None:
    program = """
import device_api as da
from device_api import layers, loading
da.ones(2)
for attempt in (lambda: layers.wrap(loading.load_plugin("cpu"), "stats"), lambda: layers.use("cpu", "stats")):
    try:
        attempt()
    except da.errors.PluginError as error:
        print("layers must see every call" in str(error))
"""
    assert python(program).stdout.split() == ["True", "True"]


def test_layers_come_from_the_environment_and_are_named_in_the_log(python: Any) -> None:
    program = "import device_api as da; print((da.ones(3) + 1).sum())"
    done = python(program, DEVICE_API_LAYERS="validate,stats", DEVICE_API_LOG="info")
    assert done.stdout == "6.0\n"
    assert "cpu: host > validate > stats > " in done.stderr
    assert "stats of cpu:" in done.stderr
    assert "kernel.launch" in done.stderr


def test_the_program_chooses_layers_for_one_type(python: Any) -> None:
    program = """
import device_api as da
from device_api import layers
layers.use("cpu", ["stats"])
da.ones(3) + 1
print(layers.statistics()["kernel.launch"].calls)
"""
    done = python(program, DEVICE_API_LAYERS="validate")
    assert int(done.stdout) >= 1
    assert "finding" not in done.stderr


def test_nothing_of_the_layers_is_imported_without_them(python: Any) -> None:
    program = """
import sys, device_api as da
da.ones(3)
print([name for name in sys.modules if name.startswith("device_api.layers")])
"""
    assert python(program).stdout == "[]\n"


def test_many_threads_share_a_stack(bench: Callable[..., Bench]) -> None:
    made = bench("validate,stats,stats")
    made.start()

    def work() -> None:
        for _ in range(200):
            handle = made.make("memory.allocate", "void *", made.device, 1, 64)
            made.plugin.interface("memory").free(made.device, 1, handle)

    made.mode("threads")  # nothing is freed for real, so that handles are not shared
    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    made.mode("")
    assert made.findings == ()
    assert layers.statistics(made.plugin)["memory.allocate"].calls == 800


def test_a_shorter_table_of_an_older_plugin_is_filled_with_zero(bench: Callable[..., Bench]) -> None:
    made = bench("stats")
    table = made.plugin.interface("memory")
    assert table.struct_size == made.ffi.sizeof("da_memory_interface")
    assert made.plugin.interface("memory").version == 1


def test_kernels_of_a_stack_know_their_own_list(bench: Callable[..., Bench]) -> None:
    made = bench("stats,validate")
    made.start()
    first, again = made.kernels(), made.kernels()
    assert first == again
    foreign = made.struct("da_kernel", op=first[0].op)
    tensors = made.new("const da_tensor *[]", [made.tensor(made.ffi.NULL)])
    answer = made.new("int32_t *")
    error = first[0].supports(made.device, foreign, tensors, 1, tensors, 1, made.ffi.NULL, answer)
    assert made.check(error) == 2  # INVALID_ARGUMENT: no kernel of the list
