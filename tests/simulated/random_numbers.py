"""Draws of every kind on one device, saved: `python random_numbers.py DEVICE FILE [DTYPE TO OMIT ...]`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import device_api as da

FLOATS = ("float16", "bfloat16", "float32", "float64")
INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")
SHAPE = (5, 67)


def draws(device: str) -> dict[str, Callable[[], Any]]:
    """By name, the dtype after a full stop."""
    found: dict[str, Callable[[], Any]] = {
        "bernoulli": lambda: da.bernoulli(SHAPE, p=0.3, device=device),
        "permutation": lambda: da.permutation(101, device=device),
        "multinomial": lambda: da.multinomial(da.asarray([1.0, 2.0, 4.0, 0.0, 1.0], device=device), 201),
        "dropout": lambda: da.dropout(da.ones(SHAPE, device=device), rate=0.25)[1],
    }
    for name in FLOATS:
        dtype = getattr(da, name)
        found |= {
            f"uniform.{name}": lambda dtype=dtype: da.uniform(SHAPE, dtype=dtype, device=device),
            f"uniform.{name}.range": lambda dtype=dtype: da.uniform(
                SHAPE, low=-2.0, high=6.0, dtype=dtype, device=device
            ),
            f"normal.{name}": lambda dtype=dtype: da.normal(SHAPE, dtype=dtype, device=device),
            f"exponential.{name}": lambda dtype=dtype: da.exponential(SHAPE, dtype=dtype, device=device),
        }
    for name in INTEGERS:
        dtype = getattr(da, name)
        found[f"randint.{name}"] = lambda dtype=dtype: da.randint(3, 120, SHAPE, dtype=dtype, device=device)
    return found


def main(device: str, path: str, *absent: str) -> None:
    da.set_fallback("error")
    results = {}
    for name, draw in draws(device).items():
        if any(f".{dtype}" in name for dtype in absent):
            continue
        for seed in (0, 2**64 - 1):
            da.manual_seed(seed, device)
            results[f"{name}.{seed}"] = draw().numpy()
            # What comes second shows by how much the stream has moved on.
            results[f"{name}.{seed}.next"] = da.uniform((3,), device=device).numpy()
    np.savez(path, **{name: np.asarray(x).astype(np.float64) for name, x in results.items()})


if __name__ == "__main__":
    main(*sys.argv[1:])
