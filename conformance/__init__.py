"""The conformance suite: proves that a plugin is right, or says where it is not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conformance.execution import Outcome, run

__all__ = ["Outcome", "run"]


def __getattr__(name: str) -> Any:
    """Loads the suite at first use: pytest imports this package whenever it starts, to find its plugin."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from conformance import execution

    return getattr(execution, name)
