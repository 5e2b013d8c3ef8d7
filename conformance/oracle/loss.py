"""Oracles of losses: formulas per element, then the reduction that the call asks for."""

from __future__ import annotations

from typing import Any

import numpy as np

from conformance.oracle.activation import softplus
from conformance.oracle.forms import Array, formula
from conformance.oracle.registry import Call


def _reduced(loss: Array, call: Call) -> Array:
    kind = call.attributes["reduction"]
    if kind == "none":
        return loss
    return np.asanyarray(loss.sum() / loss.size if kind == "mean" else loss.sum())


def log_softmax(x: Array, axis: int) -> Array:
    shifted = x - x.max(axis=axis, keepdims=True)
    return np.asanyarray(shifted - np.log(np.exp(shifted).sum(axis=axis, keepdims=True)))


def _weights(target: Array, weight: Any, ignored: int | None, kind: Any) -> Array:
    """What each target counts for: 1 or the weight of its class, 0 where it is ignored."""
    counts = np.ones(target.shape, bool) if ignored is None else target != ignored
    if weight is None:
        return counts.astype(kind)
    return np.where(counts, weight[np.where(counts, target, 0)], 0)


@formula("target_weights")
def target_weights(call: Call) -> Array:
    target, weight = call.inputs
    kind = np.longdouble if weight is None else weight.dtype
    return _weights(target, weight, call.attributes["ignore_index"], kind)


def _class_loss(logarithms: Array, call: Call) -> Array:
    _, target, weight = call.inputs
    ignored = call.attributes["ignore_index"]
    share = _weights(target, weight, ignored, logarithms.dtype)
    moved = np.moveaxis(logarithms, call.attributes["axis"], -1)
    chosen = np.where(share != 0, target, 0) if ignored is not None else target
    picked = np.take_along_axis(moved, chosen[..., None], -1)[..., 0]
    loss = np.where(share == 0, 0, -picked * share)
    if call.attributes["reduction"] == "mean":
        return np.asanyarray(loss.sum() / share.sum())
    return _reduced(loss, call)


@formula("nll_loss", reduces=True)
def nll_loss(call: Call) -> Array:
    return _class_loss(call.inputs[0], call)


@formula("cross_entropy", reduces=True, measure=lambda call: np.abs(call.inputs[0]).max(initial=1))
def cross_entropy(call: Call) -> Array:
    return _class_loss(log_softmax(call.inputs[0], call.attributes["axis"]), call)


@formula("cross_entropy_gradient", reduces=True, measure=lambda call: np.abs(_class_shares(call)))
def cross_entropy_gradient(call: Call) -> Array:
    scores, target, *_ = call.inputs
    axis = call.attributes["axis"] % scores.ndim
    classes = np.arange(scores.shape[axis]).reshape(-1, *([1] * (scores.ndim - 1 - axis)))
    hit = np.expand_dims(target, axis) == classes
    share = _class_shares(call)
    return np.where(share == 0, 0, share * (np.exp(log_softmax(scores, axis)) - hit))


def _class_shares(call: Call) -> Array:
    """What the loss of each target has of the gradient, with the axis of the classes."""
    scores, target, upstream, weight = call.inputs
    share = _weights(target, weight, call.attributes["ignore_index"], scores.dtype)
    part = share / share.sum() if call.attributes["reduction"] == "mean" else share
    return np.expand_dims(np.where(share == 0, 0, upstream * part), call.attributes["axis"])


@formula("reduced_loss", reduces=True)
def reduced_loss(call: Call) -> Array:
    return _reduced(call.inputs[0], call)


@formula("loss_share")
def loss_share(call: Call) -> Array:
    upstream, x, target = call.inputs
    shape = np.broadcast_shapes(x.shape, target.shape)
    share = upstream / np.prod(shape) if call.attributes["reduction"] == "mean" else upstream
    return np.broadcast_to(share, shape).copy()


def _xlogy(x: Array, y: Array) -> Array:
    return np.where(x == 0, 0, x * np.log(np.where(x == 0, 1, y)))


@formula(
    "mse_loss", "l1_loss", "huber_loss", "smooth_l1_loss", "kl_div", "hinge_loss", "hinge_embedding_loss",
    "soft_margin_loss", "poisson_nll_loss", "binary_cross_entropy", "binary_cross_entropy_with_logits",
    reduces=True,
)  # fmt: skip
def pair(call: Call) -> Array:
    x, t = call.inputs
    return _reduced(_PAIRS[call.op](x, t, call.attributes), call)


def _huber(x: Array, t: Array, a: Any) -> Array:
    size, delta = np.abs(x - t), a["delta"]
    return np.where(size <= delta, size**2 / 2, delta * (size - delta / 2))


def _smooth(x: Array, t: Array, a: Any) -> Array:
    size, beta = np.abs(x - t), a["beta"]
    return size if beta == 0 else np.where(size < beta, size**2 / (2 * beta), size - beta / 2)


def _divergence(x: Array, t: Array, a: Any) -> Array:
    return np.exp(t) * (t - x) if a["log_target"] else _xlogy(t, t) - t * x


def _poisson(x: Array, t: Array, a: Any) -> Array:
    return np.exp(x) - t * x if a["log_input"] else x - t * np.log(x + a["epsilon"])


def _binary(x: Array, t: Array, a: Any) -> Array:
    return -(t * np.maximum(np.log(x), -100) + (1 - t) * np.maximum(np.log1p(-x), -100))


_PAIRS: dict[str, Any] = {
    "mse_loss": lambda x, t, a: (x - t) ** 2,
    "l1_loss": lambda x, t, a: np.abs(x - t),
    "huber_loss": _huber,
    "smooth_l1_loss": _smooth,
    "kl_div": _divergence,
    "hinge_loss": lambda x, t, a: np.maximum(a["margin"] - x * t, 0),
    "hinge_embedding_loss": lambda x, t, a: np.where(t == 1, x, np.maximum(a["margin"] - x, 0)),
    "soft_margin_loss": lambda x, t, a: softplus(-x * t),
    "poisson_nll_loss": _poisson,
    "binary_cross_entropy": _binary,
    "binary_cross_entropy_with_logits": lambda x, t, a: t * softplus(-x) + (1 - t) * softplus(x),
}


@formula("gaussian_nll_loss", reduces=True)
def gaussian(call: Call) -> Array:
    x, target, variance = call.inputs
    held = np.maximum(variance, call.attributes["epsilon"])
    return _reduced((np.log(held) + (x - target) ** 2 / held) / 2, call)


def similarity(x1: Array, x2: Array, axis: int, epsilon: float) -> Array:
    lengths = [np.maximum(np.sqrt((x * x).sum(axis=axis)), epsilon) for x in (x1, x2)]
    return np.asanyarray((x1 * x2).sum(axis=axis) / (lengths[0] * lengths[1]))


@formula("cosine_similarity", reduces=True)
def cosine_similarity(call: Call) -> Array:
    x1, x2 = call.inputs
    return similarity(x1, x2, call.attributes["axis"], call.attributes["epsilon"])


@formula("cosine_embedding_loss", reduces=True)
def cosine_embedding(call: Call) -> Array:
    x1, x2, target = call.inputs
    near = similarity(x1, x2, -1, 1e-8)
    return _reduced(np.where(target == 1, 1 - near, np.maximum(near - call.attributes["margin"], 0)), call)


@formula("margin_ranking_loss", reduces=True)
def margin_ranking(call: Call) -> Array:
    x1, x2, target = call.inputs
    return _reduced(np.maximum(call.attributes["margin"] - target * (x1 - x2), 0), call)


@formula("triplet_margin_loss", reduces=True)
def triplet(call: Call) -> Array:
    anchor, positive, other = call.inputs
    epsilon = call.attributes["epsilon"]
    near, far = (np.sqrt(((anchor - each + epsilon) ** 2).sum(axis=-1)) for each in (positive, other))
    return _reduced(np.maximum(near - far + call.attributes["margin"], 0), call)


@formula("softmax_gradient", reduces=True)
def softmax_gradient(call: Call) -> Array:
    upstream, y = call.inputs
    return np.asanyarray(y * (upstream - (upstream * y).sum(axis=call.attributes["axis"], keepdims=True)))


@formula("log_softmax_gradient", reduces=True)
def log_softmax_gradient(call: Call) -> Array:
    upstream, y = call.inputs
    return np.asanyarray(upstream - np.exp(y) * upstream.sum(axis=call.attributes["axis"], keepdims=True))
