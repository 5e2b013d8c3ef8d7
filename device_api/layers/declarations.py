"""Writes the Python side of the layer library: its cffi declarations and the table of slots for replays.

The declarations of the library are few and stand here; those of the contract are included from
`device_api.abi._declarations`. Nothing here is used at run time.
"""

from __future__ import annotations

import contextlib
import io
import tempfile
from pathlib import Path
from pprint import pformat

from device_api.abi.describe import Contract
from device_api.abi.generate import declare
from device_api.layers.emit import NOTE
from device_api.layers.signatures import Slot

# The same declarations as native/library.h, and the entry of a vendor's layer.
_SOURCE = """
const da_plugin *da_layers_wrap(const da_plugin *next, const char *layer, const char *options,
                                char *out_message, uint64_t message_size);
int32_t da_layers_release(const da_plugin *layer);
const char *da_layers_report(const da_plugin *layer);
void da_layers_free(const char *text);
int32_t da_layers_reset(const da_plugin *layer);
int32_t da_layers_configure(const da_plugin *layer, const char *options, char *out_message,
                            uint64_t message_size);
const da_plugin *device_api_layer(const da_plugin *next, const char *options);
"""


def compiled(contract: Contract) -> str:
    """The text of _native.py."""
    import cffi

    ffi = cffi.FFI()
    ffi.include(declare(contract))
    ffi.cdef(_SOURCE)
    ffi.set_source("device_api.layers._native", None)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "native.py"
        with contextlib.redirect_stdout(io.StringIO()):
            ffi.emit_python_code(str(path))
        body = path.read_text(encoding="utf-8").removeprefix("# auto-generated file\n")
    head = f'"""The layer library as cffi declarations, compiled.\n\n{NOTE}\n"""\n\n'
    return f"{head}# ruff: noqa\n# fmt: off\n{body}"


def slot_table(contract: Contract, slots: list[Slot]) -> str:
    """The text of _slots.py: slot -> (C struct, result, [(parameter, type)])."""
    rows = {
        slot.title: (slot.struct, slot.result, [(item.name, item.type) for item in slot.parameters])
        for slot in slots
    }
    text = pformat(rows, indent=4, width=100, sort_dicts=False)
    return (
        f'"""Every function slot with the types of its parameters.\n\n{NOTE}\n"""\n\n# fmt: off\n'
        "from typing import Final\n\n"
        "SLOTS: Final[dict[str, tuple[str, str, list[tuple[str, str]]]]] = "
        f"{{\n {text[1:-1]},\n}}\n"
    )
