"""Samples of ops that work element by element, and of losses."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from conformance.samples.draw import Draw, Sample
from conformance.samples.table import makes

_VARIANTS: dict[str, tuple[dict[str, object], ...]] = {
    "leaky_relu": ({}, {"slope": 0.5}),
    "elu": ({}, {"alpha": 1.5}),
    "celu": ({}, {"alpha": 1.5}),
    "gelu": ({}, {"approximate": True}),
    "hardtanh": ({}, {"low": -0.5, "high": 2.0}),
    "hardsigmoid": ({}, {"slope": 0.5, "offset": 0.25}),
    "softshrink": ({}, {"limit": 1.0}),
    "hardshrink": ({}, {"limit": 1.0}),
    "threshold": ({}, {"limit": 0.5, "value": -2.0}),
    "activate": tuple({"activation": name} for name in ("none", "relu", "gelu", "silu", "sigmoid", "tanh")),
}


@makes(
    "relu", "leaky_relu", "elu", "sigmoid", "silu", "gelu", "softplus", "relu6", "hardtanh", "hardsigmoid",
    "hardswish", "mish", "selu", "celu", "softsign", "log_sigmoid", "tanhshrink", "softshrink", "hardshrink",
    "threshold", "activate",
)  # fmt: skip
def activation(d: Draw, op: str) -> Iterator[Sample]:
    for attributes in _VARIANTS.get(op, ({},)):
        for shape in ((), (7,), (2, 3), (2, 1, 3)):
            yield Sample((d.grid(*shape),), attributes)


@makes("activate_gradient")
def activation_gradient(d: Draw, op: str) -> Iterator[Sample]:
    for attributes in _VARIANTS["activate"]:
        yield Sample((d.normal(2, 3), d.grid(2, 3)), attributes)


@makes("gelu_gradient")
def gelu_gradient(d: Draw, op: str) -> Iterator[Sample]:
    for attributes in _VARIANTS["gelu"]:
        for shape in ((), (7,), (2, 3)):
            yield Sample((d.normal(*shape), d.grid(*shape)), attributes)
        # Both ends, where one term alone is left or none.
        ends = np.asarray((-40.0, -16.0, -11.0, -9.0, -5.0, -0.0, 0.0, 5.0, 9.0, 11.0, 16.0, 40.0))
        yield Sample((d.normal(12), ends.astype(d.dtype)), attributes)


@makes("rsqrt")
def rsqrt(d: Draw, op: str) -> Iterator[Sample]:
    for shape in ((), (7,), (2, 3)):
        yield Sample((d.positive(*shape),))


@makes("logit")
def logit(d: Draw, op: str) -> Iterator[Sample]:
    for shape in ((), (7,), (2, 3)):
        yield Sample((d.share(*shape),))


@makes("prelu")
def prelu(d: Draw, op: str) -> Iterator[Sample]:
    for shape, slope in (((7,), (7,)), ((2, 3), (3,)), ((2, 3), ())):
        yield Sample((d.grid(*shape), d.positive(*slope)))


@makes("clip")
def clip(d: Draw, op: str) -> Iterator[Sample]:
    x = d.grid(3, 5)
    yield Sample((x, d.number(-1.0 if d.dtype.kind != "u" else 1), d.number(2.0)))
    yield Sample((x, None, d.number(1.0)))
    yield Sample((x, d.number(1.0), None))
    yield Sample(
        (x, (d.other(5) - d.number(3.0 if d.dtype.kind != "u" else 0)).astype(d.dtype), d.positive(3, 1))
    )


@makes("lerp")
def lerp(d: Draw, op: str) -> Iterator[Sample]:
    yield Sample((d.normal(2, 3), d.normal(2, 3), d.share(2, 3)))
    yield Sample((d.normal(2, 3), d.normal(3), d.number(0.25)))


@makes("nan_to_num")
def nan_to_num(d: Draw, op: str) -> Iterator[Sample]:
    yield Sample((d.normal(2, 3),))
    special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5]).astype(d.dtype)
    yield Sample((special,))
    yield Sample((special,), {"nan": 2.0, "posinf": 8.0, "neginf": -8.0})


@makes("masked_fill")
def masked_fill(d: Draw, op: str) -> Iterator[Sample]:
    yield Sample((d.anything(2, 3), d.mask(2, 3), d.anything()))
    yield Sample((d.anything(2, 3), d.mask(3), d.anything()))


@makes("share_among_equals")
def share_among_equals(d: Draw, op: str) -> Iterator[Sample]:
    x = np.round(d.rng.normal(size=(3, 4)))
    for axes in ((1,), (0,), (0, 1)):
        top = x.max(axis=axes, keepdims=True)
        value = d.rng.normal(size=top.shape).astype(d.dtype if d.dtype.kind in "fV" else np.float32)
        yield Sample((x.astype(d.dtype), top.astype(d.dtype), value), {"axis": axes})


@makes("conjugate")
def conjugate(d: Draw, op: str) -> Iterator[Sample]:
    yield Sample((d.normal(2, 3),))


REDUCTIONS = ("mean", "sum", "none")


@makes("mse_loss", large=True)
def long_distances(d: Draw, op: str) -> Iterator[Sample]:
    for reduction in ("mean", "sum"):
        yield Sample((d.normal(70_001), d.normal(70_001)), {"reduction": reduction})
        yield Sample((d.normal(40, 9), d.normal(9)), {"reduction": reduction})


@makes("mse_loss", "l1_loss", "huber_loss", "smooth_l1_loss", "binary_cross_entropy_with_logits")
def distances(d: Draw, op: str) -> Iterator[Sample]:
    variants: tuple[dict[str, object], ...] = ({},)
    if op == "huber_loss":
        variants = ({}, {"delta": 0.5})
    if op == "smooth_l1_loss":
        variants = ({}, {"beta": 0.5}, {"beta": 0.0})
    for reduction in REDUCTIONS:
        for attributes in variants:
            yield Sample((d.grid(2, 3), d.other(2, 3)), {**attributes, "reduction": reduction})
        yield Sample((d.grid(7), d.other(7)), {"reduction": reduction})


@makes("kl_div", "poisson_nll_loss", "binary_cross_entropy")
def likelihoods(d: Draw, op: str) -> Iterator[Sample]:
    for reduction in REDUCTIONS:
        if op == "kl_div":
            yield Sample((d.normal(2, 3), d.positive(2, 3)), {"reduction": reduction})
            yield Sample((d.normal(2, 3), d.normal(2, 3)), {"log_target": True, "reduction": reduction})
        elif op == "poisson_nll_loss":
            yield Sample((d.normal(2, 3), d.positive(2, 3)), {"reduction": reduction})
            yield Sample((d.positive(2, 3), d.positive(2, 3)), {"log_input": False, "reduction": reduction})
        else:
            yield Sample((d.share(2, 3), d.share(2, 3)), {"reduction": reduction})


@makes("hinge_loss", "hinge_embedding_loss", "soft_margin_loss")
def margins(d: Draw, op: str) -> Iterator[Sample]:
    for reduction in REDUCTIONS:
        yield Sample((d.grid(2, 3), d.signs(2, 3)), {"reduction": reduction})
        if op != "soft_margin_loss":
            yield Sample((d.grid(7), d.signs(7)), {"margin": 0.5, "reduction": reduction})


@makes("gaussian_nll_loss")
def gaussian(d: Draw, op: str) -> Iterator[Sample]:
    for reduction in REDUCTIONS:
        yield Sample((d.grid(2, 3), d.other(2, 3), d.positive(2, 3)), {"reduction": reduction})


@makes("margin_ranking_loss")
def ranking(d: Draw, op: str) -> Iterator[Sample]:
    for reduction in REDUCTIONS:
        for margin in (0.0, 0.5):
            inputs = (d.grid(2, 3), d.other(2, 3), d.signs(2, 3))
            yield Sample(inputs, {"margin": margin, "reduction": reduction})


@makes("triplet_margin_loss")
def triplet(d: Draw, op: str) -> Iterator[Sample]:
    # Margins that no distance reaches: the loss is on one side of its kink.
    for reduction in REDUCTIONS:
        for margin in (64.0, -64.0):
            inputs = (d.grid(4, 3), d.other(4, 3), d.normal(4, 3) + d.number(8.0))
            yield Sample(tuple(x.astype(d.dtype) for x in inputs), {"margin": margin, "reduction": reduction})


@makes("cosine_similarity")
def cosine(d: Draw, op: str) -> Iterator[Sample]:
    for axis in (0, 1):
        yield Sample((d.grid(3, 4), d.other(3, 4)), {"axis": axis})


@makes("cosine_embedding_loss")
def cosine_embedding(d: Draw, op: str) -> Iterator[Sample]:
    target = np.array([1, -1, 1, -1])
    for reduction in REDUCTIONS:
        for margin in (-1.0, 1.0):
            inputs = (d.grid(4, 3), d.other(4, 3), target)
            yield Sample(inputs, {"margin": margin, "reduction": reduction})


@makes("reduced_loss")
def reduced(d: Draw, op: str) -> Iterator[Sample]:
    for reduction in REDUCTIONS:
        for shape in ((7,), (2, 3)):
            yield Sample((d.normal(*shape),), {"reduction": reduction})


@makes("loss_share")
def loss_share(d: Draw, op: str) -> Iterator[Sample]:
    for reduction in REDUCTIONS:
        upstream = d.normal(2, 3) if reduction == "none" else d.normal()
        yield Sample((upstream, d.normal(2, 3), d.normal(2, 3)), {"reduction": reduction})


@makes("nll_loss", "cross_entropy")
def class_loss(d: Draw, op: str) -> Iterator[Sample]:
    for reduction in REDUCTIONS:
        yield Sample((d.normal(4, 3), d.index(3, 4), None), {"reduction": reduction})
        yield Sample((d.normal(4, 3), d.index(3, 4), d.positive(3)), {"reduction": reduction})
        yield Sample((d.normal(2, 3, 2), d.index(3, 2, 2), None), {"axis": 1, "reduction": reduction})
        target = np.array([2, -100, 0, -100])
        attributes = {"reduction": reduction, "ignore_index": -100}
        yield Sample((d.normal(4, 3), target, None), attributes)
        yield Sample((d.normal(4, 3), target, d.positive(3)), attributes)


@makes("cross_entropy_gradient")
def class_loss_gradient(d: Draw, op: str) -> Iterator[Sample]:
    for reduction in REDUCTIONS:
        for scores, axis in (
            (d.normal(4, 3), 1),
            (d.normal(2, 3, 2), 1),
            (d.normal(2, 3, 4), 2),
            (d.normal(3), 0),
        ):
            shape = tuple(size for place, size in enumerate(scores.shape) if place != axis)
            upstream = d.normal(*shape) if reduction == "none" else d.number(0.75)
            classes = scores.shape[axis]
            for weight in (None, d.positive(classes)):
                target = d.index(classes, *shape)
                yield Sample((scores, target, upstream, weight), {"axis": axis, "reduction": reduction})
        upstream = d.normal(4) if reduction == "none" else d.number(0.75)
        for ignored, targets in ((-100, [2, -100, 0, -100]), (1, [1, 0, 2, 1]), (7, [7, 2, 0, 1])):
            for weight in (None, d.positive(3)):
                attributes = {"axis": 1, "reduction": reduction, "ignore_index": ignored}
                yield Sample((d.normal(4, 3), np.array(targets), upstream, weight), attributes)
        nothing = (d.number(0.0) * d.positive(3)).astype(d.dtype)
        nothing[1] = 1
        yield Sample(
            (d.normal(4, 3), np.array([1, 0, 2, 1]), upstream, nothing), {"axis": 1, "reduction": reduction}
        )


@makes("cross_entropy_gradient", large=True)
def large_class_loss_gradient(d: Draw, op: str) -> Iterator[Sample]:
    for count, classes in ((9, 1000), (700, 31), (3, 20_001)):
        scores, target = d.normal(count, classes), d.index(classes, count)
        yield Sample((scores, target, d.number(0.75), None), {"axis": 1})
        target[1] = 5
        attributes = {"axis": 1, "reduction": "none", "ignore_index": 5}
        yield Sample((scores, target, d.normal(count), d.positive(classes)), attributes)


@makes("target_weights")
def target_weights(d: Draw, op: str) -> Iterator[Sample]:
    target = np.array([2, 0, 1, 1, 2])
    for weight in (None, d.positive(3)):
        yield Sample((target, weight), {"classes": 3, "dtype": d.dtype}, d.dtype)
        yield Sample((target, weight), {"classes": 3, "dtype": d.dtype, "ignore_index": 1}, d.dtype)


@makes("glu")
def glu(d: Draw, op: str) -> Iterator[Sample]:
    for axis in (0, 1):
        yield Sample((d.grid(4, 6),), {"axis": axis})
