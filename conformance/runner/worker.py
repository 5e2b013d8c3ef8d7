"""A worker process: opens the target, runs the cases it is told to, and answers in JSON lines.

Requests and answers travel on two pipes of their own; stdout and stderr belong to the plugin, which may print
what it likes there. Whatever happens to this process is charged by the parent to the case in flight, so
nothing here tries to survive a crash.
"""

from __future__ import annotations

import faulthandler
import importlib
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from conformance.case import (
    Case,
    Failure,
    Measure,
    NotSupported,
    QualityWarning,
    Result,
    Status,
)
from conformance.cases import case_by_name, entries
from conformance.target import Target, Unavailable

MOST_FILE_BYTES = 4 << 30


def execute(case: Case, target: Target, seed: int) -> tuple[Result, Failure | None]:
    """Runs one case and turns every way it can end into a result."""
    result = Result(case.name, case.level, Status.PASS, seed=seed, capabilities=list(case.capabilities))
    failure: Failure | None = None
    begin = time.perf_counter()
    try:
        measure = case.function(target, case.generator(seed))
        if measure is not None:
            _take_measure(result, measure)
    except NotSupported as error:
        result.status, result.message = Status.NOT_SUPPORTED, error.reason
    except QualityWarning as error:
        result.status, result.message = Status.QUALITY_WARNING, str(error)
    except Failure as error:
        result.status, result.message, result.facts = Status.FAIL, error.message, error.facts
        failure = error
    except Unavailable as error:
        result.status, result.message = Status.FAIL, str(error)
    except Exception as error:  # the suite's own fault, or something no case expected: never a pass
        result.status = Status.HARNESS_ERROR
        result.message = f"{type(error).__name__}: {error}"
        result.facts = {"traceback": traceback.format_exc(limit=12)}
    result.seconds = round(time.perf_counter() - begin, 6)
    return result, failure


def _take_measure(result: Result, measure: Measure) -> None:
    if np.isnan(measure.max_ulp):
        result.status, result.message = Status.HARNESS_ERROR, "the measured error is NaN"
        return
    result.measure = {
        key: value
        for key in ("op", "dtype", "launches", "declined", "elements", "max_ulp", "tolerance")
        if (value := getattr(measure, key)) not in ("", None, 0)
    }
    if measure.warnings:
        result.status, result.message = Status.QUALITY_WARNING, "; ".join(measure.warnings)


def save_inputs(folder: str, case: Case, seed: int, failure: Failure) -> str:
    """Writes the arrays of a failure beside the report; returns the path, or "" when there are none."""
    if not failure.inputs:
        return ""
    path = Path(folder) / f"{case.name}.seed{seed}.npz"
    path.parent.mkdir(parents=True, exist_ok=True)
    arrays: dict[str, Any] = {}
    for name, value in failure.inputs.items():
        array = np.asarray(value)
        # NumPy's file format does not know the small float types: they are kept as integers, by name.
        if array.dtype.kind == "V":
            name, array = f"{name}__{array.dtype.name}", array.view(f"u{array.dtype.itemsize}")
        arrays[name] = array
    np.savez_compressed(path, **arrays)
    return str(path)


def _plain(value: Any) -> Any:
    """The value in what JSON has: facts of a failure may hold NaN, NumPy's numbers, paths."""
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and isfinite(value)):
        return value
    return str(value)


def peak_memory() -> int:
    """The most memory this process has held so far, in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


class Server:
    """The loop that answers requests."""

    def __init__(self, spec: str, requests: int, answers: int) -> None:
        self._target = Target(spec)
        self._requests = os.fdopen(requests, "r", encoding="utf-8")
        self._answers = os.fdopen(answers, "w", encoding="utf-8")
        self._failure: Failure | None = None

    def _answer(self, message: dict[str, Any]) -> None:
        self._answers.write(json.dumps(_plain(message), allow_nan=False) + "\n")
        self._answers.flush()

    def serve(self) -> None:
        self._answer({"ready": True})
        for line in self._requests:
            request = json.loads(line)
            if request["do"] == "list":
                self._list()
            elif request["do"] == "run":
                self._run(request)
            elif request["do"] == "shrink":
                self._answer({"shrunk": self._shrink()})
            else:
                return

    def _list(self) -> None:
        """All cases of this target, and facts about it; or why there is no device."""
        try:
            self._answer({"cases": entries(self._target), "device": self._target.facts()})
        except Unavailable as error:
            self._answer({"unavailable": str(error)})
        except Failure as error:
            self._answer({"broken": error.message})

    def _run(self, request: dict[str, Any]) -> None:
        case, seed = case_by_name(self._target, request["name"]), request["seed"]
        if case is None:
            self._answer({"missing": request["name"]})
            return
        result, self._failure = execute(case, self._target, seed)
        if self._failure is not None and request.get("save"):
            result.artifact = save_inputs(request["save"], case, seed, self._failure)
        self._answer({"result": result.to_json(), "peak": peak_memory()})

    def _shrink(self) -> dict[str, Any] | None:
        """The last failure made small: a request of its own, because it calls the faulty kernel many times,
        may take this process down, and prints what must not mix with the output of the case."""
        from conformance.shrink import shrink

        return None if self._failure is None else shrink(self._target, self._failure)


def _limit_files() -> None:
    """A plugin that writes a log without end loses its process to SIGXFSZ, not the machine its disk."""
    most = min(MOST_FILE_BYTES, shutil.disk_usage(tempfile.gettempdir()).free // 2)
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (most if hard < 0 else min(most, hard), hard))
    # Python ignores the signal; a write would then fail, and a careless plugin go on.
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)


def main() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    _limit_files()
    faulthandler.enable()
    spec, requests, answers = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    for module in sys.argv[4:]:
        importlib.import_module(module)
    Server(spec, requests, answers).serve()
    sys.stdout.flush()
    # Skips interpreter shutdown: an exit handler of the plugin must not hold the run up.
    os._exit(0)


if __name__ == "__main__":
    main()
