"""Running one case in a process of its own, many times a second.

Starting Python and importing the suite costs more than most cases. A fork server is a process that has
imported the suite and opened no plugin; for each request it forks a child, which opens the plugin, runs the
case and answers. Whatever happens to the child is charged to the case, as in a conformance run, and with the
same words.
"""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from conformance.case import BAD, Case, Failure, Result, Status
from conformance.runner.pool import child_environment, how_it_ended


class ForkServer:
    """The server, as its owner sees it. One thread at a time may use it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "conformance.kill.forks"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=child_environment(),
            text=True,
        )

    def run(
        self, target: Path, cases: str, deadline: float, environment: Mapping[str, str], seed: int = 0
    ) -> list[Result]:
        """Runs the cases of a library that match a glob, in their order, up to the first bad one, in one new
        process with these variables. `deadline` is in seconds. Gives the results, [] when no case matches."""
        request: dict[str, Any] = {"target": str(target), "cases": cases, "seed": seed, "deadline": deadline}
        request["environment"] = dict(environment)
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise RuntimeError(f"the fork server ended: {how_it_ended(self._process.wait())}")
        return [Result.from_json(record) for record in json.loads(answer)]

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()


# --- the server's side ------------------------------------------------------------------------------------


def _matching(target: Any, glob: str) -> Iterator[Case]:
    """Hand-written cases are found without opening anything; others need the plugin's claims."""
    from conformance.cases import case_by_name, entries, registered_entries

    known = [entry.name for entry in registered_entries()]
    if glob.startswith("ops.") and glob not in known:
        known = [entry.name for entry in entries(target)]
    for name in (name for name in known if fnmatchcase(name, glob)):
        case = case_by_name(target, name)
        assert case is not None
        yield case


def _child(request: Mapping[str, Any], answers: int) -> None:
    """Runs the cases; tells of each before it begins and when it has ended."""
    from conformance.runner.worker import execute
    from conformance.target import Target

    def tell(message: Mapping[str, Any]) -> None:
        os.write(answers, json.dumps(message, default=str).encode() + b"\n")

    os.setsid()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    nowhere = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nowhere, descriptor)
    os.environ.update(request["environment"])
    target, seed = Target(request["target"]), request["seed"]
    tell({"begin": "abi.open"})
    try:
        cases = list(_matching(target, request["cases"]))
    except Failure as error:
        tell({"result": Result("abi.open", "abi", Status.FAIL, error.message, seed=seed).to_json()})
        return
    for case in cases:
        tell({"begin": case.name})
        result, _ = execute(case, target, seed)
        tell({"result": result.to_json()})
        if result.status in BAD:
            return
    tell({"done": True})


def _wait(child: int, answers: int, deadline: float) -> tuple[list[dict[str, Any]], str]:
    """What the child told, and how it ended without telling: "" when it came to its end, "timeout", or its
    exit in words."""
    limit, buffer, late = time.monotonic() + deadline, b"", False
    while True:
        ready, _, _ = select.select([answers], [], [], max(0.0, limit - time.monotonic()))
        chunk = os.read(answers, 1 << 16) if ready else b""
        late = not ready
        if not chunk:
            break
        buffer += chunk
        if b'"done"' in buffer.rpartition(b"\n")[0]:
            break
    told = [json.loads(line) for line in buffer.split(b"\n")[:-1]]
    finished = bool(told) and ("done" in told[-1] or _is_bad(told[-1]))
    if late or finished:
        # The session and its leader may have gone already.
        with suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if finished:
        return told, ""
    return told, "timeout" if late else how_it_ended(os.waitstatus_to_exitcode(status))


def _is_bad(message: Mapping[str, Any]) -> bool:
    return "result" in message and Status(message["result"]["status"]) in BAD


def _answer(request: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Runs one request in a child; gives results as JSON values."""
    answers, child_answers = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(answers)
            _child(request, child_answers)
        except BaseException as error:
            os.write(
                child_answers, json.dumps({"harness": f"{type(error).__name__}: {error}"}).encode() + b"\n"
            )
        finally:
            # Skips the interpreter's shutdown, as a conformance worker does.
            os._exit(0)
    os.close(child_answers)
    told, ended = _wait(child, answers, request["deadline"])
    os.close(answers)
    results = [message["result"] for message in told if "result" in message]
    if not ended:
        return results
    name = next((message["begin"] for message in reversed(told) if "begin" in message), "abi.open")
    status, words = Status.CRASH, ended
    if ended == "timeout":
        status, words = Status.TIMEOUT, f"no answer within {request['deadline']:g} s"
    if told and "harness" in told[-1]:
        status, words = Status.HARNESS_ERROR, told[-1]["harness"]
    lost = Result(name, name.partition(".")[0], status, words, seed=request["seed"])
    return [*results, lost.to_json()]


def _serve() -> None:
    import conformance.cases.ops  # noqa: F401 - imported once, here, and not in each child
    from conformance.cases import registered_entries

    registered_entries()
    for line in sys.stdin:
        print(json.dumps(_answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    _serve()
