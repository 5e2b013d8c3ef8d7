"""Fallback: running on the CPU what a device cannot, under a policy, counted and reported.

Policies are "error" (raise `FallbackForbidden`), "warn" (run, and warn once per op, device and reason; the
default) and "allow" (run silently). The policy is looked at when the step runs, so a cached plan obeys the
policy of its caller. The deny list is the reverse wish: ops whose kernels on an accelerator shall not be
used, because they are suspected; these run on the CPU under the same policy. Every run is counted, whatever
the policy. This module decides and counts; how a plan comes to need it is the planner's business.
"""

from __future__ import annotations

import difflib
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Literal

from device_api import _core
from device_api.errors import AttributeValueError, FallbackForbidden
from device_api.loading import environment
from device_api.ops._table import BY_NAME
from device_api.ops.views import Layout
from device_api.opset.spec import OpSpec
from device_api.runtime.devices import device as open_device

Policy = Literal["error", "warn", "allow"]
POLICIES: tuple[Policy, ...] = ("error", "warn", "allow")
HOST_TYPE = "cpu"


class FallbackWarning(UserWarning):
    """An op ran on the CPU because its device could not run it."""


@dataclass(frozen=True, slots=True)
class FallbackEntry:
    """How often an op of a device ran on the CPU, and why."""

    op: str
    device: str
    reason: str
    count: int


_lock = threading.Lock()
_counts: dict[tuple[str, str, str], int] = {}
_process_policy: Policy | None = None
_denied: frozenset[str] | None = None
_context_policy: ContextVar[Policy | None] = ContextVar("device_api_fallback", default=None)


def policy() -> Policy:
    """The policy in force here: of the innermost `fallback` block, else of the process."""
    return _context_policy.get() or process_policy()


def process_policy() -> Policy:
    """The policy of the process: the last `set_fallback`, else DEVICE_API_FALLBACK, else "warn"."""
    global _process_policy
    if _process_policy is None:
        _process_policy = _checked(environment.read("DEVICE_API_FALLBACK") or "warn", "DEVICE_API_FALLBACK")
    return _process_policy


def set_fallback(wanted: Policy) -> None:
    """Sets the policy of the process; raises `AttributeValueError` for another word."""
    global _process_policy
    _process_policy = _checked(wanted, "policy")


@contextmanager
def fallback(wanted: Policy) -> Iterator[None]:
    """A block with a policy of its own, for this thread or task only."""
    token = _context_policy.set(_checked(wanted, "policy"))
    try:
        yield
    finally:
        _context_policy.reset(token)


def _checked(word: str, source: str) -> Policy:
    cleaned = word.strip().lower()
    if cleaned not in POLICIES:
        raise AttributeValueError(
            "not a fallback policy",
            subject=f"{source} = {word!r}",
            remedy=f"Use one of {', '.join(POLICIES)}.",
            argument=source,
            value=word,
        )
    return cleaned


def denied_ops() -> frozenset[str]:
    """The ops whose kernels on accelerators are not used: the last `set_denied_ops`, else
    DEVICE_API_FALLBACK_DENY, a list of op names separated by commas."""
    global _denied
    if _denied is None:
        text = environment.read("DEVICE_API_FALLBACK_DENY") or ""
        _denied = _checked_ops(text.split(","), "DEVICE_API_FALLBACK_DENY")
    return _denied


def set_denied_ops(ops: Iterable[str]) -> None:
    """Replaces the deny list. Names are trimmed; a name that is no op raises `AttributeValueError`."""
    global _denied
    _denied = _checked_ops(ops, "ops")
    _core.clear_plans()


def _checked_ops(names: Iterable[str], source: str) -> frozenset[str]:
    wanted = [name.strip() for name in names]
    wanted = [name for name in wanted if name]
    for name in wanted:
        if name not in BY_NAME:
            near = difflib.get_close_matches(name.lower(), BY_NAME, n=3)
            raise AttributeValueError(
                "the deny list names what is no op",
                subject=f"{name!r} in {source}",
                remedy=f"Did you mean {', '.join(near)}?"
                if near
                else "Op names are those of the op reference.",
                argument=source,
                value=name,
            )
    return frozenset(wanted)


def is_denied(op: str, device: _core.Device) -> bool:
    """Whether the kernels of an op are not to be used on a device. The CPU itself is never denied: it is
    where denied ops go."""
    return device.type != HOST_TYPE and op in denied_ops()


def fallback_report() -> tuple[FallbackEntry, ...]:
    """What ran on the CPU so far instead of on its device, most often first."""
    with _lock:
        items = list(_counts.items())
    entries = [FallbackEntry(op, device, reason, count) for (op, device, reason), count in items]
    return tuple(sorted(entries, key=lambda entry: (-entry.count, entry.op, entry.device, entry.reason)))


def reset_fallback_report() -> None:
    """Forgets the counts; warnings that were given once may come again."""
    with _lock:
        _counts.clear()


def forbidden(
    spec: OpSpec, device: _core.Device, dtypes: Sequence[str], reason: str, available: Sequence[str]
) -> FallbackForbidden:
    """The error of the policy "error"."""
    return FallbackForbidden(
        f"{spec.name} would run on the CPU, which the fallback policy forbids",
        subject=f"{device.name} with {', '.join(dtypes) or 'no tensors'}",
        why=reason,
        remedy='Allow it with device_api.fallback("warn"), or use dtypes and ops that the device has.',
        op=spec.name,
        device=device.name,
        dtypes=tuple(dtypes),
        available=tuple(available),
    )


def host_step(
    spec: OpSpec,
    device: _core.Device,
    attributes: tuple[Any, ...],
    dtypes: Sequence[str],
    reason: str,
    available: Sequence[str],
) -> Callable[[list[_core.Tensor | None], list[_core.Tensor], tuple[Any, ...]], None]:
    """A program step that runs an op on the CPU: inputs go there, results come back into the outputs.

    It needs nothing of the device but copies of bytes: a strided operand travels with all that lies between
    its first and its last element.
    """

    def run(inputs: list[_core.Tensor | None], outputs: list[_core.Tensor], _: tuple[Any, ...]) -> None:
        rule = policy()
        if rule == "error":
            raise forbidden(spec, device, dtypes, reason, available)
        first = _count(spec.name, device.name, reason)
        if first and rule == "warn":
            warnings.warn(
                f"{spec.name} of {device.name} runs on the CPU: {reason}", FallbackWarning, stacklevel=2
            )
        recording = _core.set_grad_enabled(False)
        try:
            host = open_device(HOST_TYPE)
            moved = tuple(None if tensor is None else _fetched(tensor, host) for tensor in inputs)
            made = _core.dispatch(spec.id, moved, attributes, None, host)
            for result, output in zip(made if isinstance(made, tuple) else (made,), outputs, strict=True):
                _returned(result, output, host)
        finally:
            _core.set_grad_enabled(recording)

    return run


def _count(op: str, device: str, reason: str) -> bool:
    with _lock:
        key = (op, device, reason)
        _counts[key] = _counts.get(key, 0) + 1
        return _counts[key] == 1


def _range(tensor: _core.Tensor) -> tuple[_core.Tensor, Layout]:
    """The memory from the first to the last element as a contiguous tensor, and the layout inside it."""
    layout = Layout(tensor.shape, tensor.strides)
    low, high = layout.extent
    place = tensor.byte_offset + low * tensor.itemsize
    return _core.view(tensor, tensor.dtype_code, (high - low,), (1,), place), layout._replace(offset=-low)


def _fetched(tensor: _core.Tensor, host: _core.Device) -> _core.Tensor:
    span, layout = _range(tensor)
    copy = _core.empty(host, tensor.dtype_code, span.shape)
    _core.copy_bytes(span, copy)
    offset = layout.offset * copy.itemsize if tensor.size else 0
    return _core.view(copy, copy.dtype_code, layout.shape, layout.strides, offset)


def _returned(result: _core.Tensor, output: _core.Tensor, host: _core.Device) -> None:
    copy = BY_NAME["copy"].id
    if output.is_contiguous:
        packed = result if result.is_contiguous else _core.dispatch(copy, (result,), (None,), None, host)
        _core.copy_bytes(packed, output)
        return
    around = _fetched(output, host)
    _core.dispatch(copy, (result,), (None,), around, host)
    span, _ = _range(output)
    source = _core.view(around, around.dtype_code, span.shape, (1,), 0)
    _core.copy_bytes(source, span)
