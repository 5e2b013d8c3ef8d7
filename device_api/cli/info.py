"""`device-api info`: one device, its plugin, its properties, and what every op of the op set is there."""

from __future__ import annotations


def command() -> None:
    """x"""
