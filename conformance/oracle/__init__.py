"""What the right answer is, computed by NumPy and SciPy in higher precision than the type under test."""

from conformance.oracle.registry import (
    WITHOUT_ORACLE,
    Expected,
    NoOracle,
    expected,
    has_formula,
    has_oracle,
    values_of,
)

__all__ = ["WITHOUT_ORACLE", "Expected", "NoOracle", "expected", "has_formula", "has_oracle", "values_of"]
