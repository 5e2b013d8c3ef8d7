"""What the right answer is, computed by NumPy and SciPy in higher precision than the type under test."""

from conformance.oracle.registry import Expected, NoOracle, expected, has_oracle

__all__ = ["Expected", "NoOracle", "expected", "has_oracle"]
