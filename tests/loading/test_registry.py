"""Device types and their plugins: identity, duplicates, first use from many threads, failures without a
trace.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from device_api.errors import (
    AbiMismatch,
    DeviceUnavailable,
    DuplicateDeviceType,
    InvalidDevice,
    ManifestError,
    PluginError,
    PluginFailed,
    PluginLoadError,
    PluginNotFound,
    PluginRefused,
)
from device_api.loading import HostServices, open_library
from device_api.loading.registry import Registry


@pytest.fixture
def registry():
    return Registry()


@pytest.fixture
def trace(tmp_path, monkeypatch):
    """The calls that stub plugins have received, in order."""
    file = tmp_path / "trace.txt"
    monkeypatch.setenv("STUB_TRACE", str(file))
    return lambda: file.read_text().split() if file.exists() else []


# --- finding by device type ----------------------------------------------------------------------


def test_an_unknown_device_type_lists_what_exists_and_near_misses(stub, registry, tmp_path, manifest_file):
    stub()
    registry.register(manifest_file(tmp_path, "acme_npu"))
    with pytest.raises(PluginNotFound, match="Did you mean 'acme_npu'") as caught:
        registry.find("acme_nup")
    assert caught.value.device_type == "acme_nup"
    assert "acme_npu" in caught.value.available
    assert isinstance(caught.value, LookupError)


@pytest.mark.parametrize(
    "name", ["", "CPU", "cpu:0", "gpu", "cuda", "ü", "x" * 10_000, "a:b:c", "../cpu", "\0"]
)
def test_any_text_as_device_type_is_simply_not_found(registry, name):
    with pytest.raises(PluginNotFound):
        registry.load(name)


def test_a_broken_manifest_is_mentioned_when_a_type_is_not_found(registry, tmp_path, monkeypatch):
    (tmp_path / "npu.json").write_text("{")
    monkeypatch.setenv("DEVICE_API_PLUGIN_PATH", str(tmp_path))
    with pytest.raises(PluginNotFound, match=r"npu\.json"):
        registry.find("npu")


def test_a_refused_plugin_is_refused_not_unknown(stub, registry, tmp_path, monkeypatch, manifest_file):
    stub()
    registry.register(manifest_file(tmp_path, "stub"))
    monkeypatch.setenv("DEVICE_API_PLUGINS_DENY", "stub")
    with pytest.raises(PluginRefused, match="DEVICE_API_PLUGINS_DENY"):
        registry.load("stub")
    monkeypatch.delenv("DEVICE_API_PLUGINS_DENY")
    assert registry.load("stub").device_type == "stub"


def test_listing_and_registering_open_nothing(stub, registry, tmp_path, trace, manifest_file):
    library = stub()
    registry.register(library)
    registry.register(manifest_file(tmp_path, "stub"))
    registry.records()
    registry.find("stub")
    assert trace() == []
    assert str(library) not in Path("/proc/self/maps").read_text()


def test_a_missing_file_cannot_be_registered(registry, tmp_path):
    before = registry.snapshot()
    with pytest.raises(PluginLoadError, match="no such file"):
        registry.register(tmp_path / "gone.so")
    (tmp_path / "bad.json").write_text("[")
    with pytest.raises(ManifestError):
        registry.register(tmp_path / "bad.json")
    assert registry.snapshot() == before


def test_records_are_sorted_by_device_type(stub, registry, tmp_path, manifest_file):
    for device_type in ("zpu", "npu", "apu"):
        stub(f"lib{device_type}.so")
        registry.register(manifest_file(tmp_path, device_type, f"lib{device_type}.so"))
    types = [record.device_type for record in registry.records()]
    assert types == sorted(types)
    assert {"apu", "npu", "zpu"} <= set(types)


# --- loading -------------------------------------------------------------------------------------


def test_a_plugin_is_opened_once_and_stays_the_same_object(stub, registry, tmp_path, trace, manifest_file):
    stub()
    registry.register(manifest_file(tmp_path, "stub"))
    plugin = registry.load("stub")
    assert registry.load("stub") is plugin
    assert trace() == ["query"]
    assert registry.loaded() == {"stub": plugin}


def test_a_library_without_a_manifest_is_asked_in_another_process_first(stub, registry, trace, monkeypatch):
    library = stub("libbare.so", '-DSTUB_TYPE="bare"')
    registry.register(library)
    assert registry.records()[-1].device_type is None
    assert registry.load("bare").device_type == "bare"
    assert trace() == ["query", "query"]
    assert {r.device_type: r.vendor for r in registry.records()}["bare"] == "Stub works"


def test_a_bare_library_may_be_selected_by_the_type_it_will_answer(stub, registry, monkeypatch):
    registry.register(stub("libbare.so", '-DSTUB_TYPE="bare"'))
    monkeypatch.setenv("DEVICE_API_PLUGINS", "bare")
    assert registry.load("bare").device_type == "bare"


def test_looking_for_a_type_does_not_map_other_bare_libraries(stub, registry):
    wanted = stub("libwanted.so", '-DSTUB_TYPE="wanted"')
    other = stub("libother.so", '-DSTUB_TYPE="other"')
    registry.register(wanted)
    registry.register(other)
    registry.load("wanted")
    maps = Path("/proc/self/maps").read_text()
    assert str(wanted) in maps
    assert str(other) not in maps


def test_a_bare_library_that_crashes_when_asked_harms_nobody(stub, registry, monkeypatch):
    registry.register(stub("libcrash.so"))
    monkeypatch.setenv("STUB", "query=crash")
    with pytest.raises(PluginNotFound):
        registry.load("stub")
    monkeypatch.delenv("STUB")
    assert registry.load("stub").name == "stub"


def test_one_file_under_many_spellings_is_one_plugin(stub, tmp_path, trace):
    library = stub()
    (tmp_path / "link.so").symlink_to(library)
    os.link(library, tmp_path / "hard.so")
    spellings = [library, tmp_path / "link.so", tmp_path / "hard.so", f"{tmp_path}//libstub.so"]
    assert len({id(open_library(path)) for path in spellings}) == 1
    assert trace() == ["query"]


def test_two_libraries_of_one_device_type_are_an_error_that_names_both(
    stub, registry, tmp_path, monkeypatch, manifest_file
):
    paths = [stub(folder=tmp_path / name) for name in ("a", "b")]
    for path in paths:
        registry.register(manifest_file(path.parent, "stub", name=f"plugin-{path.parent.name}"))
    with pytest.raises(DuplicateDeviceType) as caught:
        registry.load("stub")
    assert caught.value.device_type == "stub"
    assert sorted(caught.value.paths) == sorted(map(str, paths))
    assert all(str(path) in str(caught.value) for path in paths)
    monkeypatch.setenv("DEVICE_API_PLUGINS_DENY", "plugin-a")
    assert registry.load("stub").path == paths[1]


def test_two_bare_libraries_of_one_device_type_are_an_error(stub, registry):
    registry.register(stub("libone.so"))
    registry.register(stub("libtwo.so"))
    with pytest.raises(DuplicateDeviceType, match=r"libone\.so and .*libtwo\.so"):
        registry.load("stub")


def test_two_plugins_with_the_same_global_symbols_keep_their_own(stub, registry, tmp_path, manifest_file):
    """Opened locally, each library binds to its own functions."""
    for device_type in ("one", "two"):
        stub(f"lib{device_type}.so", f'-DSTUB_TYPE="{device_type}"', "-fvisibility=default")
        registry.register(manifest_file(tmp_path, device_type, f"lib{device_type}.so"))
    assert [registry.load(name).device_type for name in ("one", "two")] == ["one", "two"]


def test_a_manifest_that_names_another_type_than_its_library_is_an_error(
    stub, registry, tmp_path, manifest_file
):
    stub()
    registry.register(manifest_file(tmp_path, "npu"))
    before = registry.snapshot()
    with pytest.raises(ManifestError, match="the manifest says device type 'npu', the library 'stub'"):
        registry.load("npu")
    assert registry.snapshot() == before


def test_first_use_from_many_threads_opens_and_starts_once(stub, registry, tmp_path, trace, manifest_file):
    stub()
    registry.register(manifest_file(tmp_path, "stub"))
    host = HostServices()
    start = threading.Barrier(16)
    seen: list[object] = []

    def use():
        start.wait()
        plugin = registry.load("stub")
        plugin.initialize(host.address)
        seen.append((plugin, plugin.open_device(0)))

    threads = [threading.Thread(target=use) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 16
    assert len(set(map(str, seen))) == 1
    assert trace() == ["query", "initialize", "open"]


# --- failures --------------------------------------------------------------------------------------

STEPS = {
    "open": ("", "-DSTUB_UNDEFINED", PluginLoadError),
    "entry": ("", "-DSTUB_NO_ENTRY", PluginLoadError),
    "query": ("query=null", None, AbiMismatch),
    "magic": ("poke=plugin:16:8:1", None, PluginLoadError),
    "version": ("poke=plugin:24:4:7", None, AbiMismatch),
    "size": ("poke=plugin:0:8:0", None, PluginLoadError),
    "layout": ("poke=offsets:12:4:40", None, PluginLoadError),
    "errors": ("poke=errors:0:8:0", None, PluginLoadError),
    "interface": ("hide=kernel", None, PluginLoadError),
    "slot": ("poke=memory:24:8:0", None, PluginLoadError),
    "initialize": ("initialize=fail", None, PluginFailed),
    "unavailable": ("initialize=unavailable", None, DeviceUnavailable),
}


@pytest.mark.parametrize("step", STEPS)
def test_a_failure_at_any_step_leaves_no_trace_and_can_be_retried(
    stub, registry, tmp_path, monkeypatch, step, manifest_file
):
    """A half-loaded plugin used to answer "already registered" to the second attempt."""
    directives, definition, kind = STEPS[step]
    host = HostServices()
    manifest = manifest_file(tmp_path, "stub")
    stub("libstub.so", *([definition] if definition else []))
    registry.register(manifest)
    before = registry.snapshot()
    monkeypatch.setenv("STUB", directives)
    texts = []
    for _ in range(2):
        with pytest.raises(kind) as caught:
            registry.load("stub").initialize(host.address)
        texts.append(str(caught.value))
        assert registry.snapshot() == before
    assert texts[0] == texts[1]

    monkeypatch.delenv("STUB")
    if definition:
        stub("libstub.so")
    plugin = registry.load("stub")
    plugin.initialize(host.address)
    assert plugin.device_count() == 2


def test_one_bad_plugin_leaves_the_others_usable(stub, registry, tmp_path, manifest_file):
    stub("libbad.so", "-DSTUB_UNDEFINED")
    stub("libgood.so", '-DSTUB_TYPE="good"')
    registry.register(manifest_file(tmp_path, "bad", "libbad.so"))
    registry.register(manifest_file(tmp_path, "good", "libgood.so"))
    with pytest.raises(PluginLoadError):
        registry.load("bad")
    assert registry.load("good").device_type == "good"


# --- a started plugin --------------------------------------------------------------------------------


@pytest.fixture
def started(stub):
    plugin = open_library(stub())
    host = HostServices()
    plugin.initialize(host.address)
    yield plugin
    plugin.shutdown()
    del host


def test_starting_twice_starts_once(stub, trace):
    plugin, host = open_library(stub()), HostServices()
    plugin.initialize(host.address)
    plugin.initialize(host.address)
    assert trace() == ["query", "initialize"]
    assert host.lines == [(2, "the stub is ready")]
    plugin.shutdown()


def test_a_first_failure_to_start_can_be_followed_by_success(stub, monkeypatch):
    monkeypatch.setenv("STUB", "initialize=once")
    plugin, host = open_library(stub()), HostServices()
    with pytest.raises(PluginFailed, match="the stub was told to fail") as caught:
        plugin.initialize(host.address)
    assert (caught.value.entry, caught.value.code) == ("initialize", 5)
    assert "INTERNAL" in str(caught.value)
    plugin.initialize(host.address)
    plugin.shutdown()


def test_an_unusable_device_gives_the_plugins_reason(stub, monkeypatch):
    """Users saw "unknown device" where the driver was missing."""
    monkeypatch.setenv("STUB", "initialize=unavailable")
    with pytest.raises(DeviceUnavailable, match="no stub driver on this machine") as caught:
        open_library(stub()).initialize(HostServices().address)
    assert caught.value.reason == "no stub driver on this machine"


def test_devices_are_counted_opened_once_and_described(started, tmp_path):
    assert started.device_count() == 2
    assert started.open_device(0) == started.open_device(0)
    facts = started.properties(1)
    assert facts["name"] == "Stub 1"
    assert facts["driver_version"] == ""
    assert facts["total_memory"] == 1024
    assert "struct_size" not in facts


@pytest.mark.parametrize("index", [2, -1, 2**31, 2**64])
def test_a_device_out_of_range_is_an_error_that_says_the_range(started, index):
    with pytest.raises(InvalidDevice, match="the plugin has 2 devices") as caught:
        started.open_device(index)
    assert f"stub:{index}" in str(caught.value)


def test_a_plugin_that_was_not_started_does_not_answer(stub):
    with pytest.raises(PluginError, match="not been initialised"):
        open_library(stub()).device_count()


def test_shutdown_closes_devices_and_a_second_one_does_nothing(stub, trace):
    plugin, host = open_library(stub()), HostServices()
    plugin.initialize(host.address)
    plugin.open_device(0)
    plugin.open_device(1)
    plugin.shutdown()
    plugin.shutdown()
    assert trace() == ["query", "initialize", "open", "open", "close", "close", "shutdown"]
    assert not plugin.initialized
    with pytest.raises(PluginError, match="was shut down"):
        plugin.device_count()
    with pytest.raises(PluginError, match="was shut down"):
        plugin.initialize(host.address)


def test_a_failing_shutdown_is_reported_once(stub, monkeypatch):
    monkeypatch.setenv("STUB", "shutdown=fail")
    plugin, host = open_library(stub()), HostServices()
    plugin.initialize(host.address)
    with pytest.raises(PluginFailed, match="shutdown"):
        plugin.shutdown()
    plugin.shutdown()


def test_a_hundred_loads_keep_one_library(stub, registry, tmp_path, trace, manifest_file):
    stub()
    registry.register(manifest_file(tmp_path, "stub"))
    plugins = {registry.load("stub") for _ in range(100)}
    assert len(plugins) == 1
    assert trace() == ["query"]


def test_holders_of_handles_are_told_before_the_end(stub, trace, caplog):
    """A tensor that outlives its plugin must not call into it."""
    plugin, host = open_library(stub()), HostServices()
    plugin.initialize(host.address)
    plugin.open_device(0)
    seen = []

    def fail():
        raise RuntimeError("cannot let go")

    plugin.before_shutdown(lambda: seen.append(("first", plugin.initialized, trace()[-1])))
    plugin.before_shutdown(fail)
    plugin.before_shutdown(lambda: seen.append(("last", plugin.initialized, trace()[-1])))
    plugin.shutdown()
    assert seen == [("last", True, "open"), ("first", True, "open")]
    assert trace()[-2:] == ["close", "shutdown"]
    assert "cannot let go" in caplog.text
