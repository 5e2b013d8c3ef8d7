"""Looking at a plugin in a child process: whatever it does there comes back as data."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from device_api.abi import versions
from device_api.loading import probe
from device_api.loading.child import run


def test_a_good_plugin_goes_through_its_whole_life(stub):
    result = probe(stub())
    assert result.ok
    assert result.step is None
    assert result.facts["device_type"] == "stub"
    assert result.facts["abi"] == list(versions.HOST)
    assert result.facts["count"] == 2
    assert [device["name"] for device in result.facts["devices"]] == ["Stub 1", "Stub 1"]
    assert result.facts["log"] == [["info", "the stub is ready"]]


@pytest.mark.parametrize(
    ("directives", "outcome", "step", "words"),
    [
        ("initialize=crash", "crash", "initialize", "SIGABRT"),
        ("initialize=exit", "exit", "initialize", "status 7"),
        ("initialize=fail", "error", "initialize", "told to fail"),
        ("initialize=unavailable", "error", "initialize", "no stub driver"),
        ("query=crash", "crash", "open", "SIGABRT"),
        ("query=null", "error", "open", "NULL"),
        ("shutdown=fail", "error", "shutdown", "told to fail"),
    ],
)
def test_a_bad_plugin_is_described_by_outcome_and_step(stub, monkeypatch, directives, outcome, step, words):
    library = stub()
    monkeypatch.setenv("STUB", directives)
    result = probe(library)
    assert (result.outcome, result.step) == (outcome, step)
    assert words in result.message
    assert not result.ok


@pytest.mark.parametrize("step", ["initialize", "shutdown"])
def test_a_plugin_that_hangs_is_ended_at_the_deadline(stub, monkeypatch, step):
    library = stub()
    monkeypatch.setenv("STUB", f"{step}=hang")
    result = probe(library, deadline=2.0)
    assert (result.outcome, result.step) == ("hang", step)


def test_what_was_learnt_before_a_crash_is_kept(stub, monkeypatch):
    library = stub()
    monkeypatch.setenv("STUB", "initialize=crash")
    assert probe(library).facts["vendor"] == "Stub works"
    assert probe(library).signal == "SIGABRT"


def test_a_file_that_is_no_plugin_gives_the_loaders_error(tmp_path):
    result = probe(tmp_path / "gone.so")
    assert (result.outcome, result.error) == ("error", "PluginLoadError")
    assert "gone.so" in result.message


def test_probing_leaves_this_process_untouched(stub):
    library = stub()
    before = os.listdir("/proc/self/fd")
    probe(library)
    assert str(library) not in Path("/proc/self/maps").read_text()
    assert os.listdir("/proc/self/fd") == before


def test_a_query_reads_the_descriptor_and_starts_nothing(stub, tmp_path, monkeypatch):
    monkeypatch.setenv("STUB_TRACE", str(tmp_path / "trace.txt"))
    result = run("query", stub("libstub.so", "-DSTUB_UNDEFINED"), deadline=30)
    assert result.ok
    assert result.facts == {
        "abi_major": versions.HOST[0],
        "abi_minor": versions.HOST[1],
        "min_host_minor": 0,
        "name": "stub",
        "vendor": "Stub works",
        "version": "1.2.3",
        "device_type": "stub",
    }
    assert (tmp_path / "trace.txt").read_text().split() == ["query"]
