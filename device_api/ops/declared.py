"""Custom ops that plugins declare in C: registered when their plugin starts, gone when it ends.

A declaration becomes an op like one of `custom_op`: its schema is read, its shape function stands behind a
shape rule, the name of its gradient behind a gradient. Plugins that declare the very same op share it, each
with kernels of its own. What does not fit is a `PluginLoadError`, and then no op of the plugin is there.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from device_api import dtypes
from device_api.errors import AttributeValueError, ShapeError
from device_api.loading.custom_ops import DeclaredOp, ShapesRefused, declared_ops, refuse
from device_api.ops._table import BY_NAME
from device_api.ops.attributes import counted_axes, pack
from device_api.ops.custom import CustomOp, register
from device_api.ops.custom_schema import Schema, parse
from device_api.ops.shape_support import (
    Attributes,
    Inputs,
    Rule,
    TensorSpec,
    bound_dtype,
    dtype_of,
    given,
    list_length,
    shape_error,
)
from device_api.opset.spec import OpSpec

if TYPE_CHECKING:
    from device_api.loading import Plugin


@dataclass(slots=True)
class _Shared:
    """One op and the plugins in use that declare it; the shape function is that of the first."""

    owners: list[DeclaredOp]
    op: CustomOp | None = field(default=None)


_lock = threading.RLock()
_shared: dict[str, _Shared] = {}
_plugins: set[Plugin] = set()


def declare(plugin: Plugin) -> None:
    """Registers the ops of a started plugin, once. Raises `PluginLoadError` for declarations that cannot be
    used, at every call."""
    with _lock:
        if plugin in _plugins:
            return
        parsed = _parsed(plugin)
        known = {schema.name: schema for schema, _ in parsed}
        for schema, declared in parsed:
            if declared.declaration.gradient is not None:
                _check_gradient(plugin, schema, declared.declaration.gradient, known)
        added: list[str] = []
        try:
            for schema, declared in parsed:
                _add(plugin, schema, declared)
                added.append(schema.name)
        except AttributeValueError as error:
            for name in added:
                _give_up(name, plugin)
            refuse(plugin, str(error))
        _plugins.add(plugin)
        plugin.before_shutdown(lambda: _ended(plugin, added))


def is_declared(name: str) -> bool:
    """Whether a plugin in use has declared this op."""
    return name in _shared


def gradient_of(name: str) -> str | None:
    """The op that a plugin in use has declared to be the gradient of this one."""
    shared = _shared.get(name)
    return None if shared is None else shared.owners[0].declaration.gradient


def _parsed(plugin: Plugin) -> list[tuple[Schema, DeclaredOp]]:
    """The schemas of a plugin, each name once and free or of the very same op."""
    found: dict[str, tuple[Schema, DeclaredOp]] = {}
    for declared in declared_ops(plugin):
        try:
            schema = parse(declared.declaration.schema)
        except AttributeValueError as error:
            refuse(plugin, str(error))
        name, types = schema.name, declared.declaration.types
        if schema.outputs[-1].variadic and not schema.outputs[-1].length:
            refuse(
                plugin,
                f"nothing tells how long the list {schema.outputs[-1].name} of {name} is; in C the schema "
                "says so, as in parts: T[n], where n is an int attribute or the list among the inputs",
            )
        if name in found:
            refuse(plugin, f"{name} is declared twice")
        if any(types[len(schema.variables) :]):
            refuse(plugin, f"{name} has dtypes for more than its {len(schema.variables)} type variables")
        shared = _shared.get(name)
        if shared is not None and shared.owners[0].declaration != declared.declaration:
            other = shared.owners[0].plugin
            refuse(plugin, f"plugin {other.name!r} at {other.path} declares another op named {name}")
        found[name] = (schema, declared)
    return list(found.values())


def _check_gradient(plugin: Plugin, schema: Schema, name: str, known: dict[str, Schema]) -> None:
    """The op that is a gradient exists and takes what it will be given."""
    gradient: Schema | OpSpec | None = known.get(name) or BY_NAME.get(name)
    if gradient is None:
        refuse(plugin, f"the gradient of {schema.name} is {name!r}, and there is no such op")
    fixed = sum(not each.variadic for each in schema.outputs)
    lists = len(schema.outputs) - fixed
    wanted = 2 * fixed + len(schema.inputs) + lists
    if len(gradient.inputs) != wanted:
        refuse(
            plugin,
            f"{name}, the gradient of {schema.name}, has {len(gradient.inputs)} inputs, and is given "
            f"{wanted}: the gradients of the outputs, the outputs and the inputs"
            + ", and the gradients of the list of outputs"
            * lists,
        )
    if lists and not gradient.inputs[-1].variadic:
        refuse(
            plugin,
            f"{schema.outputs[-1].name} of {schema.name} is a list, and {gradient.inputs[-1].name} of its "
            f"gradient {name}, which takes its gradients, is none",
        )
    for own, passed in zip(schema.inputs, gradient.inputs[2 * fixed :], strict=False):
        if own.variadic != passed.variadic or (own.optional and not passed.optional):
            form = "a list" if own.variadic else "optional" if own.optional else "one tensor"
            refuse(
                plugin, f"{own.name} of {schema.name} is {form}, {passed.name} of its gradient {name} is not"
            )
    kinds = {each.name: each.kind for each in gradient.attributes}
    for each in schema.attributes:
        if kinds.get(each.name) != each.kind:
            refuse(
                plugin,
                f"{name}, the gradient of {schema.name}, has no attribute {each.name} of kind {each.kind}",
            )
    own_names = {each.name for each in schema.attributes}
    if needed := [each.name for each in gradient.attributes if each.required and each.name not in own_names]:
        refuse(plugin, f"{name}, the gradient of {schema.name}, needs an attribute {needed[0]}")
    names = {f"grad_{each.name}": each.variadic for each in schema.inputs}
    if strange := [each.name for each in gradient.outputs if names.get(each.name) != each.variadic]:
        refuse(
            plugin,
            f"{name}, the gradient of {schema.name}, gives {strange[0]!r}; its outputs are among "
            f"{', '.join(each + '[]' * names[each] for each in sorted(names))}",
        )


def _add(plugin: Plugin, schema: Schema, declared: DeclaredOp) -> None:
    shared = _shared.get(schema.name)
    if shared is not None:
        shared.owners.append(declared)
        return
    shared = _Shared([declared])
    declaration = declared.declaration
    shared.op = register(
        schema,
        {
            variable: [dtypes.from_code(code) for code in sorted(codes)]
            for variable, codes in zip(schema.variables, declaration.types, strict=False)
        },
        _rule(shared) if declaration.infers else None,
        declaration.gradient,
        None,
        declaration.promotion,
        declaration.amp,
        declaration.doc,
        {dtypes.NAMES[code]: declaration.ulp for code in dtypes.FLOATING | dtypes.COMPLEX},
    )
    _shared[schema.name] = shared


def _give_up(name: str, plugin: Plugin) -> None:
    shared = _shared[name]
    shared.owners = [each for each in shared.owners if each.plugin is not plugin]
    if not shared.owners:
        del _shared[name]
        if shared.op is not None:
            shared.op.unregister()


def _ended(plugin: Plugin, names: Sequence[str]) -> None:
    with _lock:
        _plugins.discard(plugin)
        for name in names:
            _give_up(name, plugin)


def _rule(shared: _Shared) -> Rule:
    """A shape rule around the shape function of the first plugin in use that declares the op."""

    def rule(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
        length = list_length(op, inputs, attributes)
        count = len(op.outputs) if length is None else len(op.outputs) - 1 + length
        codes = [dtype_of(op, inputs, attributes, place) for place in range(count)]
        first = next(iter(given(inputs)), None)
        values: Any = attributes if first is None else counted_axes(op, attributes, len(first.shape))
        bound = bound_dtype(op, inputs, op.types[0][0]) if op.types else None
        packed, relocations = pack(op, values, codes[0] if bound is None else bound)
        try:
            shapes = shared.owners[0].infer(inputs, packed, relocations, codes)
        except ShapesRefused as error:
            raise shape_error(op, str(error), [each.shape for each in given(inputs)]) from None
        except ValueError as error:
            raise ShapeError(
                f"the shape function of {op.name} gave what is no shape",
                subject=shared.owners[0].plugin.path,
                why=str(error),
                remedy="The plugin is faulty: ask its vendor for a corrected build.",
                op=op.name,
            ) from None
        return [TensorSpec(shape, code) for shape, code in zip(shapes, codes, strict=True)]

    return rule
