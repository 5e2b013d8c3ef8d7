"""Policies, counts and the deny list of running on the CPU instead."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import warnings
from pathlib import Path

import numpy as np
import pytest
from masked_devices import Mask, masked

import device_api as da

LACKING = Mask(hidden=("exp", "softmax", "argsort_last", "scatter_rows", "reduce_max"))


def entries() -> dict[str, int]:
    return {entry.op: entry.count for entry in da.fallback_report()}


def test_the_policy_error_names_op_device_dtypes_and_remedy() -> None:
    device = masked(LACKING)
    x = da.ones((2,), device=device)
    with pytest.raises(da.FallbackForbidden, match="exp") as caught:
        da.exp(x)
    error = caught.value
    assert (error.op, error.device, error.dtypes) == ("exp", device, ("float32",))
    assert "fallback" in str(error)
    assert isinstance(error, NotImplementedError)


def test_warn_warns_once_and_counts_each_run() -> None:
    x = da.ones((2,), device=masked(LACKING))
    with da.fallback("warn"):
        with pytest.warns(da.FallbackWarning, match=r"exp.*runs on the CPU"):
            result = da.exp(x)
        assert result.device == x.device
        np.testing.assert_allclose(result.numpy(), np.exp([1, 1]), rtol=1e-6)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            da.exp(x)
            da.exp(da.ones((5,), device=x.device))
    assert entries() == {"exp": 3}


def test_allow_is_silent_and_still_counts() -> None:
    x = da.ones((2,), device=masked(LACKING))
    with warnings.catch_warnings(), da.fallback("allow"):
        warnings.simplefilter("error")
        da.exp(x)
    assert entries() == {"exp": 1}
    (entry,) = da.fallback_report()
    assert entry.device == x.device.name
    assert "no kernel" in entry.reason


def test_a_cached_plan_obeys_the_policy_of_its_caller() -> None:
    x = da.ones((2,), device=masked(LACKING))
    with da.fallback("allow"):
        da.exp(x)
        with da.fallback("error"), pytest.raises(da.FallbackForbidden):
            da.exp(x)
        da.exp(x)
    with pytest.raises(da.FallbackForbidden):
        da.exp(x)


def test_a_policy_block_is_of_its_thread_only() -> None:
    x = da.ones((2,), device=masked(LACKING))
    raised: list[BaseException] = []

    def other() -> None:
        try:
            da.exp(x)
        except da.FallbackForbidden as error:
            raised.append(error)

    with da.fallback("allow"):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert len(raised) == 1


def test_part_of_a_composition_may_fall_back() -> None:
    x = da.asarray(np.array([[1.0, 2.0], [0.5, 3.0]], np.float32), device=masked(LACKING))
    with da.fallback("allow"):
        result = da.softmax(x, axis=1).numpy()
    expected = np.exp(x.numpy()) / np.exp(x.numpy()).sum(1, keepdims=True)
    np.testing.assert_allclose(result, expected, rtol=1e-6)
    assert set(entries()) == {"exp", "reduce_max"}


def test_strided_operands_in_place_and_fallback_at_once() -> None:
    # A report: an op that was strided, in place and fell back left its result on the CPU.
    device = masked(LACKING)
    x = da.asarray(np.arange(8, dtype=np.float32).reshape(2, 4), device=device)
    view = x[:, ::-2]
    with da.fallback("allow"):
        da.exp(view, out=view)
    expected = np.arange(8, dtype=np.float32).reshape(2, 4)
    np.exp(expected[:, ::-2], out=expected[:, ::-2])
    np.testing.assert_allclose(x.numpy(), expected, rtol=1e-6)
    assert view.device == device


def test_broadcast_operands_travel_as_they_lie() -> None:
    x = da.broadcast_to(da.asarray([1.0, 2.0], device=masked(LACKING)), (3, 2))
    with da.fallback("allow"):
        np.testing.assert_allclose(da.exp(x).numpy(), np.exp([[1.0, 2.0]] * 3), rtol=1e-6)


def test_even_the_copy_kernel_may_be_missing() -> None:
    device = masked(Mask(hidden=("copy", "fill")))
    x = da.asarray(np.arange(6, dtype=np.float32).reshape(2, 3), device=device)
    with da.fallback("allow"):
        assert x.T.numpy().tolist() == [[0, 3], [1, 4], [2, 5]]
        x.T[1] = 7
        assert x.tolist() == [[0, 7, 2], [3, 7, 5]]
        assert da.astype(x, da.int16).tolist() == [[0, 7, 2], [3, 7, 5]]


@pytest.mark.parametrize("mask", [Mask(hidden=("fill",)), Mask(refused=("fill",)), Mask(declined=("fill",))])
def test_a_number_that_no_kernel_fills_in_is_an_error_and_never_garbage(mask: Mask) -> None:
    x = da.asarray([1.0, 2.0], device=masked(mask))
    with da.fallback("allow"), pytest.raises(da.UnsupportedOp, match="fill"):
        (x * 3.0).tolist()
    assert (x * da.asarray(3.0, device=x.device)).tolist() == [3.0, 6.0]


def test_a_gradient_flows_through_a_fallback() -> None:
    x = da.asarray([0.0, 1.0], device=masked(LACKING))
    x.requires_grad = True
    with da.fallback("allow"):
        (gradient,) = da.grad(da.sum(da.exp(x)), [x])
    np.testing.assert_allclose(gradient.numpy(), np.exp([0.0, 1.0]), rtol=1e-6)


def test_a_denied_op_runs_on_the_cpu_though_the_device_has_it() -> None:
    device = da.device(masked(Mask()))
    x = da.ones((3,), device=device)
    x + x
    device.reset_kernel_runs()
    da.set_denied_ops([" add ", ""])
    with da.fallback("allow"):
        assert (x + x).tolist() == [2, 2, 2]
    assert "add" not in device.kernel_runs()
    assert entries() == {"add": 1}
    with pytest.raises(da.FallbackForbidden, match="deny list"):
        x + x
    da.set_denied_ops(())
    assert (x + x).tolist() == [2, 2, 2]


def test_a_denied_op_is_denied_inside_compositions_and_for_the_cpu_nothing_changes() -> None:
    da.set_denied_ops(["exp"])
    with da.fallback("allow"):
        da.softmax(da.ones((2, 2), device=masked(Mask(hidden=("softmax",)))), axis=1)
        assert entries() == {"exp": 1}
        da.softmax(da.ones((2, 2)), axis=1)
        assert entries() == {"exp": 1}


@pytest.mark.parametrize(("name", "near"), [("addd", "add"), ("Softmax", "softmax")])
def test_a_denied_name_that_is_no_op_is_an_error_with_a_near_miss(name: str, near: str) -> None:
    with pytest.raises(da.AttributeValueError, match=f"{name}.*Did you mean.*{near}"):
        da.set_denied_ops(["exp", name])


def test_an_unknown_policy_is_an_error_that_lists_policies() -> None:
    with pytest.raises(da.AttributeValueError, match="error, warn, allow"):
        da.set_fallback("never")  # type: ignore[arg-type]
    with pytest.raises(da.AttributeValueError), da.fallback("Warning"):  # type: ignore[arg-type]
        pass


def child(variables: dict[str, str], *lines: str) -> subprocess.CompletedProcess[str]:
    program = ["import device_api as da", "from masked_devices import Mask, masked", *lines]
    paths = os.pathsep.join((str(Path(__file__).parent), str(Path(da.__file__).parents[1])))
    environment = {**os.environ, **variables, "PYTHONPATH": paths}
    return subprocess.run(
        [sys.executable, "-c", "\n".join(program)],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_variables_set_policy_and_deny_list() -> None:
    lines = (
        "x = da.ones((2,), device=masked(Mask(hidden=('exp',))))",
        "try: da.exp(x)",
        "except da.FallbackForbidden: print('forbidden')",
        "with da.fallback('allow'): x + x",
        "print([(e.op, e.count) for e in da.fallback_report()])",
    )
    done = child({"DEVICE_API_FALLBACK": " Error ", "DEVICE_API_FALLBACK_DENY": " add ,, multiply"}, *lines)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["forbidden", "[('add', 1)]"]


def test_a_misspelt_variable_is_an_error_at_the_first_op() -> None:
    done = child({"DEVICE_API_FALLBACK_DENY": "sofmax"}, "da.ones((2,), device=masked(Mask()))")
    assert done.returncode == 1
    assert "DEVICE_API_FALLBACK_DENY" in done.stderr
    assert "softmax" in done.stderr
