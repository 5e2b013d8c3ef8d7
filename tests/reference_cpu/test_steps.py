"""Steps of optimisers as kernels, where learning rate and number of the step differ from element to element:
in place of any of their pairs, beside strided operands."""

from __future__ import annotations

import itertools
import struct

import numpy as np
import pytest
from cpu_driver import Plugin

# Operands, results, the pairs that may share memory, and the attributes.
STEPS = {
    "sgd_step": (3, 1, ((0, 0),), struct.pack("<QQd", 24, 0, 0.5)),
    "momentum_step": (4, 2, ((0, 0), (1, 2)), struct.pack("<QQddq", 40, 0, 0.5, 0.25, 1)),
    "adam_step": (6, 3, ((0, 0), (1, 2), (2, 3)), struct.pack("<QQdddd", 48, 0, 0.75, 0.5, 0.125, 0.25)),
    "adamw_step": (6, 3, ((0, 0), (1, 2), (2, 3)), struct.pack("<QQdddd", 48, 0, 0.75, 0.5, 0.125, 0.25)),
}


@pytest.mark.parametrize("op", STEPS)
@pytest.mark.parametrize("uniform", [True, False])
@pytest.mark.parametrize("strided", [True, False])
def test_every_choice_of_pairs_gives_the_bits_of_separate_memory(
    plugin: Plugin, op: str, uniform: bool, strided: bool
) -> None:
    count, made, pairs, attributes = STEPS[op]
    generator = np.random.default_rng(0)
    replaced = {place for _, place in pairs}
    for dtype, size in itertools.product(plugin.dtypes(op), (1, 1025, 40_001)):
        given = []
        for place in range(count):
            pace = 2 if strided and place not in replaced else 1
            values = generator.uniform(0.5, 2, pace * size).astype(dtype)[::pace]
            number = place > 1 and place not in replaced
            given.append(np.broadcast_to(values[:1], (size,)) if uniform and number else values)
        wanted = [np.zeros(size, dtype) for _ in range(made)]
        plugin.launch(op, given, wanted, attributes)
        for length in range(1, len(pairs) + 1):
            for chosen in itertools.combinations(pairs, length):
                inputs = [x.copy() if place in replaced else x for place, x in enumerate(given)]
                outputs = [np.zeros(size, dtype) for _ in range(made)]
                for output, place in chosen:
                    outputs[output] = inputs[place]
                plugin.launch(op, inputs, outputs, attributes)
                for got, want in zip(outputs, wanted, strict=True):
                    np.testing.assert_array_equal(got, want)
