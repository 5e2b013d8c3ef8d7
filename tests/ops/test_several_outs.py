"""Ops of several outputs that write over their inputs: steps of optimisers, running statistics."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from masked_devices import Mask, masked

import device_api as da
from device_api.abi import constants

FLAGS = constants.DA_KERNEL_IN_PLACE | constants.DA_KERNEL_IN_PLACE_PAIRS
DEVICES = {
    "in place": None,
    "without the flag": Mask(without_flags=FLAGS),
    "in place of one input only": Mask(without_flags=constants.DA_KERNEL_IN_PLACE_PAIRS),
    "contiguous only": Mask(contiguous=True),
    "composed": Mask(hidden=("adam_step", "adamw_step", "momentum_step", "sgd_step", "batch_norm_training")),
}
# What an op takes besides the state, and the number of tensors in the state, the first being the parameter.
STEPS: dict[str, tuple[Callable[..., Any], int]] = {
    "momentum": (lambda p, g, v, out=None: da.momentum_step(p, g, v, 0.125, nesterov=True, out=out), 2),
    "adam": (lambda p, g, m, v, out=None: da.adam_step(p, g, m, v, 7, 0.125, weight_decay=0.5, out=out), 3),
    "adamw": (lambda p, g, m, v, out=None: da.adamw_step(p, g, m, v, 7, 0.125, out=out), 3),
    "rmsprop": (
        lambda p, g, s, a, v, out=None: da.rmsprop_step(p, g, s, a, v, 0.125, momentum=0.5, out=out),
        4,
    ),
}


def device_of(name: str) -> str:
    mask = DEVICES[name]
    return "cpu" if mask is None else masked(mask)


def numbers(count: int, size: int, dtype: str = "float32") -> list[np.ndarray[Any, Any]]:
    generator = np.random.default_rng(0)
    return [generator.uniform(0.5, 2, size).astype(dtype) for _ in range(count)]


def step(name: str, state: Sequence[Any], gradient: Any, out: Any = None) -> tuple[da.Tensor, ...]:
    return STEPS[name][0](state[0], gradient, *state[1:], out=out)


def _steps() -> list[tuple[str, tuple[int, ...]]]:
    """Every choice of operands as outs, by number: 0 is the parameter and -1 a tensor of its own."""
    return [
        (name, chosen)
        for name in ("momentum", "adam")
        for chosen in itertools.product(range(-1, STEPS[name][1]), repeat=STEPS[name][1])
        if all(chosen.count(each) == 1 for each in chosen if each >= 0)
    ]


@pytest.mark.parametrize("device", DEVICES)
def test_any_outs_get_what_the_step_gives_whichever_operands_they_are(device: str) -> None:
    place = device_of(device)
    for name, chosen in _steps():
        *state, gradient = (da.asarray(x, device=place) for x in numbers(STEPS[name][1] + 1, 9))
        wanted = [x.numpy() for x in step(name, state, gradient)]
        outs = tuple(da.zeros(9, device=place) if each < 0 else state[each] for each in chosen)
        kept = {each: x.numpy().copy() for each, x in enumerate(state) if each not in chosen}
        made = step(name, state, gradient, out=outs)
        assert all(a is b for a, b in zip(made, outs, strict=True))
        for got, want in zip(outs, wanted, strict=True):
            np.testing.assert_array_equal(got.numpy(), want, err_msg=f"{name} {chosen}")
        for each, before in kept.items():
            np.testing.assert_array_equal(state[each].numpy(), before)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("name", STEPS)
@given(data=st.data())
@settings(max_examples=25, deadline=None)
def test_outs_that_are_shifted_or_stepped_views_of_operands_are_written_as_if_all_was_read_first(
    device: str, name: str, data: st.DataObject
) -> None:
    place, count = device_of(device), STEPS[name][1]
    size = data.draw(st.integers(1, 6))
    room = count * 2 * (size + 1)
    memory = numbers(1, room)[0]

    def keys(apart: bool) -> list[slice]:
        found: list[slice] = []
        for number in range(count):
            width = 2 * (size + 1)
            low, high = (number * width, (number + 1) * width) if apart else (0, room)
            pace = data.draw(st.sampled_from((1, 2)))
            start = data.draw(st.integers(low, high - (size - 1) * pace - 1))
            found.append(slice(start, start + (size - 1) * pace + 1, pace))
        return found

    sources, targets = keys(apart=False), keys(apart=True)
    gradient = da.asarray(numbers(2, size)[1], device=place)
    tensor = da.asarray(memory, device=place)
    results = step(name, [da.asarray(memory[key], device=place) for key in sources], gradient)
    expected = memory.copy()
    for key, result in zip(targets, results, strict=True):
        expected[key] = result.numpy()
    step(name, [tensor[key] for key in sources], gradient, out=tuple(tensor[key] for key in targets))
    np.testing.assert_array_equal(tensor.numpy(), expected)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_steps_in_place_are_those_out_of_place_for_every_dtype_and_size(dtype: str) -> None:
    for size in (1, 7, 1025, 40_001):
        *arrays, gradient = numbers(4, 2 * size, "float64")
        slope = da.asarray(gradient, dtype=dtype)[::-2]  # a strided operand beside those that are replaced
        for op, states in ((da.sgd_step, 0), (da.momentum_step, 1), (da.adam_step, 2), (da.adamw_step, 2)):
            state = [da.asarray(x[:size], dtype=dtype) for x in arrays[: 1 + states]]
            rest = (7, 0.125) if states == 2 else (0.125,)
            made = op(state[0], slope, *state[1:], *rest, weight_decay=0.5)
            wanted = [x.numpy() for x in (made if isinstance(made, tuple) else (made,))]
            op(state[0], slope, *state[1:], *rest, weight_decay=0.5, out=tuple(state) if states else state[0])
            for got, want in zip(state, wanted, strict=True):
                np.testing.assert_array_equal(got.numpy(), want)


def test_a_step_in_place_is_one_launch_of_its_kernel_and_takes_no_memory() -> None:
    device = da.device("cpu:0")
    p, g, m, v = (da.asarray(x, device=device) for x in numbers(4, 100_000))
    rate, count = da.asarray(0.125), da.asarray(7.0)
    for _ in range(2):  # the first call makes the plan
        device.reset_kernel_runs()
        da.reset_peak_memory_stats(device)
        before = da.memory_allocated(device)
        da.adam_step(p, g, m, v, count, rate, out=(p, m, v))
    assert device.kernel_runs() == {"adam_step": 1}
    assert da.max_memory_allocated(device) == before


def test_outs_that_are_not_the_inputs_that_they_replace_are_copied_to_beside_those_that_are() -> None:
    device = da.device("cpu:0")
    p, g, m, v = (da.asarray(x, device=device) for x in numbers(4, 1000))
    rate, count = da.asarray(0.125), da.asarray(7.0)
    for out, copies in (((m, p, v), 2), ((p, g, v), 1), ((g, m, v), 1), ((p, m, g), 1)):
        device.reset_kernel_runs()
        da.adam_step(p, g, m, v, count, rate, out=out)
        assert device.kernel_runs() == {"adam_step": 1, "copy": copies}
    device.reset_kernel_runs()
    da.adam_step(p, p, m, v, count, rate, out=(p, m, v))  # the gradient lies where the new parameter would
    assert device.kernel_runs() == {"adam_step": 1, "copy": 1}


@pytest.mark.parametrize("device", DEVICES)
def test_running_statistics_are_replaced_and_the_result_has_memory_of_its_own(device: str) -> None:
    place = device_of(device)
    x = da.asarray(numbers(1, 24)[0].reshape(2, 3, 4), device=place)
    mean, variance, weight = (da.asarray(each, device=place) for each in numbers(3, 3))
    wanted = [each.numpy() for each in da.batch_norm_training(x, mean, variance, weight)]
    out = (x, mean, variance)
    da.batch_norm_training(x, mean, variance, weight, out=out)
    for got, want in zip(out, wanted, strict=True):
        np.testing.assert_array_equal(got.numpy(), want)


def test_outs_of_another_number_dtype_shape_or_of_one_memory_are_refused() -> None:
    p, g, v = (da.asarray(x) for x in numbers(3, 4))
    before = p.numpy().copy()
    with pytest.raises(da.ShapeError, match="2 result"):
        da.momentum_step(p, g, v, 0.5, out=(p,))
    with pytest.raises(da.ShapeError, match="share memory"):
        da.momentum_step(p, g, v, 0.5, out=(p, p))
    with pytest.raises(da.DTypeError, match="float64"):
        da.momentum_step(p, g, v, 0.5, out=(p, da.zeros(4, dtype="float64")))
    with pytest.raises(da.ShapeError, match="out"):
        da.momentum_step(p, g, v, 0.5, out=(p, da.zeros((1, 4))))
    np.testing.assert_array_equal(p.numpy(), before)


def test_a_recorded_parameter_is_replaced_without_gradients_only() -> None:
    p, g, v = (da.asarray(x) for x in numbers(3, 4))
    p.requires_grad = True
    with pytest.raises(da.errors.GradientError, match="given tensor"):
        da.momentum_step(p, g, v, 0.5, out=(p, v))
    wanted = da.momentum_step(p.detach(), g, v, 0.5)[0].numpy()
    with da.no_grad():
        da.momentum_step(p, g, v, 0.5, out=(p, v))
    np.testing.assert_array_equal(p.numpy(), wanted)
