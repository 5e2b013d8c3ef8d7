"""The golden snapshot: generated files are current, and only appends pass the rule checker."""

from __future__ import annotations

import copy
import json
import shutil
from pathlib import Path

import pytest

from device_api.abi import emit, snapshot
from device_api.abi.describe import describe
from device_api.abi.generate import RefusedChange, declare, main, texts

ROOT = Path(__file__).resolve().parents[2]
MINOR = describe().version[1]

OPTIONAL = {"mandatory": False, "thread": "thread-safe", "order": "none", "owner": "none", "zero": "ok"}


@pytest.fixture(scope="module")
def golden():
    return json.loads(snapshot.path_of(describe().version).read_text())


@pytest.fixture
def changed(golden):
    return copy.deepcopy(golden)


def append(content, struct, name="added", offset=None, rules=None):
    """Appends a field to a struct of a snapshot."""
    facts = content["structs"][struct]
    at = facts["size"] if offset is None else offset
    field = {"name": name, "offset": at, "size": 8, "declaration": f"uint64_t {name}", "rules": rules}
    facts["fields"].append(field)
    facts["size"] = at + 8


def test_every_generated_file_is_current():
    stale = [path for path, text in texts(ROOT).items() if not path.exists() or path.read_text() != text]
    assert stale == [], "run python -m device_api.abi.generate"


def test_the_command_reports_what_is_not_current_and_writes_it(tree, capsys):
    assert main(["--check", "--root", str(tree)]) == 1
    assert capsys.readouterr().out == "not current: docs/reference/abi.md\n"
    assert main(["--root", str(tree)]) == 0
    assert main(["--check", "--root", str(tree)]) == 0


def test_the_command_refuses_a_breaking_change(tree, capsys):
    edit(tree, "device.h", "  uint64_t flags; ", "  uint64_t inserted;\n  uint64_t flags; ")
    assert main(["--root", str(tree)]) == 1
    assert "binaries built before would break" in capsys.readouterr().err


def test_generation_depends_on_nothing_but_the_headers():
    assert texts(ROOT) == texts(ROOT)


def test_no_struct_has_hidden_padding(golden):
    assert snapshot.padding(golden) == []


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ([("a", 0, 4), ("b", 8, 8)], "4 bytes of padding before b"),
        ([("a", 0, 8), ("b", 8, 4)], "4 bytes of padding at the end"),
    ],
)
def test_hidden_padding_is_found(fields, words):
    items = [{"name": name, "offset": at, "size": size} for name, at, size in fields]
    assert (
        words in snapshot.padding({"structs": {"da_x": {"size": 16, "growable": True, "fields": items}}})[0]
    )


def test_an_unchanged_contract_breaks_nothing(golden):
    assert snapshot.violations(golden, golden) == []


def test_appends_break_nothing(golden, changed):
    append(changed, "da_stream_interface", rules=OPTIONAL)
    append(changed, "da_device_properties")
    changed["enums"]["da_status"]["DA_STATUS_NEW"] = 77
    changed["enums"]["da_new"] = {"DA_NEW": 1}
    changed["constants"]["DA_NEW"] = 1
    changed["constants"]["DA_STREAM_INTERFACE_VERSION"] += 1
    changed["structs"]["da_new"] = copy.deepcopy(changed["structs"]["da_tensor"])
    assert snapshot.violations(golden, changed) == []


def _swap_slots(content):
    fields = content["structs"]["da_memory_interface"]["fields"]
    fields[5]["name"], fields[6]["name"] = fields[6]["name"], fields[5]["name"]


def _remove_field(content):
    content["structs"]["da_device_properties"]["fields"].pop()


def _narrow(content):
    content["structs"]["da_copy"]["fields"][5]["size"] = 4


def _rename(content):
    content["structs"]["da_copy"]["fields"][5]["name"] = "other"


def _retype(content):
    content["structs"]["da_copy"]["fields"][5]["declaration"] = "int64_t destination_offset"


def _make_mandatory(content):
    fields = content["structs"]["da_memory_interface"]["fields"]
    next(item for item in fields if item["name"] == "set")["rules"]["mandatory"] = True


def _change_thread_rule(content):
    fields = content["structs"]["da_memory_interface"]["fields"]
    next(item for item in fields if item["name"] == "set")["rules"]["thread"] = "sync: device"


def _add_mandatory(content):
    append(content, "da_memory_interface", rules={**OPTIONAL, "mandatory": True})


def _grow_a_fixed_struct(content):
    append(content, "da_dl_tensor")


def _fill_padding(content):
    append(content, "da_tensor", offset=content["structs"]["da_tensor"]["size"] - 4)


def _raise_minimum(content):
    content["structs"]["da_tensor"]["minimum_size"] += 8


def _remove_struct(content):
    del content["structs"]["da_callback"]


def _renumber(content):
    content["enums"]["da_dtype"]["DA_INT8"] = 3


def _remove_enum_value(content):
    del content["enums"]["da_dtype"]["DA_FLOAT8_E5M2"]


def _reuse_a_number(content):
    content["enums"]["da_status"]["DA_STATUS_NEW"] = 3


def _change_constant(content):
    content["constants"]["DA_PLUGIN_ENTRY"] = "other"


def _lower_interface_version(content):
    content["constants"]["DA_STREAM_INTERFACE_VERSION"] = 0


def _change_function_type(content):
    content["functions"]["da_kernel_launch"] += " "


@pytest.mark.parametrize(
    "change",
    [
        _swap_slots,
        _remove_field,
        _narrow,
        _rename,
        _retype,
        _make_mandatory,
        _change_thread_rule,
        _add_mandatory,
        _grow_a_fixed_struct,
        _fill_padding,
        _raise_minimum,
        _remove_struct,
        _renumber,
        _remove_enum_value,
        _reuse_a_number,
        _change_constant,
        _lower_interface_version,
        _change_function_type,
    ],
    ids=lambda change: change.__name__.strip("_"),
)
def test_every_other_change_is_refused(golden, changed, change):
    change(changed)
    assert snapshot.violations(golden, changed)


@pytest.fixture
def tree(tmp_path):
    """A copy of what the generator reads, to change."""
    for part in ("device_api/include", "device_api/abi"):
        shutil.copytree(ROOT / part, tmp_path / part, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def edit(tree: Path, header: str, old: str, new: str) -> None:
    path = tree / "device_api" / "include" / "device_api" / header
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))


def test_an_appended_field_keeps_the_minimum_size_and_changes_the_generated_files(tree):
    old = "int32_t dl_device_type; /* DLPack code; 12 where none exists */\n  int32_t reserved;\n"
    edit(tree, "device.h", old, old + "  uint64_t added;\n")
    written = {path.name: text for path, text in texts(tree).items()}
    facts = json.loads(written[f"layout_0_{MINOR}.json"])["structs"]["da_device_properties"]
    assert (facts["size"], facts["minimum_size"]) == (96, 88)
    assert "#define DA_DEVICE_PROPERTIES_MIN_SIZE UINT64_C(88)" in written["layout.h"]
    assert "DA_LAYOUT_ASSERT(da_device_properties, 96);" in written["layout.h"]


def test_an_inserted_field_is_refused_by_the_generator_unless_the_draft_is_broken(tree):
    edit(tree, "device.h", "  uint64_t flags; ", "  uint64_t inserted;\n  uint64_t flags; ")
    with pytest.raises(RefusedChange, match="da_device_properties field 7"):
        texts(tree)
    with pytest.raises(RefusedChange, match="raise DA_ABI_MINOR"):
        texts(tree, break_draft=True)


def write(tree: Path, **options: bool) -> None:
    for path, text in texts(tree, **options).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def test_a_broken_draft_has_a_new_minor_and_binds_what_comes_after(tree):
    edit(tree, "device.h", "  uint64_t flags; ", "  uint64_t inserted;\n  uint64_t flags; ")
    edit(tree, "base.h", f"#define DA_ABI_MINOR {MINOR}", f"#define DA_ABI_MINOR {MINOR + 1}")
    with pytest.raises(RefusedChange, match=r"since 0\.9"):
        texts(tree)
    write(tree, break_draft=True)
    assert f"OLDEST_MINOR: Final = {MINOR + 1}\n" in (tree / "device_api" / "abi" / "_tables.py").read_text()
    assert texts(tree)  # the old draft binds no more
    edit(tree, "device.h", "  uint64_t inserted;\n", "")
    with pytest.raises(RefusedChange, match=rf"since 0\.{MINOR + 1}"):
        texts(tree)


def test_a_new_minor_without_a_break_keeps_old_drafts(tree):
    edit(tree, "base.h", f"#define DA_ABI_MINOR {MINOR}", f"#define DA_ABI_MINOR {MINOR + 1}")
    write(tree, break_draft=True)
    assert "OLDEST_MINOR: Final = 0\n" in (tree / "device_api" / "abi" / "_tables.py").read_text()
    kept = [one["version"] for one in snapshot.released(0, tree / "device_api" / "abi")]
    assert kept == [[0, minor] for minor in range(9, MINOR + 2)]


def test_breaking_a_draft_that_was_only_appended_to_keeps_the_minimum_sizes(tree):
    old = "int32_t dl_device_type; /* DLPack code; 12 where none exists */\n  int32_t reserved;\n"
    edit(tree, "device.h", old, old + "  uint64_t added;\n")
    assert texts(tree, break_draft=True) == texts(tree)


def test_a_released_contract_cannot_be_broken(tree):
    edit(tree, "base.h", "#define DA_ABI_MAJOR 0", "#define DA_ABI_MAJOR 1")
    with pytest.raises(RefusedChange, match="released"):
        texts(tree, break_draft=True)


def test_padding_in_a_header_is_refused_by_the_generator(tree):
    old = "int32_t dl_device_type; /* DLPack code; 12 where none exists */\n  int32_t reserved;\n"
    edit(tree, "device.h", old, old + "  uint32_t added;\n")
    with pytest.raises(RefusedChange, match="padding"):
        texts(tree)


def test_the_reference_page_has_every_function():
    contract = describe()
    page = emit.reference(contract)
    for struct in emit.core_structs(contract):
        for slot in contract.slots(struct.name):
            assert f"| `{slot.name}` |" in page


def test_cffi_accepts_the_declarations():
    assert declare(describe()).sizeof("da_plugin") == 120
