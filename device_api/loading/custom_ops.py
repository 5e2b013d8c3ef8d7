"""The custom ops that a plugin declares in C: the list read out and checked, and its shape functions called.

What a schema says, and whether it may be registered, is judged above; here a declaration is texts, sets of
dtypes and a function. A list that cannot be read is a `PluginLoadError` that names the entry.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from device_api import dtypes
from device_api.abi import _tables, constants
from device_api.errors import PluginLoadError
from device_api.loading.plugin import Plugin

MAX_OPS = 1 << 16
MAX_TEXT = 4096
MAX_RANK = constants.DA_MAX_RANK
_STRUCT = "da_custom_op"

# dtype code -> DLPack code
_DL_CODES = {
    **dict.fromkeys(dtypes.SIGNED, 0),
    **dict.fromkeys(dtypes.UNSIGNED, 1),
    **dict.fromkeys(dtypes.FLOATING, 2),
    **dict.fromkeys(dtypes.COMPLEX, 5),
    dtypes.BFLOAT16: 4,
    dtypes.BOOL_CODE: 6,
    dtypes.FLOAT8_E4M3FN: 10,
    dtypes.FLOAT8_E5M2: 12,
}

Shape = tuple[int, ...]


class ShapesRefused(ValueError):
    """A shape function does not take these shapes; the text is its own."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """One declared op. `types` are the dtypes of its type variables, in the order of the schema. Two that are
    equal mean the same op."""

    schema: str
    doc: str
    types: tuple[frozenset[int], ...]
    gradient: str | None
    promotion: str
    amp: str
    ulp: float
    infers: bool


class DeclaredOp:
    """A declaration and the plugin whose shape function it has."""

    def __init__(self, plugin: Plugin, declaration: Declaration, pointer: Any) -> None:
        self.plugin = plugin
        self.declaration = declaration
        self._pointer = pointer

    def infer(
        self,
        inputs: Sequence[tuple[Shape, int] | None],
        attributes: bytes,
        relocations: Sequence[tuple[int, bytes]],
        outputs: Sequence[int],
    ) -> list[Shape]:
        """The shapes of the outputs, whose dtypes are given, for inputs of these shapes and dtypes.

        Raises `ShapesRefused` where the plugin refuses the shapes, `ValueError` where it gives what is no
        shape, and `PluginFailed` for any other error.
        """
        ffi = self.plugin.ffi
        kept: list[Any] = []
        tensors = [ffi.NULL if each is None else _tensor(ffi, *each, kept) for each in inputs]
        array = ffi.new("da_tensor *[]", tensors or 1)
        shapes = ffi.new("da_output_shape[]", max(len(outputs), 1))
        for shape, code in zip(shapes, outputs, strict=False):
            shape.struct_size, shape.dtype = ffi.sizeof("da_output_shape"), code
        packed = _relocated(ffi, attributes, relocations, kept)
        error = self._pointer.infer(self._pointer, array, len(tensors), packed, len(outputs), shapes)
        taken = self.plugin.take_error(error)
        if taken is not None:
            code, message = taken
            if code == constants.DA_STATUS_INVALID_ARGUMENT:
                raise ShapesRefused(message or "the plugin gives no reason")
            raise self.plugin.failure("custom_op.infer", code, message)
        return [_shape(shapes[place], place, code) for place, code in enumerate(outputs)]


def _tensor(ffi: Any, shape: Shape, code: int, kept: list[Any]) -> Any:
    """A row-major tensor without data."""
    tensor = ffi.new("da_tensor *")
    sizes = ffi.new("int64_t[]", list(shape) or 1)
    strides = ffi.new("int64_t[]", [math.prod(shape[axis + 1 :]) for axis in range(len(shape))] or 1)
    kept += [tensor, sizes, strides]
    tensor.struct_size, tensor.dtype = ffi.sizeof("da_tensor"), code
    dl = tensor.dl
    dl.ndim, dl.shape, dl.strides = len(shape), sizes, strides
    dl.dtype.code, dl.dtype.bits, dl.dtype.lanes = _DL_CODES[code], dtypes.ITEM_SIZES[code] * 8, 1
    dl.device.type = 1
    return tensor


def _relocated(ffi: Any, attributes: bytes, relocations: Sequence[tuple[int, bytes]], kept: list[Any]) -> Any:
    """The attribute struct in memory, with its pointers; NULL for an op without attributes."""
    if not attributes:
        return ffi.NULL
    # Eight-byte elements, so that the fields are aligned.
    memory = ffi.new("uint64_t[]", len(attributes) // 8)
    ffi.memmove(memory, attributes, len(attributes))
    kept.append(memory)
    for offset, data in relocations:
        target = ffi.new("uint64_t[]", len(data) // 8 + 1)
        ffi.memmove(target, data, len(data))
        kept.append(target)
        memory[offset // 8] = int(ffi.cast("uintptr_t", target))
    return memory


def _shape(made: Any, place: int, code: int) -> Shape:
    if made.dtype != code:
        raise ValueError(f"output {place} was of dtype {code} and is now of {made.dtype}")
    if not 0 <= made.rank <= MAX_RANK:
        raise ValueError(f"output {place} has rank {made.rank}")
    sizes = tuple(int(made.sizes[axis]) for axis in range(made.rank))
    if any(size < 0 for size in sizes):
        raise ValueError(f"output {place} has the shape {sizes}: a size is negative")
    return sizes


def declared_ops(plugin: Plugin) -> tuple[DeclaredOp, ...]:
    """What a started plugin declares, in the order of its list; nothing without the interface.

    Raises `PluginLoadError` for a list that cannot be read, `PluginFailed` when the plugin gives none.
    """
    table = plugin.interface("custom_op")
    if table is None:
        return ()
    ffi = plugin.ffi
    out = ffi.new("da_custom_op_list *")
    out.struct_size = ffi.sizeof("da_custom_op_list")
    plugin.check(table.list(out), "custom_op.list")
    least = _tables.MINIMUM_SIZES[_STRUCT]
    if out.count and (out.first == ffi.NULL or out.stride < least or out.count > MAX_OPS):
        first = "NULL" if out.first == ffi.NULL else "an address"
        refuse(plugin, f"its list has {out.count} entries, first {first}, stride {out.stride}")
    start = ffi.cast("char *", out.first)
    return tuple(
        _read(plugin, ffi.cast(f"const {_STRUCT} *", start + index * out.stride), int(out.stride), index)
        for index in range(out.count)
    )


def _read(plugin: Plugin, entry: Any, stride: int, index: int) -> DeclaredOp:
    place = f"custom op {index}"
    size, least = int(entry.struct_size), _tables.MINIMUM_SIZES[_STRUCT]
    if not least <= size <= stride or size % 8:
        refuse(plugin, f"{_STRUCT}.struct_size of {place} is {size}; it is {least} to the stride {stride}")
    schema = _text(plugin, entry.schema, f"the schema of {place}")
    if schema is None:
        refuse(plugin, f"the schema of {place} is NULL")
    masks = [int(mask) for mask in entry.types]
    if unknown := [mask for mask in masks if mask & ~sum(1 << code for code in dtypes.NAMES)]:
        refuse(plugin, f"{schema!r} has the types {unknown[0]:#x}, with bits that are no dtype")
    ulp = float(entry.ulp)
    if not (math.isfinite(ulp) and ulp >= 0):
        refuse(plugin, f"{schema!r} allows an error of {ulp} ulp")
    declaration = Declaration(
        schema=schema,
        doc=_text(plugin, entry.doc, f"the doc of {place}") or "",
        types=tuple(dtypes.from_mask(mask) for mask in masks),
        gradient=_text(plugin, entry.gradient, f"the gradient of {place}"),
        promotion=_text(plugin, entry.promotion, f"the promotion of {place}") or "common",
        amp=_text(plugin, entry.amp, f"the amp of {place}") or "neutral",
        ulp=ulp,
        infers=entry.infer != plugin.ffi.NULL,
    )
    return DeclaredOp(plugin, declaration, entry)


def _text(plugin: Plugin, pointer: Any, place: str) -> str | None:
    """A text of the plugin; None for NULL."""
    if pointer == plugin.ffi.NULL:
        return None
    data = plugin.ffi.string(pointer, MAX_TEXT + 1)
    if len(data) > MAX_TEXT:
        refuse(plugin, f"{place} has more than {MAX_TEXT} bytes")
    try:
        return str(data, "utf-8")
    except UnicodeDecodeError:
        refuse(plugin, f"{place} is not UTF-8 text")


def refuse(plugin: Plugin, why: str) -> NoReturn:
    """Raises what a bad declaration is: a `PluginLoadError`."""
    raise PluginLoadError(
        f"plugin {plugin.name!r} declares custom ops that cannot be used",
        subject=plugin.path,
        why=why,
        remedy="The plugin is faulty: ask its vendor for a corrected build.",
        path=str(plugin.path),
    )
