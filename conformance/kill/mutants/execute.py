"""The side that asks: server processes, the map of what each case reaches, and the verdict on each mutant.

Knows numbers of mutants and names of cases; nothing of sources.
"""

from __future__ import annotations

import json
import math
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import Any, TypeVar

from conformance.case import BAD, Status
from conformance.kill.report import Advance
from conformance.runner.pool import child_environment, how_it_ended

_T = TypeVar("_T")
_R = TypeVar("_R")
_CHUNK = 40  # cases of one request for reach
_MOST_SET_ASIDE = 0.001  # of all cases
# A case under a mutant may use this much processor time: a start, and a multiple of what it needs without.
_LEAST_LIMIT, _LIMIT_FACTOR = 1.0, 8.0
_UNKNOWN_SECONDS = 2.0  # of a case that was not run without a mutant
# Threads of the plugin in each child, on any machine: more than one, so that pieces are shared out.
_THREADS = "2"


class BadBaseline(RuntimeError):
    """The plugin fails without any mutant: nothing can be said about mutants."""


class ServerFailure(RuntimeError):
    """A server process is gone."""


class Process:
    """One server process."""

    def __init__(self, library: Path, seed: int, cold: bool) -> None:
        requests, self._requests = os.pipe()
        self._answers, answers = os.pipe()
        self.cold = cold
        words = [str(library), "cold" if cold else "warm", str(seed), str(requests), str(answers)]
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "conformance.kill.mutants.server", *words],
            stdin=subprocess.DEVNULL,
            pass_fds=(requests, answers),
            env={**child_environment(), "DEVICE_API_CPU_THREADS": _THREADS},
        )
        os.close(requests)
        os.close(answers)
        self._reader = os.fdopen(self._answers, encoding="utf-8")

    def ask(self, request: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Sends a request; yields the answers, the one with "end" last. Raises ServerFailure."""
        with suppress(BrokenPipeError):
            os.write(self._requests, json.dumps(request).encode() + b"\n")
        for line in self._reader:
            message = json.loads(line)
            yield message
            if "end" in message:
                return
        raise ServerFailure(f"a process that runs mutants: {how_it_ended(self._process.wait())}")

    def close(self) -> None:
        os.close(self._requests)
        self._reader.close()
        self._process.wait()


class Processes:
    """Some server processes, and the work shared out among them."""

    def __init__(self, library: Path, seed: int, jobs: int, cold: bool, stack: ExitStack) -> None:
        self._idle: SimpleQueue[Process] = SimpleQueue()
        self._jobs = jobs
        for _ in range(jobs):
            process = Process(library, seed, cold)
            stack.callback(process.close)
            self._idle.put(process)

    @contextmanager
    def one(self) -> Iterator[Process]:
        """A process that nobody else uses now."""
        process = self._idle.get()
        try:
            yield process
        finally:
            self._idle.put(process)

    def map(self, work: Callable[[_T], _R], items: Iterable[_T]) -> Iterator[_R]:
        """The results of `work`, in order, as many at a time as there are processes."""
        with ThreadPoolExecutor(self._jobs) as pool:
            yield from pool.map(work, items)


@dataclass(frozen=True, slots=True)
class Listed:
    """A case: `hosted` says that it goes through the host, and needs a process that opens the plugin."""

    name: str
    quick: bool
    hosted: bool


@dataclass(slots=True)
class Reach:
    """For each case, the seconds it takes and the places that it executes (first numbers of mutants);
    `set_aside` are the cases that end badly without a mutant, and how."""

    seconds: dict[str, float] = field(default_factory=dict)
    cases: dict[int, list[str]] = field(default_factory=dict)
    at_opening: frozenset[int] = frozenset()
    set_aside: dict[str, str] = field(default_factory=dict)


def list_cases(cold: Processes) -> tuple[list[Listed], frozenset[int]]:
    """The ops cases, and the places executed while the plugin is opened and listed."""
    with cold.one() as process:
        messages = list(process.ask({"do": "cases"}))
    found = next((message for message in messages if "cases" in message), None)
    if found is None:
        raise BadBaseline(f"the plugin without mutants cannot be opened: {messages}")
    return [Listed(*each) for each in found["cases"]], frozenset(found["reached"])


def reach(processes: Processes, names: Sequence[str], made: Reach, advance: Advance) -> None:
    """Runs every case once without a mutant, and adds to `made`. A case that ends badly can kill nothing and
    is set aside: the switched build is not the real one to the last bit. Raises BadBaseline when more than a
    few do."""

    def chunk(part: Sequence[str]) -> list[dict[str, Any]]:
        with processes.one() as process:
            # All are read before any is judged: one left in the pipe would answer the next request.
            return list(process.ask({"do": "reach", "names": part}))

    for messages in processes.map(
        chunk, [names[start : start + _CHUNK] for start in range(0, len(names), _CHUNK)]
    ):
        for message in messages:
            if "case" not in message:
                if message.get("end", 0) != 0 or "error" in message or "silent" in message:
                    raise BadBaseline(f"a process that ran cases without any mutant ended: {message}")
                continue
            if message["status"] in BAD:
                made.set_aside[message["case"]] = f"{message['status']}: {message['message']}"
            else:
                made.seconds[message["case"]] = message["seconds"]
                for number in message["reached"]:
                    made.cases.setdefault(number, []).append(message["case"])
            advance()
    if len(made.set_aside) > max(1, _MOST_SET_ASIDE * len(names)):
        name, why = next(iter(made.set_aside.items()))
        raise BadBaseline(
            f"{len(made.set_aside)} of {len(names)} cases end badly without any mutant; "
            f"the first is {name}, {why}"
        )


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a mutant: `killed` names the case, `how` its end. `ran` counts the cases
    it met; `invalid` says that it did not compile with the types it met."""

    killed: str = ""
    how: str = ""
    message: str = ""
    ran: int = 0
    invalid: bool = False


def judge(
    processes: Processes, number: int, cases: Sequence[str], reach: Reach, seconds: float = math.inf
) -> Verdict:
    """Runs a mutant against cases until one kills it, or for so many seconds. A process that ends before its
    answer was killed too: the suite charges the case in flight with a crash or a time-out."""
    limits = [
        (name, _LEAST_LIMIT + _LIMIT_FACTOR * reach.seconds.get(name, _UNKNOWN_SECONDS)) for name in cases
    ]
    request = {"do": "mutant", "number": number, "cases": limits, "seconds": seconds}
    with processes.one() as process:
        messages = list(process.ask(request))
    begun = [message["begins"] for message in messages if "begins" in message]
    for message in messages:
        if "killed" in message:
            return Verdict(message["killed"], message["how"], message["message"], len(begun))
        if "survived" in message:
            return Verdict(ran=len(begun), invalid=message["invalid"])
    how, text = _ending(messages)
    return Verdict(begun[-1] if begun else "the opening of the plugin", how, text, len(begun))


def _ending(messages: Sequence[dict[str, Any]]) -> tuple[str, str]:
    """Why a child gave no verdict, as a status of a case and in words."""
    for message in messages:
        if "silent" in message:
            return Status.TIMEOUT, f"no answer within {message['silent']:g} s"
        if "error" in message:
            return Status.FAIL, str(message["error"])
    code = int(messages[-1]["end"])
    if code == -signal.SIGPROF:
        return Status.TIMEOUT, "more than its share of processor time"
    return Status.CRASH, how_it_ended(code)
