"""Oracles of vectors, running sums and products, differences and norms."""

from __future__ import annotations

import math

import numpy as np

from conformance.oracle.forms import Array, formula
from conformance.oracle.precision import real_dtype, widen
from conformance.oracle.registry import Call, Expected, oracle


@formula("vecdot", reduces=True)
def vecdot(call: Call) -> Array:
    x1, x2 = np.broadcast_arrays(*call.inputs)
    return np.asanyarray((np.conj(x1) * x2).sum(axis=call.attributes["axis"], dtype=x1.dtype))


@formula("outer")
def outer(call: Call) -> Array:
    x1, x2 = call.inputs
    return np.asanyarray(x1[:, None] * x2)


@formula("cross")
def cross(call: Call) -> Array:
    axis = call.attributes["axis"]
    a, b = (np.moveaxis(each, axis, 0) for each in np.broadcast_arrays(*call.inputs))
    made = [a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3] for i in range(3)]
    return np.moveaxis(np.stack(made), 0, axis)


@formula("trace", reduces=True)
def trace(call: Call) -> Array:
    (x,) = call.inputs
    dtype = x.dtype if x.dtype.kind in "fc" or call.dtype is None else call.dtype
    return np.asanyarray(np.trace(x, call.attributes["offset"], -2, -1, dtype=dtype))


@formula("diff", measure=lambda call: np.abs(call.inputs[0]).max() * 2.0 ** call.attributes["n"])
def diff(call: Call) -> Array:
    return np.diff(call.inputs[0], call.attributes["n"], call.attributes["axis"])


@formula("lerp")
def lerp(call: Call) -> Array:
    x1, x2, weight = call.inputs
    return np.asanyarray(x1 + weight * (x2 - x1))


@formula("sum_to", reduces=True)
def sum_to(call: Call) -> Array:
    (x,) = call.inputs
    shape = tuple(call.attributes["shape"])
    added = x.ndim - len(shape)
    x = x.sum(axis=tuple(range(added)), dtype=x.dtype)
    axes = tuple(i for i, n in enumerate(shape) if n == 1 and x.shape[i] != 1)
    return np.asanyarray(x.sum(axis=axes, keepdims=True, dtype=x.dtype))


@formula("cumulative_sum", "cumulative_prod", reduces=True)
def cumulative(call: Call) -> Array:
    (x,), attributes = call.inputs, call.attributes
    axis = x.ndim - 1 if attributes["axis"] is None else attributes["axis"] % x.ndim
    wide = x if x.dtype.kind in "fc" or call.dtype is None else x.astype(call.dtype)
    function, start = (np.cumsum, 0) if call.op == "cumulative_sum" else (np.cumprod, 1)
    out = function(wide, axis=axis, dtype=wide.dtype)
    if attributes["include_initial"]:
        first = np.full_like(np.take(out, [0], axis=axis), start)
        out = np.concatenate([first, out], axis=axis)
    return out


@formula("cumulative_prod_gradient", reduces=True)
def cumulative_prod_gradient(call: Call) -> Array:
    """Each product without the element, by multiplying what is left."""
    g, x, _ = (np.moveaxis(each, call.attributes["axis"], -1) for each in call.inputs)
    out = np.zeros_like(x)
    for j in range(x.shape[-1]):
        rest = x.copy()
        rest[..., j] = 1
        out[..., j] = (g * np.conj(np.cumprod(rest, axis=-1)))[..., j:].sum(axis=-1)
    return np.moveaxis(out, -1, call.attributes["axis"])


@formula("products_of_others", reduces=True)
def products_of_others(call: Call) -> Array:
    (x,) = call.inputs
    others = [np.delete(x, i, axis=-1).prod(axis=-1, dtype=x.dtype) for i in range(x.shape[-1])]
    return np.stack(others, axis=-1)


@oracle("vector_norm")
def vector_norm(call: Call) -> list[Expected]:
    (x,), order = call.inputs, call.attributes["ord"]
    axes = call.attributes["axis"]
    chosen = None if axes is None else tuple(axes)
    size = np.abs(widen(x)).astype(np.longdouble)
    keep = call.attributes["keepdims"]
    if math.isinf(order):
        values = size.max(axis=chosen, keepdims=keep) if order > 0 else size.min(axis=chosen, keepdims=keep)
    elif order == 0:
        values = (size != 0).sum(axis=chosen, keepdims=keep).astype(np.longdouble)
    else:
        # Extended precision has the exponents that squares of the greatest numbers need.
        values = (size**order).sum(axis=chosen, keepdims=keep) ** (1 / np.longdouble(order))
    return [Expected(np.asanyarray(values), real_dtype(x.dtype), extra_ulp=math.log2(max(x.size, 1)))]


@oracle("nan_to_num")
def nan_to_num(call: Call) -> list[Expected]:
    (x,), attributes = call.inputs, call.attributes
    limits = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": 3.4028234663852886e38}
    top = limits.get(x.dtype.name, 1.7976931348623157e308)
    replaced = {
        np.nan: attributes["nan"],
        np.inf: top if attributes["posinf"] is None else attributes["posinf"],
        -np.inf: -top if attributes["neginf"] is None else attributes["neginf"],
    }
    wide = widen(x)
    out = wide.copy()
    out[np.isnan(wide)] = replaced[np.nan]
    out[wide == np.inf], out[wide == -np.inf] = replaced[np.inf], replaced[-np.inf]
    return [Expected(out, x.dtype)]
