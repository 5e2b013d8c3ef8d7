"""The training level finds wrong gradients and wrong steps, each in the case that says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from conformance.case import Result, Status
from conformance.cases import case_by_name
from conformance.runner.worker import execute
from conformance.target import Target
from device_api.ops import _rules


@pytest.fixture(scope="module")
def target() -> Target:
    return Target("cpu")


def judge(target: Target, name: str) -> Result:
    case = case_by_name(target, name)
    assert case is not None, name
    return execute(case, target, 0)[0]


def times(factor: float) -> Callable[[Any], Any]:
    return lambda rule: lambda *a, **k: rule(*a, **k) * factor


def without_mean(rule: Any) -> Any:
    """The gradient of a softmax without the term that keeps its sum."""
    return lambda F, g, x, out, **attributes: g * out


@pytest.mark.parametrize(
    ("op", "operand", "spoil"),
    [
        ("softmax", "x", times(3.0)),
        ("softmax", "x", without_mean),
        ("conv2d", "weight", times(-1.0)),
        ("group_norm", "bias", times(1.001)),
        ("matmul", "x2", times(0.0)),
        ("exp", "x", times(3.0)),
    ],
)
def test_a_wrong_gradient_fails_the_case_of_its_op(
    target: Target, monkeypatch: pytest.MonkeyPatch, op: str, operand: str, spoil: Callable[[Any], Any]
) -> None:
    name = f"training.gradient.{op}"
    assert judge(target, name).status is Status.PASS
    monkeypatch.setitem(_rules.GRADIENT, (op, operand), spoil(_rules.GRADIENT[op, operand]))
    result = judge(target, name)
    assert result.status is Status.FAIL
    assert f"; by {operand}[" in result.message


def test_a_wrong_gradient_of_a_rule_for_several_inputs_fails_too(
    target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    names, rule = _rules.GRADIENTS_TOGETHER["layer_norm"]

    def spoilt(*arguments: Any, **attributes: Any) -> tuple[Any, ...]:
        by_x, by_weight, by_bias = rule(*arguments, **attributes)
        return by_x, by_weight, by_bias * 1.001

    assert judge(target, "training.gradient.layer_norm").status is Status.PASS
    monkeypatch.setitem(_rules.GRADIENTS_TOGETHER, "layer_norm", (names, spoilt))
    result = judge(target, "training.gradient.layer_norm")
    assert result.status is Status.FAIL
    assert "; by bias[" in result.message


def test_a_wrong_second_derivative_fails(target: Target, monkeypatch: pytest.MonkeyPatch) -> None:
    key = ("softmax_gradient", "result")
    monkeypatch.setitem(_rules.GRADIENT, key, times(2.0)(_rules.GRADIENT[key]))
    assert judge(target, "training.gradient.softmax").status is Status.PASS
    assert judge(target, "training.second.softmax").status is Status.FAIL


@pytest.mark.parametrize(
    "name",
    [
        "training.optimiser.adamw_step",
        "training.optimiser.rmsprop_step",
        "training.amp.unscale",
        "training.amp.scale",
        "training.run.classifier",
    ],
)
def test_steps_of_training_pass(target: Target, name: str) -> None:
    assert judge(target, name).status is Status.PASS


def test_results_of_complex_and_integer_samples_are_composed_too(target: Target) -> None:
    for name in ("ops.matmul.complex64.composed", "ops.take.int32.composed", "ops.any.bool.composed"):
        assert judge(target, name).status is Status.PASS


def test_an_op_that_the_device_cannot_run_is_not_supported_and_says_so(
    target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    from device_api.errors import UnsupportedOp

    def refuse(*_: Any, **__: Any) -> Any:
        raise UnsupportedOp("no kernel for this")

    monkeypatch.setattr("conformance.cases.training_gradients.run_op", refuse)
    result = judge(target, "training.gradient.tanh")
    assert result.status is Status.NOT_SUPPORTED
    assert "no kernel for this" in result.message
