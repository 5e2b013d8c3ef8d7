"""An oracle for rules: every primitive and view by NumPy, every composite by its decomposition.

`NumpyOps` is an F. Each call goes through the package's promotion and shape rules first, and what NumPy
then computes must have exactly the shapes and dtypes they announced. So a test of one composite tests
its rule, its shape rule and its promotion against plain NumPy, with no device at all."""

from __future__ import annotations

import math
import warnings

import ml_dtypes
import numpy as np
import pytest
import scipy.special

from device_api import dtypes
from device_api.ops import _rules
from device_api.ops._table import BY_NAME
from device_api.ops.promotion import bind_types
from device_api.ops.shapes import RULES, TensorSpec


class Array:
    """A NumPy array whose operators are ops, as those of tensors are."""

    __array_ufunc__ = None

    def __init__(self, ops, value):
        self.ops = ops
        self.value = np.asarray(value)

    shape = property(lambda self: self.value.shape)
    dtype = property(lambda self: self.value.dtype)
    ndim = property(lambda self: self.value.ndim)
    size = property(lambda self: self.value.size)

    def __bool__(self):
        raise TypeError("a rule may not branch on values")

    def __neg__(self):
        return self.ops.negative(self)


def _operators():
    names = {"add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "matmul": "matmul"}
    for symbol, op in names.items():
        setattr(Array, f"__{symbol}__", lambda self, other, op=op: getattr(self.ops, op)(self, other))
        setattr(Array, f"__r{symbol}__", lambda self, other, op=op: getattr(self.ops, op)(other, self))


_operators()


class NumpyOps:
    """F over NumPy. `draws` counts the random blocks that rules asked for."""

    def __init__(self, seed=0, offset=0):
        self.seed, self.offset, self.draws = seed, offset, 0

    def array(self, value, dtype=None):
        return Array(self, np.asarray(value, dtype))

    def random_state(self, blocks):
        state = (self.array(self.seed, np.uint64), self.array(self.offset + self.draws, np.uint64))
        self.draws += blocks
        return state

    def assemble(self, shape, dtype, pieces):
        result = np.empty(shape, dtype)
        result.view(np.uint8)[...] = 0xAB if result.ndim else 0
        for value, start, stop, step in pieces:
            result[_slices(start, stop, step)] = value.value
        return Array(self, result)

    def __getattr__(self, name):
        if name not in BY_NAME:
            raise AttributeError(name)
        return lambda *arguments, **named: self.call(BY_NAME[name], arguments, named)

    def call(self, spec, arguments, named):
        inputs, attributes = bind(spec, arguments, named)
        specs = [TensorSpec(x.shape, dtypes.code(x.dtype)) if isinstance(x, Array) else x for x in inputs]
        codes = bind_types(spec, specs).inputs
        values = [
            None if code is None else convert(x.value if isinstance(x, Array) else x, dtypes.from_code(code))
            for x, code in zip(inputs, codes, strict=True)
        ]
        promoted = [None if v is None else TensorSpec(v.shape, dtypes.code(v.dtype)) for v in values]
        announced = RULES[spec.shape](spec, promoted, attributes)
        results = self.compute(spec, values, attributes, announced)
        for result, wanted in zip(results, announced, strict=True):
            assert result.shape == wanted.shape, (spec.name, result.shape, wanted.shape)
            assert result.dtype == dtypes.from_code(wanted.dtype), (spec.name, result.dtype, wanted)
        made = tuple(Array(self, result) for result in results)
        return made[0] if len(spec.outputs) == 1 else made

    def compute(self, spec, values, attributes, announced):
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            if spec.name in VIEWS or spec.level == "primitive":
                made = self.primitive(spec, values, attributes, announced)
            else:
                wrapped = [None if v is None else Array(self, v) for v in values]
                fixed = sum(not x.variadic for x in spec.inputs)
                operands = wrapped[:fixed] + ([wrapped[fixed:]] if fixed < len(spec.inputs) else [])
                made = _rules.DECOMPOSE[spec.name](self, *operands, **attributes)
                made = [x.value for x in made] if isinstance(made, tuple) else [made.value]
                # A rule may leave the last conversion and stretching to the planner.
                return [
                    np.broadcast_to(x, s.shape).astype(dtypes.from_code(s.dtype))
                    for x, s in zip(made, announced, strict=True)
                ]
        return made

    def primitive(self, spec, values, attributes, announced):
        dtype = dtypes.from_code(announced[0].dtype)
        if spec.name in VIEWS:
            return [VIEWS[spec.name](values[0], attributes, announced[0].shape)]
        if spec.name in SPECIAL:
            made = SPECIAL[spec.name](values, attributes, announced)
            return made if isinstance(made, list) else [np.asarray(made)]
        # ml_dtypes' arithmetic is incomplete: bfloat16 is computed in float32 and rounded once.
        narrow = any(v.dtype == ml_dtypes.bfloat16 for v in values if v is not None)
        wide = [v.astype(np.float32) if narrow and v.dtype != np.bool_ else v for v in values]
        made = np.asarray(UFUNCS[spec.name](*wide))
        return [made.astype(dtype) if made.dtype != dtype else made]


def bind(spec, arguments, named):
    """The flat inputs and the attributes of a call written as Python."""
    named, arguments = dict(named), list(arguments)
    inputs = []
    for each in spec.inputs:
        value = arguments.pop(0) if arguments else named.pop(each.name, None)
        inputs.extend(value if each.variadic else [value])
    attributes = {}
    for each in spec.attributes:
        value = arguments.pop(0) if arguments else named.pop(each.name, each.default)
        if each.kind in ("axes", "shape", "ints") and isinstance(value, int):
            value = (value,)
        if each.kind == "dtype" and value is not None:
            value = np.dtype(value)
        attributes[each.name] = tuple(value) if isinstance(value, list) else value
    assert not named
    assert not arguments
    return inputs, attributes


def convert(value, dtype):
    """A conversion as the op copy defines it."""
    value = np.asarray(value)
    if value.dtype == dtype:
        return value
    if value.dtype.kind == "c" and dtype.kind != "c":
        value = value.real if dtype.kind != "b" else value != 0
    if dtype.kind in "iu" and (value.dtype.kind == "f" or value.dtype == ml_dtypes.bfloat16):
        limits = np.iinfo(dtype)
        wide = np.nan_to_num(np.trunc(value.astype(np.float64)), nan=0.0)
        exact = [min(max(int(x), limits.min), limits.max) if math.isfinite(x) else
                 (limits.max if x > 0 else limits.min) for x in wide.ravel()]  # fmt: skip
        return np.array(exact, dtype).reshape(value.shape)
    with np.errstate(all="ignore"):
        return value.astype(dtype)


def _slices(start, stop, step):
    return tuple(
        slice(a, None if b < 0 else b, c) if len(range(a, b, c)) else slice(0, 0)
        for a, b, c in zip(start, stop, step, strict=True)
    )


def _shift(left):
    def run(x, n):
        width = x.dtype.itemsize * 8
        out = (n < 0) | (n >= width)
        safe = np.where(out, 0, n).astype(x.dtype)
        done = np.left_shift(x, safe) if left else np.right_shift(x, safe)
        return np.where(out, 0 if left else np.where(x < 0, -1, 0), done).astype(x.dtype)

    return run


def _scatter(values, attributes, announced):
    x, index, updates = values
    if ((index < 0) | (index >= len(x))).any():
        raise IndexError("out of range")
    result = x.copy()
    if attributes["reduction"] == 1:
        for row, update in zip(index, updates, strict=True):
            result[row] = update
    else:
        np.add.at(result, index, updates)
    return result


def _gather(values, attributes, announced):
    x, index = values
    if ((index < 0) | (index >= len(x))).any():
        raise IndexError("out of range")
    return x[index]


def _argsort(values, attributes, announced):
    (x,) = values
    if not attributes["descending"]:
        return np.argsort(x, axis=-1, kind="stable")
    out = np.empty(x.shape, np.int64)
    for place in np.ndindex(x.shape[:-1]):
        row = [x.item() for x in x[place]]
        out[place] = sorted(range(len(row)), key=lambda i, row=row: (row[i] != row[i], -row[i]))
    return out


def _compact(values, attributes, announced):
    found = np.flatnonzero(values[0])
    index = np.zeros(values[0].shape, np.int64)
    index[: len(found)] = found
    return [index, np.asarray(len(found), np.int64)]


def _sum_like(ufunc):
    def run(values, attributes, announced):
        (x,) = values
        wide = np.float32 if x.dtype.name in ("float16", "bfloat16") else x.dtype
        return ufunc(x.astype(wide), axis=-1).astype(x.dtype)

    return run


def _filled(values, attributes, announced):
    return np.full(announced[0].shape, attributes["value"], dtypes.from_code(announced[0].dtype))


def _iota(values, attributes, announced):
    dtype = dtypes.from_code(announced[0].dtype)
    place = np.arange(attributes["size"])
    if dtype.kind in "iu":
        return (attributes["start"] + place * attributes["step"]).astype(dtype)
    return (attributes["start_float"] + place * attributes["step_float"]).astype(dtype)


def _copied(values, attributes, announced):
    return convert(values[0], dtypes.from_code(announced[0].dtype)).copy()


def _pow(x, y):
    if x.dtype.kind not in "iu":
        return np.power(x, y)
    safe = np.power(x, np.where(y < 0, 0, y))
    odd = np.where(y % 2 == 0, 1, -1)
    return np.where(y < 0, np.where(x == 1, 1, np.where(x == -1, odd, 0)), safe).astype(x.dtype)


SPECIAL = {
    "fill": _filled,
    "iota": _iota,
    "copy": _copied,
    "gather_rows": _gather,
    "scatter_rows": _scatter,
    "compact": _compact,
    "argsort_last": _argsort,
    "reduce_sum": _sum_like(np.sum),
    "reduce_prod": _sum_like(np.prod),
    "scan_sum": _sum_like(np.cumsum),
    "scan_prod": _sum_like(np.cumprod),
    "batch_matmul": lambda v, a, s: np.matmul(v[0], v[1]),
}

UFUNCS = {
    "reduce_max": lambda x: np.max(x, axis=-1),
    "reduce_min": lambda x: np.min(x, axis=-1),
    "reduce_any": lambda x: np.any(x, axis=-1),
    "reduce_all": lambda x: np.all(x, axis=-1),
    "reduce_argmax": lambda x: np.argmax(x, axis=-1),
    "reduce_argmin": lambda x: np.argmin(x, axis=-1),
    "erf": scipy.special.erf,
    "erfc": scipy.special.erfc,
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2,
    "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh,
    "round": np.round, "real": np.real, "imag": np.imag, "pow": _pow,
    "sign": lambda x: np.where(x == 0, 0, np.sign(x)).astype(x.dtype),
    "reciprocal": lambda x: 1 / x,
    "bitwise_left_shift": _shift(True), "bitwise_right_shift": _shift(False),
}  # fmt: skip
for _name, _spec in BY_NAME.items():
    if _spec.level == "primitive" and _name not in SPECIAL and _name not in UFUNCS:
        UFUNCS[_name] = getattr(np, {"conj": "conjugate"}.get(_name, _name))


def _windows(x, attributes, shape):
    strides = list(x.strides)
    inner = [strides[a] * d for a, d in zip(attributes["axes"], attributes["dilation"], strict=True)]
    for axis, step in zip(attributes["axes"], attributes["step"], strict=True):
        strides[axis] *= step
    return np.lib.stride_tricks.as_strided(x, shape, (*strides, *inner), writeable=False)


VIEWS = {
    "reshape": lambda x, a, shape: x.reshape(shape),
    "permute_dims": lambda x, a, shape: np.transpose(x, a["axes"]),
    "matrix_transpose": lambda x, a, shape: np.swapaxes(x, -1, -2),
    "expand_dims": lambda x, a, shape: np.expand_dims(x, a["axis"]),
    "squeeze": lambda x, a, shape: np.squeeze(x, a["axis"]),
    "broadcast_to": lambda x, a, shape: np.broadcast_to(x, shape),
    "flip": lambda x, a, shape: np.flip(x, a["axis"]),
    "slice": lambda x, a, shape: x[_slices(a["start"], a["stop"], a["step"])],
    "window_view": lambda x, a, shape: _windows(x, a, shape),
    "diagonal": lambda x, a, shape: np.diagonal(x, a["offset"], -2, -1),
}


@pytest.fixture
def ops():
    """An F over NumPy."""
    return NumpyOps()


@pytest.fixture(scope="session")
def make_ops():
    """Makes an F over NumPy with a random state."""
    return NumpyOps
