"""Whether operations are recorded, per thread, as context managers and decorators. The switch itself lives in
the native core, which asks it on every call."""

from __future__ import annotations

from contextlib import ContextDecorator
from types import TracebackType

from device_api import _core


class _Mode(ContextDecorator):
    """Sets recording on entry and restores on exit what was there; may be entered again inside itself."""

    enabled = True

    def __init__(self) -> None:
        self._previous: list[bool] = []

    def __enter__(self) -> None:
        self._previous.append(_core.set_grad_enabled(self.enabled))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        _core.set_grad_enabled(self._previous.pop())

    def _recreate_cm(self) -> _Mode:
        # A decorated function may run in several threads at once: each call gets its own stack.
        return type(self)()


class no_grad(_Mode):
    """Inside, nothing is recorded and results do not require gradients."""

    enabled = False


class enable_grad(_Mode):
    """Inside, operations are recorded, even within no_grad."""

    enabled = True


def is_grad_enabled() -> bool:
    """Whether operations of this thread are recorded."""
    return _core.grad_enabled()
