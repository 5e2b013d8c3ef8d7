"""The two rules of compatibility: one major always loads, and a field is present when the size reaches its
end.
"""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from device_api.abi import _tables, versions
from device_api.abi._declarations import ffi

MINOR = st.integers(0, 2**32 - 1)
MAJOR = st.integers(0, 2**32 - 1)


@given(MAJOR, MINOR, MINOR)
def test_one_major_always_loads_in_both_directions(major, plugin, host):
    assert versions.refusal((major, plugin), 0, (major, host), oldest_draft=0) is None


@given(MINOR, MINOR, MINOR)
def test_a_draft_that_broke_refuses_the_drafts_before_and_says_so(plugin, host, oldest):
    refusal = versions.refusal((0, plugin), 0, (0, host), oldest_draft=oldest)
    assert (refusal is None) == (plugin >= oldest)
    assert refusal is None or f"drafts broke with 0.{oldest}" in refusal
    assert versions.refusal((1, plugin), 0, (1, host), oldest_draft=oldest) is None


@given(MAJOR, MAJOR, MINOR, MINOR)
def test_two_majors_never_load_and_the_text_has_both(one, two, plugin, host):
    refusal = versions.refusal((one, plugin), 0, (two, host), oldest_draft=0)
    if one == two:
        assert refusal is None
    else:
        assert f"{one}.{plugin}" in refusal
        assert f"{two}.{host}" in refusal


@given(MINOR, MINOR)
def test_a_plugin_may_ask_for_a_newer_host(needed, host):
    assert (versions.refusal((1, needed), needed, (1, host)) is None) == (needed <= host)


@pytest.mark.parametrize(
    ("plugin", "words"), [((2, 1), "device_api of ABI 2.1"), ((0, 1), "plugin for ABI 1.4")]
)
def test_the_remedy_names_what_to_install(plugin, words):
    assert words in versions.remedy(plugin, (1, 4))


@given(st.sampled_from(sorted(_tables.MINIMUM_SIZES)), st.integers(0, 4096))
def test_any_size_from_the_minimum_on_is_accepted_in_steps_of_eight(struct, size):
    assert versions.accepts_size(struct, size) == (size >= _tables.MINIMUM_SIZES[struct] and size % 8 == 0)


@given(st.sampled_from(sorted(_tables.MINIMUM_SIZES)), st.integers(0, 400))
def test_a_field_is_present_when_the_size_reaches_its_end(struct, size):
    for name, item in ffi.typeof(struct).fields:
        end = item.offset + ffi.sizeof(item.type)
        assert versions.has_field(ffi, struct, name, size) == (size >= end)


def test_a_field_this_host_does_not_know_is_absent():
    assert not versions.has_field(ffi, "da_tensor", "colour", 4096)
