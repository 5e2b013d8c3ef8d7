"""Philox 4x32-10 in NumPy, as Salmon et al. published it in 2011: the judge of random bits."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

_MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
_WEYL = (0x9E3779B9, 0xBB67AE85)
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)

# Counter, key and result of the published known-answer tests (Random123, kat_vectors).
KNOWN_ANSWERS = (
    (
        (0, 0, 0, 0),
        (0, 0),
        (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8),
    ),
    (
        (0xFFFFFFFF,) * 4,
        (0xFFFFFFFF,) * 2,
        (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD),
    ),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
)


def philox(counters: npt.NDArray[np.uint64], key: tuple[int, int]) -> npt.NDArray[np.uint32]:
    """Blocks of four words for counters of shape (n, 4)."""
    words = [counters[:, i].astype(np.uint64) for i in range(4)]
    low, high = key
    for _ in range(10):
        first, second = _MULTIPLIERS[0] * words[0], _MULTIPLIERS[1] * words[2]
        words = [
            (second >> _HALF) ^ words[1] ^ np.uint64(low),
            second & _LOW,
            (first >> _HALF) ^ words[3] ^ np.uint64(high),
            first & _LOW,
        ]
        low, high = (low + _WEYL[0]) & 0xFFFFFFFF, (high + _WEYL[1]) & 0xFFFFFFFF
    return np.stack(words, axis=1).astype(np.uint32)


def stream(seed: int, offset: int, count: int) -> npt.NDArray[np.uint32]:
    """`count` words of stream (seed, offset), as random.h defines it. Block numbers wrap modulo 2**64."""
    blocks = np.uint64(offset) + np.arange((count + 3) // 4, dtype=np.uint64)
    counters = np.zeros((blocks.size, 4), np.uint64)
    counters[:, 0], counters[:, 1] = blocks & _LOW, blocks >> _HALF
    return philox(counters, (seed & 0xFFFFFFFF, seed >> 32)).reshape(-1)[:count]
