"""Making a failure small: fewer elements, plainer values, until nothing more can go.

Works on the trial that a failure carries. Every step is one more launch of the faulty kernel in this process,
which is why a worker shrinks only after it has reported the failure itself.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

import device_api.dtypes as dtypes
from conformance.case import Failure
from conformance.judging import run_trial
from conformance.target import Target
from conformance.trial import Declined, Trial, TrialFailure
from device_api.ops.shapes import RULES, TensorSpec

Array = npt.NDArray[Any]
SECONDS = 3.0
SHOWN = 16


def shrink(target: Target, failure: Failure) -> dict[str, Any] | None:
    """The smallest failing input that was found, for the report; None for failures without a trial."""
    if not isinstance(failure, TrialFailure):
        return None
    limit = time.monotonic() + SECONDS
    smallest, last = failure.trial, failure

    def fails(trial: Trial) -> bool:
        nonlocal smallest, last
        if time.monotonic() > limit or not _is_lawful(trial):
            return False
        try:
            run_trial(target, trial)
        except TrialFailure as error:
            smallest, last = trial, error
            return True
        except (Declined, Failure, ValueError, IndexError):
            return False
        return False

    steps: Sequence[Callable[[Trial], Iterator[Trial]]] = (_plainer_launch, _fewer_elements, _plainer_values)
    progress = True
    while progress and time.monotonic() < limit:
        progress = False
        for step in steps:
            progress |= _first(fails, step(smallest))
    return {
        "description": last.trial.describe(),
        "message": last.message,
        "inputs": [None if operand is None else _shown(operand.values) for operand in last.trial.inputs],
    }


def _is_lawful(trial: Trial) -> bool:
    """Whether a host may make this call at all: operands cut apart may no longer fit each other."""
    shapes = [
        None if o is None else TensorSpec(o.values.shape, dtypes.code(o.values.dtype)) for o in trial.inputs
    ]
    try:
        announced = RULES[trial.spec.shape](trial.spec, shapes, dict(trial.attributes))
        wanted = trial.expectation()
    except Exception:  # a rule or an oracle that breaks on such operands says no in its own way
        return False
    return [each.shape for each in announced] == [want.values.shape for want in wanted]


def _first(fails: Callable[[Trial], bool], candidates: Iterator[Trial]) -> bool:
    return any(fails(candidate) for candidate in candidates)


def _plainer_launch(trial: Trial) -> Iterator[Trial]:
    """Without layouts and options that the failure does not need."""
    if trial.launches > 1:
        yield replace(trial, launches=1)
    if trial.output_layout != "contiguous":
        yield replace(trial, output_layout="contiguous")
    for pair in trial.in_place:
        yield replace(trial, in_place=tuple(each for each in trial.in_place if each != pair))
    for number, operand in enumerate(trial.inputs):
        if operand is not None and operand.layout != "contiguous":
            plain = replace(operand, layout="contiguous")
            yield replace(trial, inputs=(*trial.inputs[:number], plain, *trial.inputs[number + 1 :]))


def _fewer_elements(trial: Trial) -> Iterator[Trial]:
    """Halves, then single slices, along each axis. Inputs of an elementwise op shrink together, others each
    alone or in step where their sizes agree."""
    arrays = [None if operand is None else operand.values for operand in trial.inputs]
    sizes = {array.shape for array in arrays if array is not None}
    for shape in sorted(sizes, key=len, reverse=True):
        for axis, size in enumerate(shape):
            for part in _parts(size):
                cut = [
                    array
                    if array is None or array.shape != shape
                    else np.ascontiguousarray(array[(slice(None),) * axis + (part,)])
                    for array in arrays
                ]
                yield trial.with_values(cut)


def _parts(size: int) -> Iterator[slice]:
    if size > 1:
        half = size // 2
        yield slice(0, half)
        yield slice(half, size)
        yield slice(0, size - 1)
        yield slice(1, size)


def _plainer_values(trial: Trial) -> Iterator[Trial]:
    """All ones, small whole numbers, and then one element after the other set to one."""
    arrays = [None if operand is None else operand.values for operand in trial.inputs]
    for number, array in enumerate(arrays):
        if array is None or array.dtype.name == "int64" or not array.size:
            continue
        one = np.ones((), array.dtype)
        if (array == one).all():
            continue
        yield trial.with_values([*arrays[:number], np.full_like(array, one), *arrays[number + 1 :]])
        if array.size <= SHOWN and not (operand_broadcasts(trial, number)):
            for place in np.ndindex(array.shape):
                if array[place] != one:
                    changed = array.copy()
                    changed[place] = one
                    yield trial.with_values([*arrays[:number], changed, *arrays[number + 1 :]])


def operand_broadcasts(trial: Trial, number: int) -> bool:
    operand = trial.inputs[number]
    return operand is not None and bool(operand.broadcast)


def _shown(values: Array) -> dict[str, Any]:
    """Dtype, shape and the first elements, as texts that keep NaN and infinity."""
    flat = values.reshape(-1)[:SHOWN]
    return {"dtype": values.dtype.name, "shape": list(values.shape), "values": [str(item) for item in flat]}
