"""Gradients over devices: a moved tensor's gradient comes back to where it was."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import device_api as da

sys.path.insert(0, str(Path(__file__).parent.parent / "ops"))
from masked_devices import Mask, masked


def test_a_gradient_comes_back_to_the_device_of_its_tensor() -> None:
    other = masked(Mask())
    x = da.asarray([1.0, 2.0, 3.0])
    x.requires_grad = True
    y = (x * 2.0).to_device(other)
    loss = da.sum(y * y)
    assert loss.device == other
    loss.backward()
    assert x.grad is not None
    assert x.grad.device == "cpu"
    assert x.grad.tolist() == [8.0, 16.0, 24.0]


def test_a_leaf_there_and_back_and_strided_parts_have_gradients_too() -> None:
    other = masked(Mask())
    weight = da.asarray(np.arange(6.0).reshape(2, 3), device=other)
    weight.requires_grad = True
    part = da.asarray(weight[:, ::2].mT, device="cpu").to(other).to("cpu")
    (gradient,) = da.grad(da.sum(part * part), weight)
    assert gradient.device == other
    assert gradient.tolist() == [[0, 0, 4], [6, 0, 10]]


def test_second_derivatives_cross_devices() -> None:
    other = masked(Mask())
    x = da.asarray(2.0)
    x.requires_grad = True
    (first,) = da.grad(x.to_device(other) ** 3, x, create_graph=True)
    (second,) = da.grad(first, x)
    assert (first.item(), second.item()) == (12.0, 12.0)


def test_nothing_is_recorded_without_need() -> None:
    other = masked(Mask())
    x = da.ones(2)
    assert not x.to_device(other).requires_grad
    x.requires_grad = True
    with da.no_grad():
        assert not x.to_device(other).requires_grad
