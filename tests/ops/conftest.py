"""Fixtures of the op tests: no policy or deny list of one test reaches the next."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import device_api as da

sys.path.insert(0, str(Path(__file__).parent))


@pytest.fixture(autouse=True)
def plain_policies() -> Iterator[None]:
    """The policy is "error", nothing is denied, and counts start at nought."""
    da.set_fallback("error")
    da.set_denied_ops(())
    da.reset_fallback_report()
    yield
    da.set_fallback("warn")
    da.set_denied_ops(())
