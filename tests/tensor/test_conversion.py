"""From tensors to the rest: NumPy, Python numbers, printing, pickling."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import device_api as da


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("bool", True),
        ("int8", -3),
        ("uint64", 2**64 - 1),
        ("float16", 1.5),
        ("bfloat16", 1.5),
        ("float64", 0.1),
        ("complex64", 1 + 2j),
        ("float8_e5m2", 1.5),
    ],
)
def test_item_and_tolist_give_python_numbers(name: str, value: Any) -> None:
    x = da.asarray(np.asarray(value).astype(getattr(da, name)))
    assert x.item() == value
    assert type(x.item()) is type(value)
    assert da.reshape(x, (1, 1)).tolist() == [[value]]


@pytest.mark.parametrize("convert", [bool, int, float, complex, lambda x: x.item()])
def test_only_one_element_is_a_number(convert: Callable[[Any], Any]) -> None:
    with pytest.raises(da.ShapeError, match=r"\(2,\)"):
        convert(da.ones((2,)))
    with pytest.raises(da.ShapeError):
        convert(da.ones((0,)))
    assert convert(da.ones((1,))) == 1


def test_numbers_from_tensors() -> None:
    assert int(da.asarray(3.9)) == 3
    assert float(da.asarray(3)) == 3.0
    assert bool(da.asarray(0.0)) is False
    assert range(5)[da.asarray(2)] == 2
    with pytest.raises(TypeError):
        range(5)[da.asarray(2.0)]
    with pytest.raises(TypeError, match="complex"):
        float(da.asarray(1j))
    with pytest.raises(TypeError, match="0-d"):
        iter(da.asarray(1))
    with pytest.raises(TypeError, match="0-d"):
        len(da.asarray(1))


def test_iteration_and_membership() -> None:
    x = da.asarray([[1, 2], [3, 4]])
    assert [row.tolist() for row in x] == [[1, 2], [3, 4]]
    assert 3 in x
    assert 5 not in x
    assert len(x) == 2


def test_numpy_functions_take_tensors_of_devices_the_host_can_see() -> None:
    x = da.asarray([[1.0, 2.0], [3.0, 4.0]])
    assert np.asarray(x.T).tolist() == [[1, 3], [2, 4]]
    assert np.asarray(x, dtype=np.int8).dtype == np.int8
    assert np.mean(x) == 2.5
    with pytest.raises(ValueError, match="copy"):
        np.asarray(x, copy=False)


def test_numpy_arrays_do_not_take_over_operators() -> None:
    x = da.asarray([1.0, 2.0])
    for result in (np.ones(2, np.float32) + x, np.float32(1) + x, x * np.ones((2, 1), np.float32)):
        assert isinstance(result, da.Tensor)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickling_keeps_elements_dtype_and_device(protocol: int) -> None:
    x = da.asarray(np.arange(6, dtype=np.int16).reshape(2, 3))[:, ::-1]
    again = pickle.loads(pickle.dumps(x, protocol))
    assert (again.dtype, again.device, again.tolist()) == (x.dtype, x.device, x.tolist())
    weight = da.ones((2,))
    weight.requires_grad = True
    assert pickle.loads(pickle.dumps(weight, protocol)).requires_grad


def test_deepcopy_has_memory_of_its_own() -> None:
    x = da.asarray([1.0, 2.0])
    other = copy.deepcopy(x)
    other += 1
    assert x.tolist() == [1, 2]


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: da.asarray([1.0, 2.5]), "Tensor([1. , 2.5], dtype=float32, device='cpu:0')"),
        (lambda: da.asarray(3), "Tensor(3, dtype=int64, device='cpu:0')"),
        (lambda: da.zeros((0, 3)), "Tensor([], shape=(0, 3), dtype=float32, device='cpu:0')"),
        (lambda: da.ones((2,), dtype=da.bfloat16), "Tensor([1., 1.], dtype=bfloat16, device='cpu:0')"),
        (
            lambda: da.asarray([[1, 2], [3, 4]]),
            "Tensor([[1, 2],\n        [3, 4]], dtype=int64, device='cpu:0')",
        ),
    ],
)
def test_repr_is_numpys_with_dtype_and_device(make: Callable[[], da.Tensor], text: str) -> None:
    assert repr(make()) == text


def test_str_is_the_numbers() -> None:
    assert str(da.asarray([1, 2])) == "[1, 2]"
    assert str(da.asarray(2.5)) == "2.5"


def test_repr_of_a_big_tensor_reads_its_edges_only() -> None:
    array = np.arange(2_000_000, dtype=np.int32).reshape(2, 1000, 1000)
    x = da.asarray(array)
    expected = np.array2string(array, separator=", ", prefix="Tensor(")
    assert repr(x).startswith(f"Tensor({expected}")


def test_repr_says_that_a_gradient_is_required() -> None:
    x = da.ones((1,))
    x.requires_grad = True
    assert "requires_grad=True" in repr(x)
    assert "requires_grad" not in repr(x.detach())


def test_to_moves_or_converts() -> None:
    x = da.asarray([1.5])
    assert x.to("cpu") is x
    assert x.to_device("cpu:0") is x
    assert x.to(da.int32).dtype == np.int32
    assert x.to("float64").dtype == np.float64
    with pytest.raises(da.PluginNotFound):
        x.to("nothing_like_it")


def test_methods_do_what_the_functions_do() -> None:
    x = da.asarray([[1.0, 2.0], [3.0, 5.0]])
    assert x.sum().item() == 11
    assert x.sum(axis=0).tolist() == [4, 7]
    assert x.max(1, keepdims=True).tolist() == [[2], [5]]
    assert x.reshape(4).shape == x.reshape((4,)).shape == x.reshape(-1).shape == (4,)
    assert x.T.tolist() == x.mT.tolist() == [[1, 3], [2, 5]]
    assert x.astype(da.int8).dtype == np.int8
    assert (x > 2).any().item() is True
    assert x.argmax().item() == 3
    assert x.contiguous() is x
    assert x.T.contiguous().is_contiguous
    assert x.__array_namespace__() is da
    with pytest.raises(ValueError, match="1999"):
        x.__array_namespace__(api_version="1999.01")


def test_detach_shares_memory() -> None:
    x = da.ones((2,))
    x.requires_grad = True
    y = x.detach()
    assert not y.requires_grad
    y += 1
    assert x.tolist() == [2, 2]


def test_a_tensor_is_not_made_by_calling_its_class() -> None:
    with pytest.raises(TypeError, match="asarray"):
        da.Tensor()


def test_astype_without_a_copy_gives_the_memory_of_what_has_the_dtype_already() -> None:
    x = da.arange(6.0).reshape((2, 3)).T
    same, other = da.astype(x, x.dtype, copy=False), da.astype(x, da.float16, copy=False)
    copied = da.astype(x, x.dtype)
    x[0, 1] = 7.0
    assert same.strides == x.strides
    assert (float(same[0, 1]), float(copied[0, 1]), float(other[0, 1])) == (7.0, 3.0, 3.0)
