"""Writes a C++ table of the pointers in the attribute structs of ops.h: which op, where, and to what.

A launch on a stream outlives the host's attributes, so they are copied; where a copy must follow a pointer
is read from the header at build time, and cannot fall behind it. Knows the header's form and nothing of ops.

Usage: attribute_pointers.py HEADER OUTPUT
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

STRUCT = re.compile(r"typedef struct da_attributes_(\w+) \{(.*?)\} da_attributes_\1;", re.DOTALL)
POINTER = re.compile(r"const (int64_t|char) \*(\w+);")


def table(header: str) -> str:
    """One row {op, offset of the pointer, offset of its count or -1 for text} for each pointer."""
    rows = []
    for op, body in STRUCT.findall(header):
        struct = f"da_attributes_{op}"
        for kind, field in POINTER.findall(body):
            count = f"offsetof({struct}, {field}_count)" if kind == "int64_t" else "-1"
            rows.append(f'    {{"{op}", offsetof({struct}, {field}), {count}}},\n')
    return "".join(rows)


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(table(Path(sys.argv[1]).read_text(encoding="utf-8")), encoding="utf-8")
