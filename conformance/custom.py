"""Cases of custom ops: what their authors know and this suite cannot.

    conformance.custom.case(swish, reference=lambda x, *, beta: x / (1 + numpy.exp(-beta * x)),
                            samples=lambda draw: [Sample((draw.normal(3, 4),), {"beta": 2.0})])

The module that declares an op says this too, and a run imports it with `--import`. The op's kernels then get
the groups of every composite: samples, layouts, in-place operation, determinism, guards. A kernel of a custom
op without a case is reported as unproved, which is a failure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from conformance.oracle.precision import widen
from conformance.oracle.registry import Call, Expected, oracle
from conformance.samples.draw import Draw, Sample
from conformance.samples.table import makes
from device_api import dtypes
from device_api.ops._table import BY_NAME
from device_api.ops.custom import CustomOp
from device_api.ops.shape_support import TensorSpec, dtype_of

__all__ = ["Draw", "Sample", "case"]


def case(
    op: CustomOp | str, *, reference: Callable[..., Any], samples: Callable[[Draw], Iterable[Sample]]
) -> None:
    """Says what an op gives, and on what it is tried. An op that a plugin declares is given by its name.

    `reference` gets the inputs as NumPy arrays, floating ones in higher precision, None for an absent one, a
    list flattened, and the attributes by name; it gives the exact result, or a flat tuple of them. `samples`
    draws small calls, each variant of the op at least once; the tolerance is the op's `ulp`. Raises
    `ValueError` when the op has a case already.
    """
    name = op if isinstance(op, str) else op.name

    def judge(call: Call) -> list[Expected]:
        spec = BY_NAME[name]
        arrays = [None if x is None else widen(x) for x in call.inputs]
        made = reference(*arrays, **call.attributes)
        results = made if isinstance(made, tuple) else (made,)
        told = [None if x is None else TensorSpec(x.shape, dtypes.code(x.dtype)) for x in call.inputs]
        codes = [dtype_of(spec, told, call.attributes, place) for place in range(len(results))]
        return [
            Expected(_answer(result, dtypes.from_code(code)), dtypes.from_code(code))
            for result, code in zip(results, codes, strict=True)
        ]

    def draw_samples(draw: Draw, op_name: str) -> Iterable[Sample]:
        return samples(draw)

    oracle(name)(judge)
    makes(name)(draw_samples)


def _answer(result: Any, dtype: np.dtype[Any]) -> Any:
    """Exact results have the element type itself, floating ones keep their precision."""
    values = np.asarray(result)
    return values if dtype.kind not in "biu" else values.astype(dtype)
