"""What a library answers is checked before the first real call: versions, sizes, texts, layout, slots."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from device_api.abi import _tables, versions
from device_api.abi._declarations import ffi
from device_api.errors import AbiMismatch, PluginLoadError
from device_api.loading import open_library
from device_api.loading.negotiate import MANDATORY_INTERFACES, compare_layouts, digest, host_layout

STRUCTS = {
    "plugin": "da_plugin",
    "errors": "da_error_interface",
    **{name: struct for name, (_, _, struct) in _tables.INTERFACES.items()},
}
SLOTS = [
    (table, struct, slot, mandatory)
    for table, struct in STRUCTS.items()
    for slot, mandatory in _tables.SLOTS[struct].items()
]
MANDATORY = [(table, struct, slot) for table, struct, slot, mandatory in SLOTS if mandatory]
OPTIONAL = [(table, struct, slot) for table, struct, slot, mandatory in SLOTS if not mandatory]
OPTIONAL_INTERFACES = sorted(set(_tables.INTERFACES) - set(MANDATORY_INTERFACES))


def poke(table: str, struct: str, field: str, value: int, size: int = 8) -> str:
    """The directive that writes `value` over one field of a table of the stub."""
    return f"poke={table}:{ffi.offsetof(struct, field)}:{size}:{value}"


@pytest.fixture
def refused(stub, monkeypatch):
    """Opens a stub with a defect, which must be refused; gives the error."""

    def check(directives, kind=PluginLoadError):
        library = stub()
        monkeypatch.setenv("STUB", directives)
        with pytest.raises(kind) as caught:
            open_library(library)
        assert caught.value.path == str(library)
        assert caught.value.remedy
        # The file is not poisoned: without the defect the same file loads.
        monkeypatch.delenv("STUB")
        assert open_library(library).name == "stub"
        return caught.value

    return check


@pytest.fixture
def accepted(stub, monkeypatch):
    """Opens a stub with a deviation that must be accepted; gives the plugin."""

    def check(directives):
        monkeypatch.setenv("STUB", directives)
        return open_library(stub())

    return check


def test_a_good_plugin_says_who_it_is(accepted):
    plugin = accepted("")
    assert (plugin.name, plugin.vendor, plugin.version, plugin.device_type) == (
        "stub",
        "Stub works",
        "1.2.3",
        "stub",
    )
    assert plugin.abi == versions.HOST
    assert plugin.features == 0
    assert not plugin.initialized


def test_the_layout_digests_of_plugin_and_cffi_agree(accepted):
    assert accepted("").layout_digest == digest(host_layout())


def test_an_entry_that_returns_null_refuses_the_host(refused):
    error = refused("query=null", AbiMismatch)
    assert "returned NULL" in str(error)
    assert error.host_version == versions.HOST


def test_a_misaligned_descriptor_is_refused(refused):
    assert "misaligned" in str(refused("query=misaligned"))


def test_a_wrong_magic_number_is_refused(refused):
    assert "magic number is 0x7b" in str(refused(poke("plugin", "da_plugin", "magic", 123)))


@pytest.mark.parametrize("major", [1, 2, 4_000_000_000])
def test_another_major_version_is_refused_with_both_versions(refused, major):
    error = refused(poke("plugin", "da_plugin", "abi_major", major, 4), AbiMismatch)
    assert error.plugin_version == (major, versions.HOST[1])
    assert error.host_version == versions.HOST
    assert f"{major}.{versions.HOST[1]}" in str(error)
    assert versions.text(versions.HOST) in str(error)


@pytest.mark.parametrize("minor", [0, versions.HOST[1] - 1, versions.HOST[1] + 1, 4_000_000_000])
def test_every_minor_version_of_the_major_is_accepted(accepted, minor):
    """PJRT plugins and hosts of different minor versions refused each other by default."""
    assert accepted(poke("plugin", "da_plugin", "abi_minor", minor, 4)).abi == (versions.HOST[0], minor)


def test_a_plugin_that_needs_a_newer_host_is_refused_with_both_versions(refused):
    needed = versions.HOST[1] + 3
    error = refused(poke("plugin", "da_plugin", "min_host_minor", needed, 4), AbiMismatch)
    assert f"0.{needed}" in str(error)
    assert "Install" in str(error)


@pytest.mark.parametrize(("table", "struct"), STRUCTS.items())
def test_a_struct_size_left_at_zero_is_refused(refused, table, struct):
    error = refused(poke(table, struct, "struct_size", 0))
    assert f"{struct}.struct_size" in str(error)
    assert "left at zero" in str(error)


@pytest.mark.parametrize(("table", "struct"), STRUCTS.items())
def test_a_struct_size_below_the_minimum_is_refused(refused, table, struct):
    small = _tables.MINIMUM_SIZES[struct] - 8
    error = refused(poke(table, struct, "struct_size", small))
    assert f"is {small}, at least {small + 8} is needed" in str(error)


@pytest.mark.parametrize(("table", "struct"), STRUCTS.items())
def test_a_struct_size_larger_than_known_is_accepted(accepted, table, struct):
    assert accepted(poke(table, struct, "struct_size", ffi.sizeof(struct) + 800)).name == "stub"


@pytest.mark.parametrize(("table", "struct", "slot"), MANDATORY)
def test_a_mandatory_slot_that_is_null_is_refused_by_name(refused, table, struct, slot):
    assert f"{struct}.{slot} is NULL" in str(refused(poke(table, struct, slot, 0)))


@pytest.mark.parametrize(("table", "struct", "slot"), OPTIONAL)
def test_an_optional_slot_that_is_null_counts_as_not_implemented(accepted, table, struct, slot):
    plugin = accepted(poke(table, struct, slot, 0))
    assert plugin.slot(table, slot) is None
    assert plugin.interface(table) is not None


@pytest.mark.parametrize("name", OPTIONAL_INTERFACES)
def test_an_optional_interface_that_is_missing_counts_as_not_implemented(accepted, name):
    plugin = accepted(f"hide={name}")
    assert plugin.interface(name) is None
    assert plugin.table_address(name) == 0
    assert all(plugin.slot(name, slot) is None for slot in _tables.SLOTS[_tables.INTERFACES[name][2]])
    others = set(_tables.INTERFACES) - {name}
    assert all(plugin.interface(other) is not None for other in others)


@pytest.mark.parametrize("name", MANDATORY_INTERFACES)
def test_a_mandatory_interface_that_is_missing_is_refused_by_name(refused, name):
    assert f"mandatory interface device_api.{name}" in str(refused(f"hide={name}"))


def test_all_optional_interfaces_may_be_missing_at_once(accepted):
    plugin = accepted(" ".join(f"hide={name}" for name in OPTIONAL_INTERFACES))
    assert [name for name in _tables.INTERFACES if plugin.interface(name)] == sorted(
        MANDATORY_INTERFACES, key=list(_tables.INTERFACES).index
    )


def test_an_interface_in_too_low_a_version_counts_as_missing(accepted):
    plugin = accepted("")
    assert plugin.interface("stream", 1) is not None
    assert plugin.interface("stream", 2) is None
    assert accepted(poke("stream", "da_stream_interface", "version", 2, 4)).interface("stream", 2) is not None


def test_an_interface_version_left_at_zero_is_refused(refused):
    assert "version is left at zero" in str(refused(poke("device", "da_device_interface", "version", 0, 4)))


def test_an_unknown_interface_name_is_a_programming_error(accepted):
    with pytest.raises(KeyError, match="streams"):
        accepted("").interface("streams")


@pytest.mark.parametrize("field", ["name", "vendor", "version", "device_type"])
def test_a_missing_text_is_refused(refused, field):
    assert f"da_plugin.{field} is NULL" in str(refused(poke("plugin", "da_plugin", field, 0)))


def test_a_missing_error_table_is_refused(refused):
    assert "descriptor.errors is NULL" in str(refused(poke("plugin", "da_plugin", "errors", 0)))


@pytest.mark.parametrize(
    "device_type", ["", "NPU", "npu:0", "1npu", "n pu", "npü", "n" * 65, "npu-1", "npu\\n"], ids=repr
)
def test_a_malformed_device_type_is_refused(stub, device_type):
    with pytest.raises(PluginLoadError, match="device_type"):
        open_library(stub("libstub.so", f'-DSTUB_TYPE="{device_type}"'))


def test_a_missing_layout_table_is_refused_with_the_line_to_write(refused):
    assert "&da_layout" in str(refused(poke("plugin", "da_plugin", "layout", 0)))


@pytest.mark.parametrize("count", [0, 1, 2**40])
def test_a_layout_table_of_impossible_length_is_refused(refused, count):
    assert "lay" in str(refused(poke("layout", "da_layout_table", "struct_count", count)))


def test_a_field_at_another_offset_is_refused_by_name(refused):
    error = refused("poke=offsets:12:4:40")
    assert "field 3 of da_plugin is at byte 40 in the plugin, 24 in the host" in str(error)


def test_a_struct_of_another_size_is_refused(refused):
    index = list(_tables.MINIMUM_SIZES).index("da_tensor")
    at = index * ffi.sizeof("da_struct_layout") + ffi.offsetof("da_struct_layout", "size")
    assert "da_tensor has 80 bytes in the plugin, 72 in the host" in str(refused(f"poke=structs:{at}:4:80"))


def test_an_unfilled_layout_entry_is_refused(refused):
    assert "entry 0" in str(refused("poke=structs:0:8:0"))


# --- layouts as data ---------------------------------------------------------------------------


def test_appended_fields_are_no_difference():
    host = host_layout()
    longer = {name: (size + 8, (*offsets, size)) for name, (size, offsets) in host.items()}
    assert not list(compare_layouts(longer, host, older=False))


def test_an_older_plugin_may_lack_a_struct_and_a_newer_one_may_have_more():
    host = host_layout()
    fewer = {name: facts for name, facts in host.items() if name != "da_capture_interface"}
    assert not list(compare_layouts(fewer, host, older=True))
    assert list(compare_layouts(fewer, host, older=False)) == [
        "the plugin's table does not list da_capture_interface"
    ]
    assert not list(compare_layouts({**host, "da_future": (64, (0, 8))}, host, older=False))


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.data())
def test_any_moved_field_is_seen(data):
    host = host_layout()
    name = data.draw(st.sampled_from(sorted(host)))
    size, offsets = host[name]
    at = data.draw(st.integers(0, len(offsets) - 1))
    moved = data.draw(st.integers(0, 4096).filter(lambda value: value != offsets[at]))
    changed = {**host, name: (size, (*offsets[:at], moved, *offsets[at + 1 :]))}
    assert any(name in problem for problem in compare_layouts(changed, host, older=False))
    assert digest(changed) != digest(host)


def test_a_table_shorter_than_the_host_knows_is_completed_with_null(accepted, monkeypatch):
    """An older plugin's table ends early; reading past its end would read another variable."""
    full = ffi.sizeof("da_stream_interface")
    monkeypatch.setitem(_tables.MINIMUM_SIZES, "da_stream_interface", full - 16)
    monkeypatch.setitem(_tables.SLOTS["da_stream_interface"], "event_synchronize", False)
    plugin = accepted(poke("stream", "da_stream_interface", "struct_size", full - 16))
    assert plugin.slot("stream", "event_elapsed") is None
    assert plugin.slot("stream", "event_synchronize") is None
    assert plugin.slot("stream", "event_query") is not None
    table = ffi.cast("da_stream_interface *", plugin.table_address("stream"))
    assert table.event_elapsed == ffi.NULL
