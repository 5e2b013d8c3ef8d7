"""The conformance suite: proves that a plugin is right, or says where it is not."""

from conformance.execution import Outcome, run

__all__ = ["Outcome", "run"]
