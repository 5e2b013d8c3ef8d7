"""Gradient cases of ops that networks are made of: op name to functions of tensors and the arrays that they
are differentiated by. Used by the tests of gradients; elements are kept away from kinks."""

from __future__ import annotations

import numpy as np

import device_api as da
from device_api.ops import _functions as F

rng = np.random.default_rng(5)
X = rng.normal(size=(2, 3)) * 2 + 0.013
Y = rng.normal(size=(2, 3)) + 0.1
POSITIVE = np.abs(rng.normal(size=(2, 3))) + 0.3
SIGNS = np.array([[1.0, -1.0, 1.0], [-1.0, -1.0, 1.0]])
CUBE = rng.normal(size=(2, 4, 3))
SIGNAL = rng.permutation(2 * 2 * 7).reshape(2, 2, 7) * 0.37 - 4.0
IMAGE = rng.permutation(2 * 4 * 5).reshape(1, 2, 4, 5) * 0.21 - 3.0
VOLUME = rng.permutation(2 * 3 * 2 * 3).reshape(1, 2, 3, 2, 3) * 0.33 - 4.0


def normal(*shape):
    return rng.normal(size=shape)


def unary(name, values=X, **attributes):
    return (lambda x: getattr(F, name)(x, **attributes), values)


def losses(name, *arrays, **attributes):
    return [
        (lambda *a, r=reduction: getattr(F, name)(*a, reduction=r, **attributes), *arrays)
        for reduction in ("mean", "sum", "none")
    ]


def index(values):
    return da.asarray(np.asarray(values))


MASK = index([[True, False, True], [True, True, True]])
QUERY, KEY, VALUE = normal(2, 2, 4), normal(2, 3, 4), normal(2, 3, 2)

CASES = {
    **{
        f"{name} with weights": [
            (
                lambda x, n=name, r=reduction: getattr(F, n)(
                    x, index([2, -100]), index([0.5, 2.0, 3.0]), reduction=r, ignore_index=-100
                ),
                X,
            )
            for reduction in ("mean", "sum", "none")
        ]
        for name in ("nll_loss", "cross_entropy")
    },
    **{
        name: [unary(name)]
        for name in (
            "relu6",
            "hardtanh",
            "hardsigmoid",
            "hardswish",
            "mish",
            "selu",
            "celu",
            "softsign",
            "log_sigmoid",
            "tanhshrink",
            "softshrink",
            "hardshrink",
            "threshold",
        )
    },
    "prelu": [(F.prelu, X, POSITIVE[0])],
    "glu": [unary("glu", CUBE, axis=1), unary("glu", normal(4), axis=0)],
    "logit": [unary("logit", rng.uniform(0.1, 0.9, (2, 3)))],
    "l1_loss": losses("l1_loss", X, Y) + losses("l1_loss", X, Y[0]),
    "huber_loss": losses("huber_loss", X, Y, delta=0.7),
    "smooth_l1_loss": losses("smooth_l1_loss", X, Y, beta=0.5) + losses("smooth_l1_loss", X, Y, beta=0.0),
    "kl_div": losses("kl_div", X, POSITIVE) + losses("kl_div", X, Y, log_target=True),
    "hinge_loss": losses("hinge_loss", X, Y),
    "hinge_embedding_loss": [
        (lambda x: F.hinge_embedding_loss(x, index(SIGNS), reduction="none"), X),
        (lambda x: F.hinge_embedding_loss(x, index(SIGNS)), X),
    ],
    "soft_margin_loss": losses("soft_margin_loss", X, Y),
    "poisson_nll_loss": losses("poisson_nll_loss", X, Y)
    + losses("poisson_nll_loss", POSITIVE, Y, log_input=False),
    "binary_cross_entropy": losses(
        "binary_cross_entropy", rng.uniform(0.2, 0.8, (2, 3)), rng.uniform(0.2, 0.8, (2, 3))
    ),
    "gaussian_nll_loss": losses("gaussian_nll_loss", X, Y, POSITIVE),
    "cosine_similarity": [
        (F.cosine_similarity, X, Y),
        (lambda a, b: F.cosine_similarity(a, b, axis=0), X, Y),
    ],
    "cosine_embedding_loss": [
        (lambda a, b: F.cosine_embedding_loss(a, b, index([1, -1]), margin=-1.0, reduction="none"), X, Y),
        (lambda a, b: F.cosine_embedding_loss(a, b, index([1, -1]), margin=-1.0), X, Y),
    ],
    "margin_ranking_loss": losses("margin_ranking_loss", X, Y, SIGNS * 1.1, margin=0.3),
    "triplet_margin_loss": losses("triplet_margin_loss", X, Y, X + Y, margin=3.0),
    "reduced_loss": losses("reduced_loss", X),
    "loss_share": [
        (lambda u: F.loss_share(u, index(X), index(Y), reduction="none"), X),
        (lambda u: F.loss_share(u, index(X), index(Y), reduction="mean"), np.float64(0.5)),
        (lambda u: F.loss_share(u, index(X), index(Y), reduction="sum"), np.float64(0.5)),
    ],
    "softmax_gradient": [(lambda u, y: F.softmax_gradient(u, y, axis=-1), X, Y)],
    "log_softmax_gradient": [(lambda u, y: F.log_softmax_gradient(u, y, axis=0), X, Y)],
    "standardize": [(lambda x: F.standardize(x, axis=(0, 2)), CUBE)],
    "standardize_gradient": [(lambda u, x: F.standardize_gradient(u, x, axis=-1), X, Y)],
    "layer_norm_gradient": [
        *(
            (lambda u, x, w, kind=kind: F.layer_norm_gradient(u, x, w, centred=kind)[0], X, Y, normal(3))
            for kind in (True, False)
        ),
        *(
            (lambda u, x, kind=kind: F.layer_norm_gradient(u, x, centred=kind, by_x=False)[1], X, Y)
            for kind in (True, False)
        ),
        (lambda u: F.layer_norm_gradient(u, index(Y))[2], X),
        (lambda u, x: F.layer_norm_gradient(u, x, axis=1, by_bias=False)[0], CUBE, CUBE[::-1] * 0.5),
    ],
    "batch_norm": [
        (F.batch_norm, X, Y[0], POSITIVE[0], Y[1], X[0]),
        (F.batch_norm, CUBE, normal(4), np.abs(normal(4)) + 0.5),
    ],
    "batch_norm_training": [
        (
            lambda x, w, b: F.batch_norm_training(x, index(np.zeros(4)), index(np.ones(4)), w, b)[0],
            CUBE,
            normal(4),
            normal(4),
        ),
        (lambda x: F.batch_norm_training(x, index(np.zeros(3)), index(np.ones(3)))[0], normal(4, 3)),
    ],
    "group_norm": [
        (lambda x, w, b: F.group_norm(x, w, b, groups=2), CUBE, normal(4), normal(4)),
        (lambda x: F.group_norm(x, groups=1), CUBE),
    ],
    "instance_norm": [(F.instance_norm, CUBE, normal(4), normal(4)), (F.instance_norm, IMAGE)],
    "window_view": [(lambda x: F.window_view(x, (1, 2), (2, 2), (2, 1), (1, 2)), normal(1, 5, 4))],
    "window_scatter": [
        (
            lambda x: F.window_scatter(
                x, shape=(1, 5, 4), axes=(1, 2), window=(2, 2), step=(2, 1), dilation=(1, 2)
            ),
            normal(1, 2, 2, 2, 2),
        ),
    ],
    "convolution": [
        (lambda x, w, b: F.convolution(x, w, b, padding=(1, 0)), SIGNAL, normal(2, 2, 3), normal(2))
    ],
    "convolution_input_gradient": [
        (
            lambda u, w: F.convolution_input_gradient(u, w, shape=(1, 2, 5), stride=2, padding=1),
            normal(1, 3, 3),
            normal(3, 2, 3),
        ),
    ],
    "convolution_weight_gradient": [
        (
            lambda x, u: F.convolution_weight_gradient(x, u, shape=(3, 2, 3), stride=2, padding=1),
            normal(2, 2, 5),
            normal(2, 3, 3),
        ),
    ],
    "conv1d": [
        (
            lambda x, w, b: F.conv1d(x, w, b, stride=2, padding=1, dilation=2),
            SIGNAL,
            normal(3, 2, 2),
            normal(3),
        ),
        (lambda x, w: F.conv1d(x, w, groups=2), SIGNAL, normal(4, 1, 3)),
    ],
    "conv2d": [
        (lambda x, w, b: F.conv2d(x, w, b, padding=1), IMAGE, normal(2, 2, 3, 3), normal(2)),
        (
            lambda x, w: F.conv2d(x, w, stride=(2, 1), padding=(1, 0, 0, 2), groups=2),
            IMAGE,
            normal(2, 1, 2, 2),
        ),
        (F.conv2d, IMAGE, normal(3, 2, 1, 1)),
    ],
    "conv3d": [(lambda x, w: F.conv3d(x, w, padding=(1, 0, 1)), VOLUME, normal(1, 2, 2, 2, 2))],
    "conv_transpose1d": [
        (
            lambda x, w, b: F.conv_transpose1d(x, w, b, stride=2, padding=1, output_padding=1),
            normal(1, 2, 3),
            normal(2, 2, 3),
            normal(2),
        ),
        (lambda x, w: F.conv_transpose1d(x, w, groups=2, dilation=2), normal(1, 2, 3), normal(2, 1, 2)),
    ],
    "conv_transpose2d": [
        (lambda x, w: F.conv_transpose2d(x, w, stride=2, padding=1), normal(1, 2, 2, 3), normal(2, 1, 3, 3)),
    ],
    "conv_transpose3d": [(F.conv_transpose3d, normal(1, 1, 2, 1, 2), normal(1, 2, 2, 2, 2))],
    "max_pool": [unary("max_pool", IMAGE, window=2, padding=1, ceil_mode=True)],
    "max_pool_gradient": [
        (lambda u: F.max_pool_gradient(u, index(IMAGE), window=2, stride=1), normal(1, 2, 3, 4)),
    ],
    "max_pool1d": [unary("max_pool1d", SIGNAL, window=3, stride=2, padding=1)],
    "max_pool2d": [unary("max_pool2d", IMAGE, window=2, stride=1, dilation=2)],
    "max_pool3d": [unary("max_pool3d", VOLUME, window=(2, 1, 2))],
    "avg_pool": [unary("avg_pool", IMAGE, window=3, padding=1, stride=2, ceil_mode=True)],
    "avg_pool_gradient": [
        (lambda u: F.avg_pool_gradient(u, shape=(1, 2, 5), window=2, padding=1, stride=2), normal(1, 2, 3)),
    ],
    "avg_pool1d": [unary("avg_pool1d", SIGNAL, window=3, stride=2, padding=1, count_include_pad=False)],
    "avg_pool2d": [unary("avg_pool2d", IMAGE, window=(2, 3), stride=1)],
    "avg_pool3d": [unary("avg_pool3d", VOLUME, window=2, ceil_mode=True)],
    "adaptive_avg_pool1d": [
        unary("adaptive_avg_pool1d", SIGNAL, size=3),
        unary("adaptive_avg_pool1d", SIGNAL, size=9),
    ],
    "adaptive_avg_pool2d": [unary("adaptive_avg_pool2d", IMAGE, size=(2, 3))],
    "adaptive_avg_pool3d": [unary("adaptive_avg_pool3d", VOLUME, size=2)],
    "adaptive_avg_pool_gradient": [
        (lambda u: F.adaptive_avg_pool_gradient(u, shape=(1, 1, 5), size=(3,)), normal(1, 1, 3)),
    ],
    "global_avg_pool": [unary("global_avg_pool", IMAGE)],
    "global_max_pool": [unary("global_max_pool", IMAGE)],
    "pad_mode": [
        unary("pad_mode", CUBE, before=(0, 2, 1), after=(0, 1, 2), mode=mode)
        for mode in ("reflect", "replicate", "circular")
    ],
    "resize_nearest": [unary("resize_nearest", IMAGE, size=(7, 2))],
    "resize_nearest_gradient": [(lambda u: F.resize_nearest_gradient(u, shape=(1, 1, 3)), normal(1, 1, 5))],
    "resize_linear": [
        unary("resize_linear", IMAGE, size=(7, 3)),
        unary("resize_linear", IMAGE, size=(3, 8), align_corners=True),
    ],
    "resize_linear_gradient": [(lambda u: F.resize_linear_gradient(u, shape=(1, 1, 3)), normal(1, 1, 5))],
    "pixel_shuffle": [unary("pixel_shuffle", normal(4, 1, 2), factor=2)],
    "pixel_unshuffle": [unary("pixel_unshuffle", normal(1, 2, 4), factor=2)],
    "attention_weights": [
        (lambda q, k, b: F.attention_weights(q, k, MASK, b), QUERY, KEY, normal(2, 3)),
        (lambda q, k: F.attention_weights(q, k, causal=True, scale=0.3), QUERY, KEY),
    ],
    "scaled_dot_product_attention": [
        (F.scaled_dot_product_attention, QUERY, KEY, VALUE),
        (
            lambda q, k, v, b: F.scaled_dot_product_attention(q, k, v, MASK, b),
            QUERY,
            KEY,
            VALUE,
            normal(2, 3),
        ),
        (lambda q, k, v: F.scaled_dot_product_attention(q, k, v, causal=True), QUERY, KEY[0], VALUE),
    ],
    "rotary_embedding": [
        (
            lambda x, c, s, i=interleaved: F.rotary_embedding(x, c, s, interleaved=i),
            normal(2, 3, 4),
            normal(3, 2),
            normal(3, 2),
        )
        for interleaved in (False, True)
    ],
    "embedding": [
        (lambda w: F.embedding(w, index([[0, 1], [1, -1]])), normal(3, 2)),
    ],
    "embedding_gradient": [
        (lambda u: F.embedding_gradient(u, index([0, 2, 0]), size=3, padding_index=2), normal(3, 2)),
    ],
    "diagonal": [unary("diagonal", normal(2, 3, 4), offset=1), unary("diagonal", X, offset=-1)],
    "diagonal_scatter": [(lambda x: F.diagonal_scatter(x, shape=(3, 4), offset=-1), normal(2))],
    "trace": [unary("trace", normal(2, 3, 3)), unary("trace", X, offset=1)],
    "outer": [(F.outer, normal(2), normal(3)), (F.outer, normal(2) + 1j, normal(3) * 1j)],
    "diff": [unary("diff", normal(2, 4), n=2), unary("diff", normal(3, 2), axis=0)],
    "cross": [(F.cross, X, Y), (F.cross, X + 1j * Y, Y[0] - 2j)],
    "vector_norm": [
        unary("vector_norm", values, axis=axis, ord=order)
        for order in (2.0, 1.0, 3.0, float("inf"), float("-inf"))
        for axis, values in ((None, X), (1, X))
    ]
    + [unary("vector_norm", X + 1j * Y)],
    "repeat": [unary("repeat", X, repeats=2, axis=1)],
    "top_k": [(lambda x: F.top_k(x, 2)[0], X), (lambda x: F.top_k(x, 1, axis=0, largest=False)[0], X)],
    "nan_to_num": [unary("nan_to_num")],
    "lerp": [(F.lerp, X, Y, POSITIVE)],
    "masked_fill": [(lambda x, v: F.masked_fill(x, MASK, v), X, np.float64(0.4))],
    "index_add": [(lambda x, u: F.index_add(x, index([1, 1, 0]), u), X, normal(3, 3))],
    "scatter_add": [(lambda x, u: F.scatter_add(x, index([[0, 0], [2, -1]]), u, axis=1), X, normal(2, 2))],
    "linear_activation": [
        (lambda x, w, b, a=activation: F.linear_activation(x, w, b, activation=a), X, normal(2, 3), normal(2))
        for activation in ("none", "relu", "gelu", "silu", "sigmoid", "tanh")
    ],
    "activate": [unary("activate", activation=each) for each in ("relu", "gelu", "silu", "sigmoid", "tanh")],
    "activate_gradient": [
        (lambda u: F.activate_gradient(u, index(X), activation="silu"), Y),
    ],
    "gelu_gradient": [
        (F.gelu_gradient, X, Y),
        (lambda u, x: F.gelu_gradient(u, x, approximate=True), X, Y),
    ],
    "cross_entropy_gradient": [
        (
            lambda x, u, reduction=reduction, more=more: F.cross_entropy_gradient(
                x,
                index([2, 0]),
                u,
                index([0.5, 2.0, 1.5]) if more else None,
                reduction=reduction,
                ignore_index=0 if more else None,
            ),
            X,
            normal(2) if reduction == "none" else np.float64(0.75),
        )
        for reduction in ("none", "mean", "sum")
        for more in (False, True)
    ],
    "add_layer_norm": [
        (lambda x, y, w, b: F.add_layer_norm(x, y, w, b)[0], X, Y, normal(3), normal(3)),
        (F.add_layer_norm, X, Y, normal(3), normal(3)),
    ],
}

# Ops whose rules are expressions over ops that have rules: their second derivatives are checked too.
TWICE = (
    "mish",
    "softsign",
    "huber_loss",
    "gaussian_nll_loss",
    "softmax_gradient",
    "log_softmax_gradient",
    "add_layer_norm",
    "standardize",
    "batch_norm",
    "batch_norm_training",
    "group_norm",
    "instance_norm",
    "conv1d",
    "conv2d",
    "conv_transpose1d",
    "avg_pool2d",
    "max_pool2d",
    "adaptive_avg_pool1d",
    "scaled_dot_product_attention",
    "rotary_embedding",
    "embedding",
    "resize_linear",
    "cosine_similarity",
    "vector_norm",
    "cross",
)
