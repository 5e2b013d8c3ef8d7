"""`python -m device_api.layers.replay TRACE --library LIBRARY`: makes the calls of a trace again.

The calls go to a plugin's tables in the order in which they began, one after the other; the program that was
traced is not needed. Results are compared with the recorded ones: success or error code, answers, and bytes
copied to the host. Exit status: 0 all equal, 1 something differs, 2 the trace or the library cannot be used.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import device_api.loading as loading
from device_api.errors import DeviceApiError
from device_api.layers._slots import SLOTS
from device_api.layers.replay_values import Unknown, Values
from device_api.layers.trace_file import Record, Trace, TraceError, hash_of, payload_bytes, read
from device_api.loading.host import HostServices
from device_api.loading.plugin import Plugin

# Answers that depend on the moment, not on the calls.
TIMED = frozenset({"stream.query", "stream.event_query", "stream.event_elapsed", "memory.info"})
# Made by the replay itself, or by the plugin.
SKIPPED = ("error.", "host.", "context.", "plugin.get_interface")
# What one process alone cannot repeat, and calls whose effect lies outside of the tables.
NOT_REPLAYED = ("collective.", "graph.", "pass.", "custom", "stream.wrap")

_HANDLES = {
    "da_device *": "device",
    "da_stream *": "stream",
    "da_event *": "event",
    "da_capture *": "capture",
}


@dataclass(frozen=True)
class Difference:
    """A result that is not the recorded one."""

    record: Record
    text: str

    def __str__(self) -> str:
        return f"call {self.record.number} (line {self.record.line}), {self.record.slot}: {self.text}"


@dataclass
class Outcome:
    """What a replay did: calls made, calls it cannot make, and results that differ."""

    made: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    differences: list[Difference] = field(default_factory=list)


def replay(trace: Trace, plugin: Plugin) -> Outcome:
    """Makes the calls of a trace on a plugin that is not running, and compares.

    Raises TraceError when a record is malformed.
    """
    return _Replay(trace, plugin).run()


class _Replay:
    def __init__(self, trace: Trace, plugin: Plugin) -> None:
        self._trace = trace
        self._plugin = plugin
        self._ffi = plugin.ffi
        self._values = Values(plugin.ffi)
        self._host = HostServices()
        self._outcome = Outcome()
        self._later: list[tuple[Record, Any, int]] = []
        self._callback = self._values.keep(
            self._ffi.callback("void(void *, int32_t)", lambda data, status: None)
        )
        self._sink = self._values.keep(
            self._ffi.callback("void(void *, const da_activity *)", lambda data, activity: None)
        )
        self._scratch = self._values.keep(
            self._ffi.callback("da_error *(void *, uint64_t, void **, uint64_t *)", self._serve)
        )
        self._device: Any = None

    def run(self) -> Outcome:
        for record in self._trace.records:
            if record.slot.startswith(SKIPPED):
                continue
            if record.slot not in SLOTS:
                raise _malformed(self._trace, record, f"there is no slot {record.slot}")
            if record.slot.startswith(NOT_REPLAYED):
                self._outcome.left_out[record.slot] = self._outcome.left_out.get(record.slot, 0) + 1
                continue
            self._values.clear()
            try:
                self._make(record)
            except Unknown as error:
                self._differ(record, str(error))
            except (KeyError, TypeError, ValueError, OverflowError, IndexError, AttributeError) as error:
                raise _malformed(self._trace, record, f"{type(error).__name__}: {error}") from None
        return self._outcome

    def _differ(self, record: Record, text: str) -> None:
        self._outcome.differences.append(Difference(record, text))

    # --- calls ----------------------------------------------------------------------------------

    def _make(self, record: Record) -> None:
        function = self._function(record)
        outputs: dict[str, Any] = {}
        payload = self._ffi.NULL
        arguments = []
        for name, kind in SLOTS[record.slot][2]:
            if name.startswith("out_"):
                outputs[name] = self._output(kind)
                arguments.append(outputs[name])
            elif kind == "const da_copy *":
                copy, payload = self._copy(record)
                arguments.append(copy)
            else:
                arguments.append(self._input(record, name, kind))
        result = function(*arguments)
        self._outcome.made += 1
        if SLOTS[record.slot][1] != "da_error *":
            return
        taken = self._plugin.take_error(result)
        code, recorded = (taken[0] if taken else 0), (record.error or {}).get("code", 0)
        if code != recorded:
            said = f": {taken[1]}" if taken else ""
            self._differ(record, f"ended with status {code}{said}; recorded was {recorded}")
        if taken is None:
            self._take(record, outputs)
            if payload != self._ffi.NULL:
                self._compare_copy(record, payload)
            if record.slot in ("stream.synchronize", "device.synchronize"):
                self._compare_later()

    def _function(self, record: Record) -> Any:
        group, _, name = record.slot.partition(".")
        if group == "plugin":
            return getattr(self._plugin.descriptor, name)
        if group == "kernel" and name != "list":
            return getattr(self._kernel(record), name)
        slot = self._plugin.slot(group, name)
        if slot is None:
            raise Unknown(f"the plugin does not implement {record.slot}")
        return slot

    def _kernel(self, record: Record) -> Any:
        index, op = record.inputs["kernel"]["index"], record.inputs["kernel"]["op"]
        context = record.inputs.get("context") or {}
        device = record.inputs.get("device", context.get("device"))
        lists = self._values.lists
        kernels = lists.get(str(device)) or next(iter(lists.values()), [])
        for kernel in kernels[index : index + 1]:
            if self._text(kernel.op) == op:
                return kernel
        raise Unknown(f"kernel {index} of the plugin is not {op}")

    def _copy(self, record: Record) -> tuple[Any, Any]:
        copy = record.inputs["copy"]
        if copy is None:
            return self._ffi.NULL, self._ffi.NULL
        size, source, out = copy["bytes"], None, None
        if copy["kind"] == 1:
            data = payload_bytes(copy["payload"]) if "payload" in copy else b""
            if data is None:
                raise Unknown("the trace holds no payload: record with payload=inline")
            source = self._values.keep(self._ffi.new("char[]", data or b"\0"))
        elif copy["kind"] == 2:
            if not 0 <= size < 1 << 34:
                raise ValueError(f"{size} bytes are no size of a copy")
            out = self._values.keep(self._ffi.new("char[]", max(size, 1)))
        return self._values.copy(copy, source, out), self._ffi.NULL if out is None else out

    def _input(self, record: Record, name: str, kind: str) -> Any:
        values, inputs = self._values, record.inputs
        if kind in _HANDLES:
            return values.handle(_HANDLES[kind], inputs[name])
        if kind == "const da_tensor *const *":
            return values.tensors(inputs[name])
        if name.endswith("_count") and name not in inputs:
            return len(inputs[f"{name.removesuffix('_count')}s"])
        if kind == "const da_host *":
            return self._host.table
        if kind == "const da_kernel_context *":
            return self._context(inputs[name])
        if kind == "const da_kernel *":
            return self._kernel(record)
        if kind == "const da_callback *":
            callback = values.keep(self._ffi.new("da_callback *"))
            callback.struct_size = self._ffi.sizeof("da_callback")
            callback.function = self._callback
            return callback
        if name == "attributes":
            return values.attributes(inputs[name])
        if name == "state":
            return values.handle("state", inputs[name])
        if name == "sink":
            return self._sink
        if name == "address":
            return values.keep(self._ffi.new("char[]", max(inputs["bytes"], 1)))
        if name == "handle":
            return values.handle("memory", inputs[name])
        if kind == "void *":
            return self._ffi.NULL
        return inputs[name]

    def _context(self, recorded: Any) -> Any:
        if recorded is None:
            return self._ffi.NULL
        context = self._values.new("da_kernel_context *")
        context.struct_size = self._ffi.sizeof("da_kernel_context")
        context.device = self._device = self._values.handle("device", recorded["device"])
        context.stream = self._values.handle("stream", recorded["stream"])
        for name in ("flags", "random_seed", "random_offset"):
            setattr(context, name, recorded[name])
        context.scratch = self._scratch
        return context

    def _serve(self, host_context: Any, size: int, out_handle: Any, out_offset: Any) -> Any:
        """Scratch memory for a launch, from the plugin itself; it stays until the end."""
        out_offset[0] = 0
        return self._plugin.interface("memory").allocate(self._device, 1, size, out_handle)  # type: ignore[union-attr]

    # --- results --------------------------------------------------------------------------------

    def _output(self, kind: str) -> Any:
        target = kind.removesuffix("*").strip()
        out = self._values.new(kind if kind.endswith(" *") else f"{target} *")
        if target.startswith("da_") and not target.endswith("*"):
            out.struct_size = self._ffi.sizeof(target)
        return out

    def _take(self, record: Record, outputs: dict[str, Any]) -> None:
        values = self._values
        for name, kind in SLOTS[record.slot][2]:
            if name not in outputs:
                continue
            recorded, out = record.outputs.get(name), outputs[name]
            target = kind.removesuffix("*").strip()
            if target in _HANDLES or target == "void *":
                family = _HANDLES.get(target, "state" if name == "out_state" else "memory")
                if isinstance(recorded, str):
                    values.handles[family, recorded] = out[0]
            elif target == "da_kernel_list":
                values.lists[str(record.inputs["device"])] = list(self._kernels(out))
                if out.count != recorded:
                    self._differ(record, f"the plugin has {out.count} kernels; recorded were {recorded}")
            elif target.startswith("da_") or record.slot in TIMED or recorded is None:
                continue
            elif out[0] != recorded:
                self._differ(record, f"{name} is {out[0]}; recorded was {recorded}")

    def _kernels(self, kernels: Any) -> Iterator[Any]:
        first = self._ffi.cast("const char *", kernels.first)
        for i in range(kernels.count):
            yield self._ffi.cast("const da_kernel *", first + i * kernels.stride)

    def _compare_copy(self, record: Record, out: Any) -> None:
        size = record.inputs["copy"]["bytes"]
        if "payload" in record.outputs:
            self._compare(record, record.outputs["payload"], bytes(self._ffi.buffer(out, size)))
        elif record.number in self._trace.later:
            self._later.append((record, out, size))

    def _compare_later(self) -> None:
        for record, out, size in self._later:
            payload = self._trace.later[record.number]
            if payload:
                self._compare(record, payload, bytes(self._ffi.buffer(out, size)))
        self._later.clear()

    def _compare(self, record: Record, payload: Any, data: bytes) -> None:
        recorded = payload_bytes(payload)
        if recorded is not None and recorded != data:
            at = next(i for i, (a, b) in enumerate(zip(recorded, data, strict=True)) if a != b)
            self._differ(
                record, f"byte {at} of {len(data)} is {data[at]:#04x}; recorded was {recorded[at]:#04x}"
            )
        elif recorded is None and "hash" in payload and payload["hash"] != hash_of(data):
            self._differ(record, f"the hash of {len(data)} bytes differs")

    def _text(self, pointer: Any) -> str:
        return "" if pointer == self._ffi.NULL else str(self._ffi.string(pointer), "utf-8", "replace")


def _malformed(trace: Trace, record: Record, why: str) -> TraceError:
    return TraceError("cannot replay trace", subject=f"{trace.path}:{record.line}", why=why, line=record.line)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m device_api.layers.replay", description=__doc__)
    parser.add_argument("trace", type=Path)
    parser.add_argument("--library", type=Path, required=True, help="the plugin's shared library")
    parser.add_argument("--quiet", action="store_true", help="print nothing but differences")
    options = parser.parse_args(arguments)
    try:
        outcome = replay(read(options.trace), loading.open_library(os.fspath(options.library)))
    except DeviceApiError as error:
        print(error, file=sys.stderr)
        return 2
    for difference in outcome.differences:
        print(difference)
    if not options.quiet:
        print(f"{outcome.made} calls made, {len(outcome.differences)} results differ")
        for slot, count in sorted(outcome.left_out.items()):
            print(f"{count} calls of {slot} cannot be replayed")
    return 1 if outcome.differences else 0


if __name__ == "__main__":
    raise SystemExit(main())
