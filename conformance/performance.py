"""The speed of the device under test, for the report: `device-api bench` in a process of its own.

The suite itself never measures time, and a plugin that cannot be measured loses nothing but this part of the
report: the document then has no rows, and says why.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from conformance.runner.pool import child_environment, how_it_ended
from conformance.target import Location

SECONDS = 900.0
# Runs in the child. A library without a manifest is registered first, for only then has its device a name.
_PROGRAM = """
import sys
from device_api.cli import main
from device_api import loading
library, index = sys.argv[1:3]
if library:
    kind = loading.open_library(library).device_type
    loading.register_plugin(library)
    main(["bench", f"{kind}:{index}", "--json", *sys.argv[3:]])
else:
    main(["bench", index, "--json", *sys.argv[3:]])
"""


def measure_speed(location: Location, *options: str) -> dict[str, Any]:
    """The document of the measurement (see device_api.bench.document)."""
    from device_api.bench.document import document
    from device_api.bench.measure import Failure

    path = str(location.manifest or location.library) if location.is_path else ""
    name = str(location.index) if location.is_path else location.spec
    command = [sys.executable, "-P", "-c", _PROGRAM, path, name, *options]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=SECONDS, env=child_environment(), check=False
        )
        found: dict[str, Any] = json.loads(done.stdout)
        found["rows"]
    except subprocess.TimeoutExpired:
        why = f"no answer within {SECONDS:g} s"
    except (ValueError, KeyError):
        why = f"{how_it_ended(done.returncode)}: {done.stderr[-2000:]}"
    else:
        return found
    return document(location.spec, [Failure("all", location.spec, why)], {})
