"""Loss scaling and master weights: the rules of the scale, its state, and training in 16 bits that
arrives."""

from __future__ import annotations

import numpy as np
import pytest

import device_api as da


def _overflowing(scaler: da.amp.GradScaler) -> None:
    scaler.unscale([da.asarray([1.0, float("inf")], dtype=da.float16)])


def _good(scaler: da.amp.GradScaler) -> None:
    scaler.unscale([da.asarray([1.0], dtype=da.float16)])


def test_gradients_are_scaled_and_unscaled_in_their_dtype() -> None:
    scaler = da.amp.GradScaler(1024.0)
    weight = da.asarray([3e-8, 2.0])
    weight.requires_grad = True
    with da.amp.autocast("cpu", "float16"):
        loss = da.sum(weight * 2.0)
    scaled = da.grad(scaler.scale(loss), weight)
    assert scaled[0].tolist() == [2048.0, 2048.0]
    assert scaler.unscale([*scaled, None])[0].tolist() == [2.0, 2.0]
    assert scaler.unscale([None]) == [None]
    assert not scaler.found_inf


def test_the_scale_shrinks_after_an_overflow_and_grows_after_good_steps() -> None:
    scaler = da.amp.GradScaler(8.0, growth=4.0, backoff=0.25, interval=2)
    seen = []
    for step in (_good, _good, _overflowing, _good, _good):
        step(scaler)
        scaler.update()
        seen.append(scaler.scale_value)
    assert seen == [8.0, 32.0, 8.0, 8.0, 32.0]


def test_a_step_with_an_overflow_is_left_out() -> None:
    scaler, calls = da.amp.GradScaler(8.0), []
    _good(scaler)
    _overflowing(scaler)
    assert scaler.found_inf
    assert scaler.step(lambda: calls.append(1)) is False
    scaler.update()
    _good(scaler)
    assert scaler.step(lambda: calls.append(2)) is True
    assert calls == [2]


def test_the_state_can_be_kept_and_restored() -> None:
    one = da.amp.GradScaler(8.0, growth=4.0, interval=3)
    _good(one)
    one.update()
    state = one.state_dict()
    assert state == {"scale": 8.0, "good_steps": 1, "growth": 4.0, "backoff": 0.5, "interval": 3}
    other = da.amp.GradScaler()
    other.load_state_dict(state)
    assert other.state_dict() == state
    with pytest.raises(da.AttributeValueError, match="state"):
        other.load_state_dict({"scale": 1.0})


def test_a_disabled_scaler_does_nothing() -> None:
    scaler = da.amp.GradScaler(enabled=False)
    loss = da.asarray(2.0)
    assert scaler.scale(loss) is loss
    assert scaler.unscale([loss]) == [loss]
    scaler.update()
    assert scaler.scale_value == 1.0
    assert scaler.step(lambda: None) is True


def test_what_makes_no_sense_is_an_error() -> None:
    for facts in ({"growth": 1.0}, {"backoff": 1.0}, {"interval": 0}):
        with pytest.raises(da.AttributeValueError, match=next(iter(facts))):
            da.amp.GradScaler(8.0, **facts)  # type: ignore[arg-type]
    with pytest.raises(da.AttributeValueError, match="init_scale"):
        da.amp.GradScaler(float("nan"))
    for act in (da.amp.GradScaler().update, lambda: da.amp.GradScaler().step(lambda: None)):
        with pytest.raises(da.GradientError, match="unscale"):
            act()


@pytest.mark.parametrize(("dtype", "level"), [("float16", "O1"), ("bfloat16", "O2")])
def test_training_in_16_bits_arrives_where_float32_does(dtype: str, level: str) -> None:
    rng = np.random.default_rng(0)
    inputs = da.asarray(rng.normal(size=(64, 4)), dtype=da.float32)
    truth = da.asarray(rng.normal(size=(4, 1)), dtype=da.float32)
    targets = inputs @ truth
    weights = da.amp.MasterWeights([da.zeros((4, 1))], dtype)
    scaler = da.amp.GradScaler(float(2**24), interval=50)
    steps = 0
    for _ in range(120):
        with da.amp.autocast("cpu", dtype, level):  # type: ignore[arg-type]
            loss = da.mse_loss(inputs @ weights.parameters[0], targets)
        scaled = da.grad(scaler.scale(loss), weights.parameters)
        gradients = weights.widened(scaler.unscale(scaled))

        def apply(gradients: list[da.Tensor | None] = gradients) -> None:
            master, gradient = weights.masters[0], gradients[0]
            assert gradient is not None
            weights.assign([da.sgd_step(master, gradient, 0.1)])

        steps += scaler.step(apply)
        scaler.update()
    assert np.allclose(weights.masters[0].numpy(), truth.numpy(), atol=2e-2)
    assert weights.parameters[0].dtype == da.asarray(0, dtype=dtype).dtype
    # Of a scale that large the first steps overflow in float16, and are left out.
    assert (steps < 120) == (dtype == "float16")


def test_master_weights_keep_steps_that_16_bits_cannot_tell_apart() -> None:
    weights = da.amp.MasterWeights([da.ones(1)], "bfloat16")
    for _ in range(8):
        weights.assign([weights.masters[0] + 0.001])
    assert weights.parameters[0].tolist() == [1.0078125]
    with pytest.raises(da.ShapeError, match="masters"):
        weights.assign([da.ones(2)])
    with pytest.raises(da.DTypeError, match="16 bits"):
        da.amp.MasterWeights([da.ones(1)], "float32")
