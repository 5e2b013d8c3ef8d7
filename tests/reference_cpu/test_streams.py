"""Streams of a synchronous device: nothing ever waits, and the rules of the interface hold all the same."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest
from cpu_driver import INVALID_ARGUMENT, Plugin, PluginError, ffi

from device_api.abi import constants as c


@pytest.fixture
def streams(plugin: Plugin) -> Any:
    address = plugin.descriptor.get_interface(b"device_api.stream", 1)
    return ffi.cast("const da_stream_interface *", address)


@pytest.fixture
def stream(plugin: Plugin, streams: Any) -> Iterator[Any]:
    out = ffi.new("da_stream **")
    plugin.check(streams.create(plugin.device, -3, out))
    yield out[0]
    plugin.check(streams.destroy(plugin.device, out[0]))


def event(plugin: Plugin, streams: Any, flags: int = 0) -> Any:
    out = ffi.new("da_event **")
    plugin.check(streams.event_create(plugin.device, flags, out))
    return out[0]


def test_the_device_says_that_it_is_synchronous(plugin: Plugin) -> None:
    facts = ffi.new("da_device_properties *", {"struct_size": ffi.sizeof("da_device_properties")})
    plugin.check(plugin.device_table.properties(plugin.device, facts))
    assert facts.flags & c.DA_DEVICE_SYNCHRONOUS
    assert plugin.descriptor.features & c.DA_FEATURE_ASYNCHRONOUS


def test_a_stream_and_every_event_on_it_are_always_done(plugin: Plugin, streams: Any, stream: Any) -> None:
    done = ffi.new("int32_t *")
    mark = event(plugin, streams)
    for record in (False, True):
        if record:
            plugin.check(streams.event_record(plugin.device, mark, stream))
        for timeout in (0, 1, c.DA_WAIT_FOREVER):
            plugin.check(streams.event_synchronize(plugin.device, mark, timeout))
        plugin.check(streams.wait_event(plugin.device, stream, mark))
        plugin.check(streams.event_query(plugin.device, mark, done))
        assert done[0] == 1
    plugin.check(streams.query(plugin.device, stream, done))
    assert done[0] == 1
    plugin.check(streams.synchronize(plugin.device, stream))
    plugin.check(streams.event_destroy(plugin.device, mark))


def test_callbacks_run_once_in_order_before_the_call_returns(
    plugin: Plugin, streams: Any, stream: Any
) -> None:
    calls: list[tuple[str, int, int]] = []

    def number(data: Any) -> int:
        return int(ffi.cast("uintptr_t", data))

    run = ffi.callback(
        "void(void *, int32_t)", lambda data, status: calls.append(("run", number(data), status))
    )
    end = ffi.callback("void(void *)", lambda data: calls.append(("end", number(data), 0)))
    for i in (1, 2):
        callback = ffi.new(
            "da_callback *",
            {"struct_size": 40, "function": run, "user_data": ffi.cast("void *", i), "destroy": end},
        )
        plugin.check(streams.add_callback(plugin.device, stream, callback))
        assert calls[-2:] == [("run", i, 0), ("end", i, 0)]
    assert len(calls) == 4
    callback.function = ffi.NULL
    with pytest.raises(PluginError, match="function is NULL") as caught:
        plugin.check(streams.add_callback(plugin.device, stream, callback))
    assert caught.value.code == INVALID_ARGUMENT
    callback.struct_size = 8
    with pytest.raises(PluginError, match="struct_size 8"):
        plugin.check(streams.add_callback(plugin.device, stream, callback))


def test_elapsed_time_is_that_between_two_recordings(plugin: Plugin, streams: Any, stream: Any) -> None:
    start, end, plain = (event(plugin, streams, flags) for flags in (1, 1, 0))
    out = ffi.new("double *")
    plugin.check(streams.event_record(plugin.device, start, stream))
    for wrong, words in ((end, "never recorded"), (plain, "without DA_EVENT_TIMING")):
        with pytest.raises(PluginError, match=words) as caught:
            plugin.check(streams.event_elapsed(plugin.device, start, wrong, out))
        assert caught.value.code == c.DA_STATUS_FAILED_PRECONDITION
    time.sleep(0.001)
    plugin.check(streams.event_record(plugin.device, end, stream))
    plugin.check(streams.event_elapsed(plugin.device, start, end, out))
    assert 1e6 <= out[0] < 60e9
    for mark in (start, end, plain):
        plugin.check(streams.event_destroy(plugin.device, mark))


def test_unknown_event_flags_are_refused(plugin: Plugin, streams: Any) -> None:
    with pytest.raises(PluginError, match="event flags 6 are not known"):
        event(plugin, streams, 6)
