"""Programs built by hand: slots, steps, attributes, results, and what is refused when they are built."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
from core_harness import F32, I64, TestDevice, fill_bytes, get, kernel, operand, put, single

from device_api import _core, dtypes, errors
from device_api._core import Device, Program, Tensor


def test_a_step_reads_its_inputs_and_writes_a_new_output(device: Device) -> None:
    x = operand(0, F32, (3,))
    program = Program(
        device,
        [("input", 0), ("input", 1), ("output", 12)],
        [(kernel(device, "add"), [x, operand(1, F32, (3,))], [operand(2, F32, (3,))], b"", (), None, 0)],
        [operand(2, F32, (3,))],
        op="add",
    )
    (result,) = program.run([put(device, np.float32([1, 2, 3])), put(device, np.float32([10, 20, 30]))])
    assert get(result).tolist() == [11, 22, 33]
    assert result.shape == (3,)
    assert result.dtype == np.float32
    assert program.steps == 1
    assert program.runs == 1


def test_temporaries_share_the_arena_and_constants_keep_their_values(device: Device) -> None:
    add = kernel(device, "add")
    constant = put(device, np.float32([100, 200]))
    given, kept_operand, temp, out = (operand(slot, F32, (2,)) for slot in range(4))
    program = Program(
        device,
        [("input", 0), ("constant", constant), ("temp", 64), ("output", 8)],
        [
            (add, [given, kept_operand], [temp], b"", (), None, 0),
            (add, [temp, temp], [out], b"", (), None, 0),
        ],
        [out, kept_operand],
        arena_bytes=128,
    )
    del constant
    doubled, kept = program.run([put(device, np.float32([1, 2]))])
    assert get(doubled).tolist() == [202, 404]
    assert get(kept).tolist() == [100, 200]


def test_attributes_arrive_with_pointers_to_their_lists(device: Device) -> None:
    numbers = struct.pack("<3q", 5, 6, 7)
    program = Program(
        device,
        [("output", 8)],
        [
            (
                kernel(device, "sum_list"), [], [operand(0, I64, ())],
                struct.pack("<QQqQ", 32, 0, 3, 0), [(24, numbers)], None, 0,
            )
        ],
        [operand(0, I64, ())],
    )  # fmt: skip
    assert get(program.run([])[0]) == 18


def test_a_program_without_steps_gives_views_of_its_inputs(device: Device) -> None:
    x = put(device, np.arange(6, dtype=np.float32).reshape(2, 3))
    program = Program(device, [("input", 0)], [], [(0, F32, (3, 2), (1, 3), 0), (0, F32, (2,), (3,), 4)])
    turned, column = program.run([x])
    assert turned.strides == (1, 3)
    assert get(turned).tolist() == [[0, 3], [1, 4], [2, 5]]
    assert get(column).tolist() == [1, 4]
    assert program.run([x])[0] is not x


def test_steps_with_empty_outputs_are_not_launched(toy: TestDevice, device: Device) -> None:
    program = Program(
        device,
        [("input", 0), ("output", 0)],
        [(kernel(device, "add"), [operand(0, F32, (0, 3))] * 2, [operand(1, F32, (0, 3))], b"", (), None, 0)],
        [operand(1, F32, (0, 3))],
    )
    (result,) = program.run([_core.empty(device, F32, (0, 3))])
    assert result.shape == (0, 3)
    assert toy.control.launches == 0
    assert device.kernel_runs() == {}


def test_a_python_step_gets_tensors_over_the_memory_of_the_program(device: Device) -> None:
    seen: list[Any] = []

    def double(inputs: list[Tensor | None], outputs: list[Tensor], attributes: tuple[Any, ...]) -> None:
        seen.append((inputs[1], attributes, _core.grad_enabled()))
        first = inputs[0]
        assert first is not None
        _core.copy_bytes(put(device, get(first) * 2), outputs[0])

    add = kernel(device, "add")
    x, temp, out = (operand(slot, F32, (2,)) for slot in range(3))
    program = Program(
        device,
        [("input", 0), ("temp", 0), ("output", 8)],
        [(double, [x, None], [temp], b"", (), None, 0), (add, [temp, x], [out], b"", (), None, 0)],
        [out],
        arena_bytes=64,
        op="double",
    )
    (result,) = program.run([put(device, np.float32([1, 5]))], attributes=(3,))
    assert get(result).tolist() == [3, 15]
    assert seen == [(None, (3,), False)]


def test_an_exception_in_a_python_step_reaches_the_caller(device: Device) -> None:
    def broken(*_: object) -> None:
        raise LookupError("no such thing")

    out = operand(0, F32, ())
    program = Program(device, [("output", 4)], [(broken, [], [out], b"", (), None, 0)], [out])
    with pytest.raises(LookupError, match="no such thing"):
        program.run([])
    assert device.memory_stats()["allocated"] == 0
    assert _core.grad_enabled()


@pytest.mark.parametrize("interfaces", [("random",), ()])
def test_random_steps_draw_from_the_state_of_the_device(toy: TestDevice, interfaces: tuple[str, ...]) -> None:
    device = toy.open(interfaces=interfaces)
    out = operand(0, dtypes.UINT32, (6,))
    program = Program(device, [("output", 24)], [("random", [], [out], b"", (), None, 0)], [out])
    device.manual_seed(7)
    first, second = get(program.run([])[0]), get(program.run([])[0])
    assert device.random_state() == (7, 4)
    device.set_random_state(7, 0)
    assert get(program.run([])[0]).tolist() == first.tolist()
    assert first.tolist() != second.tolist()
    assert device.kernel_runs() == {"random_bits": 3}


def test_without_the_random_interface_the_words_are_those_of_philox(toy: TestDevice) -> None:
    device = toy.open(interfaces=())
    out = operand(0, dtypes.UINT32, (4,))
    program = Program(device, [("output", 16)], [("random", [], [out], b"", (), None, 0)], [out])
    # Known answers of Philox 4x32-10 (Random123) for key 0 and counter 0.
    device.manual_seed(0)
    assert get(program.run([])[0]).tolist() == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]


def test_kernels_are_prepared_once_and_released_with_the_program(toy: TestDevice, device: Device) -> None:
    program = single(device, "prepared")
    assert [get(program.run([])[0])[0] for _ in range(3)] == [42, 42, 42]
    assert (toy.control.prepared, toy.control.released) == (1, 0)
    del program
    assert toy.control.released == 1


def test_a_kernel_that_declines_in_prepare_is_unsupported(toy: TestDevice, device: Device) -> None:
    with pytest.raises(errors.UnsupportedOp, match="at most two dimensions"):
        single(device, "prepared", shape=(1, 1, 1))
    assert toy.control.released == toy.control.prepared == 0


def test_supports_asks_the_kernel_and_trusts_one_without_opinion(device: Device) -> None:
    prepared = kernel(device, "prepared")
    assert device.supports(prepared, [], [operand(0, F32, (2, 2))], b"")
    assert not device.supports(prepared, [], [operand(0, F32, (2, 2, 2))], b"")
    assert device.supports(kernel(device, "add"), [None], [operand(0, F32, (2, 2, 2))], b"")


def test_the_kernel_list_tells_what_the_plugin_says(device: Device) -> None:
    entry = device.kernels[kernel(device, "prepared")]
    assert (entry.op, entry.priority, entry.has_supports) == ("prepared", 5, True)
    assert entry.dtypes == (1 << F32, 0, 0, 0)
    assert device.kernels[kernel(device, "add")].flags == 7


def test_programs_with_more_operands_than_the_stack_holds(device: Device) -> None:
    count = 40
    add = kernel(device, "add")
    slots: list[Any] = [("input", i) for i in range(count)]
    steps = []
    total = operand(0, F32, (2,))
    for i in range(1, count):
        slots.append(("temp", 64 * i))
        out = operand(len(slots) - 1, F32, (2,))
        steps.append((add, [total, operand(i, F32, (2,))], [out], b"", (), None, 0))
        total = out
    program = Program(device, slots, steps, [total], arena_bytes=64 * count)
    inputs = [put(device, np.float32([i, 1])) for i in range(count)]
    assert get(program.run(inputs)[0]).tolist() == [sum(range(count)), count]


BAD_PROGRAMS: dict[str, Any] = {
    "an unknown slot": ([("output", 4)], [operand(3, F32, ())]),
    "a result beyond its output": ([("output", 4)], [operand(0, F32, (2000,))]),
    "a result before its output": ([("output", 4)], [(0, F32, (2,), (-1,), 0)]),
    "a temporary outside the arena": ([("temp", 4096)], []),
    "an operand beyond the arena": ([("temp", 64)], [operand(0, F32, (1000,))]),
    "an unknown kind": ([("elsewhere", 0)], []),
}


@pytest.mark.parametrize("name", BAD_PROGRAMS)
def test_a_program_that_would_touch_foreign_memory_is_refused(device: Device, name: str) -> None:
    slots, results = BAD_PROGRAMS[name]
    with pytest.raises(ValueError, match=r"slot|temporary|reaches"):
        Program(device, slots, [], results, arena_bytes=128)


def test_steps_that_cannot_be_are_refused(device: Device) -> None:
    out = operand(0, F32, ())
    for target, error in ((99, ValueError), ("elsewhere", TypeError)):
        with pytest.raises(error, match=r"elsewhere|kernel 99"):
            Program(device, [("output", 4)], [(target, [], [out], b"", (), None, 0)], [out])
    with pytest.raises(ValueError, match="pointer at byte 40"):
        Program(device, [("output", 4)], [(0, [], [out], fill_bytes(), [(40, b"")], None, 0)], [out])
    with pytest.raises(ValueError, match="scalar at byte 24"):
        Program(device, [("output", 4)], [(0, [], [out], fill_bytes(), (), (0, 24, F32), 0)], [out])


def test_running_with_operands_that_do_not_fit_is_refused(toy: TestDevice, device: Device) -> None:
    x = operand(0, F32, (4,))
    program = Program(
        device, [("input", 0), ("output", 16)],
        [(kernel(device, "add"), [x, x], [operand(1, F32, (4,))], b"", (), None, 0)], [operand(1, F32, (4,))],
    )  # fmt: skip
    with pytest.raises(ValueError, match="bytes 0 to 16"):
        program.run([put(device, np.float32([1, 2]))])
    with pytest.raises(ValueError, match="operand 0 of 0"):
        program.run([])
    with pytest.raises(TypeError, match="no tensor: float"):
        program.run([1.0])
    with pytest.raises(errors.DeviceMismatch):
        program.run([put(toy.open(1), np.float32([1, 2, 3, 4]))])
