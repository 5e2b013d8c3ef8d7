"""Choosing a kernel: by dtypes, by priority, by flags, by what the kernel itself says."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import numpy as np
from masked_devices import Mask, masked

import device_api as da
from device_api import dtypes
from device_api.ops import selection
from device_api.ops._table import BY_NAME

_handles = itertools.count(-1, -1)


def device(*kernels: tuple[str, int, tuple[int, ...]]) -> Any:
    """Something with kernels: (op, priority, codes of T)."""
    made = [
        SimpleNamespace(index=i, op=op, priority=priority, dtypes=(sum(1 << c for c in codes), 0, 0, 0))
        for i, (op, priority, codes) in enumerate(kernels)
    ]
    return SimpleNamespace(handle=next(_handles), kernels=tuple(made))


def chosen(place: Any, code: int, declined: tuple[int, ...] = ()) -> list[int]:
    return [k.index for k in selection.candidates(place, BY_NAME["add"], {"T": code}, declined)]


def test_the_greatest_priority_comes_first_and_equal_ones_in_their_order() -> None:
    both = (dtypes.FLOAT32, dtypes.FLOAT64)
    place = device(("add", 0, both), ("add", 5, (dtypes.FLOAT32,)), ("subtract", 9, both), ("add", 0, both))
    assert chosen(place, dtypes.FLOAT32) == [1, 0, 3]
    assert chosen(place, dtypes.FLOAT64) == [0, 3]
    assert chosen(place, dtypes.INT8) == []
    assert chosen(place, dtypes.FLOAT32, declined=(1,)) == [0, 3]


def test_capabilities_are_the_union_of_what_kernels_claim() -> None:
    place = device(("add", 0, (dtypes.INT8,)), ("add", 0, (dtypes.FLOAT32,)))
    assert selection.claimed_dtypes(place, "add") == {dtypes.INT8, dtypes.FLOAT32}
    assert selection.claimed_dtypes(place, "exp") == frozenset()


def test_native_kernels_run_where_they_exist() -> None:
    cpu = da.device("cpu")
    x = da.ones((4,))
    cpu.reset_kernel_runs()
    da.square(x)
    assert cpu.kernel_runs() == {"square": 1}


def test_a_kernel_that_refuses_or_declines_gives_way_to_the_composition() -> None:
    array = np.asarray([1.5, -2.0], np.float32)
    for mask in (Mask(refused=("square",)), Mask(declined=("square",))):
        place = da.device(masked(mask))
        x = da.asarray(array, device=place)
        place.reset_kernel_runs()
        assert da.square(x).tolist() == [2.25, 4.0]
        assert place.kernel_runs() == {"multiply": 1}


def test_strided_operands_are_copied_only_for_kernels_that_need_it() -> None:
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    for mask, copies in ((Mask(), 0), (Mask(contiguous=True), 1)):
        place = da.device(masked(mask))
        x = da.asarray(array, device=place)
        place.reset_kernel_runs()
        da.negative(x.T)
        assert place.kernel_runs().get("copy", 0) == copies
        da.negative(x)
        assert place.kernel_runs().get("copy", 0) == copies


def test_a_constant_tensor_is_filled_by_one_kernel() -> None:
    cpu = da.device("cpu")
    cpu.reset_kernel_runs()
    da.full((3, 4), 2.5)
    da.zeros((5,))
    assert cpu.kernel_runs() == {"fill": 2}
