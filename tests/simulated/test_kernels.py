"""Kernels of the simulated accelerator: the reference CPU's bits, and launches held to the claims."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from simulated_driver import CODES, ROOT, Accelerator, Make, ffi, refused, tensor

from device_api.abi import constants as c
from device_api.loading import open_library

STRIDED = c.DA_KERNEL_STRIDED_INPUTS | c.DA_KERNEL_STRIDED_OUTPUTS
FLOAT64 = 1 << CODES["float64"]


def dtypes(kernel: object) -> list[int]:
    return list(kernel.dtypes)


def test_the_list_is_that_of_the_reference_cpu(sim: Accelerator) -> None:
    built = ROOT / "reference_cpu" / "libdevice_api_cpu.so"
    if not built.exists():
        pytest.skip("the reference CPU's library is not built in place, and only that one is compared")
    reference = open_library(built)
    listed = reference.ffi.new("da_kernel_list *", {"struct_size": ffi.sizeof("da_kernel_list")})
    device = reference.ffi.new("da_device **")
    reference.check(reference.interface("device").open(0, device), "open")
    reference.check(reference.interface("kernel").list(device[0], listed), "list")
    expected = {
        reference.ffi.string(listed.first[i].op).decode(): (
            list(listed.first[i].dtypes),
            listed.first[i].flags,
        )
        for i in range(listed.count)
    }
    assert {op: (dtypes(kernel), kernel.flags) for op, kernel in sim.kernels.items()} == expected


def test_operands_of_any_strides_and_offsets_are_found(sim: Accelerator) -> None:
    data = np.arange(60, dtype=np.int32)
    x, y, out = sim.upload(data), sim.upload(data), sim.allocate(4 * 12)
    reversed_columns = tensor(x, (3, 4), "int32", strides=(12, -2), offset=4 * 7)
    one_row = tensor(y, (3, 4), "int32", strides=(0, 1), offset=4 * 50)
    sim.launch("add", [reversed_columns, one_row], [tensor(out, (3, 4), "int32")])
    expected = data[(7 + np.arange(3)[:, None] * 12 - np.arange(4) * 2)] + data[50:54]
    assert (sim.download(out, np.zeros((3, 4), np.int32)) == expected).all()


@pytest.mark.parametrize(
    ("strides", "offset"), [((12, -2), 4 * 5), ((12, 2), 4 * 60), ((-12, 1), 0), ((30, 1), 0)]
)
def test_an_operand_outside_of_its_block_is_an_error(
    sim: Accelerator, strides: tuple[int, int], offset: int
) -> None:
    x, out = sim.allocate(4 * 60), sim.allocate(4 * 12)
    made = tensor(x, (3, 4), "int32", strides=strides, offset=offset)
    with pytest.raises(Exception, match=r"input 0.*(do not lie in|bytes before its memory)"):
        sim.launch("negative", [made], [tensor(out, (3, 4), "int32")])


def test_an_operand_of_another_device_is_an_error(sim: Accelerator) -> None:
    x, out = sim.allocate(40, device=1), sim.allocate(40)
    with refused(c.DA_STATUS_INVALID_ARGUMENT, "input 0 on sim:0.*sim:1.*another device's"):
        sim.launch("negative", [tensor(x, (10,), "int32")], [tensor(out, (10,), "int32")])


def test_aliases_that_no_kernel_claims_are_errors(sim: Accelerator) -> None:
    handle = sim.allocate(4 * 20)
    x, shifted = tensor(handle, (10,), "int32"), tensor(handle, (10,), "int32", offset=4)
    with refused(c.DA_STATUS_INVALID_ARGUMENT, "output 0 shares memory with input 0"):
        sim.launch("negative", [x], [shifted])
    square = tensor(handle, (2, 2), "int32")
    with refused(c.DA_STATUS_INVALID_ARGUMENT, "output 0 shares memory with input 1"):
        sim.launch("batch_matmul", [tensor(sim.allocate(16), (2, 2), "int32"), square], [square])
    sim.launch("negative", [x], [x])


def test_outputs_replace_the_inputs_that_the_op_set_pairs_them_with(sim: Accelerator, make: Make) -> None:
    def operands(device: Accelerator) -> list[Any]:
        rate = tensor(device.upload(np.full(5, 0.5, np.float32)), (5,), "float32")
        return [*(tensor(device.upload(np.ones(5, np.float32)), (5,), "float32") for _ in range(3)), rate]

    momentum = ffi.new(
        "da_attributes_momentum_step *",
        {"struct_size": ffi.sizeof("da_attributes_momentum_step"), "momentum": 0.5},
    )
    made = operands(sim)
    sim.launch("momentum_step", made, [made[0], made[2]], attributes=momentum)
    read = [sim.download(made[place][0].dl.data, np.zeros(5, np.float32)).tolist() for place in (0, 2)]
    assert read == [[0.25] * 5, [1.5] * 5]
    with refused(c.DA_STATUS_INVALID_ARGUMENT, "output 1 shares memory with input 0"):
        sim.launch("momentum_step", made, [made[2], made[0]], attributes=momentum)
    plain = make(IN_PLACE=0)
    made = operands(plain)
    with refused(c.DA_STATUS_INVALID_ARGUMENT, "output 1 shares memory with input 2"):
        plain.launch("momentum_step", made, [operands(plain)[0], made[2]], attributes=momentum)


def test_a_device_without_float64_claims_and_takes_none(make: Make) -> None:
    sim = make(FLOAT64=0)
    assert sim.properties().dtypes & FLOAT64 == 0
    assert not any(mask & FLOAT64 for kernel in sim.kernels.values() for mask in dtypes(kernel))
    assert dtypes(sim.kernels["add"])[0] & (1 << CODES["float32"])
    x = tensor(sim.allocate(80), (10,), "float64")
    with refused(c.DA_STATUS_INVALID_ARGUMENT, "dtype code 13, which this device does not have"):
        sim.launch("negative", [x], [x])


def test_a_device_without_strides_claims_and_takes_none(make: Make) -> None:
    sim = make(STRIDES=0)
    assert {op for op, kernel in sim.kernels.items() if kernel.flags & STRIDED} == {"copy"}
    handle = sim.upload(np.arange(6, dtype=np.int32))
    x, out = tensor(handle, (3, 2), "int32", strides=(1, 3)), tensor(sim.allocate(24), (3, 2), "int32")
    with refused(c.DA_STATUS_INVALID_ARGUMENT, "input 0 has strides, and the kernel claims contiguous"):
        sim.launch("negative", [x], [out])
    sim.launch("copy", [x], [out])
    result = sim.download(out[0].dl.data, np.zeros((3, 2), np.int32))
    assert result.tolist() == [[0, 3], [1, 4], [2, 5]]
    empty = tensor(handle, (3, 0), "int32", strides=(1, 7))
    sim.launch("reduce_sum", [empty], [tensor(sim.allocate(12), (3,), "int32")])


def test_a_device_of_small_rank_says_so_and_refuses_more(make: Make) -> None:
    sim = make(MAX_RANK=3)
    assert sim.properties().max_rank == 3
    x = tensor(sim.allocate(4), (1, 1, 1, 1), "int32")
    with refused(c.DA_STATUS_INVALID_ARGUMENT, "rank 4; this device takes at most 3"):
        sim.launch("negative", [x], [x])


def test_hidden_ops_are_not_listed(make: Make) -> None:
    everything = set(make().kernels)
    some = set(make(HIDE_OPS="reduce_*,pow").kernels)
    assert everything - some == {op for op in everything if op.startswith("reduce_")} | {"pow"}


def test_a_plugin_without_streams_is_synchronous(make: Make) -> None:
    sim = make(STREAMS=0)
    assert sim.streams is None
    assert sim.captures is None
    assert sim.device_table.synchronize == ffi.NULL
    assert sim.descriptor.features == 0
    x = tensor(sim.upload(np.full(10, 3, np.int32)), (10,), "int32")
    sim.launch("square", [x], [x])
    assert (sim.download(x[0].dl.data, np.zeros(10, np.int32)) == 9).all()


def test_a_state_of_another_kernel_is_refused(sim: Accelerator) -> None:
    x = tensor(sim.allocate(40), (10,), "float32")
    operands = ffi.new("da_tensor *[]", [x[0]])
    kernel = sim.kernels["sqrt"]
    state = sim.out("void **", kernel.prepare, sim.devices[0], kernel, operands, 1, operands, 1, ffi.NULL)
    with refused(c.DA_STATUS_INVALID_ARGUMENT, "prepared by the kernel of sqrt"):
        sim.launch("negative", [x], [x], state=state)
    kernel.release(state)


def test_random_bits_are_those_of_philox(sim: Accelerator) -> None:
    """The first block of Random123's known answers for a key and counter of zeros."""
    handle, random = sim.allocate(16), sim.table("random")
    sim.check(random.bits(sim.devices[0], ffi.NULL, 0, 0, handle, 0, 4))
    words = sim.download(handle, np.zeros(4, np.uint32)).tolist()
    assert words == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    with refused(c.DA_STATUS_OUT_OF_RANGE, "random bits"):
        sim.check(random.bits(sim.devices[0], ffi.NULL, 0, 0, handle, 4, 4))
    sim.check(random.bits(sim.devices[0], ffi.NULL, 0, 0, ffi.NULL, 0, 0))


def test_properties_tell_the_truth(make: Make) -> None:
    facts = make(MEMORY=64_000, DEVICES=3).properties(2)
    assert facts.total_memory == 64_000
    assert facts.allocation_alignment == 64
    assert facts.flags == c.DA_DEVICE_DETERMINISTIC
    assert facts.dl_device_type == 12
    assert facts.max_rank == c.DA_MAX_RANK


def test_no_device_at_all_is_an_answer(make: Make) -> None:
    assert make(DEVICES=0).devices == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("MODE", "lasy"),
        ("DEVICES", "two"),
        ("MEMORY", "-1"),
        ("FAIL_LAUNCH", "0"),
        ("MAX_RANK", 2),
        ("SEED", "1x"),
        ("STREAMS", "yes"),
        ("FAIL_ALLOCATION", "3-"),
    ],
)
def test_a_wrong_variable_is_an_error_that_names_it(make: Make, name: str, value: object) -> None:
    with refused(c.DA_STATUS_INVALID_ARGUMENT, f"SIM_{name} is '{value}'"):
        make(**{name: value})


def test_the_manifest_says_what_the_library_says(sim: Accelerator, library: Path) -> None:
    manifest = json.loads((ROOT / "plugins" / "simulated" / "sim.json").read_text())
    said = [ffi.string(getattr(sim.descriptor, field)).decode() for field in ("name", "vendor", "version")]
    assert said == [manifest[field] for field in ("name", "vendor", "version")]
    assert ffi.string(sim.descriptor.device_type).decode() == manifest["device_type"]
    assert library.name == manifest["library"]
