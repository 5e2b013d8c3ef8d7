"""Memory counters and random generators as users see them."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import device_api as da


def test_allocated_follows_live_tensors_and_the_peak_stays() -> None:
    gc.collect()
    before = da.memory_allocated()
    da.reset_peak_memory_stats()
    x = da.zeros((1 << 18,), dtype=da.float32)
    held = da.memory_allocated() - before
    assert held >= x.nbytes
    del x
    assert da.memory_allocated() == before
    assert da.max_memory_allocated() >= before + held
    assert da.memory_reserved() >= da.memory_allocated()
    assert da.max_memory_reserved() >= da.memory_reserved()


def test_empty_cache_gives_memory_back() -> None:
    da.zeros((1 << 20,))
    da.empty_cache()
    reserved = da.memory_reserved()
    x = da.zeros((1 << 20,))
    del x
    assert da.memory_reserved() > reserved
    assert da.empty_cache() > 0
    assert da.memory_reserved() <= reserved + (1 << 20)


def test_views_keep_their_memory_alive() -> None:
    x = da.asarray(np.arange(1000.0))
    view = x[::100]
    del x
    gc.collect()
    others = [da.zeros((1000,), dtype=da.float64) for _ in range(50)]
    assert view.tolist() == list(np.arange(0.0, 1000.0, 100.0))
    del others


def test_memory_stays_flat_over_many_calls() -> None:
    x = da.ones((64, 64))
    for _ in range(20):
        da.softmax(x @ x, axis=0)
    before = da.memory_stats()
    for _ in range(2000):
        da.softmax(x @ x, axis=0)
    after = da.memory_stats()
    assert after["allocated"] == before["allocated"]
    assert after["reserved"] == before["reserved"]
    assert after["plugin_allocations"] == before["plugin_allocations"]


def test_limits_must_be_numbers_of_bytes() -> None:
    with pytest.raises(da.AttributeValueError, match="bytes"):
        da.set_memory_limit(-1)


def test_a_seed_decides_every_number_and_a_state_can_be_restored() -> None:
    da.manual_seed(7)
    first = da.uniform((5,)).tolist()
    state = da.get_random_state()
    second = da.uniform((5,)).tolist()
    da.set_random_state(state)
    assert da.uniform((5,)).tolist() == second
    da.manual_seed(7)
    assert da.uniform((5,)).tolist() == first
    assert first != second


def test_seeds_and_states_are_64_bit_numbers() -> None:
    da.manual_seed(2**64 - 1, "cpu")
    assert da.get_random_state() == (2**64 - 1, 0)
    for wrong in (-1, 2**64):
        with pytest.raises(da.AttributeValueError, match="seed"):
            da.manual_seed(wrong)
    with pytest.raises(da.AttributeValueError, match="offset"):
        da.set_random_state((0, -1))
