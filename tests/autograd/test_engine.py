"""The engine's own behaviour: accumulation, release, versions, modes, and its errors."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import device_api as da
from device_api import _core
from device_api.autograd import backward, enable_grad, grad, gradcheck, is_grad_enabled, no_grad
from device_api.errors import GradientError
from device_api.ops import _functions as F
from device_api.ops import _rules


def leaf(values, dtype="float64"):
    tensor = da.asarray(np.array(values, dtype), device="cpu")
    tensor.requires_grad = True
    return tensor


def test_backward_adds_to_grad_of_leaves():
    x = leaf([1.0, 2.0])
    backward(F.sum(x * x))
    assert x.grad.numpy().tolist() == [2.0, 4.0]
    backward(F.sum(x * 3.0))
    assert x.grad.numpy().tolist() == [5.0, 7.0]


def test_a_tensor_used_many_times_gets_the_sum_of_its_gradients():
    x = leaf(3.0)
    y = x * x
    backward(y * y + y + x)
    assert float(x.grad) == 4 * 27.0 + 6.0 + 1.0


def test_results_of_constants_do_not_require_gradients():
    a = da.asarray([1.0], device="cpu")
    assert not (a + a).requires_grad
    assert not F.argmax(leaf([1.0, 2.0])).requires_grad
    assert not (leaf([1.0]) > 0.0).requires_grad


def test_a_deep_graph_needs_no_deep_stack_and_is_freed_again():
    x = leaf([1.0])
    y = x
    for _ in range(20000):
        y = y + 1.0
    backward(y)
    assert x.grad.numpy().tolist() == [1.0]
    del y


def test_a_graph_serves_once_unless_it_is_retained():
    x = leaf([2.0])
    y = F.exp(x)
    backward(y, retain_graph=True)
    backward(y)
    assert np.allclose(x.grad.numpy(), 2 * np.exp(2.0))
    with pytest.raises(GradientError, match="released"):
        backward(y)


def test_a_saved_value_that_was_overwritten_is_an_error():
    x = leaf([2.0])
    y = F.exp(x)
    z = y * y
    with no_grad():
        y += 1.0
    with pytest.raises(GradientError, match="overwritten"):
        backward(z)


def test_overwriting_what_no_rule_needs_is_fine():
    x = leaf([2.0])
    y = x + 1.0
    z = y + 1.0
    with no_grad():
        y += 1.0
    backward(z)
    assert x.grad.numpy().tolist() == [1.0]


def test_in_place_steps_on_parameters_work_under_no_grad():
    w = leaf([1.0, 2.0])
    for _ in range(3):
        w.grad = None
        backward(F.sum(w * w))
        with no_grad():
            w -= w.grad * 0.25
    assert w.numpy().tolist() == [0.125, 0.25]
    assert w.requires_grad


def test_writing_into_a_tensor_while_recording_is_an_error():
    x = leaf([1.0])
    with pytest.raises(GradientError):
        x += 1.0


def test_no_grad_and_enable_grad_nest_and_decorate():
    x = leaf([1.0])
    with no_grad():
        assert not is_grad_enabled()
        assert not (x * 2.0).requires_grad
        with enable_grad():
            assert (x * 2.0).requires_grad
        assert not is_grad_enabled()
    assert is_grad_enabled()

    @no_grad()
    def twice(tensor):
        return tensor * 2.0

    assert not twice(x).requires_grad
    assert (x * 2.0).requires_grad


def test_the_mode_is_restored_after_an_error_and_belongs_to_its_thread():
    with pytest.raises(ZeroDivisionError), no_grad():
        raise ZeroDivisionError
    assert is_grad_enabled()
    seen = []
    with no_grad():
        thread = threading.Thread(target=lambda: seen.append(is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_an_error_in_backward_restores_recording():
    x = leaf([1.0])
    y = F.exp(x)
    backward(y)
    with pytest.raises(GradientError):
        backward(y)
    assert is_grad_enabled()


def test_grad_leaves_the_leaves_alone_and_reaches_inner_tensors():
    x = leaf([2.0])
    y = x * x
    z = F.sum(y * 3.0)
    by_y, by_x = grad(z, [y, x])
    assert by_y.numpy().tolist() == [3.0]
    assert by_x.numpy().tolist() == [12.0]
    assert x.grad is None


def test_grad_of_an_unused_input_is_an_error_or_none():
    x, unused = leaf([1.0]), leaf([1.0])
    y = F.sum(x * 2.0)
    with pytest.raises(GradientError, match="no part"):
        grad(y, [unused], retain_graph=True)
    assert grad(y, [unused], allow_unused=True) == (None,)


def test_grad_of_a_tensor_by_itself_is_the_seed():
    x = leaf([1.0])
    y = x * 2.0
    assert grad(y, [y])[0].numpy().tolist() == [1.0]


def test_several_outputs_add_up():
    x = leaf([1.0, 2.0])
    a, b = F.sum(x * 2.0), F.sum(x * x)
    assert grad([a, b], [x])[0].numpy().tolist() == [4.0, 6.0]


@pytest.mark.parametrize(
    ("make", "match"),
    [
        (lambda: backward(da.asarray([1.0], device="cpu")), "nothing to differentiate"),
        (lambda: backward(leaf([1.0, 2.0]) * 2.0), "must be given"),
        (lambda: backward(leaf([1.0, 2.0]) * 2.0, da.asarray([1.0], device="cpu")), "shape"),
        (lambda: grad(F.sum(leaf([1.0])), [da.asarray([1.0], device="cpu")]), "does not require"),
        (lambda: backward(F.sum(F.sgd_step(leaf([1.0]), leaf([1.0]), 0.1))), "sgd_step has no gradient"),
    ],
)
def test_errors_say_what_is_wrong(make, match):
    with pytest.raises(GradientError, match=match):
        make()


def test_grads_of_different_leaves_never_share_memory():
    # The gradient of a sum passes one tensor on to both operands, that of concat two views of one.
    a, b, c = leaf([1.0, 2.0]), leaf([3.0, 4.0]), leaf([0.0] * 4)
    joined = F.concat([a, b])
    backward(F.sum((joined + c) * (joined + c)))
    seen = [t.grad.numpy().tolist() for t in (a, b, c)]
    with no_grad():
        c_grad = c.grad
        c_grad += 100.0
        a_grad = a.grad
        a_grad += 1000.0
    assert b.grad.numpy().tolist() == seen[1]
    assert a.grad.numpy().tolist() == [v + 1000.0 for v in seen[0]]
    assert c.grad.is_contiguous


def test_a_given_gradient_is_not_kept_as_grad():
    x, seed = leaf([1.0]), da.asarray(np.array([1.0]), device="cpu")
    backward(x + 0.0, seed)
    with no_grad():
        g = x.grad
        g += 5.0
    assert seed.numpy().tolist() == [1.0]


def test_an_op_that_returns_its_operand_keeps_the_history():
    x = leaf([1.0, 2.0])
    y = F.astype(F.conjugate(x), np.float64, copy=False)
    backward(F.sum(y * 2.0))
    assert x.node is None
    assert x.grad.numpy().tolist() == [2.0, 2.0]


def test_gradients_take_the_dtype_and_shape_of_their_inputs():
    x, b = leaf([[1.0, 2.0]], "float32"), leaf([1.0], "float64")
    backward(F.sum(F.add(x, b)))
    assert x.grad.dtype == np.float32
    assert b.grad.dtype == np.float64
    assert b.grad.numpy().tolist() == [2.0]


def test_mixed_real_and_complex_operands_get_real_gradients_where_they_are_real():
    x, z = leaf([1.0, 2.0]), leaf([1.0 + 1.0j, 2.0j], "complex128")
    gradcheck(lambda a, b: F.real(a * b), [x, z])
    gradcheck(lambda a, b: a * b, [x, z])


def test_zero_size_tensors_have_zero_size_gradients():
    x = leaf(np.zeros((0, 3)))
    backward(F.sum(F.softmax(x, axis=1) * x))
    assert x.grad.shape == (0, 3)


def test_the_gradient_through_a_python_number_operand():
    x = leaf([1.0, 2.0])
    gradcheck(lambda a: (2.0 / a) ** 2 - 3 * a + F.maximum(a, 1.5) + F.atan2(1.0, a), [x])


def test_gradcheck_refuses_wrong_gradients_nan_and_single_precision():
    x = leaf([0.0])
    with pytest.raises(GradientError):  # the slope of the square root at 0 is infinite
        gradcheck(F.sqrt, [x])
    with pytest.raises(GradientError, match="double"):
        gradcheck(F.exp, [leaf([1.0], "float32")])
    with pytest.raises(GradientError, match="nothing to check"):
        gradcheck(F.exp, [da.asarray(np.array([1.0]), device="cpu")])

    def half(a):  # a detached factor hides half of the slope
        return a * _core.view(a, a.dtype_code, a.shape, a.strides, a.byte_offset)

    with pytest.raises(GradientError, match="wrong"):
        gradcheck(half, [leaf([1.5])])


def test_gradcheck_accepts_an_input_without_influence():
    gradcheck(lambda a, b: a * 2.0, [leaf([1.0]), leaf([1.0])])
    gradcheck(F.floor, [leaf([1.5])])


def test_cross_entropy_trains_a_small_network():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(64, 4)).astype(np.float32)
    target = (x[:, 0] * x[:, 1] > 0).astype(np.int64)
    w1, b1 = leaf(rng.normal(size=(16, 4)) * 0.5, "float32"), leaf(np.zeros(16), "float32")
    w2, b2 = leaf(rng.normal(size=(2, 16)) * 0.5, "float32"), leaf(np.zeros(2), "float32")
    inputs, labels = da.asarray(x, device="cpu"), da.asarray(target, device="cpu")
    losses = []
    for _ in range(150):
        hidden = F.relu(F.linear(inputs, w1, b1))
        loss = F.cross_entropy(F.linear(hidden, w2, b2), labels)
        backward(loss)
        losses.append(float(loss))
        with no_grad():
            for parameter in (w1, b1, w2, b2):
                parameter -= parameter.grad * 0.5
                parameter.grad = None
    assert losses[-1] < 0.3 * losses[0]


def test_a_rule_for_several_inputs_gives_only_the_gradients_that_are_wanted(monkeypatch):
    names, rule = _rules.GRADIENTS_TOGETHER["layer_norm"]
    asked = []

    def watched(*arguments, wanted, **attributes):
        made = rule(*arguments, wanted=wanted, **attributes)
        asked.append((wanted, tuple(each.shape for each in made)))
        return made

    monkeypatch.setitem(_rules.GRADIENTS_TOGETHER, "layer_norm", (names, watched))
    x, weight, bias = (da.ones(shape) for shape in ((2, 3), (3,), (3,)))
    x.requires_grad = bias.requires_grad = True
    da.layer_norm(x, weight, bias).backward(da.ones((2, 3)))
    assert bias.grad.tolist() == [2, 2, 2]
    assert weight.grad is None
    (found,) = grad(da.layer_norm(x, weight, bias), [x], da.ones((2, 3)))
    assert found.shape == (2, 3)
    assert asked == [
        ((True, False, True), ((2, 3), (0,), (3,))),
        ((True, False, False), ((2, 3), (0,), (0,))),
    ]


def test_history_is_kept_through_an_op_with_integer_results_too() -> None:
    x = da.asarray(np.array([3.0, 1.0, 2.0]))
    x.requires_grad = True
    values, _ = da.top_k(x, 2)
    (slope,) = grad([values * values], [x], [da.ones((2,), dtype=da.float64)], create_graph=True)
    assert slope is not None
    (second,) = grad([slope], [x], [da.ones((3,), dtype=da.float64)])
    assert second is not None
    assert second.numpy().tolist() == [2.0, 0.0, 2.0]
