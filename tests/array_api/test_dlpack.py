"""DLPack both ways: shared memory, versions, read-only arrays, shapes at the edges, lifetimes."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

import device_api as da


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
    with pytest.raises(BufferError, match="astype"):
        da.ones(2, dtype=da.bfloat16).__dlpack__()
    with pytest.raises(ValueError, match="copy"):
        da.from_dlpack(np.ones(2), copy=False)
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
