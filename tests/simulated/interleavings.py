"""Random interleavings of threads and streams against a serial oracle, shrunk to the least that goes wrong.

Run as `interleavings.py EXAMPLES SEED`; ends with 0 when all gave what the serial program gives, else with 1
and the shortest program that does not, one step a line. A program is a list of steps; each is taken by one of
several threads, on one of several streams, in the order of the list, while the device works through them in
whichever way it may. So a program that fails once fails again in lazy mode. The environment configures host
and plugin.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))

import device_api as da  # noqa: E402

THREADS = 3
STREAMS = 3
SIZES = (3, 700, 9000)


@dataclass
class Pair:
    """A tensor and what a serial program would have in it."""

    tensor: Any
    twin: np.ndarray

    def check(self) -> None:
        np.testing.assert_array_equal(self.tensor.numpy(), self.twin)


@dataclass
class World:
    """What the steps work on. Numbers choose among what there is, so any part of a program is one too."""

    streams: list[Any]
    pairs: list[Pair] = field(default_factory=list)
    events: list[Any] = field(default_factory=list)
    graphs: list[tuple[Any, Callable[[], None]]] = field(default_factory=list)
    stream: Any = None  # of the present step

    def pair(self, number: int) -> Pair:
        if not self.pairs:
            make(self, number, number)
        return self.pairs[number % len(self.pairs)]


def make(world: World, a: int, b: int) -> None:
    values = np.full(SIZES[a % len(SIZES)], b % 50, np.float32)
    world.pairs.append(Pair(da.asarray(values.copy(), device="sim"), values))


def scale(world: World, a: int, b: int) -> None:
    pair = world.pair(a)
    world.pairs.append(Pair(pair.tensor * 0.5 + b, pair.twin * np.float32(0.5) + np.float32(b)))


def raise_in_place(world: World, a: int, b: int) -> None:
    pair = world.pair(a)
    pair.tensor += b
    pair.twin += np.float32(b)


def write_half(world: World, a: int, b: int) -> None:
    pair = world.pair(a)
    half = len(pair.twin) // 2
    pair.tensor[:half] = b
    pair.twin[:half] = b


def drop(world: World, a: int, b: int) -> None:
    if len(world.pairs) > 1:
        del world.pairs[a % len(world.pairs)]


def read(world: World, a: int, b: int) -> None:
    world.pair(a).check()


def visit_peer(world: World, a: int, b: int) -> None:
    pair = world.pair(a)
    there = pair.tensor.to_device("sim:1") + b
    world.pairs.append(Pair(there.to_device("sim"), pair.twin + np.float32(b)))


def visit_pinned(world: World, a: int, b: int) -> None:
    pair = world.pair(a)
    pinned = da.pinned_empty((len(pair.twin),), device="sim")
    da.copy_into(pinned, pair.tensor, non_blocking=True)
    back = da.empty((len(pair.twin),), device="sim")
    da.copy_into(back, pinned, non_blocking=True)
    world.pairs.append(Pair(back, pair.twin.copy()))


def visit_managed(world: World, a: int, b: int) -> None:
    pair = world.pair(a)
    managed = da.managed_empty((len(pair.twin),), device="sim")
    da.copy_into(managed, pair.tensor)
    with da.host_view(managed) as array:
        array += b
    world.pairs.append(Pair(managed, pair.twin + np.float32(b)))


def mark(world: World, a: int, b: int) -> None:
    world.events.append(world.stream.record_event())


def await_mark(world: World, a: int, b: int) -> None:
    if world.events:
        world.stream.wait_event(world.events[a % len(world.events)])


def record(world: World, a: int, b: int) -> None:
    world.pair(a).tensor.record_stream(world.streams[b % STREAMS])


def capture(world: World, a: int, b: int) -> None:
    pair = world.pair(a)
    with da.Graph.capture("sim") as graph:
        between = pair.tensor + b
        pair.tensor *= 0.5
        result = between + pair.tensor
        del between
    made = Pair(result, np.empty_like(pair.twin))

    def replay() -> None:
        graph.replay()
        before = pair.twin + np.float32(b)
        pair.twin *= np.float32(0.5)
        made.twin[:] = before + pair.twin

    replay()
    world.pairs.append(made)
    world.graphs.append((graph, replay))


def replay(world: World, a: int, b: int) -> None:
    if world.graphs:
        world.graphs[a % len(world.graphs)][1]()


STEPS = [make, scale, scale, raise_in_place, raise_in_place, write_half, drop, drop, read, visit_peer]
STEPS += [visit_pinned, visit_managed, mark, await_mark, record, capture, replay, replay]

Step = tuple[Callable[[World, int, int], None], int, int, int, int]  # what, thread, stream, a, b
SMALL = st.integers(0, 7)
PROGRAMS = st.lists(
    st.tuples(st.sampled_from(STEPS), st.integers(0, THREADS - 1), st.integers(0, STREAMS - 1), SMALL, SMALL),
    max_size=60,
)


def run(program: list[Step], streams: list[Any], threads: list[ThreadPoolExecutor]) -> None:
    """Takes the steps one after the other, each on its thread; raises when a tensor has other values."""
    world = World(streams)

    def take(what: Callable[[World, int, int], None], stream: int, a: int, b: int) -> None:
        world.stream = streams[stream]
        with streams[stream]:
            what(world, a, b)

    for what, thread, stream, a, b in program:
        threads[thread].submit(take, what, stream, a, b).result()
    for pair in world.pairs:
        pair.check()


def text(program: list[Step]) -> str:
    lines = [f"thread {t} stream {s}: {what.__name__}({a}, {b})" for what, t, s, a, b in program]
    return "\n".join(lines)


def main(examples: int, number: int) -> int:
    da.register_plugin(ROOT / "plugins" / "simulated" / "sim.json")
    streams = [da.Stream("sim") for _ in range(STREAMS)]
    threads = [ThreadPoolExecutor(1) for _ in range(THREADS)]
    failed: list[list[Step]] = []

    @seed(number)
    @settings(
        max_examples=examples,
        deadline=None,
        database=None,
        phases=[Phase.generate, Phase.shrink],
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    @given(PROGRAMS)
    def serial(program: list[Step]) -> None:
        try:
            run(program, streams, threads)
        except Exception:
            failed.append(program)
            raise

    try:
        serial()
    except Exception as error:
        print(text(failed[-1]))  # Hypothesis ends with the least one
        print(f"{type(error).__name__}: {str(error).strip().splitlines()[0]}", file=sys.stderr)
        return 1
    finally:
        for thread in threads:
            thread.shutdown()
    print("serial")
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
