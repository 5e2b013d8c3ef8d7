"""What a conformance case is: a name, a level, and a function that says whether a plugin is right.

A case has a stable dotted name, and the name is its filter. The function gets the target and a random
generator that depends only on the run's seed and the case's name, so a case gives the same answer alone and
in company. Hand-written cases register themselves with the `case` decorator; cases generated from the op set
are built as `Case` objects. This module knows nothing of plugins, workers or reports.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from conformance.target import Target

LEVELS = ("abi", "runtime", "ops", "training")


class Status(StrEnum):
    """How a case ended. Only pass, not_supported, quality_warning and waived leave a run good."""

    PASS = "pass"
    FAIL = "fail"
    NOT_SUPPORTED = "not_supported"
    QUALITY_WARNING = "quality_warning"
    CRASH = "crash"
    TIMEOUT = "timeout"
    FLAKY = "flaky"
    WAIVED = "waived"
    HARNESS_ERROR = "harness_error"


BAD = frozenset({Status.FAIL, Status.CRASH, Status.TIMEOUT, Status.FLAKY, Status.HARNESS_ERROR})


class Failure(Exception):
    """The plugin is wrong. `facts` are JSON values for the report; `inputs` are arrays saved beside it."""

    def __init__(
        self, message: str, facts: Mapping[str, Any] | None = None, inputs: Mapping[str, Any] | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.facts = dict(facts or {})
        self.inputs = dict(inputs or {})


class NotSupported(Exception):
    """The plugin does not claim what the case is about; the reason is compulsory."""

    def __init__(self, reason: str) -> None:
        if not reason.strip():
            raise ValueError("a skipped case must say why")
        super().__init__(reason)
        self.reason = reason


class QualityWarning(Exception):
    """Within the contract, but poor: the text says what a user will notice."""


@dataclass(slots=True)
class Measure:
    """What a passing case observed. Errors are in units of the last place; the worst of the case is kept."""

    op: str = ""
    dtype: str = ""
    launches: int = 0
    declined: int = 0
    elements: int = 0
    max_ulp: float = 0.0
    tolerance: float | None = None
    warnings: list[str] = field(default_factory=list)


CaseFunction = Callable[["Target", np.random.Generator], "Measure | None"]


class Entry(NamedTuple):
    """A case in the list of cases: all that must be known of it to choose and run it."""

    name: str
    own_process: bool
    quick: bool
    capabilities: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """One question to a plugin.

    `own_process` asks for a fresh worker that runs nothing else. `quick` says whether the case belongs to the
    short run. `capabilities` are the claims of the plugin that the case is about, beyond the op itself.
    `function` raises Failure, NotSupported or QualityWarning, or returns what it measured.
    """

    name: str
    function: CaseFunction
    description: str = ""
    own_process: bool = False
    quick: bool = True
    capabilities: tuple[str, ...] = ()

    @property
    def level(self) -> str:
        return self.name.partition(".")[0]

    @property
    def entry(self) -> Entry:
        return Entry(self.name, self.own_process, self.quick, self.capabilities)

    def generator(self, seed: int) -> np.random.Generator:
        """The case's random numbers: a function of the seed and the name alone."""
        return np.random.default_rng([seed, zlib.crc32(self.name.encode())])


@dataclass(slots=True)
class Result:
    """The answer of one case, ready for JSON. Of a waived one, `waived` is the status it would have."""

    name: str
    level: str
    status: Status
    message: str = ""
    seconds: float = 0.0
    seed: int = 0
    measure: dict[str, Any] | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    output: str = ""
    repro: str = ""
    artifact: str = ""
    shrunk: dict[str, Any] | None = None
    attempts: int = 1
    waiver: str = ""
    waived: str = ""
    capabilities: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """The result without its empty parts."""
        record = {name: getattr(self, name) for name in self.__dataclass_fields__}
        kept = ("name", "level", "status", "seed", "seconds")
        return {key: value for key, value in record.items() if value or key in kept}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Result:
        """Reads what `to_json` wrote; raises ValueError or KeyError for anything else."""
        known = {key: value for key, value in record.items() if key in cls.__dataclass_fields__}
        return cls(**{**known, "status": Status(known["status"])})


_REGISTERED: dict[str, Case] = {}


def case(
    name: str, *, own_process: bool = False, quick: bool = True
) -> Callable[[CaseFunction], CaseFunction]:
    """Registers a hand-written case under its dotted name; the docstring is its description."""

    def register(function: CaseFunction) -> CaseFunction:
        if name in _REGISTERED:
            raise ValueError(f"two cases are named {name!r}")
        if name.partition(".")[0] not in LEVELS:
            raise ValueError(f"case {name!r} must begin with one of {', '.join(LEVELS)}")
        description = " ".join((function.__doc__ or "").split())
        _REGISTERED[name] = Case(name, function, description, own_process, quick)
        return function

    return register


def registered() -> tuple[Case, ...]:
    """The hand-written cases that have been imported, in order of registration."""
    return tuple(_REGISTERED.values())


def require(condition: object, message: str, **facts: Any) -> None:
    """Fails the case with `message` unless the condition holds."""
    if not condition:
        raise Failure(message, facts)
