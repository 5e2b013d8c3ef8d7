"""Device memory: reuse, statistics, limits, and what happens when there is no more."""

from __future__ import annotations

import gc
import itertools

import numpy as np
import pytest
from core_harness import F32, TestDevice, get, put, single
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    invariant,
    rule,
    run_state_machine_as_test,
)

from device_api import _core, dtypes, errors
from device_api._core import Device, Tensor

MIB = 2**20


def block(device: Device, size: int) -> Tensor:
    return _core.empty(device, dtypes.UINT8, (size,))


def test_small_tensors_share_one_chunk_and_come_back_at_once(toy: TestDevice, device: Device) -> None:
    first = block(device, 100)
    place = _core.data_handle(first), _core.data_start(first)
    del first
    again = block(device, 65)
    assert (_core.data_handle(again), _core.data_start(again)) == place
    others = [block(device, n) for n in (0, 1, 64, 1000, 5000)]
    assert toy.control.allocations == 1
    starts = sorted((_core.data_start(x), x.nbytes) for x in [again, *others])
    assert all(a + n <= b for (a, n), (b, _) in itertools.pairwise(starts))
    assert all(start % 64 == 0 for start, _ in starts)


def test_statistics_follow_every_tensor(device: Device) -> None:
    start = device.memory_stats()
    assert start["allocated"] == start["reserved"] == 0
    a = block(device, 100)
    b = block(device, 3 * MIB)
    now = device.memory_stats()
    assert now["allocated"] == 128 + 3 * MIB
    assert now["reserved"] == 22 * MIB
    assert (now["allocations"], now["frees"], now["plugin_allocations"]) == (2, 0, 2)
    del b
    now = device.memory_stats()
    assert (now["allocated"], now["peak_allocated"]) == (128, 128 + 3 * MIB)
    assert (now["frees"], now["reserved"]) == (1, 22 * MIB)
    device.reset_peak_memory_stats()
    assert device.memory_stats()["peak_allocated"] == 128
    assert device.empty_cache() == 20 * MIB
    del a
    assert device.empty_cache() == 2 * MIB
    end = device.memory_stats()
    assert (end["allocated"], end["reserved"], end["binned"]) == (0, 0, 0)
    assert end["peak_reserved"] == 22 * MIB
    device.reset_peak_memory_stats()
    assert device.memory_stats()["peak_reserved"] == 0


def test_freed_neighbours_join_into_one_block(toy: TestDevice, device: Device) -> None:
    parts = [block(device, 4 * MIB) for _ in range(5)]
    assert toy.control.allocations == 1
    del parts[1], parts[2]
    del parts[1]
    parts.append(block(device, 12 * MIB))
    assert toy.control.allocations == 1


def test_the_devices_alignment_is_kept(toy: TestDevice) -> None:
    device = toy.open(allocation_alignment=512)
    tensors = [block(device, n) for n in (1, 700, 3)]
    assert [_core.data_start(x) % 512 for x in tensors] == [0, 0, 0]
    assert device.memory_stats()["allocated"] == 2048
    for nonsense in (0, 3, 2**40):
        assert block(toy.open(allocation_alignment=nonsense), 10).size == 10


def test_out_of_memory_releases_cached_blocks_and_tries_again(toy: TestDevice, device: Device) -> None:
    toy.control.capacity = toy.control.live_bytes + 30 * MIB
    for size in (20, 24, 28):
        block(device, size * MIB)
    assert device.memory_stats()["retries"] == 2
    assert toy.control.frees >= 2


def test_garbage_in_cycles_is_collected_before_memory_is_refused(toy: TestDevice, device: Device) -> None:
    toy.control.capacity = toy.control.live_bytes + 30 * MIB
    gc.disable()
    try:
        x = block(device, 20 * MIB)
        x.node = [x]
        del x
        assert block(device, 20 * MIB).size == 20 * MIB
    finally:
        gc.enable()


def test_out_of_memory_says_how_much_and_leaves_the_device_usable(toy: TestDevice, device: Device) -> None:
    toy.control.capacity = toy.control.live_bytes + 30 * MIB
    with pytest.raises(errors.DeviceOutOfMemory, match="the test device is full") as caught:
        block(device, 40 * MIB)
    assert caught.value.requested == 40 * MIB
    assert caught.value.total == toy.control.capacity
    assert isinstance(caught.value, MemoryError)
    assert block(device, 20 * MIB).size == 20 * MIB


def test_a_request_that_only_fits_exactly_is_served(toy: TestDevice, device: Device) -> None:
    toy.control.capacity = toy.control.live_bytes + 4 * MIB
    assert block(device, 3 * MIB).size == 3 * MIB
    assert device.memory_stats()["reserved"] == 3 * MIB


def test_the_memory_limit_holds(toy: TestDevice, device: Device) -> None:
    device.memory_limit = 8 * MIB
    assert device.memory_limit == 8 * MIB
    small = block(device, 10)
    with pytest.raises(errors.DeviceOutOfMemory, match="limit of 8388608"):
        block(device, 7 * MIB)
    assert block(device, 6 * MIB).size == 6 * MIB
    device.memory_limit = 0
    assert block(device, 30 * MIB).size == 30 * MIB
    del small


def test_an_output_that_does_not_fit_fails_the_call_and_nothing_else(toy: TestDevice, device: Device) -> None:
    a = put(device, np.ones(2 * MIB, np.float32))
    toy.control.capacity = toy.control.live_bytes + 1
    device.empty_cache()
    b = _core.empty(device, dtypes.UINT8, (8 * MIB,))
    with pytest.raises(errors.DeviceOutOfMemory, match="add"):
        a + a
    del b
    assert get(a + a)[0] == 2


def test_a_kernel_out_of_memory_runs_once_more(toy: TestDevice, device: Device) -> None:
    a = put(device, np.float32([1, 2]))
    toy.control.kernel_memory_fails = 1
    assert get(a + a).tolist() == [2, 4]
    toy.control.kernel_memory_fails = 2
    with pytest.raises(errors.DeviceOutOfMemory, match=r"add on toy:0 with inputs float32\(2,\)"):
        a + a
    assert get(a + a).tolist() == [2, 4]


def test_scratch_memory_comes_from_the_cache_and_counts(toy: TestDevice, device: Device) -> None:
    program = single(device, "scratching")
    toy.control.scratch_bytes = 5000
    for _ in range(10):
        assert get(program.run([])[0])[0] == 7
    stats = device.memory_stats()
    assert stats["allocated"] == 0
    assert stats["peak_allocated"] == 64 + 5056
    assert toy.control.allocations == 1
    toy.control.scratch_bytes = 0
    program.run([])
    toy.control.scratch_bytes = 2**62
    with pytest.raises(errors.DeviceOutOfMemory):
        program.run([])
    toy.control.scratch_bytes = -1
    with pytest.raises(errors.DeviceOutOfMemory, match="absurdly"):
        program.run([])
    assert device.memory_stats()["allocated"] == 0


@pytest.mark.parametrize("attempt", [1, 2, 3])
def test_a_failing_allocation_leaves_no_trace(toy: TestDevice, device: Device, attempt: int) -> None:
    toy.control.fail_allocation = attempt
    tensors = [block(device, (i + 1) * 3 * MIB) for i in range(8)]
    assert all(x.nbytes == (i + 1) * 3 * MIB for i, x in enumerate(tensors))
    del tensors
    device.empty_cache()
    assert device.memory_stats()["reserved"] == 0


def test_memory_is_flat_over_ten_thousand_iterations(toy: TestDevice, device: Device) -> None:
    a = put(device, np.ones((4, 4), np.float32))
    reserved = []
    for i in range(10_000):
        b = a + a
        c = b + 1.0
        b += c
        if i % 1000 == 999:
            stats = device.memory_stats()
            reserved.append((stats["reserved"], toy.control.live_bytes, _core.cache_info()["size"]))
    assert len(set(reserved)) == 1
    assert toy.control.allocations == 1


def test_thousands_of_shapes_do_not_grow_memory(device: Device) -> None:
    for n in range(1, 4000):
        _core.empty(device, F32, (n, 7))
    stats = device.memory_stats()
    assert stats["binned"] <= 4 * MIB
    assert stats["reserved"] <= 8 * MIB


class Blocks(RuleBasedStateMachine):
    """Any order of allocating and freeing: no two live tensors share bytes, and the counters agree."""

    library: TestDevice
    tensors = Bundle("tensors")

    def __init__(self) -> None:
        super().__init__()
        self.device = self.library.open()
        self.live: dict[int, tuple[Tensor, int]] = {}
        self.count = 0

    @rule(target=tensors, size=st.integers(0, 300) | st.integers(0, 200_000) | st.integers(0, 3 * MIB))
    def allocate(self, size: int) -> int:
        self.count += 1
        pattern = self.count % 251
        tensor = _core.from_host(self.device, dtypes.UINT8, (size,), np.full(size, pattern, np.uint8))
        self.live[self.count] = (tensor, pattern)
        return self.count

    @rule(key=consumes(tensors))
    def free(self, key: int) -> None:
        del self.live[key]

    @rule()
    def release(self) -> None:
        self.device.empty_cache()

    @invariant()
    def nothing_overlaps(self) -> None:
        for tensor, pattern in self.live.values():
            assert (get(tensor) == pattern).all()

    @invariant()
    def counters_agree(self) -> None:
        stats = self.device.memory_stats()
        least = sum(max(tensor.nbytes, 1) for tensor, _ in self.live.values())
        assert least <= stats["allocated"] <= stats["reserved"]
        assert stats["allocations"] - stats["frees"] == len(self.live)

    def teardown(self) -> None:
        self.live.clear()
        self.device.empty_cache()
        assert self.device.memory_stats()["reserved"] == 0


def test_blocks_never_overlap(toy: TestDevice) -> None:
    Blocks.library = toy
    limits = settings(max_examples=25, stateful_step_count=30, deadline=None)
    run_state_machine_as_test(Blocks, settings=limits)  # type: ignore[no-untyped-call]
