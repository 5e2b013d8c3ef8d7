"""Derivatives of the oracle by differences in extended precision: the judge of gradient rules, which knows
nothing of any rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Function = Callable[[Sequence[Array]], Any]

# A derivative of a derivative loses twice as many digits to the difference: its steps are larger.
STEP, SECOND_STEP = np.longdouble(2.0**-14), np.longdouble(2.0**-11)


def _moved(point: Sequence[Array], direction: Sequence[Array], by: Any) -> list[Array]:
    return [x + by * d for x, d in zip(point, direction, strict=True)]


def slope(function: Function, point: Sequence[Array], direction: Sequence[Array], step: Any = STEP) -> Any:
    """The derivative of a number-valued function along a direction, to about step ** 4."""
    near, far = (
        function(_moved(point, direction, by)) - function(_moved(point, direction, -by))
        for by in (step, 2 * step)
    )
    return (8 * near - far) / (12 * step)


def curvature(
    function: Function, point: Sequence[Array], first: Sequence[Array], second: Sequence[Array]
) -> Any:
    """The derivative along `second` of the derivative along `first`."""
    return slope(lambda moved: slope(function, moved, first, SECOND_STEP), point, second, SECOND_STEP)
