"""The random generators of devices, and generators beside them: seeds, states and forks.

A generator is counter-based (Philox 4x32-10): a seed and an offset define every number that follows, the
same on every device, for any number of threads. Each device has one; more are made with `Generator`. An
operation takes its numbers at once, so that a generator may be shared between threads. The state lives in
the native core.
"""

from __future__ import annotations

import operator
from types import TracebackType
from typing import SupportsIndex

from device_api import _core
from device_api.errors import AttributeValueError
from device_api.runtime.devices import DeviceLike, opened_devices, resolve

_SEEDS = 1 << 64
State = tuple[int, int]


def manual_seed(seed: int, device: DeviceLike | None = None) -> None:
    """Starts the generator of a device anew; without a device, those of all devices in use and of this
    thread's. A seed is an integer in [0, 2**64)."""
    _check("seed", seed)
    chosen = {resolve(device)} if device is not None else {resolve(None), *opened_devices()}
    for each in chosen:
        each.manual_seed(seed)


def get_random_state(device: DeviceLike | None = None) -> State:
    """Seed and offset of a device's generator; the offset counts blocks of four 32-bit words."""
    return resolve(device).random_state()


def set_random_state(state: State, device: DeviceLike | None = None) -> None:
    """Puts a generator back to a state that `get_random_state` gave."""
    resolve(device).set_random_state(*_checked(state))


class Generator:
    """Random numbers beside those of the device, for this thread while a `with` block of it is open:

        generator = da.Generator(seed=7)
        with generator:
            x = da.normal((3, 4))

    Blocks nest; the innermost one for a device counts. Raises `AttributeValueError` for a seed or a state
    outside [0, 2**64).
    """

    def __init__(self, seed: int = 0, *, device: DeviceLike | None = None) -> None:
        _check("seed", seed)
        self._stream = _core.RandomStream(resolve(device), seed, 0)

    @property
    def device(self) -> _core.Device:
        """The device whose draws come from here."""
        return self._stream.device

    def manual_seed(self, seed: int) -> None:
        """Starts anew."""
        _check("seed", seed)
        self._stream.set_state(seed, 0)

    def get_state(self) -> State:
        """Seed and offset; the offset counts blocks of four 32-bit words."""
        return self._stream.state()

    def set_state(self, state: State) -> None:
        """Goes back to a state that `get_state` gave, of this or another generator."""
        self._stream.set_state(*_checked(state))

    def fork(self) -> Generator:
        """A generator with a seed drawn from this one, which moves on: numbers independent of what
        follows here, and the same whenever this one is in the same state."""
        seed, offset = self._stream.state()
        low, high = _core.random_words(seed, offset, 2)
        self._stream.set_state(seed, (offset + 1) % _SEEDS)
        return Generator(low | high << 32, device=self.device)

    def __enter__(self) -> Generator:
        _core.push_random(self._stream)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        _core.pop_random()

    def __repr__(self) -> str:
        seed, offset = self.get_state()
        return f"Generator(seed={seed}, offset={offset}, device={self.device.name!r})"


def _checked(state: State) -> State:
    seed, offset = state
    _check("seed", seed)
    _check("offset", offset)
    return seed, offset


def _check(name: str, value: int) -> None:
    if not isinstance(value, SupportsIndex) or not 0 <= operator.index(value) < _SEEDS:
        raise AttributeValueError(
            f"{name} out of range",
            subject=value,
            why="it is an integer in [0, 2**64)",
            argument=name,
            value=value,
        )
