"""Which plugins may be loaded: variables, select and deny lists, safe mode, trust, pinned digests."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

import pytest

from device_api.errors import PluginRefused
from device_api.loading import environment, policy
from device_api.loading.records import PluginRecord
from device_api.loading.registry import Registry


def record(
    name="acme-npu", device_type="npu", origin="path", library="/opt/acme/libacme.so", **more
) -> PluginRecord:
    return PluginRecord(name, device_type, Path(library), origin, **more)


@pytest.fixture
def elevated(monkeypatch):
    monkeypatch.setattr(environment, "elevated", lambda: True)


# --- variables ---------------------------------------------------------------------------------


@pytest.mark.parametrize("name", environment.VARIABLES)
def test_path_variables_are_ignored_with_a_warning_in_an_elevated_process(name, monkeypatch, elevated):
    monkeypatch.setenv(name, "value")
    if environment.VARIABLES[name].kind == "path":
        with pytest.warns(RuntimeWarning, match=name):
            assert environment.read(name) is None
    else:
        assert environment.read(name) == "value"


@pytest.mark.parametrize("name", environment.VARIABLES)
def test_every_variable_is_read_in_an_ordinary_process(name, monkeypatch):
    monkeypatch.setenv(name, "value")
    assert environment.read(name) == "value"


@pytest.mark.parametrize("option", ["-E", "-I"])
def test_python_can_switch_all_variables_off(python, option):
    names = list(environment.VARIABLES)
    program = "import sys; sys.path.insert(0, sys.argv[1]); from device_api.loading import environment\n"
    program += "print([environment.read(name) for name in environment.VARIABLES])"
    root = Path(environment.__file__).resolve().parents[2]
    ran = python(program, root, options=[option], **dict.fromkeys(names, "x"))
    assert ran.out.strip() == str([None] * len(names)), ran.err


def test_a_variable_that_is_not_registered_cannot_be_read():
    with pytest.raises(KeyError):
        environment.read("DEVICE_API_SECRET")


def test_no_other_module_reads_the_environment():
    package = Path(environment.__file__).parents[1]
    readers = {
        file.relative_to(package).as_posix()
        for file in package.rglob("*.py")
        if re.search(r"(environ\.get\(|environ\[|getenv\()\s*[\"']DEVICE_API_", file.read_text())
    }
    assert readers <= {"loading/environment.py"}


def test_this_process_is_not_elevated():
    assert environment.elevated() is False


def test_a_changed_user_makes_a_process_elevated(monkeypatch):
    monkeypatch.setattr(os, "getuid", lambda: os.geteuid() + 1)
    environment.elevated.cache_clear()
    try:
        assert environment.elevated() is True
    finally:
        environment.elevated.cache_clear()


def test_lists_ignore_blanks_and_case(monkeypatch):
    monkeypatch.setenv("DEVICE_API_PLUGINS", " NPU , ,acme*,")
    assert environment.globs("DEVICE_API_PLUGINS") == ("npu", "acme*")


@pytest.mark.parametrize(
    ("value", "on"), [("1", True), ("Yes", True), ("0", False), ("", False), (" off ", False)]
)
def test_switches(monkeypatch, value, on):
    monkeypatch.setenv("DEVICE_API_SAFE_MODE", value)
    assert environment.flag("DEVICE_API_SAFE_MODE") is on


def test_an_unclear_switch_takes_the_safe_side(monkeypatch):
    monkeypatch.setenv("DEVICE_API_SAFE_MODE", "maybe")
    with pytest.warns(RuntimeWarning, match="maybe"):
        assert environment.flag("DEVICE_API_SAFE_MODE") is True


def test_an_unknown_choice_is_the_default_with_a_warning(monkeypatch):
    monkeypatch.setenv("DEVICE_API_TRUST", "somewhat")
    with pytest.warns(RuntimeWarning, match="off, strict, warn"):
        assert environment.choice("DEVICE_API_TRUST", ("strict", "warn", "off"), "warn") == "warn"


def test_the_log_variable_makes_the_package_speak(python, tmp_path):
    program = "from device_api.loading import plugin_records; import logging; plugin_records()\n"
    program += "logging.getLogger('device_api.loading').info('hello')"
    assert "INFO: hello" in python(program, DEVICE_API_LOG="info").err
    assert python(program).err == ""


# --- selection ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("select", "deny", "rule"),
    [
        ("", "", None),
        ("npu", "", None),
        ("NPU", "", None),
        ("acme-*", "", None),
        ("libacme.so", "", None),
        ("gpu, npu", "", None),
        ("gpu", "", "select list"),
        ("", "npu", "deny list"),
        ("", " ACME* ", "deny list"),
        ("", "gpu", None),
        ("npu", "*", None),
        ("*", "npu", "deny list"),
        ("n*", "*", "deny list"),
        ("npu", "npu", "deny list"),
    ],
)
def test_select_and_deny(monkeypatch, select, deny, rule):
    monkeypatch.setenv("DEVICE_API_PLUGINS", select)
    monkeypatch.setenv("DEVICE_API_PLUGINS_DENY", deny)
    refusal = policy.selection(record())
    assert (refusal and refusal.rule) == rule
    if refusal:
        assert "DEVICE_API_PLUGINS" in str(refusal)
        assert "/opt/acme/libacme.so" in str(refusal)


@pytest.mark.parametrize(("origin", "allowed"), [("builtin", True), ("path", False), ("registered", False)])
def test_safe_mode_allows_only_the_built_in_plugin(monkeypatch, origin, allowed):
    monkeypatch.setenv("DEVICE_API_SAFE_MODE", "1")
    refusal = policy.selection(record(origin=origin))
    assert (refusal is None) is allowed
    if refusal:
        assert "DEVICE_API_SAFE_MODE" in str(refusal)


# --- trust -------------------------------------------------------------------------------------


@pytest.fixture
def guarded(tmp_path):
    """A library in a folder of its own, below folders that only the user may write."""
    folder = tmp_path / "plugins"
    folder.mkdir(mode=0o755)
    library = folder / "libacme.so"
    library.write_bytes(b"x")
    library.chmod(0o644)
    return library


def test_a_file_of_the_user_in_a_folder_of_the_user_is_trusted(guarded, monkeypatch):
    monkeypatch.setenv("DEVICE_API_TRUST", "strict")
    policy.require_trust(record(library=guarded))


@pytest.mark.parametrize("place", ["file", "folder", "parent"])
def test_what_anybody_may_write_is_refused_in_strict_mode(guarded, monkeypatch, place):
    target = {"file": guarded, "folder": guarded.parent, "parent": guarded.parent.parent}[place]
    target.chmod(0o777)
    monkeypatch.setenv("DEVICE_API_TRUST", "strict")
    with pytest.raises(PluginRefused, match="may be written by anybody") as caught:
        policy.require_trust(record(library=guarded))
    assert caught.value.rule == "trust"
    assert str(target) in str(caught.value)


def test_a_sticky_folder_is_no_danger_by_itself(guarded, monkeypatch):
    guarded.parent.chmod(0o1777)
    monkeypatch.setenv("DEVICE_API_TRUST", "strict")
    policy.require_trust(record(library=guarded))


def test_a_file_of_a_stranger_is_refused_in_strict_mode(guarded, monkeypatch):
    monkeypatch.setattr(os, "geteuid", lambda: 4242)
    monkeypatch.setenv("DEVICE_API_TRUST", "strict")
    if guarded.stat().st_uid == 0:
        os.chown(guarded, 4243, -1)
    with pytest.raises(PluginRefused, match="neither root nor the user"):
        policy.require_trust(record(library=guarded))


def test_a_link_is_judged_along_both_paths(guarded, tmp_path, monkeypatch):
    monkeypatch.setenv("DEVICE_API_TRUST", "strict")
    open_folder = tmp_path / "open"
    open_folder.mkdir()
    open_folder.chmod(0o777)
    link = open_folder / "liblink.so"
    link.symlink_to(guarded)
    with pytest.raises(PluginRefused, match="open"):
        policy.require_trust(record(library=link))


def test_doubt_is_a_warning_by_default_once_per_library(guarded, recwarn):
    guarded.chmod(0o666)
    policy.require_trust(record(library=guarded))
    policy.require_trust(record(library=guarded))
    assert len([w for w in recwarn if "anybody" in str(w.message)]) == 1


def test_trust_can_be_switched_off(guarded, monkeypatch, recwarn):
    guarded.chmod(0o666)
    monkeypatch.setenv("DEVICE_API_TRUST", "off")
    policy.require_trust(record(library=guarded))
    assert not recwarn.list


def test_an_elevated_process_is_always_strict(guarded, monkeypatch, elevated):
    guarded.chmod(0o666)
    monkeypatch.setenv("DEVICE_API_TRUST", "off")
    with pytest.raises(PluginRefused):
        policy.require_trust(record(library=guarded))


def test_a_manifest_that_anybody_may_write_is_refused_too(guarded, monkeypatch):
    manifest = guarded.with_name("acme.json")
    manifest.write_text("{}")
    manifest.chmod(0o666)
    monkeypatch.setenv("DEVICE_API_TRUST", "strict")
    with pytest.raises(PluginRefused, match=r"acme\.json"):
        policy.require_trust(record(library=guarded, manifest=manifest))


def test_a_pinned_digest_must_match(stub):
    library = stub()
    good = hashlib.sha256(library.read_bytes()).hexdigest()
    registry = Registry()
    registry.register(library, sha256=good.upper())
    assert registry.load("stub").name == "stub"

    other = stub("libother.so")
    registry = Registry()
    registry.register(other, sha256="0" * 64)
    with pytest.raises(PluginRefused, match=good):
        policy.require_trust(registry.records()[-1])
