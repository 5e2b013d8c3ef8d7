"""Fixtures of the op tests: no policy or deny list of one test reaches the next."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import device_api as da


@pytest.fixture(autouse=True)
def plain_policies() -> Iterator[None]:
    """The policy is "error", nothing is denied, and counts start at nought."""
    da.set_fallback("error")
    da.set_denied_ops(())
    da.reset_fallback_report()
    yield
    da.set_fallback("warn")
    da.set_denied_ops(())
