"""C structs of function pointers made of Python functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from device_api.abi._declarations import ffi
from device_api.prototype.failures import Failures


def guarded(failures: Failures, function: Callable[..., None]) -> Callable[..., Any]:
    """The function as C calls it: NULL for success, else an error."""

    def call(*arguments: Any) -> Any:
        try:
            function(*arguments)
        except BaseException as error:
            return failures.of(error)
        return ffi.NULL

    return call


def filled(struct: str, functions: Mapping[str, Callable[..., Any]], **values: Any) -> tuple[Any, list[Any]]:
    """A new struct with its size, functions as callbacks and other values; and what must live as long as
    it. Slots that are not named stay NULL."""
    table = ffi.new(f"{struct} *")
    table.struct_size = ffi.sizeof(struct)
    types = dict(ffi.typeof(struct).fields)
    keep = [ffi.callback(types[name].type, function) for name, function in functions.items()]
    for name, callback in zip(functions, keep, strict=True):
        setattr(table, name, callback)
    for name, value in values.items():
        setattr(table, name, value)
    return table, [table, *keep]


def text(value: str) -> Any:
    """A C text; keep it as long as somebody may read it."""
    return ffi.new("char[]", value.encode())
