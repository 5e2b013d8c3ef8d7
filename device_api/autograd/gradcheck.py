"""Compares gradients with central differences, the one check of a gradient that needs no second
derivation of it. Meant for tests and for authors of ops; it reads results back element by element and
is slow."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from device_api import _core
from device_api.autograd.engine import grad
from device_api.autograd.modes import enable_grad, no_grad
from device_api.errors import GradientError
from device_api.tensor.conversion import asarray

Function = Callable[..., _core.Tensor | tuple[_core.Tensor, ...]]
Array = npt.NDArray[Any]


def gradcheck(
    function: Function,
    inputs: Sequence[_core.Tensor],
    *,
    epsilon: float = 1e-6,
    rtol: float = 1e-5,
    atol: float = 1e-7,
) -> None:
    """Raises `GradientError` unless every derivative agrees with central differences.

    `function` takes the inputs and gives a tensor or a tuple of them. Inputs are float64 or complex128;
    those with `requires_grad` are checked, one at least. A derivative that is NaN or infinite never agrees.
    An input that the result does not depend on must have zero differences.
    """
    checked = [place for place, each in enumerate(inputs) if each.requires_grad]
    if not checked:
        raise GradientError("gradcheck has nothing to check", remedy="Set requires_grad on an input.")
    for place in checked:
        if inputs[place].dtype not in (np.dtype(np.float64), np.dtype(np.complex128)):
            raise GradientError(
                "gradcheck needs double precision",
                subject=f"input {place} is {inputs[place].dtype.name}",
                why="differences of narrower numbers are noise",
            )
    with enable_grad():
        outputs = _outputs(function(*inputs))
    hosts = [each.numpy() for each in inputs]
    for index, output in enumerate(outputs):
        if not output.requires_grad:
            continue
        for element in np.ndindex(output.shape):
            for weight in _directions(output.dtype):
                seed = np.zeros(output.shape, output.dtype)
                seed[element] = weight
                gradient = asarray(seed, device=output.device)
                targets = [inputs[place] for place in checked]
                found = grad(output, targets, gradient, retain_graph=True, allow_unused=True)
                for place, analytic in zip(checked, found, strict=True):
                    expected = _differences(function, inputs, hosts, place, (index, element, weight), epsilon)
                    got = np.zeros_like(expected) if analytic is None else analytic.numpy()
                    _compare(got, expected, (place, index, element), rtol, atol)


def _outputs(result: Any) -> tuple[_core.Tensor, ...]:
    return result if isinstance(result, tuple) else (result,)


def _directions(dtype: np.dtype[Any]) -> tuple[complex, ...]:
    """The directions of one element: its value, and for complex numbers the imaginary part too."""
    return (1.0, 1j) if dtype.kind == "c" else (1.0,)


def _differences(
    function: Function,
    inputs: Sequence[_core.Tensor],
    hosts: list[Array],
    place: int,
    target: tuple[int, tuple[int, ...], complex],
    epsilon: float,
) -> Array:
    """Central differences of one output element's part with respect to every element of one input."""
    index, element, weight = target
    result = np.zeros(hosts[place].shape, hosts[place].dtype)

    def value(moved: Array) -> float:
        operands = list(inputs)
        operands[place] = asarray(moved, device=inputs[place].device)
        with no_grad():
            output = _outputs(function(*operands))[index].numpy()[element]
        return float((np.conj(weight) * output).real)

    for at in np.ndindex(result.shape):
        for direction in _directions(result.dtype):
            up, down = hosts[place].copy(), hosts[place].copy()
            up[at] += epsilon * direction
            down[at] -= epsilon * direction
            result[at] += direction * (value(up) - value(down)) / (2.0 * epsilon)
    return result


def _compare(
    got: Array, expected: Array, where: tuple[int, int, tuple[int, ...]], rtol: float, atol: float
) -> None:
    place, index, element = where
    for at in np.ndindex(expected.shape):
        error = abs(got[at] - expected[at])
        # Written so that NaN fails.
        if not (math.isfinite(abs(got[at])) and error <= atol + rtol * abs(expected[at])):
            raise GradientError(
                f"the gradient of output {index}{list(element)} by input {place}{list(at)} is wrong",
                subject=f"{got[at]}",
                why=f"differences give {expected[at]}",
            )
