"""The switched plugin's own numbers, as seen from Python: the active mutant, and what has been reached.

The plugin itself is opened by the suite's loader; this looks up the same library's symbols. Knows nothing of
cases.
"""

from __future__ import annotations

import ctypes
from pathlib import Path


class Switch:
    """The switch of one loaded library."""

    def __init__(self, path: Path) -> None:
        library = ctypes.CDLL(str(path))
        self._active = ctypes.c_int.in_dll(library, "da_mutant_active")
        self.count = ctypes.c_int.in_dll(library, "da_mutant_count").value
        flags = ctypes.c_ubyte * self.count
        self._reached = flags.in_dll(library, "da_mutant_reached")
        self._invalid = flags.in_dll(library, "da_mutant_invalid")

    def activate(self, number: int) -> None:
        """Makes one mutant active; 0 for none."""
        self._active.value = number

    def forget(self) -> None:
        """Nothing has been reached so far."""
        ctypes.memset(self._reached, 0, self.count)

    def reached(self) -> list[int]:
        """The first number of each place that has been executed since `forget`."""
        return [number for number, flag in enumerate(bytes(self._reached)) if flag]

    def is_invalid(self, number: int) -> bool:
        """Whether the mutant was executed with types for which it does not compile."""
        return bool(self._invalid[number])
