"""Oracles of attention, embedding and rotary positions, and of products with their activation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from conformance.oracle.activation import NAMED
from conformance.oracle.forms import Array, formula, moves
from conformance.oracle.registry import Call


def _scores(call: Call) -> Array:
    query, key = call.inputs[:2]
    scale = call.attributes["scale"]
    factor = 1 / np.sqrt(query.dtype.type(query.shape[-1])) if scale is None else scale
    return np.asanyarray(np.matmul(query, np.swapaxes(key, -1, -2)) * factor)


def _weights(call: Call, mask: Any, bias: Any) -> Array:
    scores = _scores(call)
    if bias is not None:
        scores = scores + bias
    kept = np.ones(scores.shape, bool) if mask is None else np.broadcast_to(mask, scores.shape)
    if call.attributes["causal"]:
        first = call.attributes.get("offset", 0)
        rows = np.arange(first, first + scores.shape[-2])[:, None]
        kept = kept & (np.arange(scores.shape[-1]) <= rows)
    top = np.where(kept, scores, -np.inf).max(axis=-1, keepdims=True)
    part = np.where(kept, np.exp(scores - np.where(np.isfinite(top), top, 0)), 0)
    total = part.sum(axis=-1, keepdims=True)
    return np.asanyarray(part / np.where(total == 0, 1, total))


def _size(call: Call) -> Array:
    """An error of one unit in a score moves weights by as much as the score is large."""
    return np.maximum(np.abs(_scores(call)).max(initial=1), 1) * _value_size(call)


def _value_size(call: Call) -> Any:
    return np.abs(call.inputs[2]).max(initial=0) if call.op == "scaled_dot_product_attention" else 1.0


@formula("attention_weights", reduces=True, measure=_size)
def attention_weights(call: Call) -> Array:
    return _weights(call, *call.inputs[2:])


@formula("scaled_dot_product_attention", reduces=True, measure=_size)
def attention(call: Call) -> Array:
    return np.asanyarray(np.matmul(_weights(call, *call.inputs[3:]), call.inputs[2]))


@formula("rotary_embedding", measure=lambda call: np.abs(call.inputs[0]).max())
def rotary(call: Call) -> Array:
    x, cosine, sine = call.inputs
    out = np.empty(x.shape, x.dtype)
    if call.attributes["interleaved"]:
        places = (slice(0, None, 2), slice(1, None, 2))
    else:
        half = x.shape[-1] // 2
        places = (slice(0, half), slice(half, None))
    first, second = (x[..., place] for place in places)
    out[..., places[0]] = first * cosine - second * sine
    out[..., places[1]] = second * cosine + first * sine
    return out


@moves("embedding")
def embedding(call: Call) -> Array:
    weight, indices = call.inputs
    return np.asanyarray(weight[indices])


@formula("embedding_gradient", reduces=True)
def embedding_gradient(call: Call) -> Array:
    upstream, indices = call.inputs
    size, padding = call.attributes["size"], call.attributes["padding_index"]
    rows = np.where(indices < 0, indices + size, indices).reshape(-1)
    out = np.zeros((size, upstream.shape[-1]), upstream.dtype)
    np.add.at(out, rows, upstream.reshape(-1, upstream.shape[-1]))
    if padding is not None:
        out[padding % size] = 0
    return out


def _linear(call: Call) -> Array:
    x, weight, bias = call.inputs
    made = np.matmul(x, np.swapaxes(weight, -1, -2))
    return np.asanyarray(made if bias is None else made + bias)


def _linear_size(call: Call) -> Array:
    x, weight = (np.abs(each) for each in call.inputs[:2])
    bias = call.inputs[2]
    made = np.matmul(x, np.swapaxes(weight, -1, -2)) * math.sqrt(x.shape[-1])
    return np.asanyarray(made if bias is None else made + np.abs(bias))


@formula("linear", measure=_linear_size)
def linear(call: Call) -> Array:
    return _linear(call)


@formula("linear_activation", measure=_linear_size)
def linear_activation(call: Call) -> Array:
    return np.asanyarray(NAMED[call.attributes["activation"]](_linear(call)))
