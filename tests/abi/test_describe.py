"""Reading headers: what is understood, and that anything else is refused instead of overlooked."""

from __future__ import annotations

import pytest

from device_api.abi.describe import HeaderError, Rules, describe

BASE = "#define DA_ABI_MAJOR 0\n#define DA_ABI_MINOR 1\n"
RULES = "[mandatory] [thread-safe] [order: none] [owner: none] [zero: ok]"


@pytest.fixture
def read(tmp_path):
    def go(text: str):
        (tmp_path / "base.h").write_text(BASE + text)
        return describe(tmp_path)

    return go


def test_the_real_headers_are_understood():
    contract = describe()
    assert set(contract.interfaces) == {
        "capture",
        "collective",
        "custom_op",
        "device",
        "graph",
        "kernel",
        "memory",
        "profiler",
        "random",
        "stream",
    }
    assert contract.structs["da_kernel"].growable
    assert not contract.structs["da_dl_tensor"].growable


def test_every_function_of_every_interface_has_rules():
    contract = describe()
    for interface in contract.interfaces.values():
        functions = [item for item in contract.structs[interface.struct].fields if item.function]
        assert functions
        assert all(item.rules is not None and item.doc for item in functions), interface.name


def test_every_interface_starts_with_the_same_header():
    contract = describe()
    for interface in contract.interfaces.values():
        names = [item.name for item in contract.structs[interface.struct].fields[:4]]
        assert names == ["struct_size", "extension", "version", "reserved"]


def test_rules_are_read_across_lines(read):
    contract = read(
        f"typedef struct da_x {{\n  /* Does.\n   * {RULES.replace('[zero: ok]', '[zero:')}\n   * ok] */\n"
        "  int (*f)(void);\n} da_x;\n"
    )
    (item,) = contract.structs["da_x"].fields
    assert item.rules == Rules(True, "thread-safe", "none", "none", "ok")
    assert item.doc == "Does."


@pytest.mark.parametrize(
    "missing", ["[mandatory]", "[thread-safe]", "[order: none]", "[owner: none]", "[zero: ok]"]
)
def test_an_incomplete_set_of_rules_is_refused(read, missing):
    rules = RULES.replace(missing, "")
    with pytest.raises(HeaderError, match=r"base\.h:4: f needs"):
        read(f"typedef struct da_x {{ /* Does. {rules} */\n  int (*f)(void);\n}} da_x;\n")


@pytest.mark.parametrize(
    "text",
    [
        "int function(void);\n",
        "extern int variable;\n",
        "typedef int da_number;\n",
        "typedef union da_u { int a; } da_u;\n",
        "typedef struct da_x { int a; } other;\n",
        "enum da_e { DA_A, DA_B };\n",
        "// a comment of C++\n",
        "typedef struct da_x { int a;\n",
    ],
)
def test_what_is_not_understood_is_refused(read, text):
    with pytest.raises(HeaderError):
        read(text)


def test_constants_enums_handles_and_function_types_are_read(read):
    contract = read(
        '#define DA_NAME "x.y" /* a name */\n#define DA_BIG UINT64_C(0x10) /* sixteen */\n'
        "#define DA_BIT (UINT64_C(1) << 3)\n#define DA_CALL(x) (x)\n"
        "enum da_e { DA_A = 1, /* first */ DA_B = 0x10 };\n"
        "typedef struct da_h da_h;\ntypedef int (*da_f)(da_h *handle);\n"
    )
    assert contract.constants == {
        "DA_ABI_MAJOR": 0,
        "DA_ABI_MINOR": 1,
        "DA_NAME": "x.y",
        "DA_BIG": 16,
        "DA_BIT": 8,
    }
    assert contract.enums["da_e"].values == (("DA_A", 1, "first"), ("DA_B", 16, ""))
    assert contract.handles == ["da_h"]
    assert contract.functions == {"da_f": "typedef int (*da_f)(da_h *handle)"}


def test_an_interface_without_a_version_is_refused(read):
    with pytest.raises(HeaderError, match="DA_NEW_INTERFACE"):
        read('#define DA_NEW_INTERFACE "device_api.new"\n')
