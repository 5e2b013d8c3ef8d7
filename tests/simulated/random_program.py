"""A random program of ops, views, writes and copies over several devices, each step also done on the CPU.

Run as `random_program.py SEED STEPS [THREADS]`; it ends with 0 when every tensor that was read had the CPU's
bits. The steps depend on the seed alone, so a failure repeats. The environment configures the plugin.
"""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import device_api as da  # noqa: E402

DEVICES = ["sim:0", "sim:1"]
SHAPES = [(), (1,), (7,), (4, 5), (3, 1, 5), (2, 3, 4, 5), (0, 3), (300, 70)]
UNARY = [da.negative, da.abs, da.exp, da.tanh, da.square, da.sign]
BINARY = [da.add, da.subtract, da.multiply, da.maximum, da.minimum]
MOST = 12  # pairs alive at a time


class Pair:
    """A tensor of an accelerator and its twin on the CPU."""

    def __init__(self, tensor: Any, twin: Any) -> None:
        self.tensor = tensor
        self.twin = twin

    def check(self) -> None:
        found, expected = self.tensor.numpy(), self.twin.numpy()
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)

    def map(self, function: Callable[[Any], Any]) -> Pair:
        return Pair(function(self.tensor), function(self.twin))


def make(rng: np.random.Generator) -> Pair:
    shape = SHAPES[rng.integers(len(SHAPES))]
    values = (rng.standard_normal(shape) * 3).astype(np.float32)
    device = DEVICES[rng.integers(2)]
    tensor = da.asarray(values.copy(), device=device)
    return Pair(tensor, da.asarray(values))


def unary(rng: np.random.Generator, pair: Pair) -> Pair:
    function = UNARY[rng.integers(len(UNARY))]
    return pair.map(lambda x: da.clip(function(x), -100.0, 100.0))


def binary(rng: np.random.Generator, pair: Pair) -> Pair:
    function = BINARY[rng.integers(len(BINARY))]
    flipped = bool(rng.integers(2))
    other = pair.map(lambda x: da.flip(x) if flipped and x.ndim else x * 0.5)
    return Pair(function(pair.tensor, other.tensor), function(pair.twin, other.twin))


def reduce(rng: np.random.Generator, pair: Pair) -> Pair:
    if pair.tensor.ndim == 0:
        return pair
    axis = int(rng.integers(pair.tensor.ndim))
    return pair.map(lambda x: da.sum(x, axis=axis))


def softmax(rng: np.random.Generator, pair: Pair) -> Pair:
    if pair.tensor.ndim == 0 or pair.tensor.size == 0:
        return pair
    return pair.map(lambda x: da.softmax(x, axis=-1))


def view(rng: np.random.Generator, pair: Pair) -> Pair:
    if pair.tensor.ndim == 0:
        return pair
    axes = tuple(int(axis) for axis in rng.permutation(pair.tensor.ndim))
    step = int(rng.choice([-2, -1, 1, 2]))
    return pair.map(lambda x: da.permute_dims(x, axes)[::step])


def assign(rng: np.random.Generator, pair: Pair) -> Pair:
    if pair.tensor.ndim == 0:
        return pair
    value = float(rng.integers(10))
    pair.tensor[1:] = value
    pair.twin[1:] = value
    return pair


def add_in_place(rng: np.random.Generator, pair: Pair) -> Pair:
    pair.tensor += 1.5
    pair.twin += 1.5
    return pair


def move(rng: np.random.Generator, pair: Pair) -> Pair:
    target = [*DEVICES, "cpu"][rng.integers(3)]
    moved = pair.tensor.to_device(target)
    back = DEVICES[rng.integers(2)]
    # A move to the same device may be no copy; in-place steps need the same aliases on both sides.
    return Pair(da.asarray(moved.to_device(back), copy=True), da.asarray(pair.twin, copy=True))


def multiply_matrices(rng: np.random.Generator, pair: Pair) -> Pair:
    if pair.tensor.ndim < 2:
        return pair
    return pair.map(lambda x: da.clip(x @ x.mT, -100.0, 100.0))


def sort(rng: np.random.Generator, pair: Pair) -> Pair:
    return pair.map(lambda x: da.sort(x, axis=-1)) if pair.tensor.ndim else pair


STEPS = [unary, binary, binary, reduce, softmax, view, assign, add_in_place, move, multiply_matrices, sort]


def run(seed: int, steps: int) -> None:
    rng = np.random.default_rng(seed)
    pairs = [make(rng) for _ in range(4)]
    for number in range(steps):
        chosen = int(rng.integers(len(pairs)))
        step = STEPS[rng.integers(len(STEPS))]
        try:
            made = step(rng, pairs[chosen])
            if rng.integers(6) == 0:
                made.check()
        except Exception as error:
            error.add_note(
                f"step {number} of seed {seed}: {step.__name__} of a tensor {pairs[chosen].tensor.shape}"
            )
            raise
        pairs.append(made)
        if rng.integers(4) == 0:
            pairs.append(make(rng))
        while len(pairs) > MOST:
            pairs.pop(int(rng.integers(len(pairs))))
    for pair in pairs:
        pair.check()


def main(seed: int, steps: int, threads: int = 1) -> int:
    da.register_plugin(ROOT / "plugins" / "simulated" / "sim.json")
    failures = []

    def guarded(own_seed: int) -> None:
        try:
            run(own_seed, steps)
        except Exception:
            failures.append(traceback.format_exc())

    workers = [threading.Thread(target=guarded, args=(seed * 1000 + i,)) for i in range(threads)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    for failure in failures:
        print(failure, file=sys.stderr)
    print("checked" if not failures else "failed")
    return len(failures)


if __name__ == "__main__":
    sys.exit(main(*(int(argument) for argument in sys.argv[1:])))
