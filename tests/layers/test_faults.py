"""The fault layer does to a call what it was told, and to no other."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from bench import Bench
from hypothesis import given
from hypothesis import strategies as st

from device_api.errors import PluginError
from device_api.layers import statistics


@pytest.mark.parametrize(
    ("number", "failing"), [("1", [1]), ("3", [3]), ("4+", [4, 5]), ("*", [1, 2, 3, 4, 5])]
)
def test_the_nth_call_fails_with_the_status(
    bench: Callable[..., Bench], number: str, failing: list[int]
) -> None:
    made = bench(f"fault(spec=memory.allocate:{number}:out_of_memory)")
    made.start()
    handles = []
    for call in range(1, 6):
        handle = made.allocate()
        assert made.code == (3 if call in failing else 0)
        handles.append(made.ffi.NULL if made.code else handle)
    for handle in handles:
        made.free(handle)


def test_the_message_names_the_call(bench: Callable[..., Bench]) -> None:
    made = bench("fault(spec=device.count:2:device_lost)")
    made.start()
    count = made.plugin.interface("device").count
    out = made.new("uint32_t *")
    made.check(count(out))
    taken = made.plugin.take_error(count(out))
    assert taken == (8, "the fault layer made call 2 of device.count fail with DEVICE_LOST, as it was told")


def test_a_vendor_code_can_be_given(bench: Callable[..., Bench]) -> None:
    made = bench("fault(spec=device.count:1:code=70000)")
    made.start()
    assert made.call("device.count", made.new("uint32_t *")) == 70000


def test_a_delayed_call_comes_late(bench: Callable[..., Bench]) -> None:
    made = bench("fault(spec=device.count:1:delay=30)")
    made.start()
    begin = time.monotonic()
    made.call("device.count", made.new("uint32_t *"))
    assert time.monotonic() - begin >= 0.03


def test_a_dropped_call_succeeds_and_reaches_nobody(bench: Callable[..., Bench]) -> None:
    made = bench("fault(spec=stream.event_record:1:drop),stats")
    made.start()
    stream, event = made.stream(), made.event()
    for _ in range(2):
        assert made.call("stream.event_record", made.device, event, stream) == 0
    assert statistics(made.plugin)["stream.event_record"].calls == 1


@pytest.mark.parametrize(("action", "copied"), [("short", 8), ("short=3", 13), ("short=99", 0)])
def test_a_short_copy_leaves_the_end_out(bench: Callable[..., Bench], action: str, copied: int) -> None:
    made = bench(f"fault(spec=memory.copy:1:{action})")
    made.start()
    handle, source = made.allocate(), made.new("char[]", b"x" * 16)
    made.set(made.ffi.NULL, handle)
    made.call("memory.copy", made.device, made.ffi.NULL, made.copy(kind=1, source=source, destination=handle))
    assert bytes(made.ffi.buffer(handle, 16)) == b"x" * copied + b"\0" * (16 - copied)
    made.free(handle)


def test_a_flipped_byte_is_one_byte_of_the_result(bench: Callable[..., Bench]) -> None:
    spec = "memory.copy:1:flip,memory.set:2:flip,random.bits:1:flip,kernel.launch[copy]:1:flip"
    made = bench(f"fault(spec={spec})")
    made.start()
    handle, target = made.allocate(), made.new("char[]", 16)
    null, place = made.ffi.NULL, made.ffi.buffer

    made.set(null, handle)
    assert bytes(place(handle, 16)) == b"\0" * 16
    made.set(null, handle)
    assert bytes(place(handle, 16)) == b"\0" * 15 + b"\x40"
    made.call("memory.copy", made.device, null, made.copy(kind=2, source=handle, destination=target))
    assert bytes(place(target, 16)) == b"\0" * 16
    made.call("random.bits", made.device, null, 1, 0, handle, 0, 4)
    assert bytes(place(handle, 16)) == b"\0" * 15 + b"\x40"
    made.launch(0, [], [made.tensor(handle)])
    made.launch(1, [], [made.tensor(handle)])
    assert bytes(place(handle, 4)) == b"\0\0\0\x40"
    made.free(handle)


def test_a_hidden_interface_is_not_implemented(bench: Callable[..., Bench]) -> None:
    made = bench("fault(spec=hide:stream,hide:random)")
    assert made.plugin.interface("stream") is None
    assert made.plugin.interface("random") is None
    assert made.plugin.interface("memory") is not None


def test_faults_change_while_the_plugin_runs_and_are_counted(bench: Callable[..., Bench]) -> None:
    made = bench("fault(spec=)")
    made.start()
    out = made.new("uint32_t *")
    assert made.call("device.count", out) == 0
    made.plugin.configure("fault", spec="device.count:2:internal")
    assert [made.call("device.count", out) for _ in range(3)] == [0, 5, 0]
    assert made.plugin.report("fault") == [{"fault": "device.count:2:internal", "calls": 3, "done": 1}]


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("memory.allocate", "slot:number:action"),
        ("memory.steal:1:internal", "no slot of that name"),
        ("memory.allocate:0:internal", "counts from 1"),
        ("memory.allocate:x:internal", "counts from 1"),
        ("memory.allocate:1:explode", "the action is a status"),
        ("memory.allocate:1:drop", "cannot be dropped"),
        ("memory.free:1:short", "only memory.copy"),
        ("memory.free:1:flip", "flip is for"),
        ("memory.free:1:hide", "hide is for"),
        ("memory.free:1:delay", "needs milliseconds"),
        ("memory.free[add]:1:drop", "only kernel slots"),
        ("kernel.release:1:internal", "gives no error"),
        ("hide:nothing", "no interface of that name"),
    ],
)
def test_a_wrong_spec_is_explained(bench: Callable[..., Bench], spec: str, why: str) -> None:
    with pytest.raises(PluginError, match=why):
        bench(f"fault(spec={spec})")


@given(st.text(alphabet="memory.alocte:1+*[]=flip,dk 0;", max_size=40))
def test_any_text_is_a_spec_or_refused(naughty_fault: Any, text: str) -> None:
    with suppress(PluginError):
        naughty_fault.configure("fault", spec=text.replace(";", ""))


@pytest.fixture(scope="module")
def naughty_fault(naughty: Any) -> Any:
    made = Bench(naughty, "fault(spec=)")
    yield made.plugin
    made.end()
