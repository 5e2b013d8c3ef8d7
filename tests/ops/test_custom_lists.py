"""Custom ops whose last output is a list: as many tensors as the shape function says."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from masked_devices import Mask, masked

import device_api as da

Make = Callable[..., da.CustomOp]
X = np.arange(6.0)


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


def chunks(make: Make, **options: Any) -> da.CustomOp:
    """Equal parts of a vector, with a kernel on the CPU that returns them."""
    op = make(
        "acme.chunks(x: T, *, n: int) -> parts: T[]",
        types={"T": "number"},
        shape=lambda x, *, n: [(x.shape[0] // n,)] * n,
        **options,
    )
    op.kernel(device="cpu")(lambda x, *, n: list(x.reshape(n, -1)))
    return op


def counted(make: Make) -> da.CustomOp:
    """The number of positive elements, and a list that has them or is empty."""
    return make(
        "acme.counted(x: T, *, keep: bool) -> count: int64, kept: T[]",
        types={"T": "real"},
        shape=lambda x, *, keep: ((), [x.shape] if keep else []),
    )


def leaf(values: Any) -> da.Tensor:
    tensor = da.asarray(np.asarray(values))
    tensor.requires_grad = True
    return tensor


def lists(parts: Any) -> list[Any]:
    assert isinstance(parts, tuple)
    return [part.tolist() for part in parts]


def test_a_list_is_a_tuple_of_as_many_tensors_as_the_shapes_say(make: Make) -> None:
    op = chunks(make)
    x = da.asarray(X)
    assert lists(op(x, n=3)) == [[0, 1], [2, 3], [4, 5]]
    assert lists(op(x, n=2)) == [[0, 1, 2], [3, 4, 5]]
    assert lists(op(x, n=1)) == [X.tolist()]


def test_a_list_after_other_outputs_may_be_empty(make: Make) -> None:
    op = counted(make)

    @op.kernel(device="cpu")
    def on_cpu(x, *, keep):
        return np.asarray((x > 0).sum()), [np.maximum(x, 0)] if keep else []

    x = da.asarray([-1.0, 2.0, 3.0])
    count, kept = op(x, keep=True)
    assert (count.item(), lists(kept)) == (2, [[0, 2, 3]])
    count, kept = op(x, keep=False)
    assert (count.item(), kept) == (2, ())


def test_a_kernel_may_write_a_list_through_out(make: Make) -> None:
    op = counted(make)

    @op.kernel(device="cpu")
    def on_cpu(x, *, keep, out):
        count, kept = out
        count[...] = (x > 0).sum()
        for each in kept:
            each[...] = np.maximum(x, 0)

    count, kept = op(da.asarray([-1.0, 2.0]), keep=True)
    assert (count.item(), lists(kept)) == (1, [[0, 2]])


def test_results_land_in_the_tensors_of_out(make: Make) -> None:
    op = chunks(make)
    targets = da.zeros(3, dtype="float64"), da.zeros(3, dtype="float64")
    made = op(da.asarray(X), n=2, out=targets)
    assert made[0] is targets[0]
    assert made[1] is targets[1]
    assert lists(targets) == [[0, 1, 2], [3, 4, 5]]
    with pytest.raises(da.ShapeError, match=r"acme\.chunks has 3 result"):
        op(da.asarray(X), n=3, out=targets)


def test_a_decomposition_gives_a_list(make: Make) -> None:
    op = make(
        "acme.powers(x: T, *, n: int) -> total: T, powers: T[]",
        types={"T": "floating"},
        shape=lambda x, *, n: (x.shape, [x.shape] * n),
        decompose=lambda F, x, *, n: (x * float(n), [F.pow(x, float(i + 1)) for i in range(n)]),
    )
    device = masked(Mask(hidden=("tanh",)))
    with da.fallback("error"):
        total, powers = op(da.asarray([2.0, 3.0], device=device), n=3)
    assert (total.tolist(), lists(powers)) == ([6, 9], [[2, 3], [4, 9], [8, 27]])


def test_the_cpu_serves_a_device_without_a_kernel(make: Make) -> None:
    op = chunks(make)
    x = da.asarray(X, device=masked(Mask(hidden=("tanh",))))
    with da.fallback("allow"):
        parts = op(x, n=2)
    assert lists(parts) == [[0, 1, 2], [3, 4, 5]]
    assert all(part.device == x.device for part in parts)


def test_a_gradient_gets_a_tuple_for_a_list(make: Make) -> None:
    seen: list[Any] = []

    def gradient(g, x, parts, *, n):
        seen.append(([each is None for each in g], len(parts)))
        return da.concat(
            [da.zeros_like(part) if each is None else each for each, part in zip(g, parts, strict=True)]
        )

    op = chunks(make, gradient=gradient)
    x = leaf(X)
    first, _, last = op(x, n=3)
    da.sum(first * 2.0 + last * 3.0).backward()
    assert x.grad.tolist() == [2, 2, 0, 0, 3, 3]
    assert seen == [([False, True, False], 3)]
    da.gradcheck(lambda x: da.concat([part * part for part in op(x, n=2)]), [leaf(X)])


def test_the_op_of_a_gradient_gets_the_gradients_of_a_list_at_its_end(make: Make) -> None:
    op = chunks(make, gradient="acme.chunks_gradient")
    backward = make(
        "acme.chunks_gradient(x: T, g: T[], *, n: int) -> grad_x: T",
        types={"T": "number"},
        shape=lambda x, g, *, n: x.shape,
    )
    backward.kernel(device="cpu")(lambda x, *g, n: np.concatenate(g))
    da.gradcheck(lambda x: da.concat([part * (1.0 + i) for i, part in enumerate(op(x, n=3))]), [leaf(X)])
    x = leaf(X)
    da.sum(op(x, n=3)[1]).backward()
    assert x.grad.tolist() == [0, 0, 1, 1, 0, 0]


def test_the_gradient_of_a_list_of_inputs_may_be_a_list_of_outputs(make: Make) -> None:
    op = make(
        "acme.joined(x: T, rest: T[]) -> out: T",
        types={"T": "floating"},
        shape=lambda x, rest: (x.shape[0] + sum(each.shape[0] for each in rest),),
        gradient="acme.joined_gradient",
    )
    op.kernel(device="cpu")(lambda x, *rest: np.concatenate([x, *rest]))
    backward = make(
        "acme.joined_gradient(g: T, y: T, x: T, rest: T[]) -> grad_x: T, grad_rest: T[]",
        types={"T": "floating"},
        shape=lambda g, y, x, rest: (x.shape, [each.shape for each in rest]),
    )

    @backward.kernel(device="cpu")
    def on_cpu(g, y, x, *rest):
        ends = np.cumsum([len(x), *map(len, rest)])
        first, *others = np.split(g, ends[:-1])
        return first, others

    operands = [leaf([1.0]), leaf([2.0, 3.0]), leaf([4.0])]
    da.gradcheck(lambda x, *rest: op(x, list(rest)) ** 2.0, operands)


@pytest.mark.parametrize(
    ("shape", "text"),
    [
        (lambda x, *, n: (3,), "is a list, and needs a list of shapes"),
        (lambda x, *, n: None, "is a list, and needs a list of shapes"),
        (lambda x, *, n: [], "the list parts is empty"),
        (lambda x, *, n: [(2,), (-1,)], "a size is negative"),
    ],
)
def test_a_shape_function_that_gives_no_list_of_shapes_is_an_error(shape: Any, text: str, make: Make) -> None:
    op = make("acme.chunks(x: T, *, n: int) -> parts: T[]", types={"T": "number"}, shape=shape)
    with pytest.raises(da.ShapeError, match=text):
        op(da.asarray(X), n=2)


def test_a_list_is_as_long_as_its_schema_says(make: Make) -> None:
    op = make(
        "acme.chunks(x: T, *, n: int) -> parts: T[n]",
        types={"T": "number"},
        shape=lambda x, *, n: [(x.shape[0] // max(n, 1),)] * min(n, 3),
    )
    op.kernel(device="cpu")(lambda x, *, n: list(x.reshape(n, -1)))
    assert lists(op(da.asarray(X), n=3)) == [[0, 1], [2, 3], [4, 5]]
    with pytest.raises(da.ShapeError, match="the list parts has 6 tensors"):
        op(da.asarray(X), n=6)
    for n in (0, -1, 10**12):
        with pytest.raises(da.AttributeValueError, match=f"a list of {n} tensors"):
            op(da.asarray(X), n=n)


def test_a_kernel_that_returns_another_number_of_results_is_refused(make: Make) -> None:
    op = chunks(make)
    op.kernel(device="cpu", prefer=True)(lambda x, *, n: list(x.reshape(n, -1))[1:])
    with pytest.raises(da.KernelFailed, match="it returned 2 results; the op has 3"):
        op(da.asarray(X), n=3)


@pytest.mark.parametrize(
    ("schema", "options", "text"),
    [
        ("acme.bad(x: T) -> parts: T[], out: T", {}, "only the last input and the last output may be lists"),
        ("acme.bad(x: T) -> parts: T[] @ x", {}, "an output reads name: type"),
        ("acme.bad(x: T) -> parts: T[n]", {}, "an int attribute or the list among the inputs"),
        ("acme.bad(x: T, *, n: float) -> parts: T[n]", {}, "an int attribute or the list among the inputs"),
        ("acme.bad(x: T) -> parts: T[]", {}, "nothing tells how many tensors the list parts has"),
        (
            "acme.bad(xs: T[]) -> parts: T[]",
            {"shape": lambda xs: [each.shape for each in xs], "gradient": "acme.bad_gradient"},
            "inputs and outputs have a list each",
        ),
    ],
)
def test_what_no_list_can_be_is_refused(schema: str, options: Any, text: str) -> None:
    with pytest.raises(da.AttributeValueError, match=text):
        da.custom_op(schema, types={"T": "number"}, **options)
