"""Sample calls of ops: the example of the entry first, small shapes after it."""

from __future__ import annotations

import numpy as np
import pytest

from device_api import dtypes
from device_api.cli.samples import samples
from device_api.ops._table import BY_NAME

FLOAT32 = dtypes.code(np.float32)


@pytest.mark.parametrize(
    ("op", "inputs", "attribute"),
    [
        ("concat", ((1,), (2,)), ("axis", 0)),
        ("conv2d", ((1, 1, 3, 3), (1, 1, 2, 2), None), ("padding", (1,))),
        ("astype", None, ("dtype", np.dtype(np.float32))),
    ],
)
def test_the_example_of_an_op_is_its_first_sample(
    op: str, inputs: tuple[object, ...] | None, attribute: tuple[str, object]
) -> None:
    first = next(samples(BY_NAME[op], FLOAT32))
    assert inputs is None or first.inputs == inputs
    assert first.attributes[attribute[0]] == attribute[1]


def test_an_op_without_an_example_is_tried_with_small_shapes() -> None:
    tried = [sample.inputs for sample in samples(BY_NAME["batch_matmul"], FLOAT32)]
    assert ((2, 2), (2, 2)) in tried
    assert ((2, 2, 2), (2, 2, 2)) in tried


def test_every_public_op_has_a_sample() -> None:
    assert [spec.name for spec in BY_NAME.values() if spec.public and not any(samples(spec, FLOAT32))] == []
