"""Calls: the plan cache and its key, scalars, in-place forms, foreign operands, and gradients."""

from __future__ import annotations

import math
import operator
from typing import Any

import core_harness
import numpy as np
import pytest
from core_harness import ADD, F32, I32, LEAST, TRANSPOSE, TestDevice, fill_bytes, get, operand, put, single
from hypothesis import given
from hypothesis import strategies as st

from device_api import _core, dtypes, errors
from device_api._core import Device, Program, Tensor


def floats(device: Device, *values: float) -> Tensor:
    return put(device, np.float32(values))


def count_plans(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Records the attributes of each call that had to be planned."""
    planned: list[Any] = []

    def plan(op: int, device: Device, inputs: Any, attributes: Any, out: Any) -> Program:
        planned.append((op, attributes))
        return core_harness.plan(ADD if op not in {TRANSPOSE} else op, device, inputs, (), out)

    _core.set_hooks(plan=plan, record=None, coerce=core_harness.coerce)
    return planned


def test_operators_add_broadcast_and_take_scalars(device: Device) -> None:
    a, b = floats(device, 1, 2, 3), put(device, np.float32([[10], [20]]))
    assert get(a + a).tolist() == [2, 4, 6]
    assert get(a + b).tolist() == [[11, 12, 13], [21, 22, 23]]
    assert get(a + 2.0).tolist() == [3, 4, 5]
    assert get(2 + a).tolist() == [3, 4, 5]
    assert get(a + True).tolist() == [2, 3, 4]


def test_a_plan_is_made_once_for_a_kind_of_call(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    planned = count_plans(monkeypatch)
    a, b = floats(device, 1, 2), floats(device, 3, 4)
    for _ in range(5):
        a + b
        a + 1.5
        a + 2.5
    assert len(planned) == 2
    info = _core.cache_info()
    assert (info["hits"], info["misses"], info["size"]) == (13, 2, 2)
    a + 1
    put(device, np.float32([[1, 2]])) + b
    _core.view(put(device, np.float32([1, 2, 3, 4])), F32, (2,), (2,), 0) + b
    put(device, np.int32([1, 2])) + put(device, np.int32([1, 2]))
    assert len(planned) == 6
    _core.clear_plans()
    a + b
    assert len(planned) == 7


def test_attributes_belong_to_the_key_with_their_types(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = count_plans(monkeypatch)
    a = floats(device, 1, 2)
    variants: list[tuple[Any, ...]] = [
        (), (1,), (1.0,), (True,), (0.0,), (-0.0,), ((1, 2),), ((1, 2.0),), ("x",), (None,), (1j,), (1 - 0j,),
        (np.dtype("float32"),), (np.dtype("float64"),), (2**70,),
    ]  # fmt: skip
    for _ in range(3):
        for attributes in variants:
            _core.dispatch(ADD, (a, a), tuple(value for value in attributes))
    assert [attributes for _, attributes in planned] == variants
    with pytest.raises(TypeError, match="unhashable"):
        _core.dispatch(ADD, (a, a), ([],))


def test_plans_with_nan_attributes_are_right_though_not_shared(
    device: Device, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned = count_plans(monkeypatch)
    a = floats(device, 1)
    for _ in range(2):
        _core.dispatch(ADD, (a, a), (float("nan"),))
    assert len(planned) == 2


def test_attributes_that_change_the_cache_while_they_are_compared(device: Device) -> None:
    class Nasty:
        def __hash__(self) -> int:
            return 5

        def __eq__(self, other: object) -> bool:
            _core.clear_plans()
            return isinstance(other, Nasty)

    _core.set_hooks(plan=lambda op, d, i, a, o: core_harness.plan_add(d, i, o), record=None, coerce=None)
    a = floats(device, 1, 2)
    for _ in range(4):
        assert get(_core.dispatch(ADD, (a, a), (Nasty(),))).tolist() == [2, 4]


def test_the_number_of_plans_is_bounded(device: Device, monkeypatch: pytest.MonkeyPatch) -> None:
    planned = count_plans(monkeypatch)
    a = floats(device, 1)
    for i in range(9000):
        _core.dispatch(ADD, (a, a), (i,))
        if i % 100 == 0:
            _core.dispatch(ADD, (a, a), ("often",))
    assert _core.cache_info()["size"] == 8192
    assert sum(attributes == ("often",) for _, attributes in planned) == 1


@given(
    value=st.one_of(st.integers(-(2**66), 2**66), st.booleans(), st.floats(allow_nan=False, width=32)),
    code=st.sampled_from(sorted(dtypes.ALL)),
)
def test_scalars_become_elements_or_overflow(loaded: TestDevice, value: Any, code: int) -> None:
    device = loaded.open()
    dtype = dtypes.from_code(code)
    program = single(device, "fill", code=code, shape=(2,), attributes=fill_bytes(), scalar=(0, 16, code))
    if code in dtypes.INTEGER:
        whole = math.isfinite(value) and np.iinfo(dtype).min <= int(value) <= np.iinfo(dtype).max
        if not whole:
            with pytest.raises(OverflowError):
                program.run([value])
            return
        expected: Any = int(value)
    else:
        expected = value
    raw = np.empty(2 * dtype.itemsize, np.uint8)
    _core.read_into(program.run([value])[0], raw)
    got = raw.view(dtype)
    with np.errstate(over="ignore"):
        real = code in dtypes.FLOATING | dtypes.FLOAT8
        wanted = np.asarray(float(expected) if real else expected).astype(dtype)
    assert got[0].tobytes() == got[1].tobytes()
    assert got[0].tobytes() == wanted.tobytes() or (got[0] != got[0] and wanted != wanted)


def test_complex_scalars_fill_complex_elements_only(device: Device) -> None:
    for code, dtype in ((dtypes.COMPLEX64, np.complex64), (dtypes.COMPLEX128, np.complex128)):
        program = single(device, "fill", code=code, attributes=fill_bytes(), scalar=(0, 16, code))
        assert get(program.run([1.5 - 2j])[0])[0] == dtype(1.5 - 2j)
    with pytest.raises(TypeError):
        floats(device, 1) + 1j


def test_an_integer_too_large_for_the_dtype_overflows_and_leaves_nothing(device: Device) -> None:
    a = put(device, np.int32([1, 2]))
    before = device.memory_stats()["allocated"]
    with pytest.raises(OverflowError, match="int32"):
        a + 2**31
    with pytest.raises(OverflowError):
        a + float("inf")
    assert device.memory_stats()["allocated"] == before
    assert get(a + 2**20).tolist() == [1 + 2**20, 2 + 2**20]


def test_in_place_operators_write_into_the_tensor_and_raise_its_version(device: Device) -> None:
    a, b = floats(device, 1, 2), floats(device, 10, 20)
    same, view = a, _core.view(a, F32, (1,), (1,), 4)
    a += b
    assert a is same
    assert get(view).tolist() == [22]
    assert (a.version, view.version) == (1, 1)
    a += 1
    assert get(a).tolist() == [12, 23]
    assert _core.dispatch(ADD, (a, b), (), b) is b
    assert get(b).tolist() == [22, 43]


@pytest.mark.parametrize("size", [2, 5, 8])
def test_an_output_that_overlaps_an_input_gets_another_plan(device: Device, size: int) -> None:
    base = put(device, np.arange(16, dtype=np.float32))
    left, right = _core.view(base, F32, (size,), (1,), 0), _core.view(base, F32, (size,), (1,), 4)
    apart = put(device, np.zeros(size, np.float32))
    _core.dispatch(ADD, (left, left), (), apart)
    misses = _core.cache_info()["misses"]
    _core.dispatch(ADD, (left, left), (), right)
    _core.dispatch(ADD, (left, left), (), left)
    assert _core.cache_info()["misses"] == misses + 2
    assert get(apart).tolist() == [2 * i for i in range(size)]
    assert get(right).tolist() == [*(4 * i for i in range(size - 1)), 2 * (size - 1)]


def test_out_must_be_a_tensor_of_the_device_without_shared_elements(toy: TestDevice, device: Device) -> None:
    a = floats(device, 1, 2)
    with pytest.raises(TypeError, match="out= wants tensors"):
        _core.dispatch(ADD, (a, a), (), np.zeros(2))  # type: ignore[arg-type]
    with pytest.raises(errors.DeviceMismatch):
        _core.dispatch(ADD, (a, a), (), floats(toy.open(1), 1, 2))
    with pytest.raises(errors.ShapeError, match="share memory"):
        _core.dispatch(ADD, (a, a), (), _core.view(a, F32, (2,), (0,), 0))
    with pytest.raises(errors.ShapeError, match="share memory"):
        _core.dispatch(ADD, (a, a), (), (a, a))


def test_tensors_of_two_devices_do_not_mix(toy: TestDevice, device: Device) -> None:
    a, b = floats(device, 1), floats(toy.open(1), 1)
    with pytest.raises(errors.DeviceMismatch, match=r"add.*toy:0 and toy:1") as caught:
        a + b
    assert list(caught.value.devices or ()) == ["toy:0", "toy:1"]
    with pytest.raises(errors.DeviceMismatch):
        _core.dispatch(ADD, (a, a), device=b.device)


def test_foreign_operands_go_through_the_coerce_hook(device: Device) -> None:
    a, numbers = floats(device, 1, 2), [10.0, 20.0]
    assert get(a + numbers).tolist() == [11, 22]
    assert get(numbers + a).tolist() == [11, 22]
    assert get(_core.dispatch(ADD, ([1.0, 2.0], 3.0), device=device)).tolist() == [4, 5]
    a += [1.0, 1.0]
    assert get(a).tolist() == [2, 3]
    for wrong in ("text", object(), None):
        with pytest.raises(TypeError, match="unsupported operand"):
            a + wrong
    _core.set_hooks(plan=core_harness.plan, record=None, coerce=lambda op, inputs, d: inputs)
    with pytest.raises(TypeError, match="no tensor says which device"):
        _core.dispatch(ADD, (1.0, 2.0))


def test_an_operator_without_an_op_is_not_supported(device: Device) -> None:
    a = floats(device, 1)
    with pytest.raises(TypeError, match="unsupported operand"):
        a * a
    with pytest.raises(TypeError, match="negative"):
        operator.neg(a)
    assert (a == a) is True
    assert (a != None) is True  # noqa: E711
    with pytest.raises(TypeError, match="not supported between"):
        a < a  # noqa: B015


def test_many_inputs_of_every_kind_are_one_key(device: Device) -> None:
    seen: list[Any] = []

    def plan(op: int, device: Device, inputs: Any, attributes: Any, out: Any) -> Program:
        seen.append(inputs)
        return Program(device, [("input", 0)], [], [operand(0, F32, (2,))])

    _core.set_hooks(plan=plan, record=None, coerce=None)
    a = floats(device, 1, 2)
    inputs = (a, None, 1, 2.0, True, 3j) + (a,) * 60
    for _ in range(3):
        assert get(_core.dispatch(99, inputs)).tolist() == [1, 2]
    _core.dispatch(99, (a, 1, None, 2.0, True, 3j) + (a,) * 60)
    assert len(seen) == 2


def test_several_results_come_as_a_tuple(device: Device) -> None:
    whole, half = operand(0, F32, (2,)), operand(0, F32, (1,))

    def plan(op: int, device: Device, inputs: Any, attributes: Any, out: Any) -> Program:
        return Program(device, [("input", 0)], [], [whole, half][: attributes[0]])

    _core.set_hooks(plan=plan, record=None, coerce=None)
    a = floats(device, 1, 2)
    first, second = _core.dispatch(50, (a,), (2,))
    assert (first.shape, second.shape) == ((2,), (1,))
    assert _core.dispatch(50, (a,), (0,)) == ()


def test_a_hook_that_returns_nonsense_is_told(device: Device) -> None:
    _core.set_hooks(plan=lambda *call: None, record=None, coerce=None)  # type: ignore[arg-type,return-value]
    with pytest.raises(TypeError, match="NoneType, not a Program"):
        _core.dispatch(77, (floats(device, 1),))
    _core.set_hooks(plan=None, record=None, coerce=None)
    with pytest.raises(RuntimeError, match="no hooks"):
        _core.dispatch(77, (floats(device, 1),))


def test_calls_are_recorded_when_an_input_requires_a_gradient(device: Device) -> None:
    calls: list[Any] = []
    core_harness.install(record=lambda *call: calls.append(call))
    a, b = floats(device, 1), floats(device, 2)
    a + b
    assert calls == []
    b.requires_grad = True
    c = a + b
    assert calls == [(ADD, (a, b), (), (c,))]
    assert _core.set_grad_enabled(False) is True
    a + b
    assert _core.set_grad_enabled(True) is False
    assert len(calls) == 1
    for write in (lambda: a.__iadd__(b), lambda: b.__iadd__(1.0), lambda: _core.dispatch(ADD, (a, a), (), b)):
        with pytest.raises(errors.GradientError, match="requires a gradient"):
            write()
    _core.set_grad_enabled(False)
    try:
        b += a
    finally:
        _core.set_grad_enabled(True)
    assert get(b).tolist() == [3]


def test_only_floating_leaves_take_requires_grad(device: Device) -> None:
    with pytest.raises(errors.DTypeError, match="int32"):
        put(device, np.int32([1])).requires_grad = True
    x = floats(device, 1)
    x.node = object()
    x.requires_grad = True
    with pytest.raises(errors.GradientError, match="leaves"):
        x.requires_grad = False
    x.node = None
    x.requires_grad = False
    assert not x.requires_grad


def test_methods_and_properties_of_the_surface(device: Device) -> None:
    x = floats(device, 1, 2)
    _core.set_surface(
        {
            "doubled_for_test": lambda t: t + t,
            "first_for_test": property(lambda t: get(t)[0]),
        }
    )
    assert get(x.doubled_for_test()).tolist() == [2, 4]  # type: ignore[attr-defined]
    assert x.first_for_test == 1  # type: ignore[attr-defined]


def test_unknown_operator_names_are_refused() -> None:
    with pytest.raises(ValueError, match="no operator is named 'plus'"):
        _core.set_operators({"plus": LEAST})


def test_int32_goes_its_own_way(device: Device) -> None:
    a = put(device, np.int32([1, -2]))
    assert get(a + a).tolist() == [2, -4]
    assert (a + a).dtype_code == I32
