"""Fair timing of several ways to do one thing.

All candidates are measured in the same run, interleaved: every round gives each of them one short slice, in
an order that rotates, so that a change of clock speed or a busy neighbour hits all of them alike. A ratio
is the median over rounds of (our slice / their slice), which is steadier than a ratio of two medians. This
module knows nothing of device_api, NumPy or PyTorch, and asserts nothing: it measures.

    ours = Candidate("a + b", {"a": a, "b": b})
    row = compare("add 16 float32", ours, {"numpy": Candidate("a + b", {"a": x, "b": y}), "torch": None})
"""

from __future__ import annotations

import math
import statistics
import time
import timeit
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

LEAST_ROUNDS = 5


class Timer(Protocol):
    """Something that can be done a number of times, and says how many seconds that took."""

    def timeit(self, number: int = 1) -> float: ...


@dataclass(frozen=True)
class Candidate:
    """A statement to time, and the names it uses.

    The names become locals of the timing loop, so a statement such as `a + b` pays for nothing but itself.
    """

    statement: str
    names: Mapping[str, object] = field(default_factory=dict)

    def timer(self) -> timeit.Timer:
        """A timer whose loop body is the statement alone."""
        setup = "\n".join(f"{name} = names[{name!r}]" for name in self.names) or "pass"
        return timeit.Timer(self.statement, setup, globals={"names": dict(self.names)})


@dataclass(frozen=True)
class Timing:
    """Seconds per call of one candidate, a value per round in the order of rounds."""

    rounds: tuple[float, ...]

    @property
    def median(self) -> float:
        """Seconds per call in the middle round."""
        return statistics.median(self.rounds)

    @property
    def mad(self) -> float:
        """The median distance of a round from the median: how steady the rounds were, deaf to outliers."""
        middle = self.median
        return statistics.median(abs(value - middle) for value in self.rounds)

    @property
    def p10(self) -> float:
        """Seconds per call in the quiet rounds: the tenth percentile, nearest rank."""
        ordered = sorted(self.rounds)
        return ordered[len(ordered) // 10]

    def ratio_to(self, other: Timing) -> float:
        """The median over rounds of this time divided by the other's time in the same round."""
        return statistics.median(a / b for a, b in zip(self.rounds, other.rounds, strict=True))


@dataclass(frozen=True)
class Row:
    """One line of a benchmark: our time, and our time divided by each peer's (None: the peer is missing)."""

    name: str
    seconds: float
    ratio: Mapping[str, float | None]
    p10: float

    def as_json(self) -> dict[str, object]:
        """The row as the JSON output has it."""
        return {"name": self.name, "seconds": self.seconds, "p10": self.p10, "ratio": dict(self.ratio)}


def interleave(
    candidates: Mapping[str, Candidate],
    *,
    rounds: int = 30,
    slice_seconds: float = 0.002,
    most_seconds: float = math.inf,
    rest_seconds: float = 0.0,
) -> dict[str, Timing]:
    """Times all candidates in round-robin slices of about `slice_seconds` each.

    Every candidate is called at least once per slice, and warmed up while its number of calls per slice is
    found. A slice begins with a call that does not count, which brings the candidate's data into the
    caches. With `rest_seconds` it begins with that much sleep and a whole slice that does not count:
    threads of the candidate before may wait for more work by spinning, which would take a processor from
    this one, and its own threads find their processors. After `most_seconds` no further round begins, if
    there have been five.
    """
    timers = {name: candidate.timer() for name, candidate in candidates.items()}
    return rotate(
        timers,
        rounds=rounds,
        slice_seconds=slice_seconds,
        most_seconds=most_seconds,
        rest_seconds=rest_seconds,
    )


def rotate(
    timers: Mapping[str, Timer],
    *,
    rounds: int = 30,
    slice_seconds: float = 0.002,
    most_seconds: float = math.inf,
    rest_seconds: float = 0.0,
) -> dict[str, Timing]:
    """The same for timers of any kind."""
    began = time.perf_counter()
    calls = {name: _calls_per_slice(timer, slice_seconds) for name, timer in timers.items()}
    taken: dict[str, list[float]] = {name: [] for name in timers}
    order = list(timers)
    for done in range(rounds):
        if done >= LEAST_ROUNDS and time.perf_counter() - began > most_seconds:
            break
        for name in order:
            time.sleep(rest_seconds)
            timers[name].timeit(calls[name] if rest_seconds else 1)
            taken[name].append(timers[name].timeit(calls[name]) / calls[name])
        order.append(order.pop(0))
    return {name: Timing(tuple(values)) for name, values in taken.items()}


def compare(
    name: str,
    ours: Candidate,
    peers: Mapping[str, Candidate | None],
    *,
    rounds: int = 30,
    slice_seconds: float = 0.002,
    most_seconds: float = math.inf,
    rest_seconds: float = 0.0,
) -> Row:
    """Times `ours` and its peers interleaved; a peer that is None is missing and gets no ratio."""
    present = {peer: candidate for peer, candidate in peers.items() if candidate is not None}
    timings = interleave(
        {"": ours, **present},
        rounds=rounds,
        slice_seconds=slice_seconds,
        most_seconds=most_seconds,
        rest_seconds=rest_seconds,
    )
    mine = timings[""]
    ratio = {peer: mine.ratio_to(timings[peer]) if peer in present else None for peer in peers}
    return Row(name, mine.median, ratio, mine.p10)


def _calls_per_slice(timer: Timer, slice_seconds: float) -> int:
    timer.timeit(1)
    calls = 1
    while True:
        seconds = timer.timeit(calls)
        if seconds >= slice_seconds / 2:
            return max(1, round(calls * slice_seconds / seconds))
        calls *= 2 if seconds * 10 > slice_seconds else 10
