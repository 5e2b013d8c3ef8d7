"""The shell and Python blocks of the guides run as they are written, one page as one script."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
GUIDES = (
    "docs/vendors/first-plugin.md",
    "docs/vendors/python.md",
    "docs/vendors/custom-ops.md",
    "docs/vendors/conformance.md",
    "docs/users/quickstart.md",
    "docs/users/streams.md",
    "docs/users/custom-ops.md",
    "docs/users/mixed-precision.md",
)
# Files that a guide shows; they are not run.
SHOWN = ("toml", "text")
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def script_of(page: str) -> str:
    """The blocks of a page as one bash script. A Python block starts with the ones before it, for names."""
    lines = ["set -euo pipefail"]
    python = ""
    for language, body in _BLOCK.findall(page):
        if language == "sh":
            lines.append(body)
        elif language == "python":
            python += body
            lines.append(f"python - <<'END_OF_PYTHON'\n{python}END_OF_PYTHON")
        elif language not in SHOWN:
            raise AssertionError(
                f"a block of language {language!r}: the guides have sh and python blocks only"
            )
    return "\n".join(lines)


@pytest.fixture
def shell(tmp_path: Path) -> dict[str, str]:
    """An environment in which `device-api` and `python` are those of this test run."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, arguments in (("device-api", "-P -m device_api.cli"), ("python", "-P")):
        script = tools / name
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" {arguments} "$@"\n')
        script.chmod(0o755)
    here = Path(sys.executable).parent
    path = os.pathsep.join([str(tools), str(here), os.environ["PATH"]])
    python_path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH", "")]))
    simulated = str(ROOT / "plugins" / "simulated")
    return {**os.environ, "PATH": path, "PYTHONPATH": python_path, "DEVICE_API_PLUGIN_PATH": simulated}


@pytest.mark.parametrize("guide", GUIDES)
def test_every_block_of_a_guide_runs_in_the_order_of_the_page(
    guide: str, tmp_path: Path, shell: dict[str, str]
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    script = script_of((ROOT / guide).read_text(encoding="utf-8"))
    done = subprocess.run(
        ["bash", "-c", script], cwd=work, env=shell, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, f"{done.stdout[-4000:]}\n{done.stderr[-4000:]}"


def test_links_between_pages_lead_to_files() -> None:
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
    broken = [
        f"{page.relative_to(ROOT)}: {target}"
        for page in pages
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
        if "://" not in target and not (page.parent / target).exists()
    ]
    assert broken == []
