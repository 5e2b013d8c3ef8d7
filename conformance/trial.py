"""One launch of one kernel as data, and its failure.

A trial says which kernel, which input values in which memory layouts, which output layout, and which
attributes. It knows the right answer and can be written down; running it is the business of others. A trial
can be run again with other values, which is how a failure is shrunk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from conformance import compare
from conformance.case import Failure
from conformance.layout import Placed, placed_input
from conformance.oracle import Expected, expected
from conformance.target import Claim
from device_api.opset.spec import OpSpec

Array = npt.NDArray[Any]


class Declined(Exception):
    """The kernel says, by `supports` or UNIMPLEMENTED from `prepare`, that it does not take these tensors."""


@dataclass(frozen=True, slots=True)
class Operand:
    """An input: its values, its layout, and the axes along which it is one element repeated (stride 0)."""

    values: Array
    layout: str = "contiguous"
    broadcast: tuple[int, ...] = ()

    def placed(self) -> Placed:
        return placed_input(self.values, self.layout, self.broadcast)

    def __str__(self) -> str:
        text = f"{self.values.dtype.name}{list(self.values.shape)}"
        if self.layout != "contiguous":
            text += f" {self.layout}"
        return text + (f" stride 0 on {list(self.broadcast)}" if self.broadcast else "")


@dataclass(frozen=True, slots=True)
class Trial:
    """What is launched. `in_place` has pairs (output, input): outputs that take the memory of an input.
    `launches` is how often one prepared state runs; all but the last run on other values in other memory, as
    a plan of the host does. `dtype` and `shape` are of the output, where the inputs do not tell (a cast, a
    creation). `past_denial` launches what `supports` turns down, as no host would. Without `prepared` the
    launch gets no state, though the kernel could make one."""

    spec: OpSpec
    claim: Claim
    inputs: tuple[Operand | None, ...]
    attributes: Mapping[str, Any] = field(default_factory=dict)
    output_layout: str = "contiguous"
    in_place: tuple[tuple[int, int], ...] = ()
    dtype: np.dtype[Any] | None = None
    shape: tuple[int, ...] = ()
    launches: int = 1
    deterministic: bool = False
    on_stream: bool = False
    past_denial: bool = False
    prepared: bool = True

    def describe(self) -> str:
        parts = ["absent" if operand is None else str(operand) for operand in self.inputs]
        text = f"{self.spec.name}({', '.join(parts)})"
        if self.attributes:
            text += " " + ", ".join(f"{name}={value}" for name, value in self.attributes.items())
        if self.output_layout != "contiguous":
            text += f", output {self.output_layout}"
        if not self.prepared:
            text += ", launched without a state"
        places = [f"output {output} in place of input {number}" for output, number in self.in_place]
        return ", ".join([text, *places])

    def with_values(self, values: Sequence[Array | None]) -> Trial:
        """The same launch on other inputs."""
        operands = (
            None if operand is None or value is None else replace(operand, values=value)
            for operand, value in zip(self.inputs, values, strict=True)
        )
        return replace(self, inputs=tuple(operands))

    def expectation(self) -> list[Expected]:
        values = [None if operand is None else operand.values for operand in self.inputs]
        return expected(self.spec, values, self.attributes, self.dtype, self.shape)


def failure(trial: Trial, message: str, **facts: Any) -> TrialFailure:
    return TrialFailure(trial, message, facts)


def wrong_values(trial: Trial, output: int, comparison: compare.Comparison) -> TrialFailure:
    facts = {"output": output, **comparison.facts()}
    result = TrialFailure(trial, f"{comparison.message()}, by {trial.describe()}", facts)
    result.comparison = comparison
    return result


class TrialFailure(Failure):
    """A failure that carries its trial, so that it can be shrunk and its inputs saved."""

    def __init__(self, trial: Trial, message: str, facts: Mapping[str, Any]) -> None:
        inputs = {
            f"input{number}": operand.values
            for number, operand in enumerate(trial.inputs)
            if operand is not None
        }
        super().__init__(message, {"trial": trial.describe(), **facts}, inputs)
        self.trial = trial
        self.comparison: compare.Comparison | None = None
