"""Manifests come from anywhere: each fault is one error with file and field, and nothing else escapes."""

from __future__ import annotations

import json
import os

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from device_api.errors import ManifestError
from device_api.loading.manifest import MAX_BYTES, MAX_DEPTH, Manifest, read_manifest

GOOD = {
    "file_format_version": "1",
    "name": "acme",
    "device_type": "acme_npu",
    "library": "libacme.so",
    "vendor": "Acme Inc.",
    "version": "1.0.0",
}


def _write(folder, content):
    file = folder / "acme.json"
    if isinstance(content, bytes):
        file.write_bytes(content)
    else:
        file.write_text(content if isinstance(content, str) else json.dumps(content))
    return file


def _fault(file) -> ManifestError:
    with pytest.raises(ManifestError) as caught:
        read_manifest(file)
    assert caught.value.path == str(file)
    assert str(file) in str(caught.value)
    assert caught.value.remedy
    return caught.value


def test_a_good_manifest_is_read(tmp_path):
    manifest = read_manifest(_write(tmp_path, {**GOOD, "sha256": "AB" * 32, "extra": 1}))
    assert manifest == Manifest(
        path=tmp_path / "acme.json",
        name="acme",
        device_type="acme_npu",
        library=tmp_path / "libacme.so",
        vendor="Acme Inc.",
        version="1.0.0",
        sha256="ab" * 32,
        unknown=("extra",),
    )


@pytest.mark.parametrize("field", GOOD)
def test_a_missing_field_is_named(tmp_path, field):
    content = {key: value for key, value in GOOD.items() if key != field}
    assert _fault(_write(tmp_path, content)).field == field


@pytest.mark.parametrize("field", GOOD)
@pytest.mark.parametrize("value", [None, 1, 1.5, True, [], {}, "", "  ", "a\nb", "x" * 300], ids=repr)
def test_a_field_of_the_wrong_kind_is_named(tmp_path, field, value):
    assert _fault(_write(tmp_path, {**GOOD, field: value})).field == field


@pytest.mark.parametrize("version", ["0", "2", "1.0", 1])
def test_another_format_version_is_refused_before_anything_else(tmp_path, version):
    assert _fault(_write(tmp_path, {"file_format_version": version})).field == "file_format_version"


@pytest.mark.parametrize(
    "text", ["", "   ", "{", "nul", "[]", "null", '"text"', "1", "NaN", "{}", "\ufeff{}"]
)
def test_text_that_is_no_object_of_json_is_refused(tmp_path, text):
    _fault(_write(tmp_path, text))


@pytest.mark.parametrize("data", [b"\xff\xfe{}", b"\x00\x01", b'{"name": "\xff"}'])
def test_bytes_that_are_no_text_are_refused(tmp_path, data):
    _fault(_write(tmp_path, data))


def test_a_key_given_twice_is_refused_at_every_level(tmp_path):
    text = json.dumps(GOOD)
    assert _fault(_write(tmp_path, text[:-1] + ', "name": "other"}')).field == "name"
    assert _fault(_write(tmp_path, text[:-1] + ', "x": {"y": 1, "y": 2}}')).field == "y"


def test_a_huge_file_is_refused(tmp_path):
    error = _fault(_write(tmp_path, json.dumps({**GOOD, "padding": "x" * MAX_BYTES})))
    assert str(MAX_BYTES) in str(error)


@pytest.mark.parametrize("depth", [MAX_DEPTH + 1, 20_000])
def test_a_deep_file_is_refused(tmp_path, depth):
    _fault(_write(tmp_path, "[" * depth + "]" * depth))


def test_brackets_inside_texts_do_not_count_as_depth(tmp_path):
    assert read_manifest(_write(tmp_path, {**GOOD, "vendor": "[{" * 40})).vendor == "[{" * 40


@pytest.mark.parametrize("name", ["../libacme.so", "a/../../libacme.so", "..", ".", "a/.."])
def test_a_library_outside_the_manifests_folder_is_refused(tmp_path, name):
    assert _fault(_write(tmp_path, {**GOOD, "library": name})).field == "library"


def test_a_bare_name_means_the_manifests_folder_never_a_search(tmp_path):
    assert read_manifest(_write(tmp_path, {**GOOD, "library": "libc.so.6"})).library == tmp_path / "libc.so.6"


def test_an_absolute_library_is_taken_as_it_is(tmp_path):
    assert (
        str(read_manifest(_write(tmp_path, {**GOOD, "library": "/opt/a/liba.so"})).library)
        == "/opt/a/liba.so"
    )


@pytest.mark.parametrize("name", ["Acme", "acme inc", "ac/me", "ä", "-acme"])
def test_a_malformed_name_is_refused(tmp_path, name):
    assert _fault(_write(tmp_path, {**GOOD, "name": name})).field == "name"


@pytest.mark.parametrize("digest", ["", "ab", 1, "g" * 64])
def test_a_malformed_digest_is_refused(tmp_path, digest):
    assert _fault(_write(tmp_path, {**GOOD, "sha256": digest})).field == "sha256"


def test_a_missing_file_a_folder_and_a_pipe_are_refused(tmp_path):
    _fault(tmp_path / "nothing.json")
    (tmp_path / "folder.json").mkdir()
    _fault(tmp_path / "folder.json")
    os.mkfifo(tmp_path / "pipe.json")
    _fault(tmp_path / "pipe.json")


def test_a_link_to_itself_is_refused(tmp_path):
    link = tmp_path / "loop.json"
    link.symlink_to(link)
    _fault(link)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.sampled_from([*GOOD, "sha256", "other"]), JSON))
def test_any_object_gives_a_manifest_or_a_manifest_error(tmp_path, changes):
    file = _write(tmp_path, {**GOOD, **changes})
    try:
        manifest = read_manifest(file)
    except ManifestError:
        return
    assert manifest.library.is_absolute()


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200))
def test_any_bytes_give_a_manifest_error(tmp_path, data):
    _fault(_write(tmp_path, data))
