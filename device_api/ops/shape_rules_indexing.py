"""Shape rules of ops that pick by position, and of ops that draw random numbers. Inputs have been
promoted; attributes are in normal form."""

from __future__ import annotations

from device_api import dtypes
from device_api.ops.shape_support import (
    Attributes,
    Inputs,
    Rule,
    TensorSpec,
    axis_of,
    broadcast,
    dtype_of,
    first,
    given,
    second,
    shape_error,
    value_error,
    without,
)
from device_api.opset.spec import OpSpec


def gather_rows(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """x (n, c), index (k) -> (k, c)."""
    x, index = first(inputs).shape, second(inputs).shape
    if len(x) != 2 or len(index) != 1:
        raise shape_error(op, "x (n, c) and index (k) are needed", [x, index])
    return [TensorSpec((index[0], x[1]), dtype_of(op, inputs, attributes))]


def scatter_rows(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """x (n, c), index (k), updates (k, c) -> (n, c)."""
    x, index, updates = (spec.shape for spec in given(inputs))
    if len(x) != 2 or len(index) != 1 or updates != (index[0], x[1]):
        raise shape_error(op, "x (n, c), index (k) and updates (k, c) are needed", [x, index, updates])
    code = dtype_of(op, inputs, attributes)
    if attributes["reduction"] == 2 and code not in dtypes.NUMERIC:
        raise value_error(op, "reduction", "add", f"{dtypes.NAMES[code]} cannot be added")
    return [TensorSpec(x, code)]


def compact(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """mask (n) -> index (n), count ()."""
    shape = first(inputs).shape
    if len(shape) != 1:
        raise shape_error(op, "a mask of one dimension is needed", [shape], "mask")
    return [TensorSpec(shape, dtypes.INT64), TensorSpec((), dtypes.INT64)]


def position_of_last(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """The shape of the index, which has one dimension."""
    shape = first(inputs).shape
    if len(shape) != 1:
        raise shape_error(op, "an index of one dimension is needed", [shape], "index")
    return [TensorSpec(shape, dtypes.BOOL_CODE)]


def take(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """The axis of x is replaced by the axes of the indices."""
    x, indices = first(inputs), second(inputs)
    axis = axis_of(op, attributes["axis"], len(x.shape))
    shape = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
    return [TensorSpec(shape, dtype_of(op, inputs, attributes))]


def put_add(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """The shape asked for; updates have the shape that take with these indices would give."""
    updates, indices, shape = first(inputs), second(inputs), tuple(attributes["shape"])
    axis = axis_of(op, attributes["axis"], len(shape))
    expected = (*shape[:axis], *indices.shape, *shape[axis + 1 :])
    if updates.shape != expected:
        raise shape_error(
            op, f"updates must have the shape {expected}", [updates.shape, indices.shape], "updates"
        )
    return [TensorSpec(shape, updates.dtype)]


def take_along_axis(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """Shapes broadcast except along the axis, where the result is as long as the indices."""
    x, indices = first(inputs), second(inputs)
    return [TensorSpec(_along(op, x.shape, indices.shape, attributes["axis"]), x.dtype)]


def put_along_axis_add(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """The shape asked for; updates have the shape that take_along_axis with these indices would give."""
    updates, indices, shape = first(inputs), second(inputs), tuple(attributes["shape"])
    expected = _along(op, shape, indices.shape, attributes["axis"])
    if updates.shape != expected:
        raise shape_error(
            op, f"updates must have the shape {expected}", [updates.shape, indices.shape], "updates"
        )
    return [TensorSpec(shape, updates.dtype)]


def one_hot(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """A new axis of num_classes."""
    shape = first(inputs).shape
    count = attributes["num_classes"]
    if count < 0:
        raise value_error(op, "num_classes", count, "it counts classes")
    axis = axis_of(op, attributes["axis"], len(shape) + 1)
    code = dtypes.default_code(float) if attributes["dtype"] is None else dtype_of(op, inputs, attributes)
    return [TensorSpec((*shape[:axis], count, *shape[axis:]), code)]


def random_bits(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """One dimension of `size` 32-bit words."""
    if attributes["size"] < 0:
        raise value_error(op, "size", attributes["size"], "it counts words")
    for spec in given(inputs):
        if spec.shape:
            raise shape_error(op, "seed and offset are 0-d", [spec.shape])
    return [TensorSpec((attributes["size"],), dtypes.UINT32)]


def permutation(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """One dimension of `size` positions."""
    if attributes["size"] < 0:
        raise value_error(op, "size", attributes["size"], "it counts positions")
    return [TensorSpec((attributes["size"],), dtypes.INT64)]


def randint(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """The shape asked for, of numbers from a range that is not empty."""
    low, high = attributes["low"], attributes["high"]
    if low >= high:
        raise value_error(op, "high", high, f"it must be above low, which is {low}")
    code = dtypes.INT64 if attributes["dtype"] is None else dtype_of(op, inputs, attributes)
    return [TensorSpec(tuple(attributes["shape"]), code)]


def dropout(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """The shape of x twice: the result, and what was kept."""
    x = first(inputs)
    if not 0.0 <= attributes["rate"] < 1.0:
        raise value_error(op, "rate", attributes["rate"], "it lies in [0, 1)")
    return [x, TensorSpec(x.shape, dtypes.BOOL_CODE)]


def probability(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
    """The shape asked for, of booleans."""
    if not 0.0 <= attributes["p"] <= 1.0:
        raise value_error(op, "p", attributes["p"], "a probability lies in [0, 1]")
    return [TensorSpec(tuple(attributes["shape"]), dtype_of(op, inputs, attributes))]


def _along(op: OpSpec, shape: tuple[int, ...], indices: tuple[int, ...], axis: int) -> tuple[int, ...]:
    if len(shape) != len(indices):
        raise shape_error(
            op, "x and indices have as many dimensions as each other", [shape, indices], "indices"
        )
    place = axis_of(op, axis, len(shape))
    batch = broadcast(op, [without(shape, (place,)), without(indices, (place,))])
    return (*batch[:place], indices[place], *batch[place:])


RULES: dict[str, Rule] = {
    rule.__name__: rule
    for rule in (
        gather_rows, scatter_rows, compact, position_of_last, take, put_add, take_along_axis,
        put_along_axis_add, one_hot, random_bits, permutation, randint, dropout, probability,
    )
}  # fmt: skip
