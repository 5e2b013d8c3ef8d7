"""The health check of one device, as a process of its own: `python -m device_api.cli.health DEVICE`.

Prints one JSON line when a stage begins and one when it ends, so that whoever started the process
(check.py) knows which stage was running when the plugin crashed or hung. It runs with fallback forbidden,
by its environment, and compares every result with NumPy: a number that comes back was computed by the
device.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

STAGES = ("manifest", "library", "device", "memory", "kernels")


class _Failed(Exception):
    """A stage failed without an exception of its own: a wrong number."""


def main(spec: str) -> int:
    """Runs the stages in order and stops at the first that fails; returns 0 when all passed, else 1."""
    device_type = spec.partition(":")[0]
    try:
        with _stage("manifest") as facts:
            from device_api.loading import find_record, load_plugin

            record = find_record(device_type)
            facts["library"] = str(record.library)
        with _stage("library") as facts:
            plugin = load_plugin(device_type)
            facts.update(vendor=plugin.vendor, version=plugin.version, abi=f"{plugin.abi[0]}.{plugin.abi[1]}")
        with _stage("device") as facts:
            import device_api as da

            device = da.device(spec)
            properties = plugin.properties(device.index)
            for name in ("name", "driver_version", "runtime_version", "total_memory"):
                facts[name] = properties.get(name)
        with _stage("memory") as facts:
            facts["bytes"] = _check_memory(da, device)
        with _stage("kernels") as facts:
            facts["passed"] = _check_kernels(da, device)
    except _Reported:
        return 1
    return 0


class _Reported(Exception):
    """A stage failed and its line is printed."""


@contextmanager
def _stage(name: str) -> Iterator[dict[str, Any]]:
    _say({"stage": name, "status": "running"})
    facts: dict[str, Any] = {}
    try:
        yield facts
    # Whatever a plugin provokes is a finding of the check, not an end of it.
    except Exception as error:
        line = {"stage": name, "status": "failed", "error": type(error).__name__, "detail": str(error)}
        _say({**line, "remedy": getattr(error, "remedy", None), "facts": facts})
        raise _Reported from None
    _say({"stage": name, "status": "passed", "facts": facts})


def _say(line: dict[str, Any]) -> None:
    print(json.dumps(line), flush=True)


def _check_memory(da: Any, device: Any) -> int:
    import numpy as np

    sent = np.arange(1 << 16, dtype=np.float32).reshape(256, 256)
    tensor = da.asarray(sent, device=device)
    if not np.array_equal(tensor.numpy(), sent):
        raise _Failed("bytes sent to the device came back different")
    return sent.nbytes


def _check_kernels(da: Any, device: Any) -> list[str]:
    import numpy as np

    x = np.linspace(-3, 3, 12, dtype=np.float32).reshape(3, 4)
    y = np.linspace(1, 2, 12, dtype=np.float32).reshape(3, 4)
    runs: dict[str, tuple[Callable[[Any, Any], Any], Any]] = {
        "add": (lambda a, b: a + b, x + y),
        "multiply by a scalar": (lambda a, b: a * 2.0, x * 2),
        "exp": (lambda a, b: da.exp(a), np.exp(x)),
        "greater": (lambda a, b: a > b, x > y),
        "where": (lambda a, b: da.where(a > 0, a, b), np.where(x > 0, x, y)),
        "sum": (lambda a, b: da.sum(a, axis=1), x.sum(1)),
        "matmul": (lambda a, b: a @ b.mT, x @ y.T),
        "argmax": (lambda a, b: da.argmax(a, axis=1), x.argmax(1)),
        "sort": (lambda a, b: da.sort(b, axis=1, descending=True), -np.sort(-y, 1)),
        "take": (lambda a, b: da.take(a, da.asarray(np.array([2, 0]), device=device), axis=0), x[[2, 0]]),
        "softmax": (lambda a, b: da.softmax(a, axis=1), np.exp(x) / np.exp(x).sum(1, keepdims=True)),
    }
    a, b = da.asarray(x, device=device), da.asarray(y, device=device)
    for name, (run, expected) in runs.items():
        result = run(a, b).numpy()
        if result.shape != expected.shape or not np.allclose(result, expected, rtol=1e-5, atol=1e-6):
            raise _Failed(f"{name} gave {result.tolist()}, right is {expected.tolist()}")
    return list(runs)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
