"""The inputs that fuzzing has kept are read or refused as documented; atheris is not needed for that."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).parent


def _targets() -> Any:
    spec = importlib.util.spec_from_file_location("fuzz_targets", FOLDER / "targets.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.TARGETS


TARGETS = _targets()


@pytest.mark.parametrize("target", TARGETS)
def test_every_kept_input_is_read_or_refused_with_the_documented_error(target: str) -> None:
    kept = sorted((FOLDER / "corpus" / target).iterdir())
    assert len(kept) >= 3
    for path in kept:
        TARGETS[target](path.read_bytes())


@pytest.mark.parametrize("target", TARGETS)
def test_a_sound_input_cut_at_any_place_is_refused_with_the_documented_error(target: str) -> None:
    sound = (FOLDER / "corpus" / target / "sound").read_bytes()
    for size in range(0, len(sound), max(1, len(sound) // 50)):
        TARGETS[target](sound[:size])
