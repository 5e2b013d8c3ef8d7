"""DLPack both ways: shared memory, versions, read-only arrays, shapes at the edges, lifetimes."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from capsule_producer import Producer, capsule_name

import device_api as da


class Passing:
    """A tensor as others see it who know nothing but the protocol."""

    def __init__(self, tensor: da.Tensor) -> None:
        self.__dlpack__ = tensor.__dlpack__
        self.__dlpack_device__ = tensor.__dlpack_device__


def test_numpy_sees_the_memory_of_a_tensor() -> None:
    x = da.asarray([1.0, 2.0, 3.0])
    seen = np.from_dlpack(x)
    seen_strided = np.from_dlpack(x[::-1])
    x[1] = 7.0
    assert seen.tolist() == [1.0, 7.0, 3.0]
    assert seen_strided.tolist() == [3.0, 7.0, 1.0]


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (2, 3)])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float16", "float32", "complex128"])
def test_shapes_and_dtypes_go_both_ways(shape: tuple[int, ...], dtype: str) -> None:
    x = da.ones(shape, dtype=dtype)
    back = da.from_dlpack(np.from_dlpack(x))
    assert back.shape == shape
    assert back.dtype == x.dtype
    assert (back.numpy() == 1).all()


def test_capsules_are_legacy_unless_a_version_is_asked_for() -> None:
    x = da.ones(2)
    assert '"dltensor"' in repr(x.__dlpack__())
    assert '"dltensor_versioned"' in repr(x.__dlpack__(max_version=(1, 0)))
    assert '"dltensor_versioned"' in repr(x.__dlpack__(max_version=(9, 0)))


def test_the_memory_lives_as_long_as_the_consumer() -> None:
    x = da.asarray([5.0] * 1000)
    seen = np.from_dlpack(x)
    del x
    others = [da.zeros(1000) for _ in range(20)]
    assert (seen == 5.0).all()
    assert len(others) == 20


def test_a_capsule_that_nobody_takes_gives_the_memory_back() -> None:
    x = da.ones(1 << 20)
    before = da.memory_allocated()
    capsule = x.__dlpack__()
    del x
    assert da.memory_allocated() == before
    del capsule
    assert da.memory_allocated() < before


def test_a_read_only_array_becomes_a_tensor_that_can_be_written() -> None:
    array = np.arange(3.0)
    array.flags.writeable = False
    x = da.from_dlpack(array)
    x[0] = 9.0
    assert array[0] == 0.0


def test_what_cannot_be_had_is_an_error() -> None:
    x = da.ones(2)
    with pytest.raises(ValueError, match="stream"):
        x.__dlpack__(stream=1)
    with pytest.raises(BufferError, match="DLPack device"):
        x.__dlpack__(dl_device=(2, 0))
    with pytest.raises(TypeError, match="__dlpack__"):
        da.from_dlpack([1, 2])
    x.requires_grad = True
    with pytest.raises(da.GradientError, match="detach"):
        x.__dlpack__()


def test_a_tensor_is_given_back_over_the_same_memory() -> None:
    x = da.asarray([1, 2])
    y = da.from_dlpack(x)
    x[0] = 5
    assert y.tolist() == [5, 2]
    assert da.from_dlpack(x, copy=True).tolist() == [5, 2]


def test_the_interpreter_ends_cleanly_while_a_consumer_lives() -> None:
    program = (
        "import sys, numpy as np, device_api as da\n"
        "x = da.ones(10)\n"
        "sys.kept = np.from_dlpack(x), x.__dlpack__(max_version=(1, 0))\n"
        "print(sys.kept[0].sum())\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (0, "10.0\n"), done.stderr


def test_numpy_memory_is_shared_both_ways() -> None:
    array = np.arange(6.0).reshape(2, 3)[:, ::-1]
    x = da.from_dlpack(array)
    array[0, 0] = 9.0
    x[1, 2] = 7.0
    assert x.tolist() == [[9, 1, 0], [5, 4, 7]]
    assert array[1, 2] == 7.0
    assert da.from_dlpack(array, copy=True).tolist() == x.tolist()


@pytest.mark.parametrize("version", [None, (1, 0), (1, 99)])
def test_a_capsule_is_taken_once_and_its_deleter_called_once(version: tuple[int, int] | None) -> None:
    producer = Producer(np.arange(4, dtype=np.int32), version=version)
    x = da.from_dlpack(producer)
    assert producer.asked == {"max_version": (1, 1)}
    assert capsule_name(producer.capsule) == b"used_" + producer.name
    half = x[2:]
    with pytest.raises(BufferError, match="once"):
        da.from_dlpack(producer)
    del x
    assert (half.tolist(), producer.deleted) == ([2, 3], 0)
    del half
    assert producer.deleted == 1


def test_a_capsule_of_a_future_major_version_is_refused_and_left_alone() -> None:
    producer = Producer(np.ones(2), version=(2, 0))
    with pytest.raises(BufferError, match=r"version 2\.0 .*max_version"):
        da.from_dlpack(producer)
    assert capsule_name(producer.capsule) == b"dltensor_versioned"
    assert producer.deleted == 0


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"code": 3}, "type 3"),
        ({"bits": 128}, "128 bits"),
        ({"lanes": 4}, "4 lanes"),
        ({"device": 2}, "device type 2"),
        ({"shape": (1,) * 40, "strides": (1,) * 40}, "dimensions"),
    ],
)
def test_what_no_tensor_can_be_is_refused_and_left_alone(facts: dict[str, Any], said: str) -> None:
    producer = Producer(np.ones(4), **facts)
    with pytest.raises(BufferError, match=said):
        da.from_dlpack(producer)
    assert (capsule_name(producer.capsule), producer.deleted) == (b"dltensor_versioned", 0)


def test_a_failure_after_a_capsule_was_taken_gives_its_memory_back() -> None:
    producer = Producer(np.ones(4), shape=(1 << 40, 1 << 40), strides=(1, 1))
    with pytest.raises(da.DeviceOutOfMemory):
        da.from_dlpack(producer)
    assert producer.deleted == 1


def test_elements_that_are_not_aligned_are_refused() -> None:
    with pytest.raises(BufferError, match="aligned"):
        da.from_dlpack(Producer(np.zeros(17, np.uint8)[1:9], code=2, bits=64, shape=(1,), strides=(1,)))


def test_read_only_memory_is_copied_and_given_back() -> None:
    producer = Producer(np.ones(3), flags=1)
    x = da.from_dlpack(producer)
    x[0] = 5.0
    assert (producer.array[0], producer.deleted) == (1.0, 1)
    other = Producer(np.ones(3), flags=1)
    with pytest.raises(BufferError, match="read-only"):
        da.from_dlpack(other, copy=False)
    assert other.deleted == 1


def test_offsets_strides_and_row_major_memory_without_strides_are_understood() -> None:
    array = np.arange(12.0)
    assert da.from_dlpack(Producer(array[2:], offset=16, shape=(3,), strides=(3,))).tolist() == [2, 5, 8]
    assert (
        da.from_dlpack(Producer(array, shape=(3, 4), compact=True)).tolist() == array.reshape(3, 4).tolist()
    )
    assert da.from_dlpack(Producer(array[5:], shape=(3,), strides=(-2,))).tolist() == [5, 3, 1]
    assert da.from_dlpack(Producer(array, shape=(2, 3), strides=(1, 0))).tolist() == [[0, 0, 0], [1, 1, 1]]
    assert da.from_dlpack(Producer(array, shape=(0, 3), strides=(7, 9))).shape == (0, 3)


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2"])
@pytest.mark.parametrize("copy", [None, True])
def test_dtypes_that_numpy_has_no_capsule_for_cross_too(dtype: str, copy: bool | None) -> None:
    x = da.asarray([1.5, -2.0, 0.25], dtype=dtype)
    back = da.asarray(Passing(x), copy=copy)
    assert (back.dtype, back.tolist()) == (x.dtype, [1.5, -2.0, 0.25])
    array = np.asarray([1.5, -2.0], ml_dtypes.bfloat16)
    assert da.from_dlpack(Producer(array)).dtype == array.dtype


def test_asarray_takes_what_has_nothing_but_the_protocol() -> None:
    producer = Producer(np.arange(3.0))
    x = da.asarray(producer)
    x[0] = 8.0
    assert producer.array[0] == 8.0
    assert da.asarray(Producer(np.arange(3.0)), dtype=da.int32).tolist() == [0, 1, 2]
    copied = Producer(np.arange(3.0))
    da.asarray(copied, copy=True)[0] = 8.0
    assert (copied.array[0], copied.deleted) == (0.0, 1)
    with pytest.raises(ValueError, match="read-only"):
        da.asarray(Producer(np.arange(3.0), flags=1), copy=False)


def test_producers_from_before_the_arguments_are_understood() -> None:
    class Old:
        def __init__(self) -> None:
            self.inner = Producer(np.arange(3.0), version=None)

        def __dlpack__(self, stream: object = None) -> object:
            return self.inner.capsule

    assert da.from_dlpack(Old()).tolist() == [0, 1, 2]


def test_a_copy_can_be_asked_of_an_export() -> None:
    x = da.ones(3)
    shared, copied = np.from_dlpack(x), np.from_dlpack(x, copy=True)
    x[0] = 4.0
    assert (shared[0], copied[0]) == (4.0, 1.0)
    assert copied.flags.writeable


def test_operations_know_when_two_tensors_share_foreign_memory() -> None:
    array = np.arange(6.0)
    source, target = da.from_dlpack(array[:-1]), da.from_dlpack(array[1:])
    da.add(source, 1.0, out=target)
    assert array.tolist() == [0, 1, 2, 3, 4, 5]
    own = da.arange(0.0, 6.0)
    foreign = da.from_dlpack(np.from_dlpack(own))
    da.multiply(own[:-1], 2.0, out=foreign[1:])
    assert own.tolist() == [0, 0, 2, 4, 6, 8]


def test_memory_of_others_goes_back_when_another_thread_drops_it() -> None:
    producer = Producer(np.ones(3))
    held = [da.from_dlpack(producer)]
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    assert producer.deleted == 1
