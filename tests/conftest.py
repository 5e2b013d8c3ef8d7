"""Settings of all tests: examples that are drawn have no time limit, which a busy machine would exceed."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("device_api", deadline=None)
settings.load_profile("device_api")
