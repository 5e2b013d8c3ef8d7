"""Compositions: the whole op set on devices that have primitives only, equal to native results."""

from __future__ import annotations

import numpy as np
import pytest
from masked_devices import PRIMITIVES, Mask, masked

import device_api as da
from device_api.ops._table import OPS
from device_api.opset.spec import OpSpec

# Factorisations have no composition: they run on the CPU, which fallback is forbidden to use here.
EXAMPLES = [spec for spec in OPS if spec.public and spec.example and spec.family != "factorisation"]
MASKS = {
    "primitives only": Mask(only=PRIMITIVES, random=False),
    "primitives only, contiguous inputs, rank 3": Mask(only=PRIMITIVES, contiguous=True, max_rank=3),
    "replaceable kernels refused by supports": Mask(refused=("square", "isnan", "logaddexp")),
    "replaceable kernels declined in prepare": Mask(declined=("square", "isnan", "logaddexp")),
}


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("spec", EXAMPLES, ids=lambda spec: spec.name)
def test_the_example_of_every_op_holds(mask: str, spec: OpSpec) -> None:
    with da.default_device(masked(MASKS[mask])):
        assert eval(spec.example, {"da": da, "np": np})


def _case(op: str, device: str) -> list[np.ndarray]:
    generator = np.random.default_rng(7)
    x = da.asarray(generator.normal(size=(3, 4, 5)).astype(np.float32), device=device)
    y = da.asarray(generator.normal(size=(4, 5)).astype(np.float32), device=device)
    labels = da.asarray(generator.integers(0, 5, (3, 4)), device=device)
    cases = {
        "softmax over a middle axis": lambda: da.softmax(x, axis=1),
        "log_softmax": lambda: da.log_softmax(x, axis=-1),
        "logsumexp of all": lambda: da.logsumexp(x),
        "var over two axes": lambda: da.var(x, axis=(0, 2), keepdims=True),
        "layer_norm": lambda: da.layer_norm(x),
        "cross_entropy": lambda: da.cross_entropy(x, labels),
        "matmul of batches": lambda: da.matmul(x, da.matrix_transpose(y)),
        "argmax over the first axis": lambda: da.argmax(x, axis=0),
        "sort descending": lambda: da.sort(x, axis=1, descending=True),
        "cumulative_sum": lambda: da.cumulative_sum(x, axis=1, include_initial=True),
        "take along an axis": lambda: da.take_along_axis(x, da.argsort(x, axis=0), axis=0),
        "gelu": lambda: da.gelu(x),
        "concat of promoted dtypes": lambda: da.concat([x, da.astype(x, da.int8)], axis=1),
        "pad": lambda: da.pad(y, 0.5, before=(1, 2), after=(0, 3)),
        "one_hot": lambda: da.one_hot(labels, 5),
        "prod": lambda: da.prod(x, axis=2),
    }
    result = cases[op]()
    return [each.numpy() for each in (result if isinstance(result, tuple) else (result,))]


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize(
    "op",
    [
        "softmax over a middle axis", "log_softmax", "logsumexp of all", "var over two axes", "layer_norm",
        "cross_entropy", "matmul of batches", "argmax over the first axis", "sort descending",
        "cumulative_sum", "take along an axis", "gelu", "concat of promoted dtypes", "pad", "one_hot", "prod",
    ],
)  # fmt: skip
def test_a_device_of_primitives_agrees_with_the_reference(mask: str, op: str) -> None:
    for found, expected in zip(_case(op, masked(MASKS[mask])), _case(op, "cpu"), strict=True):
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_random_bits_are_the_same_with_and_without_the_random_interface() -> None:
    drawn = []
    for device in ("cpu", masked(Mask(random=False))):
        da.manual_seed(1234, device)
        drawn.append(
            [da.uniform((7,), device=device).numpy(), da.randint(0, 1000, (5,), device=device).numpy()]
        )
        drawn[-1].append(da.get_random_state(device))
    for one, other in zip(*drawn, strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_decomposed_op_is_one_program_and_no_python_runs_on_a_hit() -> None:
    x = da.ones((3, 4))
    da.softmax(x, axis=0)
    before = da.cache_info()
    da.softmax(x, axis=0)
    after = da.cache_info()
    assert after["misses"] == before["misses"]
    assert after["hits"] == before["hits"] + 1
