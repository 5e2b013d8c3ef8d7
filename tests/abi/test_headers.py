"""The headers compile everywhere they promise to, and compiler, cffi and the tables agree on every number."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from device_api.abi import _tables, constants
from device_api.abi._declarations import ffi
from device_api.abi.describe import HEADERS, describe
from device_api.loading.negotiate import digest, host_layout

INCLUDE = HEADERS.parent
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]
STANDARDS = ["c99", "c11", "c++11", "c++17", "c++20"]
COMPILERS = [name for name in ("gcc", "clang") if shutil.which(name)]


def compile_text(
    compiler: str, standard: str, text: str, *arguments: str
) -> subprocess.CompletedProcess[str]:
    language = "c++" if standard.startswith("c++") else "c"
    return subprocess.run(
        [compiler, f"-std={standard}", "-x", language, *WARNINGS, f"-I{INCLUDE}", *arguments, "-"],
        input=text,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize("compiler", COMPILERS)
@pytest.mark.parametrize("standard", STANDARDS)
def test_all_headers_together_compile_without_a_warning(compiler, standard):
    text = '#include "device_api/device_api.h"\n' * 2
    text += "const da_layout_table *table(void);\nconst da_layout_table *table(void) { return &da_layout; }\n"
    done = compile_text(compiler, standard, text, "-fsyntax-only")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("header", sorted(path.name for path in HEADERS.glob("*.h")))
@pytest.mark.parametrize("standard", ["c99", "c++17"])
def test_each_header_compiles_alone_and_unused(header, standard):
    done = compile_text(COMPILERS[0], standard, f'#include "device_api/{header}"\n', "-fsyntax-only")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("compiler", COMPILERS)
def test_the_headers_survive_stricter_warnings(compiler):
    text = '#include "device_api/device_api.h"\n'
    extra = ["-Wpadded", "-Wundef", "-Wshadow", "-Wstrict-prototypes", "-Wunused", "-fsyntax-only"]
    done = compile_text(compiler, "c99", text, *extra)
    assert done.returncode == 0, done.stderr


def test_the_headers_need_no_other_header_than_two_of_the_standard():
    for path in HEADERS.glob("*.h"):
        for line in path.read_text().splitlines():
            if line.startswith("#include"):
                assert "<stddef.h>" in line or "<stdint.h>" in line or '"device_api/' in line, (path, line)


@pytest.mark.parametrize("standard", ["c99", "c++17"])
def test_the_compiled_layout_table_equals_cffis_numbers(tmp_path, standard):
    program = """
#include <stdio.h>
#include "device_api/device_api.h"
int main(void) {
  for (uint64_t i = 0; i < da_layout.struct_count; i++) {
    printf("%s %u", da_layout.structs[i].name, da_layout.structs[i].size);
    for (uint32_t k = 0; k < da_layout.structs[i].field_count; k++)
      printf(" %u", da_layout.structs[i].offsets[k]);
    printf("\\n");
  }
  return 0;
}
"""
    done = compile_text(COMPILERS[0], standard, program, "-o", str(tmp_path / "print"))
    assert done.returncode == 0, done.stderr
    layout = {}
    for line in subprocess.run(
        [tmp_path / "print"], capture_output=True, text=True, check=True
    ).stdout.splitlines():
        name, size, *offsets = line.split()
        layout[name] = (int(size), tuple(map(int, offsets)))
    assert layout == host_layout()
    assert digest(layout) == digest(host_layout())


def test_the_attribute_structs_of_cffi_equal_the_compilers(tmp_path):
    """They are not in the layout table, so they are compared here."""
    structs = [struct for struct in describe().structs.values() if struct.header == "ops.h"]
    lines = ['#include <stdio.h>\n#include "device_api/device_api.h"\nint main(void) {']
    expected = []
    for struct in structs:
        lines.append(f'printf("{struct.name} %zu\\n", sizeof({struct.name}));')
        expected.append(f"{struct.name} {ffi.sizeof(struct.name)}")
        for item in struct.fields:
            lines.append(f'printf("{item.name} %zu\\n", offsetof({struct.name}, {item.name}));')
            expected.append(f"{item.name} {ffi.offsetof(struct.name, item.name)}")
    done = compile_text(
        COMPILERS[0], "c99", "\n".join([*lines, "return 0; }"]), "-o", str(tmp_path / "print")
    )
    assert done.returncode == 0, done.stderr
    printed = subprocess.run([tmp_path / "print"], capture_output=True, text=True, check=True).stdout
    assert printed.splitlines() == expected


def test_the_constants_equal_the_compilers(tmp_path):
    numbers = {
        name: value
        for name, value in vars(constants).items()
        if name.startswith("DA_") and isinstance(value, int)
    }
    checks = "\n".join(
        f"typedef char check_{name}[(unsigned long long)({name}) == {value}ull ? 1 : -1];"
        for name, value in numbers.items()
    )
    done = compile_text(
        COMPILERS[0], "c99", f'#include "device_api/device_api.h"\n{checks}\n', "-fsyntax-only"
    )
    assert done.returncode == 0, done.stderr
    assert len(numbers) > 60


def test_the_minimum_sizes_of_header_and_tables_are_the_same(tmp_path):
    checks = "\n".join(
        f"typedef char check_{name}[{name.upper()}_MIN_SIZE == {size} ? 1 : -1];"
        for name, size in _tables.MINIMUM_SIZES.items()
        if describe().structs[name].growable
    )
    done = compile_text(
        COMPILERS[0], "c99", f'#include "device_api/device_api.h"\n{checks}\n', "-fsyntax-only"
    )
    assert done.returncode == 0, done.stderr


def test_a_plugin_built_with_another_packing_does_not_compile():
    text = '#pragma pack(push, 1)\n#include "device_api/device_api.h"\n'
    done = compile_text(COMPILERS[0], "c99", "#define uint64_t unsigned\n" + text, "-fsyntax-only")
    assert done.returncode != 0


def test_the_mandatory_contract_can_be_read_in_ten_minutes():
    lines = sum(
        len((HEADERS / f"{name}.h").read_text().splitlines())
        for name in ("plugin", "device", "memory", "kernel")
    )
    assert lines <= 400


def test_the_example_of_the_plugin_header_is_the_beginning_of_a_real_plugin(tmp_path):
    """What the header shows must compile, once the functions it names exist."""
    text = (HEADERS / "plugin.h").read_text()
    example = "\n".join(line[7:] for line in text.splitlines() if line.startswith(" *     "))
    program = f"""
#include "device_api/device_api.h"
static const da_error_interface errors = {{0, NULL, NULL, NULL, NULL}};
static da_error *initialize(const da_host *host) {{ (void)host; return NULL; }}
static da_error *shutdown(void) {{ return NULL; }}
static const void *get_interface(const char *id, uint32_t version) {{ (void)id; (void)version; return NULL; }}
{example}
"""
    ignore = ["-Wno-missing-field-initializers", "-fsyntax-only"]
    done = compile_text(COMPILERS[0], "c99", program, *ignore)
    assert done.returncode == 0, done.stderr


def test_headers_are_found_where_the_package_says():
    assert (Path(HEADERS) / "device_api.h").is_file()
