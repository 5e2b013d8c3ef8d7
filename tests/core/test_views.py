"""Tensors: facts, views over one storage, transfers and what is refused."""

from __future__ import annotations

import gc
import subprocess
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from core_harness import F32, TestDevice, get, put
from hypothesis import given
from hypothesis import strategies as st

from device_api import _core, dtypes, errors
from device_api._core import Device


def test_facts_of_a_fresh_tensor(device: Device) -> None:
    x = _core.empty(device, dtypes.FLOAT64, (2, 3))
    assert (x.shape, x.strides, x.ndim, x.size, x.itemsize, x.nbytes) == ((2, 3), (3, 1), 2, 6, 8, 48)
    assert x.dtype == np.float64
    assert x.dtype_code == dtypes.FLOAT64
    assert x.device is device
    assert (x.byte_offset, x.is_contiguous, x.version) == (0, True, 0)
    assert (x.requires_grad, x.grad, x.node, x.output_index) == (False, None, None, 0)
    assert len(x) == 2


def test_a_tensor_without_a_surface_says_what_it_is_and_what_it_lacks(
    run_python: Callable[[str], subprocess.CompletedProcess[str]],
) -> None:
    done = run_python("""
x = _core.empty(device, 13, (2, 3))
assert repr(x) == "<Tensor float64(2, 3) on toy:0>", repr(x)
assert x[0].shape == (3,)
try:
    x[[0]]
except TypeError as error:
    assert "__getitem__" in str(error)
else:
    raise AssertionError("indexing by a list needs the surface")
""")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("code", sorted(dtypes.ALL))
def test_bytes_survive_the_way_to_the_device_and_back(device: Device, code: int) -> None:
    dtype = dtypes.from_code(code)
    raw = np.arange(3 * dtype.itemsize, dtype=np.uint8) % 2
    out = np.zeros_like(raw)
    x = _core.from_host(device, code, (3,), raw)
    assert (x.dtype, x.itemsize) == (dtype, dtype.itemsize)
    _core.read_into(x, out)
    assert out.tobytes() == raw.tobytes()


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1,), (1, 1, 1)])
def test_scalars_and_empty_tensors(device: Device, shape: tuple[int, ...]) -> None:
    values = np.ones(shape, np.float32)
    assert get(put(device, values)).tolist() == values.tolist()


def test_a_view_shares_memory_and_version_with_its_base(device: Device) -> None:
    base = put(device, np.arange(12, dtype=np.float32))
    part = _core.view(base, F32, (2, 2), (4, 2), 4)
    assert get(part).tolist() == [[1, 3], [5, 7]]
    assert part.byte_offset == 4
    assert not part.is_contiguous
    _core.bump_version(part)
    assert base.version == 1
    del base
    assert get(_core.view(part, F32, (12,), (1,), 0)).tolist() == list(range(12))


@given(
    shape=st.lists(st.integers(0, 4), max_size=4),
    strides=st.lists(st.integers(-20, 20), min_size=4, max_size=4),
    offset=st.integers(-8, 260),
)
def test_a_view_never_leaves_its_storage(
    loaded: TestDevice, shape: list[int], strides: list[int], offset: int
) -> None:
    device = loaded.open()
    base = put(device, np.arange(64, dtype=np.float32))
    steps = strides[: len(shape)]
    empty = 0 in shape
    reach = [(n - 1) * s * 4 for n, s in zip(shape, steps, strict=True)]
    low = offset + (0 if empty else sum(r for r in reach if r < 0))
    high = offset + (0 if empty else 4 + sum(r for r in reach if r > 0))
    if offset < 0 or low < 0 or high > 256:
        with pytest.raises(errors.ShapeError, match="leave its storage"):
            _core.view(base, F32, shape, steps, offset)
        return
    x = _core.view(base, F32, shape, steps, offset)
    assert x.shape == tuple(shape)
    if offset % 4 == 0:
        flat = np.arange(64, dtype=np.float32)
        start = flat[offset // 4 :] if offset < 256 else flat[:0]
        if not empty:
            expected = np.lib.stride_tricks.as_strided(start, shape, [s * 4 for s in steps])
            assert get(x).tolist() == expected.tolist()


def test_sizes_of_one_may_have_any_stride(device: Device) -> None:
    base = put(device, np.arange(4, dtype=np.float32))
    assert _core.view(base, F32, (1, 4), (999, 1), 0).is_contiguous
    assert not _core.view(base, F32, (4, 1), (0, 1), 0).is_contiguous


def test_transfers_of_wrong_sizes_or_kinds_are_refused(device: Device) -> None:
    x = put(device, np.arange(4, dtype=np.float32))
    with pytest.raises(errors.ShapeError, match="12 bytes"):
        _core.from_host(device, F32, (4,), np.zeros(3, np.float32))
    with pytest.raises(errors.ShapeError, match="8 bytes"):
        _core.read_into(x, np.zeros(2, np.float32))
    with pytest.raises(BufferError):
        _core.read_into(x, bytes(16))
    with pytest.raises(errors.ShapeError, match="contiguous"):
        _core.read_into(_core.view(x, F32, (2,), (2,), 0), np.zeros(2, np.float32))
    with pytest.raises(errors.ShapeError, match="different sizes"):
        _core.copy_bytes(x, _core.empty(device, F32, (3,)))
    with pytest.raises(errors.ShapeError, match="overlap"):
        _core.copy_bytes(_core.view(x, F32, (2,), (1,), 0), _core.view(x, F32, (2,), (1,), 4))


def test_bytes_are_copied_on_and_between_devices(toy: TestDevice, device: Device) -> None:
    x = put(device, np.arange(4, dtype=np.float32))
    for target in (device, toy.open(1)):
        y = _core.empty(target, F32, (4,))
        _core.copy_bytes(x, y)
        assert get(y).tolist() == [0, 1, 2, 3]
        assert y.version == 1


@pytest.mark.parametrize(
    ("shape", "error"),
    [((-1,), errors.ShapeError), ((1,) * 33, errors.ShapeError), ((2**40, 2**40), errors.DeviceOutOfMemory),
     ((2**62,), errors.DeviceOutOfMemory), ((2**70,), errors.DeviceOutOfMemory),
     ((2**40, 2**40, 0), None), (("3",), TypeError)],
)  # fmt: skip
def test_impossible_shapes(device: Device, shape: Any, error: Any) -> None:
    if error is None:
        assert _core.empty(device, F32, shape).size == 0
        return
    with pytest.raises(error):
        _core.empty(device, F32, shape)


@pytest.mark.parametrize("code", [0, 18, -1, 2**31 - 1])
def test_unknown_dtypes_are_refused(device: Device, code: int) -> None:
    with pytest.raises(errors.DTypeError):
        _core.empty(device, code, (1,))


def test_tensors_hash_by_identity_and_take_weak_references(device: Device) -> None:
    x, y = _core.empty(device, F32, (1,)), _core.empty(device, F32, (1,))
    assert len({x, y}) == 2
    reference = weakref.ref(x)
    assert reference() is x
    del x
    assert reference() is None


def test_cycles_through_a_tensor_are_collected(device: Device) -> None:
    x = _core.empty(device, F32, (1,))
    x.node = [x]
    reference = weakref.ref(x)
    del x
    gc.collect()
    assert reference() is None


def test_a_long_chain_of_tensors_ends_without_deep_recursion(device: Device) -> None:
    class Node:
        __slots__ = ("inputs",)

    for attribute in ("node", "grad"):
        head = _core.empty(device, F32, (1,))
        for _ in range(200_000):
            tail = _core.empty(device, F32, (1,))
            if attribute == "grad":
                tail.grad = head
            else:
                tail.node = Node()
                tail.node.inputs = (head,)
            head = tail
        del head, tail
    assert device.memory_stats()["allocated"] == 0


def test_tensors_are_not_made_by_calling_the_class() -> None:
    for make in (lambda: _core.Tensor(), lambda: _core.Tensor.__new__(_core.Tensor)):
        with pytest.raises(TypeError, match="made by functions"):
            make()
    with pytest.raises(TypeError):
        type("Sub", (_core.Tensor,), {})


def test_devices_equal_their_names(toy: TestDevice) -> None:
    first, second = toy.open(0), toy.open(1)
    assert first == "toy:0"
    assert first == "toy"
    assert second == "toy:1"
    assert second != "toy"
    assert first != second
    assert str(second) == "toy:1"
    assert {"toy:0": 1}[first] == 1
