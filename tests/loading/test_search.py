"""Finding plugins: every source, each library once, faults beside their neighbours, nothing opened or
imported.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from device_api.errors import ManifestError, PluginLoadError
from device_api.loading import hooks
from device_api.loading.registry import Registry
from device_api.loading.search import find, record_of


def on_path(monkeypatch: pytest.MonkeyPatch, *places: object) -> list:
    """The records found when DEVICE_API_PLUGIN_PATH names `places`."""
    monkeypatch.setenv("DEVICE_API_PLUGIN_PATH", os.pathsep.join(map(str, places)))
    return [record for record in find() if record.origin == "path"]


def test_the_built_in_plugin_is_found_without_importing_its_package():
    before = set(sys.modules)
    records = [record for record in find() if record.origin == "builtin"]
    assert [record.device_type for record in records] == ["cpu"]
    assert records[0].library.is_absolute()
    assert not {name for name in set(sys.modules) - before if name.startswith("reference_cpu")}


def test_a_folder_gives_manifests_and_the_libraries_they_do_not_describe(
    stub, tmp_path, monkeypatch, manifest_file
):
    stub("libstub.so")
    stub("libother.so")
    manifest_file(tmp_path, "npu")
    records = on_path(monkeypatch, tmp_path)
    assert [(r.name, r.device_type, r.library.name) for r in records] == [
        ("npu-plugin", "npu", "libstub.so"),
        ("other", None, "libother.so"),
    ]
    assert records[0].manifest == tmp_path / "npu.json"
    assert (records[0].vendor, records[0].version) == ("Stub works", "1.2.3")


def test_manifests_and_libraries_may_be_named_directly(stub, tmp_path, monkeypatch, manifest_file):
    library = stub("libone.so")
    stub("libstub.so", folder=tmp_path / "two")
    manifest = manifest_file(tmp_path / "two", "npu")
    assert [r.library for r in on_path(monkeypatch, library, manifest)] == [
        library,
        tmp_path / "two" / "libstub.so",
    ]


def test_one_library_under_many_spellings_is_one_record(stub, tmp_path, monkeypatch):
    """Users saw a plugin initialised twice: through a symlink, a double slash, a repeated entry, folder and
    file.
    """
    library = stub()
    (tmp_path / "link.so").symlink_to(library)
    os.link(library, tmp_path / "hard.so")
    (tmp_path / "again").symlink_to(tmp_path)
    places = [
        tmp_path,
        tmp_path,
        f"{tmp_path}//libstub.so",
        f"{tmp_path}/./link.so",
        tmp_path / "again",
        library,
    ]
    records = on_path(monkeypatch, *places)
    assert len(records) == 1


def test_a_manifest_says_more_than_a_bare_path_to_the_same_library(
    stub, tmp_path, monkeypatch, manifest_file
):
    library = stub()
    manifest = manifest_file(tmp_path, "npu")
    assert [r.device_type for r in on_path(monkeypatch, library, manifest)] == ["npu"]


def test_a_bad_manifest_is_listed_and_hides_no_neighbour(stub, tmp_path, monkeypatch, manifest_file):
    stub()
    manifest_file(tmp_path, "npu")
    (tmp_path / "a_broken.json").write_text('{"name": ')
    (tmp_path / "z_empty.json").write_text("")
    (tmp_path / "pipe.json").unlink(missing_ok=True)
    os.mkfifo(tmp_path / "pipe.json")
    records = on_path(monkeypatch, tmp_path)
    assert [r.device_type for r in records if r.problem is None] == ["npu"]
    bad = {r.manifest.name for r in records if isinstance(r.error, ManifestError)}
    assert bad == {"a_broken.json", "z_empty.json", "pipe.json"}


def test_a_manifest_whose_library_is_missing_says_so(tmp_path, monkeypatch, manifest_file):
    (record,) = on_path(monkeypatch, manifest_file(tmp_path, "npu", "libgone.so"))
    assert isinstance(record.error, PluginLoadError)
    assert "libgone.so" in record.problem
    assert "npu.json" in record.problem


def test_a_path_that_does_not_exist_is_listed_with_its_problem(tmp_path, monkeypatch):
    (record,) = on_path(monkeypatch, tmp_path / "gone.so")
    assert "no such file" in record.problem


def test_empty_entries_of_the_path_are_ignored(monkeypatch):
    assert on_path(monkeypatch, "", " ", "") == []


def test_an_unreadable_folder_is_listed_with_its_problem(tmp_path, monkeypatch):
    def refuse(self):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "iterdir", refuse)
    (record,) = on_path(monkeypatch, tmp_path)
    assert "Permission denied" in record.problem


def test_hidden_files_and_other_files_are_not_plugins(tmp_path, monkeypatch):
    for name in (".hidden.json", "notes.txt", "libstub.so.bak"):
        (tmp_path / name).write_text("x")
    assert on_path(monkeypatch, tmp_path) == []


def test_a_relative_path_is_made_absolute_at_once(stub, tmp_path, monkeypatch):
    stub()
    monkeypatch.chdir(tmp_path)
    assert record_of("libstub.so", "path").library == tmp_path / "libstub.so"


# --- installed packages ----------------------------------------------------------------------


@pytest.fixture
def install(tmp_path, monkeypatch, manifest_file):
    """Puts a package with an entry point on the path; its code ends the program when it is imported."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def make(package: str, value: str, name: str = "npu", device_type: str = "npu") -> Path:
        folder = tmp_path / package
        manifest_file(folder, device_type)
        (folder / "__init__.py").write_text("raise SystemExit('vendor code was imported')")
        info = tmp_path / f"{package}-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[device_api.plugins]\n{name} = {value}\n")
        return folder

    return make


def installed() -> list:
    return [record for record in find() if record.origin == "entry point"]


def test_an_entry_point_is_data_and_imports_nothing(stub, install):
    stub(folder=install("acme_plugin", "acme_plugin:npu.json"))
    (record,) = installed()
    assert (record.device_type, record.problem) == ("npu", None)
    assert "acme_plugin" not in sys.modules


def test_an_entry_point_may_name_a_file_in_a_subfolder(stub, install, tmp_path):
    folder = install("acme_deep", "acme_deep.data:npu.json")
    (folder / "data").mkdir()
    (folder / "npu.json").rename(folder / "data" / "npu.json")
    stub(folder=folder / "data")
    assert [record.problem for record in installed()] == [None]


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("acme_bad:other.json", "no other.json"),
        ("acme_bad:../npu.json", "must read"),
        ("acme_bad:/etc/passwd", "must read"),
        ("acme_bad", "must read"),
        ("not_there:npu.json", "no package"),
    ],
)
def test_a_bad_entry_point_is_listed_with_its_problem(install, value, words):
    install("acme_bad", value)
    (record,) = installed()
    assert record.device_type == "npu"
    assert words in record.problem


def test_an_entry_point_that_disagrees_with_its_manifest_is_a_fault(stub, install):
    stub(folder=install("acme_two", "acme_two:npu.json", name="gpu"))
    (record,) = installed()
    assert "'gpu'" in record.problem
    assert "'npu'" in record.problem


def test_a_vendors_import_error_cannot_happen_while_listing(stub, install, python, tmp_path):
    stub(folder=install("acme_bomb", "acme_bomb:npu.json"))
    program = "import sys; sys.path.insert(0, sys.argv[1]); from device_api.loading import plugin_records\n"
    program += "print([r.device_type for r in plugin_records()])\n"
    program += "print([m for m in ('_cffi_backend', 'acme_bomb', 'reference_cpu') if m in sys.modules])\n"
    program += "print('libstub' in open('/proc/self/maps').read())"
    ran = python(program, tmp_path)
    assert ran.out.splitlines() == ["['cpu', 'npu']", "[]", "False"], ran.err


def test_importing_the_loader_costs_no_other_module(python):
    program = "import sys, device_api; import device_api.loading\n"
    program += "print([m for m in ('_cffi_backend', 'pluggy', 'importlib.metadata', 'subprocess', 'json')"
    program += " if m in set(sys.modules) - before])"
    ran = python("import sys, numpy; before = set(sys.modules)\n" + program)
    assert ran.out.strip() == "[]", ran.err


# --- hooks -----------------------------------------------------------------------------------


@pytest.fixture
def hook():
    """Registers an object with the hook manager for the time of a test."""
    objects = []

    def register(thing):
        hooks.manager().register(thing)
        objects.append(thing)

    yield register
    for thing in objects:
        hooks.manager().unregister(thing)


def test_a_hook_may_name_further_manifests(stub, tmp_path, hook, manifest_file):
    import pluggy

    stub()
    manifest = manifest_file(tmp_path, "npu")

    class Finder:
        @pluggy.HookimplMarker("device_api")
        def device_api_plugin_manifests(self):
            return [manifest]

    hook(Finder())
    assert "npu" in [record.device_type for record in find()]


def test_a_hook_may_veto_a_plugin_with_a_reason(stub, tmp_path, monkeypatch, hook, manifest_file):
    import pluggy

    stub()
    monkeypatch.setenv("DEVICE_API_PLUGIN_PATH", str(manifest_file(tmp_path, "npu")))

    class Guard:
        @pluggy.HookimplMarker("device_api")
        def device_api_plugin_veto(self, record):
            return "not on this cluster" if record.device_type == "npu" else None

    hook(Guard())
    (record,) = [r for r in Registry().records() if r.device_type == "npu"]
    assert "not on this cluster" in record.problem


def test_a_hook_that_fails_is_not_silent(hook):
    import pluggy

    class Broken:
        @pluggy.HookimplMarker("device_api")
        def device_api_plugin_manifests(self):
            raise RuntimeError("broken hook")

    hook(Broken())
    with pytest.raises(RuntimeError, match="broken hook"):
        find()
