"""The example of every public op is true on the reference device."""

from __future__ import annotations

import pytest

import device_api as da
from device_api.ops._table import OPS

PUBLIC = [op for op in OPS if op.public]


@pytest.mark.parametrize("op", PUBLIC, ids=lambda op: op.name)
def test_the_example_is_true(op):
    assert eval(op.example, {"da": da})
