"""A pool of worker processes and the event loop that feeds it.

Each worker runs one case at a time; when it dies or exceeds the deadline, the case in flight is charged, the
worker is replaced, and the run goes on. A case that fails is run again alone in a fresh worker: if it passes
there it is flaky, which is never a pass. Everything happens in one thread, around one selector. Knows nothing
of reports or waivers.
"""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from conformance.case import BAD, Result, Status
from conformance.environment import FALLBACK
from conformance.reading import Malformed, parse, read_result

START_SECONDS = 120.0
OUTPUT_BYTES = 8192
ANSWER_BYTES = 64 << 20
MAX_RERUNS = 40
SHRINK_SECONDS = 10.0


class HarnessFailure(RuntimeError):
    """Workers cannot be started at all."""


@dataclass(slots=True)
class Job:
    """One case to run. `first` is the result of the first attempt when this is the second, alone."""

    name: str
    own_process: bool = False
    first: Result | None = None
    capabilities: tuple[str, ...] = ()


class Worker:
    """One child process with its pipes."""

    def __init__(self, spec: str, selector: selectors.BaseSelector, imports: Sequence[str] = ()) -> None:
        child_requests, self._requests = os.pipe()
        self._answers, child_answers = os.pipe()
        command = [sys.executable, "-P", "-m", "conformance.runner.worker", spec]
        self.process = subprocess.Popen(
            [*command, str(child_requests), str(child_answers), *imports],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            pass_fds=(child_requests, child_answers),
            start_new_session=True,
            env=child_environment(),
        )
        os.close(child_requests)
        os.close(child_answers)
        assert self.process.stdout is not None
        self._output = self.process.stdout.fileno()
        for descriptor in (self._answers, self._output):
            os.set_blocking(descriptor, False)
        self._selector = selector
        selector.register(self._answers, selectors.EVENT_READ, self)
        selector.register(self._output, selectors.EVENT_READ, self)
        self._buffer = b""
        self._tail = bytearray()
        self.printed = 0
        self.open = True
        self.ready = False
        self.job: Job | None = None
        self.ran = ""
        self.result: Result | None = None
        self.deadline = time.monotonic() + START_SECONDS
        self.began = time.monotonic()

    def send(self, request: dict[str, Any]) -> None:
        self._tail.clear()
        self.printed = 0
        # A worker that has just died is noticed by the end of its answers, not here.
        with suppress(BrokenPipeError):
            os.write(self._requests, json.dumps(request).encode() + b"\n")

    def messages(self) -> Iterator[dict[str, Any]]:
        """The answers that have arrived. Sets `open` to False at their end."""
        while self.open:
            try:
                chunk = os.read(self._answers, 1 << 16)
            except BlockingIOError:
                break
            if not chunk:
                self.open = False
            self._buffer += chunk
            if len(self._buffer) > ANSWER_BYTES:
                break
        *lines, self._buffer = self._buffer.split(b"\n")
        if len(self._buffer) > ANSWER_BYTES:
            lines, self._buffer = [self._buffer], b""
        for line in lines:
            yield _message(line)

    def drain_output(self) -> None:
        """Keeps the last bytes the worker printed, and forgets the rest."""
        for _ in range(64):
            try:
                chunk = os.read(self._output, 1 << 16)
            except BlockingIOError:
                return
            if not chunk:
                with suppress(KeyError):
                    self._selector.unregister(self._output)
                return
            self.printed += len(chunk)
            self._tail += chunk
            del self._tail[:-OUTPUT_BYTES]

    def output(self) -> str:
        self.drain_output()
        text = self._tail.decode(errors="replace")
        cut = self.printed - len(self._tail)
        return f"[{cut} bytes before this are cut]\n{text}" if cut > 0 else text

    def end(self, patience: float = 0.0) -> int:
        """Ends the process, after waiting for it for `patience` seconds; returns its exit status."""
        with suppress(OSError):
            os.close(self._requests)
        try:
            self.process.wait(patience)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        return self.process.returncode

    def close(self) -> None:
        """Releases the pipes; the process has ended."""
        for descriptor in (self._answers, self._output):
            with suppress(KeyError):
                self._selector.unregister(descriptor)
        os.close(self._answers)
        assert self.process.stdout is not None
        self.process.stdout.close()


def _message(line: bytes) -> dict[str, Any]:
    """An answer. A plugin that writes where it must not can spoil one: then it is `garbled`."""
    try:
        message = parse(line)
    except Malformed:
        message = None
    return message if isinstance(message, dict) else {"garbled": line[:200].decode(errors="replace")}


def child_environment() -> dict[str, str]:
    """The child finds the suite where this process found it. Maths libraries stay on one thread each."""
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    paths = [root, *filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))]
    quiet = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "PYTHONFAULTHANDLER": "1"}
    forced = {"PYTHONPATH": os.pathsep.join(dict.fromkeys(paths)), "DEVICE_API_FALLBACK": FALLBACK}
    return {**quiet, **os.environ, **forced}


def how_it_ended(status: int) -> str:
    """A child's exit status in words."""
    if status < 0:
        try:
            return f"the process was ended by {signal.Signals(-status).name}"
        except ValueError:
            return f"the process was ended by signal {-status}"
    return f"the process exited with status {status}"


@dataclass(slots=True)
class Settings:
    """What a pool needs to know."""

    spec: str
    jobs: int
    seed: int
    deadline: float
    save: str | None = None
    reruns: int = field(default=MAX_RERUNS)
    imports: tuple[str, ...] = ()


class Pool:
    """Runs jobs and hands each final result to `finished`, in the order in which they end."""

    def __init__(self, settings: Settings, finished: Callable[[Result], None]) -> None:
        self._settings = settings
        self._finished = finished
        self._selector = selectors.DefaultSelector()
        self._slots: list[Worker | None] = [None] * max(1, settings.jobs)
        self._spare: list[Worker | None] = [None] * max(1, settings.jobs)
        self._queue: deque[Job] = deque()
        self._failed_starts = 0
        # The most memory that a worker has said to have held, in bytes.
        self.peak_memory = 0

    # --- one question before the run ---------------------------------------------------------------

    def ask(self, request: dict[str, Any], deadline: float) -> tuple[dict[str, Any] | None, str]:
        """Puts one request to a fresh worker: (answer, "") or (None, how it ended)."""
        worker = self._worker()
        limit = time.monotonic() + START_SECONDS
        answer: dict[str, Any] | None = None
        ended = ""
        while answer is None and not ended:
            self._selector.select(max(0.0, limit - time.monotonic()))
            worker.drain_output()
            for message in worker.messages():
                if "ready" in message:
                    worker.send(request)
                    limit = time.monotonic() + deadline
                else:
                    answer = message
            if answer is None and not worker.open:
                ended = f"{how_it_ended(worker.end(5))}: {worker.output()[-2000:]}"
            elif answer is None and time.monotonic() >= limit:
                ended = f"no answer within {deadline:g} s"
        worker.end(1.0 if answer is not None else 0.0)
        worker.close()
        return answer, ended

    # --- the run -------------------------------------------------------------------------------------

    def run(self, jobs: Iterable[Job]) -> None:
        """Runs all jobs; returns when the last has its final result. Workers stay for the next call."""
        self._queue.extend(jobs)
        while self._queue or any(w is not None and w.job for w in (*self._slots, *self._spare)):
            self._feed()
            self._wait()

    def close(self) -> None:
        """Ends the workers."""
        workers = [worker for worker in (*self._slots, *self._spare) if worker is not None]
        for worker in workers:
            worker.end(0.5 if worker.job is None else 0.0)
            worker.close()
        self._selector.close()

    def _feed(self) -> None:
        """Gives every idle slot a job. A job of its own gets a spare worker, so the slot's stays warm."""
        for slot, warm in enumerate(self._slots):
            if not self._queue or (warm is not None and warm.job) or self._spare[slot] is not None:
                continue
            if self._queue[0].own_process or self._queue[0].first is not None:
                self._spare[slot] = self._begin(self._worker())
                continue
            if warm is None:
                warm = self._slots[slot] = self._worker()
            self._begin(warm)

    def _worker(self) -> Worker:
        return Worker(self._settings.spec, self._selector, self._settings.imports)

    def _begin(self, worker: Worker) -> Worker:
        worker.job, worker.result = self._queue.popleft(), None
        if worker.ready:
            self._send(worker)
        return worker

    def _send(self, worker: Worker) -> None:
        assert worker.job is not None
        request: dict[str, Any] = {"do": "run", "name": worker.job.name, "seed": self._settings.seed}
        if worker.job.first is not None:
            request["save"] = self._settings.save
        worker.began = time.monotonic()
        worker.deadline = worker.began + self._settings.deadline
        worker.send(request)

    def _wait(self) -> None:
        busy = [worker for worker in (*self._slots, *self._spare) if worker is not None and worker.job]
        if not busy:
            return
        patience = min(worker.deadline for worker in busy) - time.monotonic()
        for key, _ in self._selector.select(max(0.0, patience)):
            if key.fd == key.data._output:
                key.data.drain_output()
        for worker in busy:
            for message in worker.messages():
                self._take(worker, message)
            if worker.job is not None and not worker.open:
                self._lost(worker, Status.CRASH, how_it_ended(worker.end(5)))
            elif worker.job is not None and time.monotonic() >= worker.deadline:
                worker.end()
                limit = self._settings.deadline if worker.ready else START_SECONDS
                self._lost(worker, Status.TIMEOUT, f"no answer within {limit:g} s")
        self._bury_idle()

    def _bury_idle(self) -> None:
        """A worker may die between cases; nobody is charged, the next case gets a new one."""
        for slot, worker in enumerate(self._slots):
            if worker is None or worker.job is not None:
                continue
            list(worker.messages())
            if not worker.open:
                worker.end(1.0)
                worker.close()
                self._slots[slot] = None

    def _take(self, worker: Worker, message: dict[str, Any]) -> None:
        job = worker.job
        if job is None:
            return
        if "ready" in message:
            worker.ready, self._failed_starts = True, 0
            self._send(worker)
        elif "result" in message and (result := _own_result(job, message["result"])) is not None:
            worker.result = result
            peak = message.get("peak")
            self.peak_memory = max(self.peak_memory, peak if isinstance(peak, int) else 0)
            if worker.result.status in BAD:
                worker.result.output = worker.output()
            if job.first is not None:
                worker.deadline = time.monotonic() + SHRINK_SECONDS
                worker.send({"do": "shrink"})
            else:
                self._done(worker, worker.result)
        elif "shrunk" in message and worker.result is not None:
            worker.result.shrunk = message["shrunk"]
            self._done(worker, worker.result)
        else:
            # Whatever else this worker says would be taken for the answer of the next case.
            worker.end()
            text = f"the worker answered {json.dumps(message)[:200]}"
            self._done(worker, self._charged(worker, Status.HARNESS_ERROR, text))

    def _lost(self, worker: Worker, status: Status, how: str) -> None:
        """The worker is gone. A result that had arrived before stands (it was lost while shrinking)."""
        result = worker.result
        if not worker.ready:
            self._failed_starts += 1
            if self._failed_starts > 3:
                raise HarnessFailure(f"workers do not start: {how}\n{worker.output()}")
        if result is None:
            # Memory that an earlier case of the process corrupted may take down a later one.
            company = f"; the process had run {worker.ran} before" if worker.ran else ""
            result = self._charged(worker, status, how + company)
        self._done(worker, result)

    def _charged(self, worker: Worker, status: Status, how: str) -> Result:
        assert worker.job is not None
        name = worker.job.name
        seconds = round(time.monotonic() - worker.began, 6)
        result = Result(name, name.partition(".")[0], status, how, seconds, self._settings.seed)
        result.output = worker.output()
        result.capabilities = list(worker.job.capabilities)
        return result

    def _done(self, worker: Worker, result: Result) -> None:
        job = worker.job
        assert job is not None
        worker.job, worker.result, worker.ran = None, None, job.name
        if worker in self._spare:
            self._spare[self._spare.index(worker)] = None
            worker.end(0.2)
            worker.close()
        elif not worker.open or worker.process.returncode is not None:
            self._slots[self._slots.index(worker)] = None
            worker.close()
        if job.first is not None:
            self._finished(settle(job.first, result))
        elif result.status in BAD and self._settings.reruns > 0:
            self._settings.reruns -= 1
            self._queue.append(replace(job, first=result))
        else:
            self._finished(result)


def _own_result(job: Job, record: Any) -> Result | None:
    """The result of the job, None when it is malformed or another case's."""
    try:
        result = read_result(record)
    except Malformed:
        return None
    return result if result.name == job.name else None


def settle(first: Result, second: Result) -> Result:
    """The verdict over a failure in company and a second run alone."""
    if second.status in BAD:
        second.attempts = 2
        if first.status is not second.status:
            second.message += f" (in company: {first.status}: {first.message})"
        second.output = second.output or first.output
        return second
    first.message = f"{first.status} in company ({first.message}), but {second.status} alone"
    first.status, first.attempts = Status.FLAKY, 2
    return first
