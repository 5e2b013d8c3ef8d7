"""What `import device_api` adds to `import numpy`, and what `device-api list` costs: whole processes,
interleaved.

The rows' peer is NumPy: the time of a process that imports NumPy alone. The summary has the difference,
which is what a user of NumPy pays for device_api, and the libraries of plugins that the import has mapped:
none.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

from benchmarks.report import emit
from device_api.bench.timing import Row, Timing

_COMMANDS = {
    "import numpy": ["-c", "import numpy"],
    "import numpy, device_api": ["-c", "import numpy, device_api"],
    "device-api list": ["-m", "device_api.cli", "list"],
}
_MAPPED = (
    "import device_api\n"
    "names = {line.split()[-1] for line in open('/proc/self/maps') if '.so' in line}\n"
    "print(*sorted(name for name in names if 'libdevice_api_' in name))"
)


def main(*, quick: bool, as_json: bool) -> int:
    """Runs every command several times in turn; returns 1 when the import maps a plugin's library."""
    taken: dict[str, list[float]] = {name: [] for name in _COMMANDS}
    for round_number in range(6 if quick else 21):
        for name, arguments in _COMMANDS.items():
            began = time.perf_counter()
            subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
            if round_number:  # the first round fills the file cache
                taken[name].append(time.perf_counter() - began)
    timings = {name: Timing(tuple(values)) for name, values in taken.items()}
    base = timings["import numpy"]
    rows = [
        Row(name, timing.median, {"numpy": timing.ratio_to(base)}, timing.p10)
        for name, timing in timings.items()
    ]
    pairs = zip(timings["import numpy, device_api"].rounds, base.rounds, strict=True)
    mapped = subprocess.run(
        [sys.executable, "-c", _MAPPED], check=True, capture_output=True, text=True
    ).stdout.split()
    facts = {
        "import_adds_milliseconds": round(statistics.median(a - b for a, b in pairs) * 1e3, 2),
        "list_seconds": round(timings["device-api list"].median, 4),
        "plugin_libraries_mapped": mapped,
    }
    emit(rows, as_json=as_json, facts=facts)
    return 1 if mapped else 0
