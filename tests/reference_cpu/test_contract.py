"""The library as a plugin: what it exports, says about itself, refuses and tells."""

from __future__ import annotations

import json
import subprocess

import numpy as np
import pytest
from cpu_driver import ALL, FOLDER, INVALID_ARGUMENT, LIBRARY, UNIMPLEMENTED, Plugin, PluginError, child, ffi

from device_api.ops._table import BY_NAME


def symbols(*flags: str) -> list[str]:
    done = subprocess.run(["nm", "-D", *flags, str(LIBRARY)], capture_output=True, text=True, check=True)
    return [line.split()[-1] for line in done.stdout.splitlines()]


def test_exactly_one_symbol_is_exported() -> None:
    assert symbols("--defined-only") == ["device_api_plugin"]


def test_every_undefined_symbol_belongs_to_the_c_library_or_is_weak() -> None:
    done = subprocess.run(
        ["nm", "-D", "--undefined-only", str(LIBRARY)], capture_output=True, text=True, check=True
    )
    for line in done.stdout.splitlines():
        kind, name = line.split()[-2:]
        assert kind in "wv" or "@GLIBC" in name, name


def test_the_manifest_repeats_the_descriptor(plugin: Plugin) -> None:
    manifest = json.loads((FOLDER / "cpu.json").read_text())
    descriptor = plugin.descriptor
    assert manifest["device_type"] == ffi.string(descriptor.device_type).decode() == "cpu"
    assert manifest["name"] == ffi.string(descriptor.name).decode()
    assert manifest["version"] == ffi.string(descriptor.version).decode()
    assert manifest["vendor"] == ffi.string(descriptor.vendor).decode()


def test_an_interface_is_offered_up_to_its_version_and_unknown_ones_are_null(plugin: Plugin) -> None:
    get = plugin.descriptor.get_interface
    for name in ("device", "memory", "kernel", "stream", "random"):
        assert get(f"device_api.{name}".encode(), 1) != ffi.NULL
        assert get(f"device_api.{name}".encode(), 2) == ffi.NULL
    for name in ("graph", "collective", "", "Device"):
        assert get(f"device_api.{name}".encode(), 1) == ffi.NULL


def test_there_is_one_device_and_opening_it_again_gives_the_same_handle(plugin: Plugin) -> None:
    count, handle = ffi.new("uint32_t *"), ffi.new("da_device **")
    plugin.check(plugin.device_table.count(count))
    plugin.check(plugin.device_table.open(0, handle))
    assert count[0] == 1
    assert handle[0] == plugin.device
    with pytest.raises(PluginError, match="no device 1") as caught:
        plugin.check(plugin.device_table.open(1, handle))
    assert caught.value.code == INVALID_ARGUMENT
    plugin.check(plugin.device_table.close(ffi.NULL))


def test_properties_fill_what_the_caller_has_room_for(plugin: Plugin) -> None:
    size = ffi.sizeof("da_device_properties")
    facts = ffi.new("da_device_properties *", {"struct_size": size})
    plugin.check(plugin.device_table.properties(plugin.device, facts))
    assert facts.struct_size == size
    assert ffi.string(facts.name)
    assert facts.total_memory > 1 << 20
    assert facts.allocation_alignment == 64
    assert facts.dtypes == sum(1 << code for code in range(1, len(ALL) + 1))
    assert facts.max_rank == 32
    assert facts.compute_units >= 1
    assert facts.dl_device_type == 1
    facts.struct_size = size - 8
    facts.max_rank = 0
    with pytest.raises(PluginError, match="struct_size"):
        plugin.check(plugin.device_table.properties(plugin.device, facts))


def test_every_kernel_is_deterministic_and_those_of_primitives_take_any_strides(plugin: Plugin) -> None:
    for name, kernel in plugin.kernels.items():
        assert kernel.struct_size == ffi.sizeof("da_kernel")
        wanted = 0b1011 if BY_NAME[name].level == "primitive" else 0b1000
        assert kernel.flags & wanted == wanted, name
        assert kernel.prepare != ffi.NULL
        assert kernel.release != ffi.NULL


def test_a_wrong_number_of_operands_and_a_wrong_dtype_are_errors(plugin: Plugin) -> None:
    x = np.ones(3, np.float32)
    with pytest.raises(PluginError, match="add: takes 2 inputs") as caught:
        plugin.run("add", x)
    assert caught.value.code == INVALID_ARGUMENT
    for prepared in (True, False):
        with pytest.raises(PluginError, match="reference_cpu: erf: has no kernel") as caught:
            plugin.run("erf", np.ones(3, np.int32), prepared=prepared)
        assert caught.value.code == UNIMPLEMENTED


@pytest.mark.parametrize("op", ["fill", "iota", "scatter_rows", "argsort_last"])
def test_absent_or_short_attributes_are_an_error(plugin: Plugin, op: str) -> None:
    x, index = np.ones((2, 2), np.float32), np.zeros(1, np.int64)
    inputs = {"scatter_rows": [x, index, x[:1]], "argsort_last": [x]}.get(op, [])
    out = np.zeros((2, 2), np.int64) if op == "argsort_last" else x[0].copy() if op == "iota" else x.copy()
    for attributes in (b"", b"\x10" + b"\0" * 47):
        with pytest.raises(PluginError, match="attributes are absent") as caught:
            plugin.launch(op, inputs, [out], attributes)
        assert caught.value.code == INVALID_ARGUMENT


def test_a_launch_without_a_state_gives_the_same(plugin: Plugin) -> None:
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert (plugin.run("add", x, x.copy(), prepared=False) == x + x).all()


def test_destroying_no_error_and_releasing_no_state_are_fine(plugin: Plugin) -> None:
    plugin.descriptor.errors.destroy(ffi.NULL)
    plugin.kernels["add"].release(ffi.NULL)


@pytest.mark.parametrize("value", ["0", "-1", "two", "2 threads", "99999999999"])
def test_a_wrong_thread_count_is_told_when_the_plugin_starts(value: str) -> None:
    code = """
import cpu_driver
try:
    cpu_driver.Plugin()
except cpu_driver.PluginError as error:
    print(error.code, error.message)
"""
    done = child(code, DEVICE_API_CPU_THREADS=value)
    assert done.startswith(f"{INVALID_ARGUMENT} ")
    assert f"DEVICE_API_CPU_THREADS is '{value}'" in done


def test_shutdown_twice_and_work_after_it_do_no_harm() -> None:
    code = """
import cpu_driver, numpy as np
p = cpu_driver.Plugin()
x = np.ones(1 << 20, np.float32)
for _ in range(3):
    p.run("add", x, x.copy())
    p.check(p.descriptor.shutdown())
    p.check(p.descriptor.shutdown())
print("done")
"""
    assert child(code, DEVICE_API_CPU_THREADS="3") == "done\n"


def test_a_forked_child_computes_with_threads_of_its_own() -> None:
    code = """
import cpu_driver, numpy as np, os
p = cpu_driver.Plugin()
x = np.ones(1 << 20, np.float32)
assert (p.run("add", x, x.copy()) == 2).all()
pid = os.fork()
assert (p.run("add", x, x.copy()) == 2).all()
if pid == 0:
    os._exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    assert child(code, DEVICE_API_CPU_THREADS="3") == "7\n"


def test_without_blas_large_products_are_right_and_the_log_says_so_once() -> None:
    code = """
import cpu_driver, numpy as np
p = cpu_driver.Plugin()
x = np.random.default_rng(0).standard_normal((150, 200)).astype(np.float32)
for y in (x.T, np.ascontiguousarray(x.T)):
    got = p.run("batch_matmul", x, y, shape=(150, 150))
    assert np.abs(got - x.astype(float) @ x.T).max() < 1e-3
assert len(p.logged) == 1, p.logged
print(p.logged[0])
"""
    said = child(code, DEVICE_API_CPU_BLAS="/nowhere/libblas.so")
    assert "OpenBLAS was not found" in said
    assert "/nowhere/libblas.so" in said
