"""A good kernel is never failed: not for its order of operations, nor for what leaves its dtype's range."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pytest

from conformance import compare
from conformance.cases.ops_elementwise import in_any_order
from conformance.inputs import pairs, special_values
from conformance.judging import bound_of, compared
from conformance.oracle import expected, has_formula, has_oracle, values_of
from conformance.samples import Draw, has_samples, samples
from device_api import dtypes
from device_api.ops._table import BY_NAME, OPS
from device_api.opset.spec import OpSpec

FORMULAS = [spec for spec in OPS if has_formula(spec.name) and has_samples(spec.name)]
# What a kernel of narrow floats would have to hold more exactly than its dtype can.
EXACT = {"beta1": 0.875, "beta2": 0.96875}


def judge(op: str, output: Any, *inputs: Any, **attributes: Any) -> compare.Comparison:
    spec = BY_NAME[op]
    (want,) = expected(spec, inputs, attributes)
    return compared(spec, inputs, output, want, compare.Rule(bound_of(spec, want, inputs), want.zero_sign))


def holds(spec: OpSpec, dtype: np.dtype[Any]) -> bool:
    return bool(spec.types) and dtypes.code(dtype) in spec.allowed(spec.types[0][0])


def special_inputs(spec: OpSpec, dtype: np.dtype[Any]) -> Sequence[Any]:
    """Special values in all operands of an op of elements, or nothing where it needs something else."""
    if not spec.elementwise or any(x.type != "T" or x.optional for x in spec.inputs):
        return ()
    if any(a.required for a in spec.attributes):
        return ()
    values, rng = special_values(dtype), np.random.default_rng(3)
    if len(spec.inputs) < 3:
        return (values,) if len(spec.inputs) == 1 else pairs(values)
    return [np.concatenate([in_any_order(each.name, values, rng) for _ in range(20)]) for each in spec.inputs]


def calls(spec: OpSpec, dtype: np.dtype[Any]) -> Iterator[tuple[Sequence[Any], dict[str, Any], Any]]:
    for sample in samples(spec.name, Draw(np.random.default_rng(1), dtype)):
        yield sample.inputs, dict(sample.attributes), sample.dtype
    inputs = special_inputs(spec, dtype)
    if inputs:
        defaults = {a.name: EXACT.get(a.name, a.default) for a in spec.kernel_attributes}
        yield inputs, defaults, None


@pytest.mark.parametrize("name", ["float32", "float64"])
def test_a_kernel_that_computes_in_the_dtype_itself_is_right_for_every_formula(name: str) -> None:
    dtype = np.dtype(name)
    wrong = []
    for spec in (each for each in FORMULAS if holds(each, dtype)):
        for inputs, attributes, wanted in calls(spec, dtype):
            answers = expected(spec, inputs, attributes, wanted, tuple(attributes.get("shape") or ()))
            for got, want in zip(values_of(spec, inputs, attributes, wanted), answers, strict=True):
                if want.dtype != dtype:
                    continue
                with np.errstate(all="ignore"):
                    output = np.asarray(got).astype(dtype)
                rule = compare.Rule(bound_of(spec, want, inputs), want.zero_sign)
                found = compared(spec, inputs, output, want, rule)
                if not found.good:
                    wrong.append(f"{spec.name} {attributes}: {found.message()}")
    assert wrong == []


def test_a_product_that_overflows_on_the_way_may_show_and_may_not() -> None:
    inputs = [np.array([value]) for value in (1.7e308, 1e300, 2e8)]
    exact = inputs[0] - np.longdouble(1e300) * np.longdouble(2e8)
    assert np.isfinite(exact.astype(np.float64)).all()
    for output, good in ((-np.inf, True), (np.nan, True), (float(exact[0]), True), (0.0, False)):
        assert judge("sgd_step", np.array([output]), *inputs, weight_decay=0.0).good is good, output


def test_infinity_is_wrong_where_nothing_leaves_the_range() -> None:
    inputs = [np.array([value]) for value in (1.7e308, 1e300, 2e7)]
    assert not judge("sgd_step", np.array([-np.inf]), *inputs, weight_decay=0.0).good
    assert not judge("relu", np.array([np.inf]), np.array([np.finfo(np.float64).max])).good


def test_an_infinite_result_is_demanded_of_a_formula_that_gives_it_in_any_precision() -> None:
    inputs = [np.array([value]) for value in (-1.7e308, 1e300, 2e8)]
    assert judge("sgd_step", np.array([-np.inf]), *inputs, weight_decay=0.0).good
    assert not judge("sgd_step", np.array([np.inf]), *inputs, weight_decay=0.0).good
    assert not judge("sgd_step", np.array([np.nan]), *inputs, weight_decay=0.0).good


def test_a_sum_whose_terms_overflow_may_be_infinite_on_the_way() -> None:
    x = np.array([1.7e308, 1.7e308, -1.7e308])
    for output, good in ((1.7e308, True), (np.inf, True), (np.nan, True), (0.0, False)):
        assert judge("reduce_sum", np.array(output), x).good is good, output
    assert not judge("reduce_sum", np.array(np.inf), x / 4).good


@pytest.mark.parametrize("op", ["mean", "std"])
def test_a_statistic_may_overflow_where_its_sums_do(op: str) -> None:
    attributes = {"axis": None, "keepdims": False, **({"correction": 0.0} if op == "std" else {})}
    for size, sums_overflow in ((1.5e308, True), (1e150, False)):
        x = np.array([size, size / 2, size])
        exact = np.array((x / 4).mean() * 4 if op == "mean" else (x / size).std() * size)
        assert judge(op, exact, x, **attributes).good
        assert judge(op, np.array(np.inf), x, **attributes).good is sums_overflow
        assert not judge(op, exact / 2, x, **attributes).good


@pytest.mark.parametrize(("loss", "flushed"), [(0.75, 1), (2.5, 0)])
def test_a_step_that_takes_subnormal_numbers_for_zero_is_poor_and_not_wrong(
    loss: float, flushed: int
) -> None:
    least = np.float32(np.finfo(np.float32).smallest_normal)
    inputs = [np.array([value], np.float32) for value in (9 * least, loss * least, 1)]
    found = judge("sgd_step", inputs[0], *inputs, weight_decay=0.0)
    assert (found.wrong, found.flushed) == (1, flushed)


def test_nothing_is_demanded_of_a_matrix_without_an_inverse() -> None:
    x = np.array([[np.inf, 0.0], [0.0, 2.0]])
    assert judge("solve", np.array([np.nan, 0.5]), x, np.array([1.0, 1.0])).good


def test_what_infinities_leave_open_in_one_element_is_judged_in_its_neighbour() -> None:
    """The second element has no limit and may be anything; NaN among the operands of the first must show."""
    x1, x2, weight = np.array([np.nan, np.inf, 1]), np.array([1.0, -np.inf, 3]), np.array([0.5, 0.5, 0.5])
    assert judge("lerp", np.array([np.nan, -np.inf, 2]), x1, x2, weight).good
    assert not judge("lerp", np.array([1.0, -np.inf, 2]), x1, x2, weight).good
    assert not judge("lerp", np.array([np.nan, -np.inf, 3]), x1, x2, weight).good


def test_terms_that_cancel_are_seen_whichever_way_they_are_moved() -> None:
    """The difference of equal numbers has the size of the numbers for a measure, in each of many elements."""
    rng = np.random.default_rng(0)
    x = rng.uniform(1, 2, 20_000).astype(np.float32)
    (want,) = expected(BY_NAME["l1_loss"], [x, np.nextafter(x, np.float32(3))], {"reduction": "none"})
    assert want.scale is not None
    assert float(np.min(want.scale)) > 0.1


def test_the_op_set_bounds_the_error_of_every_op_that_computes() -> None:
    """A bound that nobody wrote down is none: what is measured against a scale has one, for each dtype."""
    missing = []
    for spec in (each for each in OPS if has_oracle(each.name) and has_samples(each.name) and each.types):
        for dtype in filter(
            partial(holds, spec), map(np.dtype, ("float16", "float32", "float64", "complex64"))
        ):
            for sample in samples(spec.name, Draw(np.random.default_rng(0), dtype))[:1]:
                shape = tuple(sample.attributes.get("shape") or ())
                wanted = expected(spec, sample.inputs, sample.attributes, sample.dtype, shape)
                if any(want.scale is not None and want.dtype == dtype for want in wanted):
                    missing += [(spec.name, dtype.name)] if dtype.name not in spec.ulp else []
    assert missing == []


def test_elements_may_be_moved_in_every_dtype_of_every_op() -> None:
    """What an op gives is judged in each dtype that it takes, whatever the shapes of operands and result."""
    for spec in (each for each in OPS if has_oracle(each.name) and has_samples(each.name) and each.types):
        if spec.family not in ("manipulation", "indexing", "array", "placement", "embedding", "creation"):
            continue
        for code in spec.allowed(spec.types[0][0]):
            for sample in samples(spec.name, Draw(np.random.default_rng(0), dtypes.from_code(code))):
                shape = tuple(sample.attributes.get("shape") or ())
                for want in expected(spec, sample.inputs, sample.attributes, sample.dtype, shape):
                    with np.errstate(all="ignore"):
                        output = want.values.astype(want.dtype)
                    rule = compare.Rule(1.0, want.zero_sign)
                    assert compared(spec, sample.inputs, output, want, rule).good, (spec.name, code)
