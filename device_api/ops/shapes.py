"""All shape rules under the names that the op set gives them, each with the limits on its results
applied. This is the one door to shape inference: from an op, its inputs' shapes and dtypes (promoted)
and its attributes (in normal form) to the shape and dtype of every output, or a typed error."""

from __future__ import annotations

import functools

from device_api.ops import (
    shape_rules,
    shape_rules_algebra,
    shape_rules_array,
    shape_rules_indexing,
    shape_rules_layout,
    shape_rules_network,
    shape_rules_spatial,
)
from device_api.ops.shape_support import Attributes, Inputs, Rule, TensorSpec, check_limits
from device_api.opset.spec import OpSpec

__all__ = ["RULES", "TensorSpec"]


def _limited(rule: Rule) -> Rule:
    @functools.wraps(rule)
    def apply(op: OpSpec, inputs: Inputs, attributes: Attributes) -> list[TensorSpec]:
        return check_limits(op, rule(op, inputs, attributes))

    return apply


RULES: dict[str, Rule] = {
    name: _limited(rule)
    for name, rule in {
        **shape_rules.RULES,
        **shape_rules_layout.RULES,
        **shape_rules_indexing.RULES,
        **shape_rules_spatial.RULES,
        **shape_rules_network.RULES,
        **shape_rules_array.RULES,
        **shape_rules_algebra.RULES,
    }.items()
}
