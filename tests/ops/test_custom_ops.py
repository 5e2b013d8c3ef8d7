"""Custom ops: schema, shapes, kernels, gradients, and what happens when one of them is nonsense."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from masked_devices import Mask, masked

import device_api as da

Make = Callable[..., da.CustomOp]
SWISH = "acme.swish(x: T, *, beta: float = 1.0) -> out: T @ x"


@pytest.fixture
def make() -> Iterator[Make]:
    """`da.custom_op`, with what it makes unregistered at the end of the test."""
    made: list[Any] = []

    def build(*arguments: Any, **options: Any) -> da.CustomOp:
        made.append(da.custom_op(*arguments, **options))
        return made[-1]

    yield build
    for op in made:
        op.unregister()


def expected(x: Any, beta: float = 1.0) -> Any:
    return x / (1 + np.exp(-beta * x))


def swish(make: Make, **options: Any) -> da.CustomOp:
    return make(SWISH, types={"T": "floating"}, **options)


X = np.array([[0.5, -1.0, 2.0]])


def test_a_kernel_in_python_serves_it(make: Make) -> None:
    op = swish(make, doc="x times its sigmoid")

    @op.kernel(device="cpu")
    def on_cpu(x, *, beta):
        return expected(x, beta)

    np.testing.assert_allclose(op(da.asarray(X), beta=2.0).numpy(), expected(X, 2.0))
    np.testing.assert_allclose(op(da.asarray(X)).numpy(), expected(X))
    assert op(da.asarray(X, dtype=da.float16)).dtype == np.float16
    assert (op.name, op.__doc__) == ("acme.swish", "x times its sigmoid")


def test_a_decomposition_serves_devices_without_a_kernel_and_fuses_into_one_plan(make: Make) -> None:
    op = swish(make, decompose=lambda F, x, *, beta: x * F.sigmoid(x * beta))
    device = masked(Mask(hidden=("tanh",)))
    with da.fallback("error"):
        np.testing.assert_allclose(op(da.asarray(X, device=device), beta=3.0).numpy(), expected(X, 3.0))


def test_a_device_without_a_way_says_so(make: Make) -> None:
    with pytest.raises(da.UnsupportedOp, match=r"acme\.swish does not run on cpu"):
        swish(make)(da.asarray(X))


def test_a_device_without_a_kernel_falls_back_to_the_cpus(make: Make) -> None:
    op = swish(make)
    op.kernel(device="cpu")(lambda x, *, beta: expected(x, beta))
    x = da.asarray(X, device=masked(Mask(hidden=("tanh",))))
    with da.fallback("error"), pytest.raises(da.FallbackForbidden, match=r"acme\.swish"):
        op(x)
    da.reset_fallback_report()
    with da.fallback("allow"):
        assert op(x).device == x.device
    assert [entry.op for entry in da.fallback_report()] == ["acme.swish"]


def test_in_place_by_out_where_the_schema_allows_it(make: Make) -> None:
    op = swish(make)
    op.kernel(device="cpu")(lambda x, *, beta: expected(x, beta))
    x = da.asarray(X)
    assert op(x, out=x) is x
    np.testing.assert_allclose(x.numpy(), expected(X))


def test_pairs_of_several_outputs_are_those_of_the_schema(make: Make) -> None:
    op = make(
        "acme.turn(x: T, y: T) -> first: T @ y, second: T @ x",
        types={"T": "floating"},
        shape=lambda x, y: (x.shape, x.shape),
    )
    op.kernel(device="cpu")(lambda x, y: (x + y, x - y))
    for over in ((0, 1), (1, 0)):
        operands = [da.asarray([5.0, 7.0]), da.asarray([1.0, 2.0])]
        op(*operands, out=tuple(operands[each] for each in over))
        assert [operands[each].tolist() for each in over] == [[6, 9], [4, 5]]


def test_optional_inputs_lists_and_several_outputs(make: Make) -> None:
    op = make(
        "acme.mix(first: T, weight: T?, rest: T[], *, axes: axes? = None) -> total: T, count: int64",
        types={"T": "floating integer"},
        shape=lambda first, weight, rest, *, axes: (first.shape, ()),
    )
    seen: list[Any] = []

    @op.kernel(device="cpu")
    def mix(first, weight, *rest, axes):
        seen.append((weight is None, axes))
        total = sum(rest, first) if weight is None else weight * sum(rest, first)
        return total, np.asarray(len(rest))

    one = da.asarray([1.0, 2.0])
    total, count = op(one, None, [one, one])
    assert (total.tolist(), count.item()) == ([3, 6], 2)
    total, count = op(first=one, weight=da.asarray([10.0, 10.0]), rest=[one], axes=(0, -1))
    assert (total.tolist(), count.item()) == ([20, 40], 1)
    assert seen == [(True, None), (False, (0, -1))]


def test_an_op_without_inputs_runs_where_it_is_told(make: Make) -> None:
    op = make(
        "acme.counted(*, n: int, dtype: dtype) -> out: T",
        types={"T": "real"},
        shape=lambda *, n, dtype: (n,),
    )
    op.kernel(device="cpu")(lambda *, n, dtype: np.arange(n, dtype=dtype))
    assert op(n=3, dtype=da.int16, device="cpu").tolist() == [0, 1, 2]


# --- gradients --------------------------------------------------------------------------------------------


def slope(g: da.Tensor, x: da.Tensor, out: da.Tensor, *, beta: float) -> da.Tensor:
    s = da.sigmoid(x * beta)
    return g * (s + x * beta * s * (1.0 - s))


def leaf(values: Any) -> da.Tensor:
    tensor = da.asarray(np.asarray(values))
    tensor.requires_grad = True
    return tensor


def test_a_gradient_is_right_and_can_be_differentiated_again(make: Make) -> None:
    op = swish(make, gradient=slope)
    op.kernel(device="cpu")(lambda x, *, beta: expected(x, beta))
    da.gradcheck(lambda x: op(x, beta=1.5), [leaf(X)])

    def first(x: da.Tensor) -> da.Tensor:
        tracked = x if x.requires_grad else leaf(x.numpy())
        with da.enable_grad():
            return da.grad(da.sum(op(tracked)), [tracked], create_graph=True)[0]

    da.gradcheck(first, [leaf(X)], rtol=1e-4, atol=1e-5)


def test_a_gradient_of_several_inputs_runs_once_and_may_leave_some_out(make: Make) -> None:
    calls = []

    def gradient(g, x, scale, index, out):
        calls.append(1)
        return g * scale, g * x, None

    op = make(
        "acme.scaled(x: T, scale: T, index: int64?) -> out: T", types={"T": "floating"}, gradient=gradient
    )
    op.kernel(device="cpu")(lambda x, scale, index: x * scale)
    x, scale = leaf(X), leaf([2.0, 3.0, 4.0])
    da.sum(op(x, scale, None)).backward()
    assert calls == [1]
    assert x.grad.tolist() == [[2, 3, 4]]
    assert scale.grad.tolist() == [0.5, -1, 2]


def test_a_list_input_has_a_list_of_gradients(make: Make) -> None:
    op = make(
        "acme.added(x: T, rest: T[]) -> out: T",
        types={"T": "floating"},
        gradient=lambda g, x, rest, out: (g, [g * (2.0 + i) for i in range(len(rest))]),
    )
    op.kernel(device="cpu")(lambda x, *rest: x + sum((2 + i) * each for i, each in enumerate(rest)))
    x, one, two = leaf([1.0]), leaf([1.0]), leaf([1.0])
    op(x, [one, two]).backward()
    assert [each.grad.tolist() for each in (x, one, two)] == [[1], [2], [3]]


def test_the_gradient_may_be_another_custom_op(make: Make) -> None:
    op = swish(make, gradient="acme.swish_gradient")
    op.kernel(device="cpu")(lambda x, *, beta: expected(x, beta))
    x = leaf(X)
    with pytest.raises(da.GradientError, match=r"no op named 'acme\.swish_gradient'"):
        da.sum(op(x)).backward()
    backward = make(
        "acme.swish_gradient(g: T, y: T, x: T, *, beta: float = 1.0) -> grad_x: T", types={"T": "floating"}
    )

    @backward.kernel(device="cpu")
    def on_cpu(g, y, x, *, beta):
        s = 1 / (1 + np.exp(-beta * x))
        return g * (s + x * beta * s * (1 - s))

    da.gradcheck(lambda x: op(x, beta=0.5), [leaf(X)])


def test_a_missing_gradient_is_an_error_that_names_the_op(make: Make) -> None:
    op = swish(make)
    op.kernel(device="cpu")(lambda x, *, beta: expected(x, beta))
    with pytest.raises(da.GradientError, match=r"acme\.swish has no gradient with respect to x"):
        da.sum(op(leaf(X))).backward()


def test_a_gradient_with_the_wrong_number_of_results_is_an_error(make: Make) -> None:
    op = swish(make, gradient=lambda g, x, out, *, beta: (g, g))
    op.kernel(device="cpu")(lambda x, *, beta: expected(x, beta))
    with pytest.raises(da.GradientError, match=r"gave 2 results.*has 1 inputs"):
        da.sum(op(leaf(X))).backward()


def test_it_takes_part_in_mixed_precision(make: Make) -> None:
    op = swish(make, amp="allow")
    op.kernel(device="cpu")(lambda x, *, beta: expected(x.astype(np.float32), beta))
    with da.amp.autocast("cpu", dtype=da.bfloat16):
        assert op(da.asarray(X, dtype=da.float32)).dtype == da.bfloat16


# --- what is refused --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("schema", "part"),
    [
        ("swish(x: T) -> out: T", "vendor.name"),
        ("Acme.swish(x: T) -> out: T", "vendor.name"),
        ("acme.swish(x: T)", "vendor.name"),
        ("acme.swish(x T) -> out: T", "'x T'"),
        ("acme.swish(x: float33) -> out: T", "'float33'"),
        ("acme.swish(x: T, *) -> out: T", "no attribute follows"),
        ("acme.swish(x: T, *, a: number = 1) -> out: T", "'number'"),
        ("acme.swish(x: T, *, a: int = one) -> out: T", "default"),
        ("acme.swish(x: T, x: T) -> out: T", "used twice"),
        ("acme.swish(x: T[], y: T) -> out: T", "only the last input"),
        ("acme.swish(x: T) -> out: U", "'U'"),
        ("acme.swish(x: T) -> out: T @ y", "no input y"),
        ("acme.swish(x: T, y: int64) -> out: T @ y", "no input y"),
        ("acme.swish(x: T, rest: T[]) -> out: T @ rest", "rest is any number"),
        ("acme.swish(x: T) -> ", "no output"),
        ("acme.swish(out: T) -> y: T", "choose another"),
    ],
)
def test_a_schema_that_cannot_be_read_is_quoted(schema: str, part: str) -> None:
    with pytest.raises(da.AttributeValueError, match=part):
        da.custom_op(schema, types={"T": "floating"})
    with pytest.raises(AttributeError):
        da.swish  # noqa: B018


@pytest.mark.parametrize(
    ("options", "part"),
    [
        ({"types": {}}, "dtypes of this type variable"),
        ({"types": {"T": "floating", "U": "bool"}}, "no such type variable"),
        ({"types": {"T": ""}}, "no dtype"),
        ({"types": {"T": "floating"}, "promotion": "upwards"}, "promotion"),
        ({"types": {"T": "floating"}, "amp": "maybe"}, "amp"),
    ],
)
def test_arguments_that_do_not_fit_the_schema_are_refused(options: Any, part: str) -> None:
    with pytest.raises(da.AttributeValueError, match=part):
        da.custom_op(SWISH, **options)


def test_a_name_belongs_to_one_op_until_it_is_unregistered(make: Make) -> None:
    op = swish(make)
    with pytest.raises(da.AttributeValueError, match=r"name.*taken.*acme\.swish"):
        swish(make)
    op.unregister()
    op.unregister()
    with pytest.raises(da.AttributeValueError, match="unregistered"):
        op(da.asarray(X))
    swish(make).kernel(device="cpu")(lambda x, *, beta: x)


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        (lambda x, *, beta: None, "a shape is a tuple"),
        (lambda x, *, beta: "12", "a shape is a tuple"),
        (lambda x, *, beta: (1, 2.5), "sizes are integers"),
        (lambda x, *, beta: (1, -2), "negative"),
        (lambda x, *, beta: (1,) * 40, "40 dimensions"),
        (lambda x, *, beta: (2**40, 2**40), "bytes"),
        (lambda x, *, beta: x.shape[7], "IndexError"),
        (lambda x: x.shape, "TypeError"),
    ],
)
def test_a_shape_function_that_gives_nonsense_is_an_error(shape: Any, text: str, make: Make) -> None:
    op = swish(make, shape=shape, decompose=lambda F, x, *, beta: x)
    with pytest.raises(da.ShapeError, match=text) as caught:
        op(da.asarray(X))
    assert caught.value.op == "acme.swish"


def test_several_outputs_need_several_shapes(make: Make) -> None:
    op = make("acme.two(x: T) -> a: T, b: T", types={"T": "floating"}, shape=lambda x: x.shape)
    with pytest.raises(da.ShapeError, match="the op has 2 outputs"):
        op(da.asarray([1.0, 2.0, 3.0]))


@pytest.mark.parametrize(
    ("arguments", "options"),
    [((), {}), ((X, X), {}), ((X,), {"gamma": 1.0}), ((X,), {"beta": "much"}), ((np.array([1j]),), {})],
)
def test_calls_that_do_not_fit_the_schema_are_refused(arguments: Any, options: Any, make: Make) -> None:
    op = swish(make, decompose=lambda F, x, *, beta: x)
    with pytest.raises((TypeError, da.AttributeValueError, da.DTypeError), match=r"acme\.swish"):
        op(*(da.asarray(each) for each in arguments), **options)


def test_kernels_of_an_op_go_with_its_dtypes(make: Make) -> None:
    op = swish(make)
    with pytest.raises(da.DTypeError, match=r"acme\.swish does not take"):
        op.kernel(device="cpu", dtypes=[np.int32])(lambda x, *, beta: x)
