"""Memory of the simulated accelerator: out of the host's reach, limited, checked at every use."""

from __future__ import annotations

import signal
from collections.abc import Callable

import numpy as np
import pytest
from simulated_driver import Accelerator, Make, address, ffi, refused, tensor

from device_api.abi import constants as c

DEVICE, PINNED, MANAGED = c.DA_MEMORY_DEVICE, c.DA_MEMORY_PINNED, c.DA_MEMORY_MANAGED


def number(handle: object) -> int:
    return int(ffi.cast("uintptr_t", handle))


@pytest.mark.parametrize("touch", ["ffi.buffer(handle, 4)[:]", "ffi.memmove(handle, b'1234', 4)"])
def test_a_host_that_touches_device_memory_crashes(child: Callable, touch: str) -> None:
    ran = child(f"handle = sim.allocate(64)\nprint('ready', flush=True)\n{touch}\nprint('alive')\n")
    assert ran.returncode == -signal.SIGSEGV, ran.stderr
    assert ran.stdout == "ready\n"


@pytest.mark.parametrize("kind", ["PINNED", "MANAGED"])
@pytest.mark.parametrize("where", ["64", "-4096"])
def test_a_host_that_leaves_a_pinned_or_managed_block_crashes(child: Callable, kind: str, where: str) -> None:
    body = f"handle = ffi.cast('char *', sim.allocate(64, c.DA_MEMORY_{kind}))\nhandle[63] = b'x'\n"
    ran = child(body + f"print('ready', flush=True)\nhandle[{where}]\nprint('alive')\n")
    assert ran.returncode == -signal.SIGSEGV, ran.stderr
    assert ran.stdout == "ready\n"


def test_a_host_that_looks_into_a_stream_handle_crashes(child: Callable) -> None:
    ran = child("stream = sim.stream()\nprint('ready', flush=True)\nffi.buffer(stream, 8)[:]\n")
    assert ran.returncode == -signal.SIGSEGV, ran.stderr
    assert ran.stdout == "ready\n"


@pytest.mark.parametrize("kind", [DEVICE, PINNED, MANAGED])
@pytest.mark.parametrize("count", [0, 1, 63, 64, 65, 4095, 4096, 100_001])
def test_handles_are_aligned_and_end_close_to_a_page_border(sim: Accelerator, kind: int, count: int) -> None:
    handle = sim.allocate(count, kind)
    assert number(handle) % 64 == 0
    assert (number(handle) + (count + 63) // 64 * 64) % 4096 == 0
    sim.free(handle, kind)


def test_new_memory_is_poisoned(sim: Accelerator) -> None:
    handle = sim.allocate(400)
    assert np.isnan(sim.download(handle, np.zeros(100, np.float32))).all()


def test_addresses_are_never_given_out_twice(sim: Accelerator) -> None:
    seen = set()
    for _ in range(200):
        handle = sim.allocate(1000)
        seen.add(number(handle))
        sim.free(handle)
    assert len(seen) == 200


@pytest.mark.parametrize("count", [1, 63, 4096, 5_000_000])
def test_bytes_come_back_as_they_were_sent(sim: Accelerator, count: int) -> None:
    sent = np.random.default_rng(count).integers(0, 256, count, np.uint8)
    assert (sim.download(sim.upload(sent), sent) == sent).all()


def test_freed_twice_is_an_error(sim: Accelerator) -> None:
    handle = sim.allocate(100)
    sim.free(handle)
    with refused(c.DA_STATUS_INVALID_ARGUMENT, "100 bytes of device memory of sim:0.*was freed before"):
        sim.free(handle)


def test_a_foreign_handle_is_an_error(sim: Accelerator) -> None:
    with refused(c.DA_STATUS_INVALID_ARGUMENT, "not one that `allocate` or `wrap` gave"):
        sim.free(ffi.cast("void *", 4096))
    with refused(c.DA_STATUS_INVALID_ARGUMENT, "not one that"):
        sim.free(ffi.cast("char *", sim.allocate(1000)) + 64)
    other = sim.allocate(100, device=1)
    with refused(c.DA_STATUS_INVALID_ARGUMENT, "sim:1.*is another device's"):
        sim.free(other)
    with refused(c.DA_STATUS_INVALID_ARGUMENT, "freed as pinned memory"):
        sim.free(other, PINNED, device=1)
    with refused(c.DA_STATUS_INVALID_ARGUMENT, "not one that `open` gave"):
        sim.check(sim.memory.free(ffi.cast("da_device *", 4096), DEVICE, other))


def test_freeing_nothing_does_nothing(sim: Accelerator) -> None:
    sim.free(ffi.NULL)
    sim.free(sim.allocate(0))


@pytest.mark.parametrize(
    ("offset", "count"), [(0, 101), (100, 1), (101, 0x7FFFFFFF), (2**63, 2**63), (1, 2**64 - 1)]
)
def test_a_copy_outside_of_a_block_is_an_error(sim: Accelerator, offset: int, count: int) -> None:
    handle = sim.allocate(100)
    host = np.zeros(200, np.uint8)
    with refused(c.DA_STATUS_OUT_OF_RANGE, "do not lie in.*100 bytes"):
        sim.copy(c.DA_COPY_DEVICE_TO_HOST, address(host), handle, count, offset=offset)
    with refused(c.DA_STATUS_OUT_OF_RANGE, "do not lie in.*100 bytes"):
        sim.copy(c.DA_COPY_HOST_TO_DEVICE, handle, address(host), count, to_offset=offset)


def test_a_device_handle_is_not_taken_for_an_address_of_the_host(sim: Accelerator) -> None:
    one, other = sim.allocate(100), sim.allocate(100)
    with refused(c.DA_STATUS_INVALID_ARGUMENT, "which the host cannot touch"):
        sim.copy(c.DA_COPY_HOST_TO_DEVICE, one, other, 100)
    with refused(c.DA_STATUS_INVALID_ARGUMENT, "not memory of the device"):
        sim.copy(c.DA_COPY_DEVICE_TO_DEVICE, one, sim.allocate(100, PINNED), 100)


def test_overlapping_copies_are_errors_unless_the_ranges_are_the_same(sim: Accelerator) -> None:
    handle = sim.upload(np.arange(25, dtype=np.int32))
    with refused(c.DA_STATUS_INVALID_ARGUMENT, "overlap"):
        sim.copy(c.DA_COPY_DEVICE_TO_DEVICE, handle, handle, 96, to_offset=4)
    sim.copy(c.DA_COPY_DEVICE_TO_DEVICE, handle, handle, 100)
    assert (sim.download(handle, np.zeros(25, np.int32)) == np.arange(25)).all()


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_copies_and_sets_of_nothing_succeed(sim: Accelerator, kind: int) -> None:
    sim.copy(kind, ffi.NULL, ffi.NULL, 0, peer=1)
    sim.check(sim.memory.set(sim.devices[0], ffi.NULL, ffi.NULL, 0, 0, 0))


def test_unknown_kinds_are_errors(sim: Accelerator) -> None:
    handle = sim.allocate(100)
    with refused(c.DA_STATUS_INVALID_ARGUMENT, "copy kind 9"):
        sim.copy(9, handle, handle, 100)
    with refused(c.DA_STATUS_INVALID_ARGUMENT, "memory kind 9"):
        sim.allocate(100, 9)


def test_memory_runs_out_as_a_status_and_can_be_had_again(make: Make) -> None:
    sim = make(MEMORY=128_005)
    handle = sim.allocate(127_000)
    with refused(c.DA_STATUS_OUT_OF_MEMORY, "no memory for 2000 bytes: 960 of 128000 bytes are free"):
        sim.allocate(2000)
    with refused(c.DA_STATUS_OUT_OF_MEMORY, "no memory"):
        sim.allocate(2**64 - 1)
    sim.allocate(2000, PINNED)
    sim.free(handle)
    sim.free(sim.allocate(128_000))
    sim.allocate(2000, MANAGED)
    free, total = ffi.new("uint64_t *"), ffi.new("uint64_t *")
    sim.check(sim.memory.info(sim.devices[0], free, total))
    assert (free[0], total[0]) == (128_000 - 2048, 128_000)


def test_managed_memory_has_one_address_for_host_and_device(sim: Accelerator) -> None:
    handle = sim.allocate(400, MANAGED)
    values = np.frombuffer(ffi.buffer(handle, 400), np.float32)
    values[:] = 3
    made = tensor(handle, (100,), "float32")
    sim.launch("square", [made], [made])
    assert (values == 9).all()


def test_pinned_memory_is_the_hosts_and_its_range_is_known(sim: Accelerator) -> None:
    pinned = sim.allocate(100, PINNED)
    ffi.buffer(pinned, 100)[:] = bytes(range(100))
    handle = sim.allocate(200)
    sim.copy(c.DA_COPY_HOST_TO_DEVICE, handle, pinned, 90, offset=10)
    assert sim.download(handle, np.zeros(90, np.uint8)).tolist() == list(range(10, 100))
    with refused(c.DA_STATUS_OUT_OF_RANGE, "pinned memory"):
        sim.copy(c.DA_COPY_HOST_TO_DEVICE, handle, pinned, 101)


def test_peer_copies_cross_devices(sim: Accelerator) -> None:
    sent = np.arange(1000, dtype=np.int64)
    source, target = sim.upload(sent, device=1), sim.allocate(sent.nbytes)
    sim.copy(c.DA_COPY_PEER, target, source, sent.nbytes, peer=1)
    assert (sim.download(target, sent) == sent).all()
    with refused(c.DA_STATUS_INVALID_ARGUMENT, "another device's"):
        sim.copy(c.DA_COPY_DEVICE_TO_DEVICE, target, source, sent.nbytes)
    with refused(c.DA_STATUS_INVALID_ARGUMENT, "another device's"):
        sim.copy(c.DA_COPY_PEER, target, source, sent.nbytes, peer=0)


def test_wrapped_memory_stays_its_owners(sim: Accelerator) -> None:
    owned = np.arange(16, dtype=np.float32)
    handle = sim.out("void **", sim.memory.wrap, sim.devices[0], address(owned), owned.nbytes)
    assert number(handle) != owned.ctypes.data
    made = tensor(handle, (16,), "float32")
    sim.launch("negative", [made], [made])
    assert (owned == -np.arange(16)).all()
    with refused(c.DA_STATUS_INVALID_ARGUMENT, "unwrap it"):
        sim.free(handle)
    sim.check(sim.memory.unwrap(sim.devices[0], handle))
    with refused(c.DA_STATUS_INVALID_ARGUMENT, "was freed before"):
        sim.launch("negative", [made], [made])
    with refused(c.DA_STATUS_INVALID_ARGUMENT, "free it"):
        sim.check(sim.memory.unwrap(sim.devices[0], sim.allocate(100)))


def test_a_handle_that_comes_back_is_wrapped_as_the_same_memory(sim: Accelerator) -> None:
    handle = sim.upload(np.ones(16, np.float32))
    again = sim.out("void **", sim.memory.wrap, sim.devices[0], handle, 64)
    assert again != handle
    sim.check(sim.memory.set(sim.devices[0], ffi.NULL, again, 0, 0, 32))
    assert sim.download(handle, np.zeros(16, np.float32)).tolist() == [0] * 8 + [1] * 8


def test_a_write_past_the_end_of_managed_memory_is_told_when_it_is_freed(sim: Accelerator) -> None:
    handle = sim.allocate(100, MANAGED)
    ffi.buffer(ffi.cast("char *", handle) + 100, 3)[:] = b"abc"
    ffi.buffer(ffi.cast("char *", handle) - 2, 2)[:] = b"ab"
    with refused(c.DA_STATUS_INTERNAL, "2 bytes before its start, 3 behind its end"):
        sim.free(handle, MANAGED)
    with refused(c.DA_STATUS_INVALID_ARGUMENT, "was freed before"):
        sim.free(handle, MANAGED)


def test_the_named_allocation_fails(make: Make) -> None:
    sim = make(FAIL_ALLOCATION=2)
    sim.allocate(100)
    with refused(c.DA_STATUS_OUT_OF_MEMORY, "SIM_FAIL_ALLOCATION: this is allocation 2"):
        sim.allocate(100)
    sim.allocate(100)
    sim = make(FAIL_ALLOCATION="2+")
    sim.allocate(100)
    for _ in range(3):
        with refused(c.DA_STATUS_OUT_OF_MEMORY, "SIM_FAIL_ALLOCATION"):
            sim.allocate(100)


def test_memory_that_was_never_freed_is_told_at_shutdown(library: object) -> None:
    sim = Accelerator(library)
    sim.allocate(100), sim.allocate(100), sim.allocate(100, PINNED, device=1)
    sim.close()
    warnings = [text for level, text in sim.services.lines if level == c.DA_LOG_WARNING]
    assert [text.partition("shutdown: ")[2] for text in warnings] == [
        "2 blocks of memory of sim:0 were never freed",
        "1 blocks of memory of sim:1 were never freed",
    ]
