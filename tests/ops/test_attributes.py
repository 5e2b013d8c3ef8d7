"""Attribute structs: the bytes that Python packs are those that a C compiler expects."""

from __future__ import annotations

import struct
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import device_api as da
from device_api import dtypes
from device_api.errors import AttributeValueError
from device_api.ops._table import BY_NAME, OPS
from device_api.ops.attributes import offsets, pack, scalar_bytes
from device_api.ops.binding import bind_attributes, bind_call
from device_api.opset.spec import Attribute, OpSpec

WITH_ATTRIBUTES = [spec for spec in OPS if spec.level != "view" and spec.kernel_attributes]


def test_offsets_and_sizes_are_the_compilers(tmp_path: Path) -> None:
    lines = ["#include <stdio.h>", '#include "device_api/ops.h"', "int main(void) {"]
    for spec in WITH_ATTRIBUTES:
        name = f"da_attributes_{spec.name}"
        lines.append(f'  printf("{spec.name} size %zu\\n", sizeof({name}));')
        for attribute in spec.kernel_attributes:
            field = attribute.name + ("_count" if attribute.kind in ("axes", "shape", "ints") else "")
            lines.append(f'  printf("{spec.name} {attribute.name} %zu\\n", offsetof({name}, {field}));')
    source = tmp_path / "offsets.c"
    source.write_text("\n".join([*lines, "  return 0;", "}"]))
    program = tmp_path / "offsets"
    subprocess.run(["cc", f"-I{da.get_include()}", str(source), "-o", str(program)], check=True)
    said = subprocess.run([str(program)], capture_output=True, text=True, check=True).stdout
    found = {(op, field): int(number) for op, field, number in map(str.split, said.splitlines())}
    expected = {}
    for spec in WITH_ATTRIBUTES:
        places, size = offsets(spec)
        expected[spec.name, "size"] = size
        expected.update({(spec.name, field): place for field, place in places.items()})
    assert found == expected


def synthetic(**kinds: str) -> OpSpec:
    """An op that exists nowhere, with attributes of these kinds; a question mark makes one optional."""
    base = BY_NAME["fill"]
    attributes = tuple(
        Attribute(name, kind.rstrip("?"), optional=kind.endswith("?"), required=not kind.endswith("?"))
        for name, kind in kinds.items()
    )
    values = {name: getattr(base, name) for name in base.__slots__}
    return OpSpec(**{**values, "name": "synthetic", "attributes": attributes})


def test_lists_texts_and_absent_attributes_become_relocations_and_flags() -> None:
    spec = synthetic(sizes="ints", absent="float?", word="string", given="int?", flags="axes?")
    numbers = tuple(range(64))
    values = {"sizes": numbers, "absent": None, "word": "hé", "given": -7, "flags": ()}
    data, relocations = pack(spec, values, dtypes.FLOAT32)
    assert struct.unpack_from("=QQ", data) == (len(data), 0)
    assert struct.unpack_from("=qQ", data, 16) == (64, 0)
    assert struct.unpack_from("=qd", data, 32) == (0, 0.0)
    assert struct.unpack_from("=Q", data, 48) == (0,)
    assert struct.unpack_from("=qq", data, 56) == (1, -7)
    assert struct.unpack_from("=qqQ", data, 72) == (1, 0, 0)
    assert dict(relocations) == {24: struct.pack("=64q", *numbers), 48: "hé".encode() + b"\0", 88: b""}


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (1, "int8"),
        (True, "bool"),
        (2**64 - 1, "uint64"),
        (1.5, "bfloat16"),
        (1e300, "float32"),
        (1 + 2j, "complex64"),
    ],
)
def test_scalars_are_the_bytes_of_one_element(value: Any, name: str) -> None:
    code = dtypes.CODES_BY_NAME[name]
    with np.errstate(over="ignore"):
        expected = np.asarray(value).astype(dtypes.from_code(code)).tobytes()
    assert scalar_bytes(value, code) == expected


def test_scalars_that_lose_their_meaning_are_refused() -> None:
    with pytest.raises(OverflowError, match="256"):
        scalar_bytes(256, dtypes.UINT8)
    for value, code in ((1.5, dtypes.INT8), (1j, dtypes.FLOAT32), (float("nan"), dtypes.INT8)):
        with pytest.raises(AttributeValueError):
            scalar_bytes(value, code)


def test_calls_bind_as_python_functions_do() -> None:
    spec = BY_NAME["cumulative_sum"]
    inputs, values = bind_call(spec, ("x",), {"axis": np.int64(1)})
    assert inputs == ["x"]
    assert values["axis"] == 1
    assert type(values["axis"]) is int
    assert bind_attributes(spec, (1,)) == values
    for arguments, named in (((), {}), (("x",), {"nonsense": 1}), (("x", 1, None, False, 5), {})):
        with pytest.raises(TypeError, match="cumulative_sum"):
            bind_call(spec, arguments, named)


def test_choices_are_taken_by_name_and_by_number() -> None:
    spec = BY_NAME["scatter_rows"]
    assert bind_attributes(spec, ("add",)) == bind_attributes(spec, (2,)) == {"reduction": 2}
    for wrong in ("mul", 3, 1.0, None):
        with pytest.raises(AttributeValueError, match="replace, add"):
            bind_attributes(spec, (wrong,))
