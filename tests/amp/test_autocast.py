"""Autocast: which ops compute in which dtype, where blocks begin and end, and gradients through casts."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from masked_devices import Mask, masked

import device_api as da
from device_api import dtypes

X = da.asarray([[0.5, 1.5], [-2.0, 4.0]])


@pytest.mark.parametrize("dtype", [da.float16, da.bfloat16])
def test_classes_of_ops_decide_the_dtype_at_level_o1(dtype: type) -> None:
    half = da.astype(X, dtype)
    with da.amp.autocast("cpu", dtype):
        assert (X @ X).dtype == dtype
        assert da.matmul(X, half).dtype == dtype
        assert da.exp(half).dtype == da.float32
        assert da.softmax(half).dtype == da.float32
        assert (X + X).dtype == da.float32
        assert (half + X).dtype == da.float32
        assert (half + half).dtype == dtype
        assert da.relu(half).dtype == dtype
        assert da.sum(half).dtype == da.float32
    assert (X @ X).dtype == da.float32
    assert da.exp(half).dtype == dtype


def test_level_o2_computes_arithmetic_in_16_bits_too_but_compares_as_it_is() -> None:
    near = X + 1e-5
    with da.amp.autocast("cpu", "bfloat16", "O2"):
        assert (X + X).dtype == da.bfloat16
        assert da.where(X > 0, X, X).dtype == da.bfloat16
        assert da.exp(X).dtype == da.float32
        assert not da.any(near == X)


def test_other_dtypes_are_left_alone() -> None:
    double, whole = da.astype(X, da.float64), da.asarray([[1, 2], [3, 4]])
    with da.amp.autocast("cpu", "float16", "O2"):
        assert (double @ double).dtype == da.float64
        assert (whole + whole).dtype == da.int64
        assert da.astype(X, da.float32).dtype == da.float32
        assert da.asarray([1.0]).dtype == da.float32


def test_results_are_those_of_operands_rounded_once() -> None:
    rng = np.random.default_rng(0)
    a, b = (da.asarray(rng.normal(size=(5, 5)), dtype=da.float32) for _ in range(2))
    with da.amp.autocast("cpu", "bfloat16"):
        got = a @ b
    expected = da.astype(a, da.bfloat16) @ da.astype(b, da.bfloat16)
    assert got.tolist() == expected.tolist()


def test_blocks_nest_and_can_be_switched_off_inside() -> None:
    with da.amp.autocast("cpu", "bfloat16"):
        with da.amp.autocast("cpu", "float16"):
            assert (X @ X).dtype == da.float16
        with da.amp.autocast("cpu", enabled=False):
            assert not da.amp.is_autocast_enabled("cpu")
            assert (X @ X).dtype == da.float32
            with da.amp.autocast("cpu", "float16"):
                assert (X @ X).dtype == da.float16
        assert (X @ X).dtype == da.bfloat16
    assert not da.amp.is_autocast_enabled("cpu")


def test_a_block_that_is_left_by_an_error_ends() -> None:
    with pytest.raises(da.ShapeError), da.amp.autocast("cpu"):
        X @ da.ones(3)
    assert (X @ X).dtype == da.float32


def test_other_threads_have_blocks_of_their_own() -> None:
    seen = []
    with da.amp.autocast("cpu"):
        thread = threading.Thread(target=lambda: seen.append((X @ X).dtype))
        thread.start()
        thread.join()
    assert seen == [np.float32]


def test_functions_can_be_blocks() -> None:
    @da.amp.autocast("cpu", "float16")
    def product(times: int) -> da.Tensor:
        return X @ X if times == 0 else product(times - 1)

    assert product(3).dtype == da.float16
    assert (X @ X).dtype == da.float32


def test_a_block_changes_only_its_device() -> None:
    other = masked(Mask())
    there = da.to_device(X, other)
    with da.amp.autocast("cpu", "bfloat16"):
        assert (there @ there).dtype == da.float32
        with da.amp.autocast(other, "float16"):
            assert (there @ there).dtype == da.float16
            assert (X @ X).dtype == da.bfloat16


def test_gradients_come_back_in_the_dtype_of_their_tensors() -> None:
    weight = da.asarray([[1.0, 2.0], [3.0, 4.0]])
    weight.requires_grad = True
    with da.amp.autocast("cpu", "bfloat16"):
        product = X @ weight
        loss = da.mse_loss(product, da.zeros((2, 2)))
        inside = da.grad(loss, weight, retain_graph=True)[0]
    outside = da.grad(loss, weight)[0]
    assert (product.dtype, loss.dtype) == (da.bfloat16, da.float32)
    assert inside.dtype == outside.dtype == da.float32
    assert inside.tolist() == outside.tolist()
    exact = da.grad(da.mse_loss(X @ weight, da.zeros((2, 2))), weight)[0]
    assert np.allclose(outside.numpy(), exact.numpy(), rtol=2e-2)


def test_plans_of_operators_used_before_are_not_used_in_a_block() -> None:
    for _ in range(3):
        assert (X @ X).dtype == da.float32
    with da.amp.autocast("cpu"):
        assert (X @ X).dtype == da.bfloat16
    assert (X @ X).dtype == da.float32


def test_out_is_written_as_without_autocast() -> None:
    out = da.empty((2, 2))
    with da.amp.autocast("cpu", "float16", "O2"):
        da.add(X, X, out=out)
    assert out.tolist() == (X + X).tolist()


def test_what_makes_no_sense_is_an_error() -> None:
    with pytest.raises(da.AttributeValueError, match="O1"):
        da.amp.autocast("cpu", level="O3")  # type: ignore[arg-type]
    with pytest.raises(da.DTypeError, match="16 bits"):
        da.amp.autocast("cpu", "float32")


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
def test_support_is_what_runs(name: str) -> None:
    ask = {"float16": da.amp.is_float16_supported, "bfloat16": da.amp.is_bfloat16_supported}[name]
    without = masked(Mask(without_dtypes=(dtypes.FLOAT16, dtypes.BFLOAT16)))
    assert ask("cpu") is True
    assert ask(without) is False
    assert ask("no such device") is False
    assert ask("missing:3") is False
    with pytest.raises(da.DTypeError, match="does not compute"):
        da.amp.autocast(without, name)
    with da.fallback("error"):
        half = da.to_device(da.astype(X, name), without)
        with pytest.raises(da.FallbackForbidden):
            half @ half


def test_an_op_that_the_device_cannot_run_in_16_bits_stays_in_float32() -> None:
    device = masked(Mask(hidden=("nextafter",)))
    x = da.to_device(X, device)
    with da.fallback("allow"), da.amp.autocast(device, "float16", "O2"):
        assert (x + x).dtype == da.float16
        assert da.nextafter(x, x).dtype == da.float32
        assert da.nextafter(x, x).tolist() == X.tolist()
