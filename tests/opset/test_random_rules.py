"""Philox composed from integer ops is Philox; draws computed from its bits are what they claim."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats


def philox_block(counter, key):
    """One block, word for word from the paper (Salmon et al., SC 2011)."""
    c, k = list(counter), list(key)
    for _ in range(10):
        p0, p1 = c[0] * 0xD2511F53, c[2] * 0xCD9E8D57
        c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & 0xFFFFFFFF, (p0 >> 32) ^ c[3] ^ k[1], p0 & 0xFFFFFFFF]
        k = [(k[0] + 0x9E3779B9) & 0xFFFFFFFF, (k[1] + 0xBB67AE85) & 0xFFFFFFFF]
    return c


def test_the_reference_block_matches_the_published_vectors():
    # Random123's kat_vectors for philox4x32-10.
    assert philox_block([0] * 4, [0] * 2) == [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]
    ones = [0xFFFFFFFF]
    assert philox_block(ones * 4, ones * 2) == [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]


@pytest.mark.parametrize("seed", [0, 1, 2**32 + 5, 2**64 - 1])
@pytest.mark.parametrize("offset", [0, 7, 2**32 - 1, 2**63])
def test_composed_bits_are_those_of_random_h(ops, seed, offset):
    size = 11
    got = ops.philox_bits(ops.array(seed, np.uint64), ops.array(offset, np.uint64), size=size).value
    key = (seed & 0xFFFFFFFF, seed >> 32)
    words = []
    for i in range(3):
        block = (offset + i) % 2**64
        words += philox_block([block & 0xFFFFFFFF, block >> 32, 0, 0], key)
    assert got.tolist() == words[:size]


def test_draws_advance_by_the_blocks_they_begin(make_ops):
    ops = make_ops(seed=3)
    first = ops.random_bits(size=5).value
    assert ops.draws == 2
    second = ops.random_bits(size=4).value
    assert ops.draws == 3
    whole = make_ops(seed=3).random_bits(size=12).value
    assert np.array_equal(whole[:5], first)
    assert np.array_equal(whole[8:], second)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_uniform_lies_in_the_half_open_unit_and_is_even(make_ops, dtype):
    draws = make_ops(seed=1).uniform((5000,), dtype=dtype).value.astype(np.float64)
    assert draws.min() >= 0.0
    assert draws.max() < 1.0
    if dtype in ("float32", "float64"):
        assert scipy.stats.kstest(draws, "uniform").pvalue > 1e-3


def test_float64_uniform_uses_53_bits(make_ops):
    draws = make_ops(seed=1).uniform((64,), dtype="float64").value
    assert np.any((draws * 2.0**53) % 2.0**20 != 0)


def test_normal_exponential_and_bernoulli_have_their_distributions(make_ops):
    normal = make_ops(seed=2).normal((5001,), mean=1.0, std=2.0).value
    assert scipy.stats.kstest(normal, "norm", args=(1.0, 2.0)).pvalue > 1e-3
    exponential = make_ops(seed=2).exponential((5000,), rate=3.0, dtype="float64").value
    assert scipy.stats.kstest(exponential, "expon", args=(0, 1 / 3)).pvalue > 1e-3
    coins = make_ops(seed=2).bernoulli((5000,), p=0.25).value
    assert abs(coins.mean() - 0.25) < 0.03
    assert not make_ops().bernoulli((100,), p=0.0).value.any()
    assert make_ops().bernoulli((100,), p=1.0).value.all()


@pytest.mark.parametrize(("low", "high"), [(0, 6), (-3, 3), (-(2**63), 2**63 - 1), (5, 6)])
def test_integers_lie_in_their_range(make_ops, low, high):
    draws = make_ops(seed=4).randint(low, high, (600,)).value
    assert draws.dtype == np.int64
    assert draws.min() >= low
    assert draws.max() < high
    if high - low <= 6:
        assert set(draws.tolist()) == set(range(low, high))


def test_a_permutation_holds_every_number_once(make_ops):
    for size in (0, 1, 50):
        assert sorted(make_ops(seed=5).permutation(size).value.tolist()) == list(range(size))
    assert make_ops(seed=5).permutation(50).value.tolist() != list(range(50))


def test_dropout_keeps_the_mean_and_tells_what_it_kept(make_ops):
    ops = make_ops(seed=6)
    out, kept = ops.dropout(ops.array(np.ones(4000, np.float32)), rate=0.3)
    assert np.array_equal(out.value != 0, kept.value)
    assert abs(kept.value.mean() - 0.7) < 0.03
    assert np.allclose(out.value[kept.value], 1 / 0.7)
