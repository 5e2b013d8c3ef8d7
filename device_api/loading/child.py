"""Looks at a plugin in a child process, so that one that crashes, exits or hangs cannot harm this one.

The child writes one JSON line per step it has finished; what is missing at the end tells where it stopped.
The result is data, never an exception: callers decide what a crash means.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Command = Literal["query", "probe"]
Outcome = Literal["ok", "error", "crash", "exit", "hang"]

_PROGRAM = Path(__file__).with_name("isolated.py")
_KEPT_OUTPUT = 4000


@dataclass(frozen=True)
class ProbeResult:
    """How a look at a plugin went.

    `outcome`: "ok"; "error" (the plugin or the loader reported one: `error`, `message`); "crash" (killed
    by `signal`); "exit" (it ended the process with `status`); "hang" (not done at the deadline). `step`
    is the step that was not finished ("open", "initialize", "count", "properties", "shutdown"), None for
    "ok". `facts` is what was learnt until then, `output` the end of what the plugin printed.
    """

    path: Path
    outcome: Outcome
    step: str | None = None
    error: str | None = None
    message: str | None = None
    signal: str | None = None
    status: int | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    output: str = ""

    @property
    def ok(self) -> bool:
        return self.outcome == "ok"


def probe(path: str | os.PathLike[str], deadline: float = 30.0) -> ProbeResult:
    """Opens, initialises, counts, describes and shuts down the plugin at `path` in a child, in `deadline`
    seconds.
    """
    return run("probe", Path(os.path.abspath(path)), deadline=deadline)


def run(command: Command, path: Path, *, deadline: float) -> ProbeResult:
    """Runs one command of the child program. "query" opens lazily and asks for the descriptor only."""
    import subprocess

    if not sys.executable:
        return ProbeResult(path, "error", "start", "RuntimeError", "there is no Python executable to start")
    # cffi may live in a folder that only this process has on its path.
    import _cffi_backend

    backend = os.path.dirname(_cffi_backend.__file__)
    process = subprocess.Popen(
        [sys.executable, "-I", str(_PROGRAM), command, str(path), backend],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=deadline)
        hung = False
    except subprocess.TimeoutExpired:
        hung = True
        _kill(process.pid)
        out, err = process.communicate()
    return _judge(path, out, err, None if hung else process.returncode)


def _kill(pid: int) -> None:
    """Ends the child with everything it started; it leads its own process group."""
    import signal

    try:
        os.killpg(pid, signal.SIGKILL)
    except (OSError, AttributeError):
        os.kill(pid, signal.SIGTERM)


def _judge(path: Path, out: bytes, err: bytes, status: int | None) -> ProbeResult:
    """Reads the child's lines; `status` None means that it had to be killed."""
    import json
    import signal

    step: str | None = "start"
    facts: dict[str, Any] = {}
    error: dict[str, Any] | None = None
    printed: list[str] = []
    for line in out.decode("utf-8", "replace").splitlines():
        mark, _, rest = line.partition(" ")
        if mark != "device_api:":
            printed.append(line)
            continue
        news = json.loads(rest)
        step = news.get("step", step)
        facts.update(news.get("facts", {}))
        error = news.get("error", error)
    output = "\n".join([*printed, err.decode("utf-8", "replace")]).strip()[-_KEPT_OUTPUT:]
    if error is not None:
        return ProbeResult(path, "error", step, error["type"], error["text"], facts=facts, output=output)
    if status is None:
        return ProbeResult(path, "hang", step, message=f"{step} did not return", facts=facts, output=output)
    if status < 0:
        name = signal.Signals(-status).name if -status in set(signal.Signals) else f"signal {-status}"
        return ProbeResult(
            path, "crash", step, message=f"{step} ended with {name}", signal=name, facts=facts, output=output
        )
    if step is not None:
        text = f"{step} ended the process with status {status}"
        return ProbeResult(path, "exit", step, message=text, status=status, facts=facts, output=output)
    return ProbeResult(path, "ok", facts=facts, output=output)
