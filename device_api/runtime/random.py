"""The random generators of devices: seeds and states.

Each device has one counter-based generator (Philox 4x32-10). A seed and an offset define every number that
follows, and are the same numbers on every device. The state lives in the native core.
"""

from __future__ import annotations

from device_api.errors import AttributeValueError
from device_api.runtime.devices import DeviceLike, opened_devices, resolve

_SEEDS = 1 << 64


def manual_seed(seed: int, device: DeviceLike | None = None) -> None:
    """Starts the generator of a device anew; without a device, those of all devices in use and of this
    thread's. A seed is an integer in [0, 2**64)."""
    _check("seed", seed)
    chosen = {resolve(device)} if device is not None else {resolve(None), *opened_devices()}
    for each in chosen:
        each.manual_seed(seed)


def get_random_state(device: DeviceLike | None = None) -> tuple[int, int]:
    """Seed and offset of a device's generator."""
    return resolve(device).random_state()


def set_random_state(state: tuple[int, int], device: DeviceLike | None = None) -> None:
    """Puts a generator back to a state that `get_random_state` gave."""
    seed, offset = state
    _check("seed", seed)
    _check("offset", offset)
    resolve(device).set_random_state(seed, offset)


def _check(name: str, value: int) -> None:
    if not 0 <= value < _SEEDS:
        raise AttributeValueError(
            f"{name} out of range",
            subject=value,
            why="it is an integer in [0, 2**64)",
            argument=name,
            value=value,
        )
