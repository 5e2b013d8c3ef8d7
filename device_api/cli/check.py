"""`device-api check`: is a device healthy, and if not, what to do.

Each device is checked in a process of its own (health.py), because the point of the check is plugins that
crash or hang: this process reads the stages as they pass, and blames the one that was running when the end
came.
"""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass, field
from typing import Annotated, Any

import typer

from device_api.cli.output import bytes_text, print_json, print_table

# Faults that say "there is no such device here" rather than "the device is broken".
_UNAVAILABLE = frozenset({"PluginNotFound", "DeviceUnavailable", "PluginRefused", "InvalidDevice"})

_REMEDIES = {
    "manifest": "check the manifest and that its library exists; `device-api list` shows what was found",
    "library": "rebuild the plugin with the headers of `device-api include-dir`; install its libraries",
    "device": "check the driver and the permissions of the device; the vendor's own tool should list it",
    "memory": "run `device-api conformance` with --level runtime on the plugin: its copies are wrong",
    "kernels": "run `device-api conformance` on the plugin: it gives a command that repeats the fault",
}


@dataclass
class Health:
    """What the check of one device found. `status` is ok, failed or unavailable."""

    device: str
    status: str = "ok"
    stages: list[dict[str, Any]] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    detail: str | None = None
    remedy: str | None = None

    def document(self) -> dict[str, object]:
        """The finding as the JSON output has it."""
        return {
            "device": self.device,
            "status": self.status,
            "stages": self.stages,
            "facts": self.facts,
            "error": self.error,
            "detail": self.detail,
            "remedy": self.remedy,
        }


def check_device(spec: str, *, timeout: float = 60.0) -> Health:
    """Checks one device in a child process that gets `timeout` seconds in all."""
    # -P keeps the current folder off the child's path, where a source tree could hide the installed package.
    child = subprocess.Popen(
        [sys.executable, "-P", "-m", "device_api.cli.health", spec],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        env={**os.environ, "DEVICE_API_FALLBACK": "error"},
        start_new_session=True,
    )
    health = Health(spec)
    noise: list[str] = []
    lines: queue.Queue[str | None] = queue.Queue()
    readers = [
        threading.Thread(target=_read_lines, args=(child.stdout, lines.put), daemon=True),
        threading.Thread(
            target=_read_lines, args=(child.stderr, lambda line: noise.append(line or "")), daemon=True
        ),
    ]
    for reader in readers:
        reader.start()
    running, timed_out = _follow(health, lines, timeout)
    if timed_out:
        os.killpg(child.pid, signal.SIGKILL)
    code = child.wait()
    for reader in readers:
        reader.join(timeout=5)
    if health.status == "ok" and (timed_out or code != 0):
        _blame(health, running, timeout if timed_out else None, code, "".join(noise))
    return health


def _read_lines(stream: Any, put: Any) -> None:
    for line in stream:
        put(line)
    put(None)


def _follow(health: Health, lines: queue.Queue[str | None], timeout: float) -> tuple[str, bool]:
    """Reads stages until the child ends or its time is over; returns the stage, and whether time was over."""
    deadline = time.monotonic() + timeout
    running = "manifest"
    while True:
        try:
            line = lines.get(timeout=max(0.0, deadline - time.monotonic()))
        except queue.Empty:
            return running, True
        if line is None:
            return running, False
        try:
            said = json.loads(line)
        except ValueError:
            continue  # a plugin that prints
        if not isinstance(said, dict) or "stage" not in said:
            continue
        running = said["stage"]
        if said["status"] == "running":
            continue
        health.facts.update(said.get("facts") or {})
        health.stages.append({"stage": running, "status": said["status"]})
        if said["status"] == "failed":
            health.error, health.detail = said["error"].lstrip("_"), said["detail"]
            health.status = "unavailable" if health.error in _UNAVAILABLE else "failed"
            health.remedy = said["remedy"] or _REMEDIES[running]


def _blame(health: Health, stage: str, timeout: float | None, code: int, noise: str) -> None:
    health.status = "failed"
    health.stages.append({"stage": stage, "status": "failed"})
    if timeout is not None:
        health.error, health.detail = "Timeout", f"the stage {stage!r} did not end within {timeout:g} s"
    elif code < 0:
        health.error, health.detail = (
            "Crash",
            f"the process ended with {signal.Signals(-code).name} in stage {stage!r}",
        )
    else:
        health.error, health.detail = "Exit", f"the process ended with status {code} in stage {stage!r}"
    last = noise.strip().splitlines()[-1:]
    if last:
        health.detail += f"; its last words: {last[0]}"
    health.remedy = _REMEDIES[stage]


def command(
    device: Annotated[
        str | None, typer.Argument(help="Device string; without one, every plugin is checked.")
    ] = None,
    timeout: Annotated[float, typer.Option(min=1, help="Seconds for each device.")] = 60.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Check devices with real work, each in a process of its own, with fallback forbidden."""
    if device is None:
        from device_api.loading import plugin_records

        specs = [record.device_type for record in plugin_records() if record.device_type]
    else:
        specs = [device]
    findings = [check_device(spec, timeout=timeout) for spec in specs]
    if as_json:
        statuses = [finding.status for finding in findings]
        summary = {status: statuses.count(status) for status in ("ok", "failed", "unavailable")}
        print_json({"devices": [finding.document() for finding in findings], "summary": summary})
    else:
        _print(findings)
    raise typer.Exit(_exit_code(findings))


def _exit_code(findings: list[Health]) -> int:
    statuses = {finding.status for finding in findings}
    if "failed" in statuses:
        return 1
    return 0 if "ok" in statuses else 3


def _print(findings: list[Health]) -> None:
    rows = []
    for finding in findings:
        facts = finding.facts
        memory = facts.get("total_memory")
        rows.append(
            (
                finding.device,
                finding.status,
                str(facts.get("name") or ""),
                str(facts.get("driver_version") or ""),
                str(facts.get("runtime_version") or ""),
                bytes_text(memory) if memory else "",
                ", ".join(stage["stage"] for stage in finding.stages if stage["status"] == "passed"),
            )
        )
    print_table("Health", ("device", "status", "name", "driver", "runtime", "memory", "passed"), rows)
    for finding in findings:
        if finding.status != "ok":
            print(f"{finding.device}: {finding.error}: {finding.detail}")
            print(f"  what to do: {finding.remedy}")
