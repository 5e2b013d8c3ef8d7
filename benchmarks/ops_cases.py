"""The rows of the benchmark `ops`: one op on one shape each, as data.

A row names its operands and the statement of each library over them: `m` is the library's module, `F` where
its functions of networks are, `a`, `b`, ... the operands. Where NumPy has no such op, it is written as its
users write it; None where nobody would. Each row belongs to a group, whose bar is the greatest ratio to
PyTorch that counts as good. This module times nothing and knows no device.
"""

from __future__ import annotations

from dataclasses import dataclass, field

MEAN_BAR = 0.85  # of the geometric mean of all ratios to PyTorch

BARS = {
    "any": 1.25,
    "elementwise 10M": 0.4,
    "exp, tanh, erf, gelu": 0.6,
    "softmax, layer_norm": 1.0,
    "matmul 1024": 1.05,
    "convolution 3x3": 1.0,
    "sort, cumsum, gather, scatter, argmax": 1.0,
}


@dataclass(frozen=True)
class Operand:
    """Numbers from `low` to `high` of a shape; whole numbers for an integer dtype."""

    shape: tuple[int, ...]
    dtype: str = "float32"
    low: float = 0.1
    high: float = 2.0
    grad: bool = False


@dataclass(frozen=True)
class Case:
    """One row. `setup` is run once before PyTorch's statement is timed."""

    name: str
    operands: tuple[Operand, ...]
    ours: str
    numpy: str | None
    torch: str
    group: str = "any"
    quick: bool = False
    setup: str = field(default="", kw_only=True)


def _f(
    *shape: int, dtype: str = "float32", low: float = 0.1, high: float = 2.0, grad: bool = False
) -> Operand:
    return Operand(shape, dtype, low, high, grad)


def _signed(*shape: int, grad: bool = False) -> Operand:
    return Operand(shape, "float32", -3.0, 3.0, grad)


def _i(*shape: int, below: int, dtype: str = "int64") -> Operand:
    return Operand(shape, dtype, 0, below)


def _same(name: str, statement: str, *operands: Operand, group: str = "any", quick: bool = False) -> Case:
    return Case(name, operands, statement, statement, statement, group, quick)


_BIG = _f(1024, 1024)
_TEN = _f(10_000_000)
_ROWS = _signed(4096, 1024)
_TOKENS = _signed(4096, 768)
_IMAGES = _signed(8, 64, 56, 56)
_FUNCTIONS = "exp, tanh, erf, gelu"
_MOVES = "sort, cumsum, gather, scatter, argmax"
_ERF = "m.tanh(1.1283791670955126 * (a + 0.0891 * a ** 3))"
_SIGMOID = "1 / (1 + m.exp(-a))"
_CONV_NUMPY = (
    "m.einsum('nchwij,ocij->nohw', m.lib.stride_tricks.sliding_window_view(a, (3, 3), axis=(2, 3)), b,"
    " optimize=True)"
)

ELEMENTWISE = (
    _same("add 10M", "a + b", _TEN, _TEN, group="elementwise 10M", quick=True),
    _same("multiply 10M", "a * b", _TEN, _TEN, group="elementwise 10M"),
    _same("multiply by a number 10M", "a * 2.0", _TEN, group="elementwise 10M"),
    _same("sqrt 10M", "m.sqrt(a)", _TEN, group="elementwise 10M"),
    _same("exp 10M", "m.exp(a)", _TEN, group="elementwise 10M"),
    _same("tanh 10M", "m.tanh(a)", _TEN, group="elementwise 10M"),
    _same("add 1024x1024", "a + b", _BIG, _BIG, quick=True),
    _same("add a row 1024x1024", "a + b", _BIG, _f(1024), quick=True),
    _same("add a column 1024x1024", "a + b", _BIG, _f(1024, 1)),
    _same("add a transpose 1024x1024", "a + b.T", _BIG, _BIG),
    _same("multiply every second column 1024x1024", "a[:, ::2] * 2.0", _BIG),
    _same("divide 1024x1024", "a / b", _BIG, _BIG),
    _same(
        "divide float64 1024x1024", "a / b", _f(1024, 1024, dtype="float64"), _f(1024, 1024, dtype="float64")
    ),
    _same("add float16 1024x1024", "a + b", _f(1024, 1024, dtype="float16"), _f(1024, 1024, dtype="float16")),
    _same(
        "add int32 1024x1024",
        "a + b",
        _i(1024, 1024, below=99, dtype="int32"),
        _i(1024, 1024, below=99, dtype="int32"),
    ),
    _same("maximum 1024x1024", "m.maximum(a, b)", _BIG, _BIG),
    _same("pow 1024x1024", "a ** b", _BIG, _BIG),
    _same("greater 1024x1024", "a > b", _BIG, _BIG),
    _same("where 1024x1024", "m.where(a > 1, a, b)", _BIG, _BIG),
    Case("clip 1024x1024", (_BIG,), "m.clip(a, 0.5, 1.5)", "m.clip(a, 0.5, 1.5)", "m.clamp(a, 0.5, 1.5)"),
    _same("in place add 1024x1024", "a += b", _BIG, _BIG),
    Case(
        "cast to float16 1024x1024",
        (_BIG,),
        "m.astype(a, m.float16)",
        "a.astype('float16')",
        "a.to(m.float16)",
    ),
    Case(
        "cast to float64 1024x1024",
        (_BIG,),
        "m.astype(a, m.float64)",
        "a.astype('float64')",
        "a.to(m.float64)",
    ),
    Case(
        "cast int64 to float32 1024x1024",
        (_i(1024, 1024, below=99),),
        "m.astype(a, m.float32)",
        "a.astype('float32')",
        "a.to(m.float32)",
    ),
    Case(
        "transposed copy 1024x1024",
        (_BIG,),
        "m.astype(a.T, a.dtype, copy=True)",
        "a.T.copy()",
        "a.T.contiguous()",
    ),
    Case(
        "concatenate 2 of 1024x1024",
        (_BIG, _BIG),
        "m.concat([a, b], axis=1)",
        "m.concatenate([a, b], axis=1)",
        "m.cat([a, b], dim=1)",
    ),
)

FUNCTIONS = (
    _same("exp 1024x1024", "m.exp(a)", _signed(1024, 1024), group=_FUNCTIONS, quick=True),
    _same("tanh 1024x1024", "m.tanh(a)", _signed(1024, 1024), group=_FUNCTIONS, quick=True),
    Case("erf 1024x1024", (_signed(1024, 1024),), "m.erf(a)", _ERF, "m.erf(a)", _FUNCTIONS),
    Case(
        "gelu 4096x3072",
        (_signed(4096, 3072),),
        "m.gelu(a)",
        f"a * 0.5 * (1 + {_ERF})",
        "F.gelu(a)",
        _FUNCTIONS,
    ),
    Case(
        "gelu by tanh 4096x3072",
        (_signed(4096, 3072),),
        "m.gelu(a, approximate=True)",
        "a * 0.5 * (1 + m.tanh(0.7978845608 * (a + 0.044715 * a * a * a)))",
        "F.gelu(a, approximate='tanh')",
        _FUNCTIONS,
    ),
    _same("exp float64 1024x1024", "m.exp(a)", _f(1024, 1024, dtype="float64"), group=_FUNCTIONS),
    _same("log 1024x1024", "m.log(a)", _BIG),
    _same("sin 1024x1024", "m.sin(a)", _signed(1024, 1024)),
    _same("sqrt 1024x1024", "m.sqrt(a)", _BIG),
    Case("relu 4096x3072", (_signed(4096, 3072),), "m.relu(a)", "m.maximum(a, 0)", "m.relu(a)"),
    Case("sigmoid 1024x1024", (_signed(1024, 1024),), "m.sigmoid(a)", _SIGMOID, "m.sigmoid(a)"),
    Case("silu 4096x3072", (_signed(4096, 3072),), "m.silu(a)", "a / (1 + m.exp(-a))", "F.silu(a)"),
)

REDUCTIONS = (
    _same("sum of all 1024x1024", "m.sum(a)", _BIG, quick=True),
    Case("sum of rows 1024x1024", (_BIG,), "m.sum(a, axis=1)", "m.sum(a, axis=1)", "m.sum(a, dim=1)"),
    Case("sum of columns 1024x1024", (_BIG,), "m.sum(a, axis=0)", "m.sum(a, axis=0)", "m.sum(a, dim=0)"),
    Case("mean of rows 1024x1024", (_BIG,), "m.mean(a, axis=1)", "m.mean(a, axis=1)", "m.mean(a, dim=1)"),
    Case(
        "variance of rows 1024x1024",
        (_BIG,),
        "m.var(a, axis=1)",
        "m.var(a, axis=1)",
        "m.var(a, dim=1, correction=0)",
    ),
    Case("max of rows 1024x1024", (_BIG,), "m.max(a, axis=1)", "m.max(a, axis=1)", "m.amax(a, dim=1)"),
    Case("max of columns 1024x1024", (_BIG,), "m.max(a, axis=0)", "m.max(a, axis=0)", "m.amax(a, dim=0)"),
    Case(
        "argmax of rows 1024x1024",
        (_BIG,),
        "m.argmax(a, axis=1)",
        "m.argmax(a, axis=1)",
        "m.argmax(a, dim=1)",
        _MOVES,
    ),
    Case(
        "logsumexp of rows 4096x1024",
        (_ROWS,),
        "m.logsumexp(a, axis=1)",
        "m.log(m.exp(a - (t := a.max(axis=1, keepdims=True))).sum(axis=1, keepdims=True)) + t",
        "m.logsumexp(a, dim=1)",
    ),
    Case(
        "running sum of rows 1024x1024",
        (_BIG,),
        "m.cumulative_sum(a, axis=1)",
        "m.cumsum(a, axis=1)",
        "m.cumsum(a, dim=1)",
        _MOVES,
    ),
)

NORMALISATION = (
    Case(
        "softmax 4096x1024",
        (_ROWS,),
        "m.softmax(a, axis=-1)",
        "(e := m.exp(a - a.max(axis=-1, keepdims=True))) / e.sum(axis=-1, keepdims=True)",
        "m.softmax(a, dim=-1)",
        "softmax, layer_norm",
        True,
    ),
    Case(
        "log_softmax 4096x1024",
        (_ROWS,),
        "m.log_softmax(a, axis=-1)",
        "(s := a - a.max(axis=-1, keepdims=True)) - m.log(m.exp(s).sum(axis=-1, keepdims=True))",
        "m.log_softmax(a, dim=-1)",
        "softmax, layer_norm",
    ),
    Case(
        "layer_norm 4096x768",
        (_TOKENS, _f(768), _f(768)),
        "m.layer_norm(a, b, c)",
        "(d := a - a.mean(axis=-1, keepdims=True)) / m.sqrt((d * d).mean(axis=-1, keepdims=True) + 1e-5)"
        " * b + c",
        "F.layer_norm(a, (768,), b, c)",
        "softmax, layer_norm",
        True,
    ),
    Case(
        "rms_norm 4096x768",
        (_TOKENS, _f(768)),
        "m.rms_norm(a, b)",
        "a / m.sqrt((a * a).mean(axis=-1, keepdims=True) + 1e-5) * b",
        "F.rms_norm(a, (768,), b, 1e-5)",
    ),
    Case(
        "batch_norm 8x64x56x56",
        (_IMAGES, _f(64), _f(64), _f(64), _f(64)),
        "m.batch_norm(a, b, c, d, e)",
        "(a - b[:, None, None]) * (d / m.sqrt(c + 1e-5))[:, None, None] + e[:, None, None]",
        "F.batch_norm(a, b, c, d, e)",
    ),
    Case(
        "batch_norm training 8x64x56x56",
        (_IMAGES, _f(64), _f(64), _f(64), _f(64)),
        "m.batch_norm_training(a, b, c, d, e)",
        "(s := a - a.mean(axis=(0, 2, 3), keepdims=True)) *"
        " (d[:, None, None] / m.sqrt((s * s).mean(axis=(0, 2, 3), keepdims=True) + 1e-5)) + e[:, None, None]",
        "F.batch_norm(a, b, c, d, e, training=True)",
    ),
    Case(
        "group_norm 8x64x56x56",
        (_IMAGES, _f(64), _f(64)),
        "m.group_norm(a, b, c, groups=8)",
        None,
        "F.group_norm(a, 8, b, c)",
    ),
)

PRODUCTS = (
    _same("matmul 64", "a @ b", _f(64, 64), _f(64, 64)),
    _same("matmul 512", "a @ b", _f(512, 512), _f(512, 512), quick=True),
    _same("matmul 1024", "a @ b", _BIG, _BIG, group="matmul 1024", quick=True),
    _same("matmul by a transpose 512", "a @ b.T", _f(512, 512), _f(512, 512)),
    _same("matmul float64 512", "a @ b", _f(512, 512, dtype="float64"), _f(512, 512, dtype="float64")),
    _same("batched matmul 64 of 64", "a @ b", _f(64, 64, 64), _f(64, 64, 64)),
    _same("matmul 1x1024 by 1024x1024", "a @ b", _f(1, 1024), _BIG),
    _same("matmul 1024x1024 by 1024x1", "a @ b", _BIG, _f(1024, 1)),
    _same("matmul 4096x64 by 64x1024", "a @ b", _f(4096, 64), _f(64, 1024)),
    Case(
        "linear 128x768 to 3072",
        (_f(128, 768), _f(3072, 768), _f(3072)),
        "m.linear(a, b, c)",
        "a @ b.T + c",
        "F.linear(a, b, c)",
    ),
    Case(
        "attention 8x8x128x64",
        (_signed(8, 8, 128, 64), _signed(8, 8, 128, 64), _signed(8, 8, 128, 64)),
        "m.scaled_dot_product_attention(a, b, c)",
        "(e := m.exp((s := a @ b.swapaxes(-1, -2) * 0.125) - s.max(-1, keepdims=True)))"
        " / e.sum(-1, keepdims=True) @ c",
        "F.scaled_dot_product_attention(a, b, c)",
    ),
)

IMAGES = (
    Case(
        "conv2d 3x3 1x64x56x56",
        (_signed(1, 64, 56, 56), _signed(64, 64, 3, 3)),
        "m.conv2d(a, b, padding=1)",
        _CONV_NUMPY,
        "F.conv2d(a, b, padding=1)",
        "convolution 3x3",
        True,
    ),
    Case(
        "conv2d 3x3 8x64x56x56",
        (_IMAGES, _signed(64, 64, 3, 3)),
        "m.conv2d(a, b, padding=1)",
        _CONV_NUMPY,
        "F.conv2d(a, b, padding=1)",
        "convolution 3x3",
    ),
    Case(
        "conv2d 1x1 8x64x56x56 to 256",
        (_IMAGES, _signed(256, 64, 1, 1)),
        "m.conv2d(a, b)",
        "m.einsum('nchw,oc->nohw', a, b[:, :, 0, 0], optimize=True)",
        "F.conv2d(a, b)",
    ),
    Case(
        "conv2d 7x7 by 2 1x3x224x224",
        (_signed(1, 3, 224, 224), _signed(64, 3, 7, 7)),
        "m.conv2d(a, b, stride=2, padding=3)",
        None,
        "F.conv2d(a, b, stride=2, padding=3)",
    ),
    Case(
        "conv2d depthwise 3x3 8x64x56x56",
        (_IMAGES, _signed(64, 1, 3, 3)),
        "m.conv2d(a, b, padding=1, groups=64)",
        None,
        "F.conv2d(a, b, padding=1, groups=64)",
    ),
    Case(
        "conv1d 5 8x64x1000",
        (_signed(8, 64, 1000), _signed(64, 64, 5)),
        "m.conv1d(a, b, padding=2)",
        None,
        "F.conv1d(a, b, padding=2)",
    ),
    Case(
        "conv2d 3x3 and its gradients 8x64x28x28",
        (_f(8, 64, 28, 28, grad=True), _f(64, 64, 3, 3, grad=True), _f(8, 64, 28, 28)),
        "m.conv2d(a, b, padding=1).backward(c)",
        None,
        "F.conv2d(a, b, padding=1).backward(c)",
    ),
    Case(
        "max_pool2d 3x3 by 2 8x64x56x56",
        (_IMAGES,),
        "m.max_pool2d(a, window=3, stride=2, padding=1)",
        None,
        "F.max_pool2d(a, 3, 2, 1)",
    ),
    Case(
        "max_pool2d 2x2 and its gradient 8x64x56x56",
        (_f(8, 64, 56, 56, grad=True), _f(8, 64, 28, 28)),
        "m.max_pool2d(a, window=2).backward(b)",
        None,
        "F.max_pool2d(a, 2).backward(b)",
    ),
    Case(
        "avg_pool2d 2x2 8x64x56x56",
        (_IMAGES,),
        "m.avg_pool2d(a, window=2)",
        "a.reshape(8, 64, 28, 2, 28, 2).mean(axis=(3, 5))",
        "F.avg_pool2d(a, 2)",
    ),
    Case(
        "adaptive_avg_pool2d 1x1 8x64x56x56",
        (_IMAGES,),
        "m.adaptive_avg_pool2d(a, size=1)",
        "a.mean(axis=(2, 3), keepdims=True)",
        "F.adaptive_avg_pool2d(a, 1)",
    ),
)

MOVES = (
    Case(
        "sort rows 256x1024",
        (_f(256, 1024),),
        "m.sort(a, axis=1)",
        "m.sort(a, axis=1)",
        "m.sort(a, dim=1)",
        _MOVES,
    ),
    Case("sort 1M", (_f(1_000_000),), "m.sort(a)", "m.sort(a)", "m.sort(a)", _MOVES),
    _same("argsort int64 100000", "m.argsort(a)", _i(100_000, below=1 << 40), group=_MOVES),
    Case(
        "top 8 of rows 1024x1024",
        (_BIG,),
        "m.top_k(a, 8)",
        "m.sort(m.partition(a, 1016, axis=1)[:, 1016:], axis=1)",
        "m.topk(a, 8, dim=1)",
    ),
    Case(
        "gather rows 4096 of 30000x512",
        (_f(30_000, 512), _i(4096, below=30_000)),
        "m.take(a, b, axis=0)",
        "m.take(a, b, axis=0)",
        "a[b]",
        _MOVES,
    ),
    Case(
        "embedding 32x128 of 30000x128",
        (_f(30_000, 128), _i(32, 128, below=30_000)),
        "m.embedding(a, b)",
        "a[b]",
        "F.embedding(b, a)",
        _MOVES,
    ),
    Case(
        "gather along rows 1024x1024",
        (_BIG, _i(1024, 1024, below=1024)),
        "m.take_along_axis(a, b, axis=1)",
        "m.take_along_axis(a, b, axis=1)",
        "m.gather(a, 1, b)",
        _MOVES,
    ),
    Case(
        "scatter add rows 4096 to 1000x512",
        (_f(1000, 512), _i(4096, below=1000), _f(4096, 512)),
        "m.index_add(a, b, c)",
        "(t := a.copy(), m.add.at(t, b, c))",
        "m.index_add(a, 0, b, c)",
        _MOVES,
    ),
    Case(
        "select by a mask 1024x1024",
        (_BIG,),
        "a[a > 1]",
        "a[a > 1]",
        "a[a > 1]",
    ),
)

TRAINING = (
    Case(
        "uniform 1M",
        (),
        "m.uniform((1_000_000,))",
        "m.random.default_rng(0).random(1_000_000, 'float32')",
        "m.rand(1_000_000)",
    ),
    Case(
        "normal 1M",
        (),
        "m.normal((1_000_000,))",
        "m.random.default_rng(0).standard_normal(1_000_000, 'float32')",
        "m.randn(1_000_000)",
    ),
    Case("dropout 1024x1024", (_BIG,), "m.dropout(a, rate=0.1)", None, "F.dropout(a, 0.1)"),
    Case(
        "cross_entropy 1024x1000",
        (_signed(1024, 1000), _i(1024, below=1000)),
        "m.cross_entropy(a, b)",
        None,
        "F.cross_entropy(a, b)",
    ),
    Case(
        "cross_entropy and its gradient 1024x1000",
        (_f(1024, 1000, grad=True), _i(1024, below=1000)),
        "m.cross_entropy(a, b).backward()",
        None,
        "F.cross_entropy(a, b).backward()",
    ),
    Case("mse_loss 1024x1024", (_BIG, _BIG), "m.mse_loss(a, b)", "((a - b) ** 2).mean()", "F.mse_loss(a, b)"),
    Case(
        "softmax and its gradient 1024x1024",
        (_f(1024, 1024, grad=True), _BIG),
        "m.softmax(a, axis=-1).backward(b)",
        None,
        "m.softmax(a, dim=-1).backward(b)",
    ),
    Case(
        "layer_norm and its gradients 4096x768",
        (_f(4096, 768, grad=True), _f(768, grad=True), _f(768, grad=True), _TOKENS),
        "m.layer_norm(a, b, c).backward(d)",
        None,
        "F.layer_norm(a, (768,), b, c).backward(d)",
    ),
    Case(
        "gelu and its gradient 4096x3072",
        (_f(4096, 3072, grad=True), _f(4096, 3072)),
        "m.gelu(a).backward(b)",
        None,
        "F.gelu(a).backward(b)",
    ),
    Case(
        "linear and its gradients 128x768 to 3072",
        (_f(128, 768, grad=True), _f(3072, 768, grad=True), _f(3072, grad=True), _f(128, 3072)),
        "m.linear(a, b, c).backward(d)",
        None,
        "F.linear(a, b, c).backward(d)",
    ),
    Case(
        "batch_norm training and its gradients 8x64x28x28",
        (
            _f(8, 64, 28, 28, grad=True),
            _f(64),
            _f(64),
            _f(64, grad=True),
            _f(64, grad=True),
            _f(8, 64, 28, 28),
        ),
        "m.batch_norm_training(a, b, c, d, e)[0].backward(f)",
        None,
        "F.batch_norm(a, b, c, d, e, training=True).backward(f)",
    ),
    Case(
        "sgd step 1M",
        (_f(1_000_000), _f(1_000_000)),
        "m.sgd_step(a, b, 1e-9, out=a)",
        "a -= b * m.float32(1e-9)",
        "a.add_(b, alpha=-1e-9)",
    ),
    Case(
        "adam step 1M",
        (_f(1_000_000), _f(1_000_000), _f(1_000_000), _f(1_000_000)),
        "m.adam_step(a, b, c, d, 7, 1e-9, out=(a, c, d))",
        None,
        "optimiser.step()",
        setup="a.requires_grad_(); a.grad = b; optimiser = m.optim.Adam([a], lr=1e-9, fused=True)",
    ),
)

CASES = (
    *ELEMENTWISE,
    *FUNCTIONS,
    *REDUCTIONS,
    *NORMALISATION,
    *PRODUCTS,
    *IMAGES,
    *MOVES,
    *TRAINING,
)
