"""The suite must not fail a good plugin: all shipped backends, in every configuration, with several seeds.

`python -m conformance.false_fail` builds what has to be built, runs the suite on each row of the table below,
and ends with 0 only when no case failed anywhere. It is for a source tree: plugins that are no part of the
package are found beside it. A row more is one line more.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PLUGINS = ROOT / "plugins"
SEEDS = (0, 1, 2)

# What the simulated accelerator can be told to be (plugins/simulated/README.md): each variable that takes a
# capability away or changes when work runs, and the worst of them together.
SIMULATED: dict[str, dict[str, str]] = {
    "lazy": {},
    "eager": {"SIM_MODE": "eager", "SIM_SEED": "1"},
    "eager_slow": {"SIM_MODE": "eager", "SIM_SEED": "2", "SIM_MAX_DELAY_US": "2000"},
    "eager_at_once": {"SIM_MODE": "eager", "SIM_MAX_DELAY_US": "0"},
    "no_streams": {"SIM_STREAMS": "0"},
    "no_float64": {"SIM_FLOAT64": "0"},
    "no_strides": {"SIM_STRIDES": "0"},
    "rank_3": {"SIM_MAX_RANK": "3"},
    "rank_5": {"SIM_MAX_RANK": "5"},
    "one_device": {"SIM_DEVICES": "1"},
    "little_memory": {"SIM_MEMORY": str(48 << 20)},
    "few_ops": {"SIM_HIDE_OPS": "erf,erfc,hypot,nextafter,scan_prod,floor_divide,remainder,*shift,*softmax*"},
    "least": {
        "SIM_STREAMS": "0",
        "SIM_FLOAT64": "0",
        "SIM_STRIDES": "0",
        "SIM_IN_PLACE": "0",
        "SIM_MAX_RANK": "3",
        "SIM_DEVICES": "1",
        "SIM_MEMORY": str(48 << 20),
    },
}


# Layers that watch the border: what conforms, conforms under them.
LAYERED = {"DEVICE_API_LAYERS": "validate,trace(file=/dev/null),stats"}


@dataclass(frozen=True, slots=True)
class Row:
    """One backend in one configuration. `sources` is a folder of C sources that become a library; else
    `target` is what the suite is pointed at."""

    name: str
    target: str = ""
    sources: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)


def rows() -> Iterator[Row]:
    """All backends of the source tree that are there, each configuration of each."""
    yield Row("reference_cpu", "cpu")
    yield Row("reference_cpu.one_thread", "cpu", environment={"DEVICE_API_CPU_THREADS": "1"})
    yield Row("reference_cpu.layered", "cpu", environment=LAYERED)
    for name, environment in {**SIMULATED, "layered": {**SIMULATED["eager"], **LAYERED}}.items():
        yield Row(f"simulated.{name}", str(PLUGINS / "simulated" / "sim.json"), environment=environment)
    for folder in ("template", "primitives_only"):
        if (PLUGINS / folder).is_dir():
            yield Row(folder, sources=PLUGINS / folder)
    if (PLUGINS / "python_only").is_dir():
        yield from (
            Row("python_only", str(each)) for each in sorted((PLUGINS / "python_only").glob("*.json"))
        )


def built(row: Row, folder: Path) -> str:
    """The target of a row, compiled first where it comes as sources."""
    if row.sources is None:
        return row.target
    library = folder / f"lib{row.name}.so"
    if not library.exists():
        sources = [str(path) for path in sorted(row.sources.rglob("*.c"))]
        include = ROOT / "device_api" / "include"
        options = [
            "-std=c99",
            "-O2",
            "-fPIC",
            "-fvisibility=hidden",
            "-shared",
            f"-I{include}",
            f"-I{row.sources}",
        ]
        compiler = os.environ.get("CC", "cc")
        subprocess.run([compiler, *options, *sources, "-lm", "-o", str(library)], check=True)
    return str(library)


def run_row(row: Row, seed: int, folder: Path, options: Sequence[str]) -> dict[str, Any]:
    """One run of the suite in a process of its own; its summary, and the cases that failed."""
    report = folder / f"{row.name}.{seed}.json"
    clean = {key: value for key, value in os.environ.items() if not key.startswith("SIM_")}
    command = [
        sys.executable,
        "-m",
        "conformance",
        built(row, folder),
        "--seed",
        str(seed),
        "--json",
        str(report),
    ]
    began = time.monotonic()
    child = subprocess.run(
        [*command, *options], env={**clean, **row.environment}, capture_output=True, text=True, check=False
    )
    found: dict[str, Any] = {"row": row.name, "seed": seed, "exit": child.returncode}
    if not report.exists():
        return {**found, "failures": [], "problem": child.stdout[-2000:] + child.stderr[-2000:]}
    data = json.loads(report.read_text(encoding="utf-8"))
    bad = ("fail", "crash", "timeout", "flaky", "harness_error")
    failures = [
        {k: r.get(k, "") for k in ("name", "status", "message")}
        for r in data["results"]
        if r["status"] in bad
    ]
    summary = {key: data["summary"][key] for key in ("executed", "pass", "not_supported", "quality_warning")}
    seconds = round(time.monotonic() - began, 1)
    return {
        **found,
        **summary,
        "seconds": seconds,
        "failures": failures,
        "problem": "; ".join(data["problems"]),
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m conformance.false_fail", description=__doc__)
    parser.add_argument("--full", action="store_true", help="the full suite instead of the quick one")
    parser.add_argument("--only", default="", help="rows whose name begins so")
    parser.add_argument("--seeds", type=int, nargs="+", default=list(SEEDS))
    parser.add_argument("--include", action="append", default=[], help="only cases that match this glob")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json", dest="json_path", help="where the results go too")
    chosen = parser.parse_args()
    options = ["--jobs", str(chosen.jobs), *([] if chosen.full else ["--quick"])]
    options += [part for glob in chosen.include for part in ("--include", glob)]
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for row in rows():
            for seed in chosen.seeds if row.name.startswith(chosen.only) else ():
                result = run_row(row, seed, Path(folder), options)
                found.append(result)
                print(_line(result), flush=True)
    if chosen.json_path:
        Path(chosen.json_path).write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    bad = [each for each in found if each["exit"] != 0]
    print(f"{len(found)} runs, {len(bad)} with failures")
    return 1 if bad or not found else 0


def _line(result: Mapping[str, Any]) -> str:
    text = f"{result['row']} seed {result['seed']}: {result.get('executed', 0)} executed, "
    text += f"{len(result['failures'])} failed, {result.get('not_supported', 0)} not supported, "
    text += f"{result.get('seconds', 0)} s"
    for each in result["failures"][:10]:
        text += f"\n  {each['status']} {each['name']}: {each['message'][:300]}"
    return text + (f"\n  {result['problem'][:2000]}" if result["problem"] else "")


if __name__ == "__main__":
    sys.exit(main())
