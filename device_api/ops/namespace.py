"""`custom_ops`: the custom ops of this process by name, those of plugins in use and those of Python.

da.device("acme")                 # its plugin declares ops when it is opened
da.custom_ops.acme.swish(x)
da.custom_ops["acme.swish"]
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping

from device_api.ops.custom import CustomOp
from device_api.ops.op_registry import custom_specs


class CustomOps(Mapping[str, CustomOp]):
    """A mapping from "vendor.name" to the op, whose attributes are the vendors."""

    def __getitem__(self, name: str) -> CustomOp:
        for spec in custom_specs():
            if spec.name == name:
                return CustomOp(spec)
        raise KeyError(_missing(name, list(self)))

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(spec.name for spec in custom_specs()))

    def __len__(self) -> int:
        return len(custom_specs())

    def __getattr__(self, vendor: str) -> VendorOps:
        names = [name for name in self if name.startswith(f"{vendor}.")]
        if vendor.startswith("_") or not names:
            raise AttributeError(_missing(f"{vendor}.…", list(self)))
        return VendorOps(self, vendor)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *sorted({name.partition(".")[0] for name in self})]

    def __repr__(self) -> str:
        return f"<custom ops: {', '.join(self) or 'none'}>"


class VendorOps:
    """The custom ops of one vendor, as attributes."""

    def __init__(self, ops: CustomOps, vendor: str) -> None:
        self._ops, self._vendor = ops, vendor

    def __getattr__(self, name: str) -> CustomOp:
        try:
            return self._ops[f"{self._vendor}.{name}"]
        except KeyError as error:
            raise AttributeError(error.args[0]) from None

    def __dir__(self) -> list[str]:
        return [name.partition(".")[2] for name in self._ops if name.startswith(f"{self._vendor}.")]

    def __repr__(self) -> str:
        return f"<custom ops of {self._vendor}: {', '.join(self.__dir__())}>"


def _missing(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(known) or 'none'}."
    return f"no custom op is named {name}: {hint} A plugin's ops are there once its device was opened"


custom_ops = CustomOps()
