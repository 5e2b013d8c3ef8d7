"""A process that runs cases under mutants, each mutant in a child of its own.

The process holds the suite and the opened plugin, and runs no case itself. A mutant gets a forked copy of it:
what the mutant breaks (memory, locks, prepared kernels) ends with that child, and no mutant sees another's
ruins. A cold server does not open the plugin either; its children open it with the mutant active, for places
that are executed while a plugin is opened. Requests and answers are JSON lines on two pipes of their own.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from conformance.case import BAD, Case, Entry
from conformance.cases import case_by_name, entries, registered_entries
from conformance.kill.mutants.library import Switch
from conformance.runner.worker import execute
from conformance.target import Target

# A case that waits without computing is given up after this many seconds.
PATIENCE = 60.0
# What a child may ask for beyond what the process holds, so that a wrong size cannot fill the machine.
_MORE_MEMORY = 4 << 30


class Server:
    """The loop that answers requests. `seed` is that of the cases."""

    def __init__(self, library: str, cold: bool, seed: int) -> None:
        self._path, self._cold, self._seed = Path(library), cold, seed
        self._target = Target(library)
        self._switch: Switch | None = None
        if not cold:
            self._open()

    def _open(self) -> list[Entry]:
        """Opens plugin and device, and makes the cases."""
        _ = self._target.device
        return entries(self._target)

    @property
    def switch(self) -> Switch:
        """Loads the library when it has not been."""
        if self._switch is None:
            self._switch = Switch(self._path)
        return self._switch

    def serve(self, requests: Iterator[str], answer: Callable[[dict[str, Any]], None]) -> None:
        """Answers each request with messages, the last of which has the key "end"."""
        works = {"cases": self._cases, "reach": self._reach, "mutant": self._mutant}
        for line in requests:
            request = json.loads(line)
            in_child(partial(works[request["do"]], request), answer)

    # --- what a child does -----------------------------------------------------------------------------

    def _cases(self, request: dict[str, Any], say: Callable[[dict[str, Any]], None]) -> None:
        """The cases of the plugin, and the places executed while it was opened."""
        switch = self.switch
        hosted = {entry.name for entry in registered_entries()}
        names = [
            (entry.name, entry.quick, entry.name in hosted)
            for entry in self._open()
            if entry.name not in hosted or is_judge(entry.name)
        ]
        say({"cases": names, "reached": switch.reached()})

    def _reach(self, request: dict[str, Any], say: Callable[[dict[str, Any]], None]) -> None:
        """Runs cases without a mutant: which places each executes."""
        for name in request["names"]:
            case = case_by_name(self._target, name)
            assert case is not None
            self.switch.forget()
            began = time.process_time()
            result, _ = execute(case, self._target, self._seed)
            say(
                {
                    "case": name,
                    "status": result.status,
                    "message": result.message,
                    "seconds": time.process_time() - began,
                    "reached": self.switch.reached(),
                }
            )

    def _mutant(self, request: dict[str, Any], say: Callable[[dict[str, Any]], None]) -> None:
        """Runs cases under a mutant until one ends badly, or the time is up."""
        number = request["number"]
        self.switch.activate(number)
        ran = 0
        until = time.process_time() + request["seconds"]
        for name, limit in request["cases"]:
            if ran and time.process_time() > until:
                break
            say({"begins": name})
            # In processor time of all threads, so that a busy machine is not taken for an endless loop.
            signal.setitimer(signal.ITIMER_PROF, limit)
            case: Case | None = case_by_name(self._target, name)
            if case is None:
                continue  # The mutant takes the claim away, and the case with it.
            result, _ = execute(case, self._target, self._seed)
            ran += 1
            if result.status in BAD:
                say({"killed": name, "how": result.status, "message": result.message[:300]})
                return
        say({"survived": ran, "invalid": self.switch.is_invalid(number)})


def is_judge(name: str) -> bool:
    """Whether a case that exists for every plugin judges kernels, through the host, in a process of its own
    making: what begins processes itself, or needs gigabytes, is left out."""
    level, *parts = name.split(".")
    return level == "ops" and not parts[-1].startswith(("denied_", "past_31_bits_"))


def in_child(
    work: Callable[[Callable[[dict[str, Any]], None]], None], answer: Callable[[dict[str, Any]], None]
) -> None:
    """Runs `work` in a forked child and passes its messages on; then says how the child ended."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _become_child()

        def say(message: dict[str, Any]) -> None:
            os.write(writing, json.dumps(message, default=str).encode() + b"\n")

        try:
            work(say)
        except BaseException as error:  # whatever it was, the parent is told, and the child ends here
            say({"error": f"{type(error).__name__}: {error}"})
            os._exit(1)
        os._exit(0)
    os.close(writing)
    status = _relay(reading, child, answer)
    os.close(reading)
    answer({"end": status})


def _become_child() -> None:
    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    held = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (held + _MORE_MEMORY, held + _MORE_MEMORY))
    signal.signal(signal.SIGPROF, signal.SIG_DFL)


def _relay(reading: int, child: int, answer: Callable[[dict[str, Any]], None]) -> int:
    """Passes on what the child says until it ends; gives its wait status as a return code."""
    rest = b""
    while True:
        ready, _, _ = select.select([reading], [], [], PATIENCE)
        if not ready:
            os.kill(child, signal.SIGKILL)
            answer({"silent": PATIENCE})
            break
        chunk = os.read(reading, 1 << 16)
        if not chunk:
            break
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            with suppress(ValueError):  # a line that a dying child cut short
                answer(json.loads(line))
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


def main() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    library, kind, seed, requests, answers = sys.argv[1:6]
    with os.fdopen(int(requests)) as reading, os.fdopen(int(answers), "w") as writing:

        def answer(message: dict[str, Any]) -> None:
            writing.write(json.dumps(message) + "\n")
            writing.flush()

        Server(library, kind == "cold", int(seed)).serve(reading, answer)


if __name__ == "__main__":
    main()
