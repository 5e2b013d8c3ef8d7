"""Memory over 10,000 training steps: it must stay flat, on the device and on the host.

One step is what examples/digits.py does: a two-layer network, cross entropy, gradients, and an update.
Memory is sampled every few steps; the number that counts is the slope of a straight line through the second
half of the samples, in bytes per step, because caches fill in the first half.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence

import numpy as np

import device_api as da
from benchmarks.report import emit
from device_api.bench.timing import Row


def main(*, quick: bool, as_json: bool) -> int:
    """Trains and samples; returns 1 when memory grows by a byte a step on the device, or 64 on the host."""
    steps = 1_000 if quick else 10_000
    device = da.device("cpu")
    step = _network(device)
    for _ in range(20):
        step()
    at, held, resident = [], [], []
    began = time.perf_counter()
    for index in range(steps):
        step()
        if index % (steps // 100) == 0:
            at.append(index)
            held.append(device.memory_stats()["allocated"])
            resident.append(_resident_bytes())
    seconds = (time.perf_counter() - began) / steps
    facts = {
        "steps": steps,
        "device_bytes_per_step": round(slope(at, held), 3),
        "host_bytes_per_step": round(slope(at, resident), 3),
        "device_bytes": held[-1],
        "host_bytes": resident[-1],
    }
    emit(
        [Row("training step, 64-32-10 network, batch 64", seconds, {}, seconds)], as_json=as_json, facts=facts
    )
    flat = abs(facts["device_bytes_per_step"]) < 1 and facts["host_bytes_per_step"] < 64
    return 0 if flat else 1


def slope(at: Sequence[float], values: Sequence[float]) -> float:
    """The slope of the least-squares line through the second half of the samples."""
    half = len(at) // 2
    return float(np.polyfit(np.asarray(at[half:], float), np.asarray(values[half:], float), 1)[0])


def _network(device: da.Device) -> Callable[[], None]:
    generator = np.random.default_rng(0)

    def tensor(*shape: int) -> da.Tensor:
        return da.asarray(generator.normal(0, 0.1, shape).astype(np.float32), device=device)

    weights = [tensor(64, 32), tensor(32), tensor(32, 10), tensor(10)]
    for each in weights:
        each.requires_grad = True
    x = tensor(64, 64)
    labels = da.asarray(generator.integers(0, 10, 64), device=device)
    rate = 0.01

    def step() -> None:
        w1, b1, w2, b2 = weights
        loss = da.cross_entropy(da.relu(x @ w1 + b1) @ w2 + b2, labels)
        gradients = da.grad(loss, weights)
        with da.no_grad():
            for index, gradient in enumerate(gradients):
                assert gradient is not None
                weights[index] = weights[index] - gradient * rate
                weights[index].requires_grad = True

    return step


def _resident_bytes() -> int:
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
