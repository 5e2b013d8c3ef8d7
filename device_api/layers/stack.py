"""A stack of layers over one plugin.

`wrap` takes an opened plugin that is not running and gives another plugin object, whose tables are those of
the outermost layer; it is negotiated like any other, so everything above can use it in place of the
original. The text form of a stack is "validate,trace(file=t.jsonl;payload=hash)", nearest to the host first.
"""

from __future__ import annotations

import logging
import os
import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from device_api.errors import PluginError
from device_api.layers import library
from device_api.loading import environment
from device_api.loading.negotiate import negotiate
from device_api.loading.plugin import Plugin

_log = logging.getLogger("device_api.layers")


@dataclass(frozen=True)
class Layer:
    """One layer of a stack: a built-in name, or the path of a vendor's layer library, and its options."""

    name: str
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_path(self) -> bool:
        return os.sep in self.name or self.name.endswith((".so", ".dylib", ".dll"))

    def __str__(self) -> str:
        options = ";".join(f"{key}={value}" for key, value in self.options.items())
        return f"{self.name}({options})" if options else self.name


Layers = str | Iterable[str | Layer]


def parse(layers: Layers) -> tuple[Layer, ...]:
    """The layers that a text or a list means. Raises PluginError for a text that is no stack."""
    if isinstance(layers, str):
        return tuple(_layer(part) for part in _split(layers))
    return tuple(item if isinstance(item, Layer) else _layer(item) for item in layers)


def _split(text: str) -> list[str]:
    """The parts, at commas outside of parentheses."""
    parts, depth = [""], 0
    for mark in text:
        depth += {"(": 1, ")": -1}.get(mark, 0)
        if mark == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += mark
    return [part.strip() for part in parts if part.strip()]


def _layer(text: str) -> Layer:
    name, bracket, rest = text.strip().partition("(")
    if not name or (bracket and not rest.endswith(")")):
        raise _malformed(text)
    options = {}
    for part in rest[:-1].split(";") if bracket else ():
        key, equals, value = part.partition("=")
        if not equals:
            raise _malformed(text)
        options[key.strip()] = value.strip()
    return Layer(name.strip(), options)


def _malformed(text: str) -> PluginError:
    return PluginError(
        "cannot read layers",
        subject=repr(text),
        why="a layer is written name or name(key=value;key=value)",
        remedy='For example DEVICE_API_LAYERS="validate,stats".',
    )


class LayeredPlugin(Plugin):
    """A plugin behind layers. `original` is the plugin itself; `stack` its layers, nearest to the host
    first.
    """

    def __init__(self, original: Plugin, stack: Sequence[tuple[Layer, Any]]) -> None:
        self.original = original
        self.stack = tuple(layer for layer, _ in stack)
        self._shown = tuple(descriptor for _, descriptor in stack)
        outermost = self._shown[0] if self._shown else original.descriptor
        super().__init__(negotiate(original.path, _Entry(outermost)))
        self.on_started = original.on_started
        self.on_start_failed = original.on_start_failed
        _living.add(self)

    def report(self, name: str) -> Any:
        """What the layer of that name knows, as Python values. Raises KeyError when there is none."""
        return library.report(self._descriptor_of(name))

    def reset(self, name: str) -> None:
        """Makes a layer forget what `report` would give."""
        library.reset(self._descriptor_of(name))

    def configure(self, name: str, **options: str) -> None:
        """Changes options of a layer, for example `configure("fault", spec="memory.allocate:1:internal")`."""
        library.configure(self._descriptor_of(name), name, options)

    def leave_memory(self, handles: Sequence[int]) -> None:
        for layer, descriptor in zip(self.stack, self._shown, strict=True):
            if layer.name == "validate":
                library.configure(descriptor, layer.name, {"kept": " ".join(map(str, handles))})
        self.original.leave_memory(handles)

    def release(self) -> None:
        """Ends the layers. The plugin must not be running, and its tables must not be used afterwards."""
        if self.initialized:
            raise PluginError(
                "cannot end the layers",
                subject=self.path,
                why="the plugin is running",
                remedy="Shut it down first.",
                path=str(self.path),
            )
        _living.discard(self)
        for descriptor in self._shown:
            library.release(descriptor)

    def _descriptor_of(self, name: str) -> Any:
        for layer, descriptor in zip(self.stack, self._shown, strict=True):
            if layer.name == name:
                return descriptor
        raise KeyError(
            f"no layer {name!r} stands over {self.name}; there are {', '.join(map(str, self.stack))}"
        )


class _Entry:
    """Looks like an opened library to the negotiation."""

    def __init__(self, descriptor: Any) -> None:
        self._descriptor = descriptor

    def device_api_plugin(self, request: Any) -> Any:
        return self._descriptor


_living: weakref.WeakSet[LayeredPlugin] = weakref.WeakSet()


def layered_plugins() -> tuple[LayeredPlugin, ...]:
    """The plugins that have layers, sorted by device type."""
    return tuple(sorted(_living, key=lambda plugin: (plugin.device_type, str(plugin.path))))


def wrap(plugin: Plugin, layers: Layers) -> LayeredPlugin:
    """Puts layers over an opened plugin, the first nearest to the host; give the result to whoever would
    have used `plugin`, and do not use `plugin` itself any more.

    Raises PluginError when the plugin is running already, or a layer or an option does not exist.
    """
    if plugin.initialized:
        raise PluginError(
            "cannot put layers over the plugin",
            subject=plugin.path,
            why="it is running, and layers must see every call from initialize on",
            remedy="Choose the layers before the first use of the device type.",
            path=str(plugin.path),
        )
    wanted = parse(layers)
    descriptor = plugin.descriptor
    stack: list[tuple[Layer, Any]] = []
    try:
        for layer in reversed(wanted):
            descriptor = _put(layer, descriptor, plugin)
            stack.insert(0, (layer, descriptor))
        made = LayeredPlugin(plugin, stack)
    except Exception:
        for _, shown in stack:
            library.release(shown)
        raise
    _log.info("%s: host > %s", plugin.device_type, " > ".join([*map(str, made.stack), str(plugin.path)]))
    return made


def _put(layer: Layer, descriptor: Any, plugin: Plugin) -> Any:
    if layer.is_path:
        return library.wrap_with(Path(layer.name).absolute(), descriptor, layer.options)
    options = dict(layer.options)
    if layer.name == "fault" and "spec" not in options:
        options["spec"] = environment.read("DEVICE_API_FAULT") or ""
    if layer.name == "trace":
        # %p is the number of the process: those that a program starts would write over its trace.
        file = options.get("file", f"device_api_trace.{plugin.device_type}.%p.jsonl")
        options["file"] = file.replace("%p", str(os.getpid()))
    return library.wrap(descriptor, layer.name, options)
