"""Symbolic tensors: what decomposition rules compute with while a plan is being built.

A `Ref` looks like a tensor (shape, dtype, operators) and stands for a place in memory that will exist when
the plan runs: one of the call's inputs or outputs, a temporary, or a constant. Operators record steps in the
builder that the Ref belongs to. Nothing here chooses kernels or touches memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from device_api import dtypes
from device_api.ops.views import Layout

if TYPE_CHECKING:
    from device_api._core import Tensor

Scalar = bool | int | float | complex


@dataclass(frozen=True, slots=True)
class RunTimeScalar:
    """A Python number among a call's inputs. Its kind is known to the plan, its value only when it runs."""

    index: int
    kind: type


@dataclass(slots=True, eq=False)
class Storage:
    """A place in memory. `kind` is "input", "out", "temp" or "constant"; `index` is the position of an input
    or out argument; `bytes` is the size of a temporary; `tensor` is the constant itself. `number` is known
    for a place that holds one number only."""

    kind: str
    index: int = -1
    bytes: int = 0
    tensor: Tensor | None = None
    number: RunTimeScalar | Scalar | None = None


class Recorder(Protocol):
    """What a Ref needs of its builder."""

    def call(self, op: str, *arguments: Any, **attributes: Any) -> Any:
        """Records an op and gives its result."""


class Ref:
    """A symbolic tensor: dtype code, layout (strides and offset in elements) and the storage it lies in."""

    __slots__ = ("builder", "code", "layout", "storage")
    __array_ufunc__ = None

    def __init__(self, builder: Recorder, storage: Storage, code: int, layout: Layout) -> None:
        self.builder = builder
        self.storage = storage
        self.code = code
        self.layout = layout

    @property
    def shape(self) -> tuple[int, ...]:
        return self.layout.shape

    @property
    def strides(self) -> tuple[int, ...]:
        return self.layout.strides

    @property
    def dtype(self) -> np.dtype[Any]:
        return dtypes.from_code(self.code)

    @property
    def ndim(self) -> int:
        return len(self.layout.shape)

    @property
    def size(self) -> int:
        return self.layout.size

    @property
    def byte_offset(self) -> int:
        return self.layout.offset * dtypes.ITEM_SIZES[self.code]

    def viewed(self, layout: Layout) -> Ref:
        """The same storage and dtype under another layout."""
        return Ref(self.builder, self.storage, self.code, layout)

    def __repr__(self) -> str:
        return f"Ref({self.storage.kind}, {dtypes.NAMES[self.code]}, {self.shape})"

    def __len__(self) -> int:
        return self.shape[0]

    def __bool__(self) -> bool:
        raise TypeError("a plan knows shapes and dtypes, never values: a rule may not branch on a tensor")

    def __neg__(self) -> Any:
        return self.builder.call("negative", self)

    def __abs__(self) -> Any:
        return self.builder.call("abs", self)

    def __invert__(self) -> Any:
        return self.builder.call("bitwise_invert", self)

    def __eq__(self, other: object) -> Any:
        return self.builder.call("equal", self, other)

    def __ne__(self, other: object) -> Any:
        return self.builder.call("not_equal", self, other)

    __hash__ = object.__hash__


def _install_operators() -> None:
    """Gives Ref the binary operators, plain and reflected, each recording the op of its name."""
    names = {
        "add": "add",
        "sub": "subtract",
        "mul": "multiply",
        "truediv": "divide",
        "floordiv": "floor_divide",
        "mod": "remainder",
        "pow": "pow",
        "matmul": "matmul",
        "and": "bitwise_and",
        "or": "bitwise_or",
        "xor": "bitwise_xor",
        "lshift": "bitwise_left_shift",
        "rshift": "bitwise_right_shift",
    }
    compared = {"lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal"}

    def plain(op: str) -> Any:
        return lambda self, other: self.builder.call(op, self, other)

    def reflected(op: str) -> Any:
        return lambda self, other: self.builder.call(op, other, self)

    for symbol, op in {**names, **compared}.items():
        setattr(Ref, f"__{symbol}__", plain(op))
    for symbol, op in names.items():
        setattr(Ref, f"__r{symbol}__", reflected(op))


_install_operators()
