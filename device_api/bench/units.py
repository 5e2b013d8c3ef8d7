"""Seconds and rates as people read them."""

from __future__ import annotations


def duration(seconds: float) -> str:
    """Seconds with a unit that leaves a short number: 0.0015 is "1.50 ms"."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.2f} {unit}"
    return f"{seconds * 1e9:.1f} ns"


def rate(per_second: float, unit: str) -> str:
    """A rate with a decimal prefix: (2.5e9, "B/s") is "2.50 GB/s"."""
    for prefix, scale in (("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if per_second >= scale:
            return f"{per_second / scale:.2f} {prefix}{unit}"
    return f"{per_second:.2f} {unit}"
