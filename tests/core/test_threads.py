"""Many threads on one device, and the interpreter's lock while a kernel runs."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

import numpy as np
from core_harness import TestDevice, get, put, single

from device_api import _core
from device_api._core import Device


def run_threads(count: int, work: Callable[[int], None]) -> None:
    failures: list[BaseException] = []

    def guarded(index: int) -> None:
        try:
            work(index)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=guarded, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def test_eight_threads_dispatch_allocate_and_forget_plans_at_once(device: Device) -> None:
    def work(index: int) -> None:
        for round_ in range(60):
            # The larger size runs without the interpreter's lock.
            size = 20_000 if round_ % 4 == 0 else 10 + index
            a = put(device, np.full(size, index, np.float32))
            b = a + a
            b += 1.0
            assert (get(b) == 2 * index + 1).all()
            if round_ % 20 == index:
                _core.clear_plans()
                device.empty_cache()

    run_threads(8, work)
    assert device.memory_stats()["allocated"] == 0


def test_other_threads_run_while_a_device_works(toy: TestDevice) -> None:
    device = toy.open(interfaces=("stream",))
    program = single(device, "sleepy")
    times: list[float] = []

    def work(index: int) -> None:
        if index == 0:
            program.run([])
            times.append(time.monotonic())
        else:
            time.sleep(0.05)
            times.insert(0, time.monotonic())

    run_threads(2, work)
    assert times == sorted(times)
    assert times[0] < times[1]


def test_recording_is_switched_for_one_thread_only(device: Device) -> None:
    _core.set_grad_enabled(False)
    try:
        seen: list[bool] = []
        run_threads(1, lambda _: seen.append(_core.grad_enabled()))
        assert seen == [True]
    finally:
        _core.set_grad_enabled(True)


def test_devices_are_opened_and_used_from_many_threads(toy: TestDevice) -> None:
    def work(index: int) -> None:
        device = toy.open(index % 2)
        a = put(device, np.float32([index]))
        assert get(a + a).tolist() == [2 * index]

    run_threads(16, work)
