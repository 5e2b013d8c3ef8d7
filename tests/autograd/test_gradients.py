"""Every gradient rule of the op set against central differences, in double precision on the CPU."""

from __future__ import annotations

import network_cases
import numpy as np
import pytest

import device_api as da
from device_api.autograd import grad, gradcheck
from device_api.ops import _functions as F
from device_api.ops._table import BY_NAME, OPS

rng = np.random.default_rng(3)
X = rng.normal(size=(2, 3))
Y = rng.normal(size=(2, 3)) + 0.1
POSITIVE = np.abs(X) + 0.3
UNIT = rng.uniform(-0.8, 0.8, size=(2, 3))
DISTINCT = np.arange(6.0)[[3, 0, 5, 1, 4, 2]].reshape(2, 3) * 0.7 - 1.3
Z = X + 1j * Y
CUBE = rng.normal(size=(2, 3, 4))
WITH_ZERO = np.array([[0.7, 0.0, -1.2, 0.5], [0.0, 2.0, 0.0, 1.0], [1.0, -2.0, 0.4, 3.0]])


def ints(values):
    return da.asarray(np.asarray(values))


def case(name, *arrays, **attributes):
    """An op with attributes, differentiated by all its operands."""
    return (lambda *operands: getattr(F, name)(*operands, **attributes), *arrays)


def with_target(name, target, **attributes):
    """A loss of scores X and integer classes."""
    return (lambda scores: getattr(F, name)(scores, ints(target), **attributes), X)


def adjoint(x):
    return F.conjugate(F.matrix_transpose(x))


def hermitian(x):
    return x + adjoint(x)


def leading_projection(x):
    """Of the factors' phases, which are arbitrary, nothing is left."""
    vectors = F.slice(da.linalg.eigh(hermitian(x)).eigenvectors, (0, 0), (3, 1), (1, 1))
    return vectors @ adjoint(vectors)


def leading_part(x):
    factors = da.linalg.svd(x, full_matrices=False)
    return factors.U[:, :1] @ factors.Vh[:1, :]


TALL = rng.normal(size=(4, 3)) + 1j * rng.normal(size=(4, 3))
STACK = rng.normal(size=(2, 3, 3)) + 3.0 * np.eye(3)
REGULAR = np.array([[3.1, 0.4, -0.7], [-0.2, 2.6, 0.9], [0.5, -1.1, 4.2]])

# op name -> cases, each a function of tensors and the arrays that it is differentiated by.
CASES = {
    "full": [(lambda v: F.full(v, shape=(2, 3)), np.float64(0.5))],
    "full_like": [(lambda x, v: x + F.full_like(x, v), X, np.float64(0.5))],
    "copy": [(F.copy, X)],
    "astype": [(lambda x: F.astype(x, np.float64), X), (lambda x: F.astype(x, np.complex128), X)],
    "negative": [(F.negative, X), (F.negative, Z)],
    "abs": [(F.abs, X), (F.abs, Z)],
    "sign": [(F.sign, X), (F.sign, Z)],
    "square": [(F.square, X), (F.square, Z)],
    "sqrt": [(F.sqrt, POSITIVE), (F.sqrt, Z)],
    "rsqrt": [(F.rsqrt, POSITIVE)],
    "reciprocal": [(F.reciprocal, POSITIVE), (F.reciprocal, Z)],
    "exp2": [(F.exp2, X)],
    "log": [(F.log, POSITIVE), (F.log, Z)],
    "log1p": [(F.log1p, POSITIVE), (F.log1p, Z)],
    "log2": [(F.log2, POSITIVE)],
    "log10": [(F.log10, POSITIVE)],
    "asin": [(F.asin, UNIT)],
    "acos": [(F.acos, UNIT)],
    "atanh": [(F.atanh, UNIT)],
    "acosh": [(F.acosh, POSITIVE + 1)],
    "erf": [(F.erf, X)],
    "erfc": [(F.erfc, X)],
    **{
        name: [(getattr(F, name), X), (getattr(F, name), Z)]
        for name in ("exp", "expm1", "sin", "cos", "tan", "atan", "sinh", "cosh", "tanh", "asinh")
    },
    **{name: [(getattr(F, name), X)] for name in ("floor", "ceil", "trunc", "round")},
    "real": [(F.real, Z)],
    "imag": [(F.imag, Z)],
    "conj": [(F.conj, Z)],
    "conjugate": [(F.conjugate, Z), (lambda x: F.conjugate(x) * 2.0, X)],
    **{
        name: [(getattr(F, name), X, Y), (getattr(F, name), X, Y[0]), (getattr(F, name), Y[:, :1], X)]
        for name in (
            "add",
            "subtract",
            "multiply",
            "divide",
            "maximum",
            "minimum",
            "atan2",
            "hypot",
            "copysign",
            "logaddexp",
        )
    },
    "floor_divide": [(F.floor_divide, X, Y)],
    "remainder": [(F.remainder, X, Y)],
    "pow": [
        (F.pow, POSITIVE, Y),
        (lambda x: F.pow(x, 3.0), X),
        (lambda y: F.pow(2.0, y), Y),
        (lambda x: x**2, X),
        (lambda z: F.pow(z, 2.5), Z),
        (lambda w: F.pow(1.5 + 0.5j, w), Z),
    ],
    "nextafter": [(F.nextafter, X, Y)],
    "where": [(lambda x, y: F.where(ints([True, False, True]), x, y), X, Y)],
    "clip": [
        (lambda x: F.clip(x, -0.5, 0.5), X),
        (F.clip, X, Y[0] - 2, Y[0] + 2),
        (lambda x, b: F.clip(x, None, b), X, Y),
        (lambda x, b: F.clip(x, b), X, Y),
        (F.clip, X, Y[0] + 5, Y[0]),
    ],
    "reduce_sum": [(F.reduce_sum, X)],
    "reduce_prod": [(F.reduce_prod, X), (F.reduce_prod, WITH_ZERO)],
    "reduce_max": [(F.reduce_max, DISTINCT)],
    "reduce_min": [(F.reduce_min, DISTINCT)],
    **{
        name: [case(name, CUBE), case(name, CUBE, axis=(0, -1)), case(name, CUBE, axis=1, keepdims=True)]
        for name in ("sum", "prod", "max", "min", "mean", "var", "std", "logsumexp")
    },
    "products_of_others": [(F.products_of_others, WITH_ZERO), (F.products_of_others, X)],
    "share_among_equals": [
        (
            lambda v: F.share_among_equals(
                ints(DISTINCT), F.max(ints(DISTINCT), axis=1, keepdims=True), v, axis=1
            ),
            X[:, :1],
        ),
    ],
    "cumulative_prod_gradient": [
        (
            lambda u, x: F.cumulative_prod_gradient(u, x, F.cumulative_prod(x, axis=1), axis=1),
            WITH_ZERO[::-1],
            WITH_ZERO,
        ),
        (
            lambda u, x: F.cumulative_prod_gradient(u, x, F.cumulative_prod(x, axis=0), axis=0),
            WITH_ZERO[::-1],
            WITH_ZERO,
        ),
    ],
    "scan_sum": [(F.scan_sum, X)],
    "scan_prod": [(F.scan_prod, X), (F.scan_prod, WITH_ZERO)],
    "cumulative_sum": [
        (lambda x: F.cumulative_sum(x, axis=1), CUBE),
        (lambda x: F.cumulative_sum(x, axis=0, include_initial=True), X),
    ],
    "cumulative_prod": [
        (lambda x: F.cumulative_prod(x, axis=1), WITH_ZERO),
        (lambda x: F.cumulative_prod(x, axis=0, include_initial=True), X),
    ],
    "batch_matmul": [(F.batch_matmul, CUBE, rng.normal(size=(2, 4, 2)))],
    "matmul": [
        (F.matmul, rng.normal(size=a), rng.normal(size=b))
        for a, b in [
            ((3,), (3,)),
            ((2, 3), (3,)),
            ((3,), (3, 2)),
            ((2, 3), (3, 4)),
            ((2, 2, 3), (3, 2)),
            ((2, 3), (2, 3, 2)),
            ((3,), (2, 3, 2)),
            ((2, 2, 3), (3,)),
            ((2, 1, 2, 3), (3, 3, 2)),
        ]
    ]
    + [(F.matmul, Z, Z.T)],
    "vecdot": [(F.vecdot, X, Y), (lambda a, b: F.vecdot(a, b, axis=-2), CUBE, CUBE[:1]), (F.vecdot, Z, Z[0])],
    "linear": [
        (F.linear, CUBE, rng.normal(size=(2, 4)), rng.normal(size=2)),
        (F.linear, X, rng.normal(size=(4, 3))),
    ],
    "tril": [(lambda x: F.tril(x, k=-1), X)],
    "triu": [(F.triu, X)],
    "gather_rows": [(lambda x: F.gather_rows(x, ints([1, 0, 1])), X)],
    "scatter_rows": [
        (lambda x, u: F.scatter_rows(x, ints([1, 1, 0]), u, reduction=2), X, rng.normal(size=(3, 3))),
        (lambda x, u: F.scatter_rows(x, ints([1, 1]), u, reduction=1), X, rng.normal(size=(2, 3))),
    ],
    "take": [(lambda x: F.take(x, ints([[2, 0], [-1, 2]]), axis=1), CUBE)],
    "put_add": [(lambda u: F.put_add(u, ints([1, 1, 0]), shape=(2, 2), axis=1), X)],
    "take_along_axis": [
        (lambda x: F.take_along_axis(x, ints([[2, 2], [0, -1]]), axis=1), X),
        (lambda x: F.take_along_axis(x, ints([[1], [0]]), axis=0), X[:, :1]),
    ],
    "put_along_axis_add": [
        (lambda u: F.put_along_axis_add(u, ints([[0, 0, 1], [1, 1, 1]]), shape=(2, 2), axis=1), X)
    ],
    "slice_scatter": [
        (lambda x: F.slice_scatter(x, shape=(4, 7), start=(3, 0), stop=(-1, 6), step=(-2, 2)), X)
    ],
    "sort": [(F.sort, DISTINCT), (lambda x: F.sort(x, axis=0, descending=True), DISTINCT)],
    "reshape": [(lambda x: F.reshape(x, (3, -1)), X)],
    "permute_dims": [(lambda x: F.permute_dims(x, (2, 0, -2)), CUBE)],
    "matrix_transpose": [(F.matrix_transpose, CUBE)],
    "expand_dims": [(lambda x: F.expand_dims(x, (0, -1)), X)],
    "squeeze": [(lambda x: F.squeeze(x, -1), X[:, :1])],
    "broadcast_to": [(lambda x: F.broadcast_to(x, (2, 2, 3)), X[:1])],
    "flip": [(F.flip, X), (lambda x: F.flip(x, axis=1), X)],
    "slice": [(lambda x: F.slice(x, (1, 2), (-1, -1), (-1, -2)), X)],
    "sum_to": [(lambda x: F.sum_to(x, shape=(1, 4)), CUBE)],
    "concat": [
        (lambda x, y: F.concat([x, y], axis=1), X, Y[:, :2]),
        (lambda x, y: F.concat([x, y, x], axis=None), X, Y),
    ],
    "stack": [(lambda x, y: F.stack([x, y], axis=1), X, Y), (lambda x, y: F.stack([x, y], axis=-1), X, Y)],
    "roll": [(lambda x: F.roll(x, 2), X), (lambda x: F.roll(x, (1, -1), axis=(0, 1)), X)],
    "pad": [(lambda x, v: F.pad(x, v, before=(1, 0), after=(0, 2)), X, np.float64(0.5))],
    "tile": [(lambda x: F.tile(x, (2, 1, 2)), X)],
    **{
        name: [(getattr(F, name), X * 2)]
        for name in ("relu", "leaky_relu", "elu", "sigmoid", "silu", "softplus")
    },
    "gelu": [(F.gelu, X * 2), (lambda x: F.gelu(x, approximate=True), X * 2)],
    "softmax": [(F.softmax, X), (lambda x: F.softmax(x, axis=0), X)],
    "log_softmax": [(F.log_softmax, X), (lambda x: F.log_softmax(x, axis=0), X)],
    **{
        name: [
            with_target(name, target, axis=axis, reduction=reduction)
            for reduction in ("mean", "sum", "none")
            for axis, target in ((1, [2, 0]), (0, [1, 0, 1]))
        ]
        for name in ("nll_loss", "cross_entropy")
    },
    **{
        name: [
            case(name, X, other, reduction=reduction)
            for reduction in ("mean", "sum", "none")
            for other in (POSITIVE, POSITIVE[0])
        ]
        for name in ("mse_loss", "binary_cross_entropy_with_logits")
    },
    "layer_norm": [
        (F.layer_norm, X),
        (F.layer_norm, X, Y[0], Y[1]),
        (lambda x, w, b: F.layer_norm(x, w, b, axis=1), CUBE, CUBE[0], CUBE[1]),
    ],
    "rms_norm": [(F.rms_norm, X), (F.rms_norm, X, Y[0]), (lambda x: F.rms_norm(x, axis=0), X)],
    "dropout": [(lambda x: F.dropout(x, rate=0.0)[0], X)],
    "inv": [(da.linalg.inv, REGULAR)],
    "det": [(da.linalg.det, REGULAR)],
    "slogdet": [(lambda x: da.linalg.slogdet(x).logabsdet, REGULAR)],
    "solve": [(da.linalg.solve, REGULAR, REGULAR[0])],
    "cholesky": [(lambda x: da.linalg.cholesky(x @ x.mT), REGULAR)],
    "eigvalsh": [(lambda x: da.linalg.eigvalsh(x + x.mT), REGULAR)],
    "eigh": [(lambda x: da.square(da.linalg.eigh(x + x.mT).eigenvectors), REGULAR)],
    "svdvals": [(da.linalg.svdvals, REGULAR)],
    "svd": [(lambda x: da.square(da.linalg.svd(x, full_matrices=False).U), REGULAR)],
    "qr": [(lambda x: da.linalg.qr(x).R, REGULAR)],
    "fourier_real": [(lambda x: da.square(da.real(da.fft.rfft(x, n=4))), REGULAR)],
    "fourier_hermitian": [(lambda x: da.fft.irfft(x, n=5), REGULAR)],
    "fourier": [(lambda x: da.abs(da.fft.fftn(x)), REGULAR)],
    **network_cases.CASES,
}

# Linear algebra of complex matrices, of tall ones and of stacks: name to cases, as above.
COMPLEX_REGULAR = REGULAR + 1j * REGULAR[::-1]
MATRIX_CASES = {
    "inv": [(da.linalg.inv, COMPLEX_REGULAR), (da.linalg.inv, STACK)],
    "det": [(da.linalg.det, COMPLEX_REGULAR), (da.linalg.det, STACK)],
    "slogdet": [
        (lambda x: da.linalg.slogdet(x).logabsdet, COMPLEX_REGULAR),
        (lambda x: da.linalg.slogdet(x).sign, COMPLEX_REGULAR),
    ],
    "solve": [
        (da.linalg.solve, COMPLEX_REGULAR, COMPLEX_REGULAR[0]),
        (da.linalg.solve, STACK, STACK[:, :, :2]),
    ],
    "cholesky": [(lambda x: da.linalg.cholesky(x @ adjoint(x)), COMPLEX_REGULAR)],
    "eigvalsh": [(lambda x: da.linalg.eigvalsh(hermitian(x)), COMPLEX_REGULAR)],
    "eigh": [(leading_projection, COMPLEX_REGULAR)],
    "svdvals": [(da.linalg.svdvals, TALL), (da.linalg.svdvals, TALL.T)],
    "svd": [(leading_part, TALL), (leading_part, TALL.T), (leading_part, TALL.real)],
    "qr": [
        (lambda x: da.linalg.qr(x).Q, TALL),
        (lambda x: da.linalg.qr(x).R, TALL),
        (lambda x: da.linalg.qr(x).Q, COMPLEX_REGULAR),
    ],
    "pinv": [(da.linalg.pinv, TALL), (da.linalg.pinv, TALL.real.T)],
    "matrix_norm": [(lambda x: da.linalg.matrix_norm(x, ord="nuc"), TALL)],
}


def tensors(arrays):
    made = [da.asarray(np.array(each)) for each in arrays]
    for each in made:
        each.requires_grad = True
    return made


def test_every_rule_of_the_op_set_has_a_case():
    assert {op.name for op in OPS if op.gradient} <= CASES.keys()


@pytest.mark.parametrize("name", [name for name, cases in CASES.items() if cases])
def test_gradients_agree_with_differences(name):
    for function, *arrays in CASES[name]:
        gradcheck(function, tensors(arrays), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", MATRIX_CASES)
def test_gradients_of_complex_tall_and_stacked_matrices_agree_with_differences(name):
    for function, *arrays in MATRIX_CASES[name]:
        gradcheck(function, tensors(arrays), rtol=1e-4, atol=1e-5)


# floor_divide and its like have no slope worth a second look; the others' rules are expressions over ops.
_TWICE = [
    "multiply",
    "divide",
    "pow",
    "exp",
    "log",
    "tanh",
    "sin",
    "sqrt",
    "matmul",
    "linear",
    "softmax",
    "log_softmax",
    "logsumexp",
    "sum",
    "prod",
    "mean",
    "var",
    "sigmoid",
    "silu",
    "softplus",
    "mse_loss",
    "take",
    "slice",
    "concat",
    "reshape",
    "cross_entropy",
    "hypot",
    "products_of_others",
    "expand_dims",
    *network_cases.TWICE,
]


@pytest.mark.parametrize("name", _TWICE)
def test_second_derivatives_agree_with_differences(name):
    function, *arrays = CASES[name][0]
    _agrees_twice(function, *arrays)


@pytest.mark.parametrize(
    "name",
    ["layer_norm", "rms_norm", "layer_norm_gradient", "gelu", "gelu_gradient", "cross_entropy_gradient"],
)
def test_fused_gradients_have_second_derivatives_in_all_their_forms(name):
    for function, *arrays in CASES[name]:
        _agrees_twice(function, *arrays)


# Rules that use ops with a meaning of their own: the derivative of such an op is a rule too.
_SEVERAL = np.array([[0.5, -1.25, 2.0, 0.75], [1.5, 0.25, -0.5, -1.75]])
_ZEROS = np.array([[0.5, 0.0, 2.0, 0.75], [0.0, 0.25, 0.0, -2.0]])
_CURVED = {
    "max": (lambda x: F.max(x * x, axis=(1,)), _SEVERAL),
    "min of all": (lambda x: F.min(x * x * x), _SEVERAL),
    "greatest norm": (lambda x: da.linalg.vector_norm(x * x, ord=np.inf), _SEVERAL),
    "global max pool": (lambda x: F.global_max_pool(F.reshape(x * x, (1, 2, 4))), _SEVERAL),
    "cumulative_prod": (lambda x: F.cumulative_prod(x, axis=0), _SEVERAL),
    "the running product along the last axis": (F.scan_prod, _SEVERAL),
    "cumulative_prod with zeros": (lambda x: F.cumulative_prod(x, axis=-1, include_initial=True), _ZEROS),
    **{
        f"activate {name}": (lambda x, name=name: F.activate(x, activation=name), _SEVERAL)
        for name in ("relu", "gelu", "silu", "sigmoid", "tanh")
    },
}


@pytest.mark.parametrize("name", _CURVED)
def test_rules_of_ops_of_their_own_can_be_differentiated_again(name):
    function, x = _CURVED[name]
    _agrees_twice(function, x)


def test_products_of_complex_numbers_bend_as_differences_say():
    x = np.array([0.5 + 1j, -1.25 + 0.5j, 0.75 - 0.25j])
    _agrees_twice(lambda z: F.cumulative_prod(z, axis=0), x)


def _agrees_twice(function, *arrays):
    def slopes(*operands):
        with da.enable_grad():
            tracked = [each if each.requires_grad else _tracked(each) for each in operands]
            result = function(*tracked)
            weight = da.asarray(np.linspace(0.3, 1.7, result.size).reshape(result.shape).astype(result.dtype))
            return grad(result, tracked, weight, create_graph=True)

    gradcheck(slopes, tensors(arrays), rtol=1e-4, atol=1e-5)


def _tracked(tensor):
    tensor.requires_grad = True
    return tensor


def test_every_view_has_a_gradient():
    assert all(op.gradient for op in OPS if op.level == "view")
    assert BY_NAME["slice"].gradient == ("x",)
