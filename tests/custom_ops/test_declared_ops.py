"""Custom ops that a plugin declares in C: called, differentiated, shared, refused, gone with their plugin."""

from __future__ import annotations

import subprocess
import textwrap
from collections.abc import Callable
from pathlib import Path

Build = Callable[..., Path]
Run = Callable[..., "subprocess.CompletedProcess[str]"]

HEAD = """
import sys
import numpy as np
import device_api as da
for path in sys.argv[1:]:
    da.register_plugin(path)

def leaf(values, device="acme"):
    tensor = da.asarray(values, dtype="float64", device=device)
    tensor.requires_grad = True
    return tensor

def raises(kind, call, *words):
    try:
        call()
    except kind as error:
        assert all(word in str(error) for word in words), str(error)
        return error
    raise AssertionError(f"no {kind.__name__}")
"""


def program(body: str) -> str:
    return HEAD + textwrap.dedent(body)


def test_a_declared_op_is_called_by_name_once_its_device_is_open(built: Build, python: Run) -> None:
    body = """
    raises(AttributeError, lambda: da.custom_ops.acme, "acme", "device was opened")
    device = da.device("acme")
    swish = da.custom_ops.acme.swish
    assert swish.__doc__ == "x times its sigmoid."
    assert swish.spec is da.custom_ops["acme.swish"].spec
    names = "chunks chunks_gradient joined joined_gradient outer outer_gradient stacked swish swish_gradient"
    assert [*da.custom_ops] == [f"acme.{name}" for name in names.split()]
    v = np.array([[0.5, -1.0, 2.0]], np.float32)
    x = da.asarray(v, device=device)
    with da.fallback("error"):
        np.testing.assert_allclose(swish(x).numpy(), v / (1 + np.exp(-v)), rtol=1e-6)
        np.testing.assert_allclose(swish(x, beta=2.0).numpy(), v / (1 + np.exp(-2 * v)), rtol=1e-6)
        a, b = (da.asarray(each, device=device, dtype="float32") for each in ([1, 2], [1, 2, 3]))
        assert da.custom_ops.acme.outer(a, b).tolist() == [[1, 2, 3], [2, 4, 6]]
    assert device.kernel_runs()["acme.swish"] == 2
    raises(AttributeError, lambda: da.custom_ops.acme.swich, "acme.swich", "did you mean acme.swish")
    raises(KeyError, lambda: da.custom_ops["acme.none"], "acme.none")
    """
    python(program(body), built())


def test_info_lists_the_custom_ops_of_both_kinds(built: Build, python: Run) -> None:
    body = """
    import contextlib, io, json
    from device_api.cli.app import app
    da.custom_op("zeta.twice(x: T) -> out: T", types={"T": "floating"}, decompose=lambda F, x: x + x)

    def info(*options):
        with contextlib.redirect_stdout(io.StringIO()) as text:
            app(["info", "acme", *options], standalone_mode=False)
        return text.getvalue()

    ops = json.loads(info("--json"))["custom_ops"]
    assert ops["acme.swish"] == {
        "declared_in": "C", "inputs": {"x": "T"}, "outputs": {"out": "T"}, "attributes": {"beta": "float"},
        "differentiable": True, "gradient": "acme.swish_gradient",
        "implementation": {"float32": "native", "float64": "native"},
    }
    assert (ops["zeta.twice"]["declared_in"], ops["zeta.twice"]["differentiable"]) == ("Python", False)
    assert "acme.stacked" in info() and "Custom ops" in info()
    """
    python(program(body), built())


def test_optional_and_list_inputs_several_outputs_and_lists_of_attributes_reach_shape_function_and_kernel(
    built: Build, python: Run
) -> None:
    body = """
    da.device("acme")
    stacked = da.custom_ops.acme.stacked
    x = da.asarray([1.0, 2.0], device="acme", dtype="float32")
    total, count = stacked(x, None, [x, x], repeats=(2, 3), axis=-1)  # the last axis is the first here
    assert (total.shape, count.shape, count.dtype, count.item()) == ((2, 3, 2), (), np.int64, 3)
    assert total.numpy()[1, 2].tolist() == [3, 6]
    total, count = stacked(x, x, [])
    assert (total.shape, count.item()) == ((2, 2), 2)
    """
    python(program(body), built())


def test_a_list_of_outputs_is_as_long_as_an_attribute_or_a_list_of_inputs(built: Build, python: Run) -> None:
    body = """
    da.device("acme")
    acme = da.custom_ops.acme
    x = da.asarray([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], device="acme", dtype="float32")
    assert [part.tolist() for part in acme.chunks(x)] == [[1, 2, 3], [4, 5, 6]]
    parts = acme.chunks(x, n=3)
    assert [part.tolist() for part in parts] == [[1, 2], [3, 4], [5, 6]]
    assert [part.tolist() for part in acme.chunks(x, n=1)] == [x.tolist()]
    assert acme.joined(*acme.chunks(x, n=1), []).tolist() == x.tolist()
    assert acme.joined(parts[0], parts[1:]).tolist() == x.tolist()
    alone, none = acme.joined_gradient(x, x, x, [])
    assert (alone.tolist(), none) == (x.tolist(), ())
    raises(da.AttributeValueError, lambda: acme.chunks(x, n=0), "acme.chunks", "a list of 0 tensors")
    raises(da.ShapeError, lambda: acme.chunks(x, n=4), "acme.chunks")
    with da.fallback("allow"):
        def turned(x):
            first, middle, last = acme.chunks(x, n=3)
            return acme.joined(last, [first, middle, last])
        da.gradcheck(turned, [leaf([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])])
        leaves = [leaf([1.0]), leaf([2.0, 3.0]), leaf([4.0])]
        da.gradcheck(lambda x, *rest: acme.joined(x, list(rest)), leaves)
    """
    python(program(body), built())
    python(program(body), built(), DEVICE_API_LAYERS="validate(errors=1),trace(file=/dev/null),stats")


def test_a_gradient_by_name_agrees_with_differences(built: Build, python: Run) -> None:
    body = """
    da.device("acme")
    acme = da.custom_ops.acme
    with da.fallback("allow"):  # gradcheck itself computes with ops that this plugin does not have
        da.gradcheck(lambda x: acme.swish(x, beta=1.5), [leaf([0.5, -1.0, 2.0])])
        da.gradcheck(acme.outer, [leaf([1.0, 2.0]), leaf([0.5, -1.0, 2.0])])
        x = leaf([1.0])
        y = acme.swish_gradient(x, x, x)
        raises(da.GradientError, lambda: y.backward(x), "acme.swish_gradient has no gradient")
    """
    python(program(body), built())


def test_calls_that_do_not_fit_are_typed_errors(built: Build, python: Run) -> None:
    body = """
    da.device("acme")
    acme = da.custom_ops.acme
    x = leaf([1.0, 2.0])
    wrong = raises(da.ShapeError, lambda: acme.outer(x, acme.outer(x, x)), "acme.outer", "(2, 2)", "vectors")
    assert wrong.shapes == ((2,), (2, 2)) and wrong.op == "acme.outer"
    raises(da.ShapeError, lambda: acme.swish_gradient(x, x, leaf([1.0] * 3)), "acme.swish_gradient", "(3,)")
    whole = da.asarray([1], device="acme")
    raises(da.DTypeError, lambda: acme.swish(whole), "acme.swish", "int64", "float32")
    raises(da.AttributeValueError, lambda: acme.swish(x, beta="much"), "acme.swish", "beta")
    raises(TypeError, lambda: acme.swish(x, gamma=1.0), "gamma")
    raises(TypeError, lambda: acme.outer(x), "misses", "'y'")
    raises(da.DeviceMismatch, lambda: acme.outer(x, da.asarray([1.0], dtype="float64")), "cpu")
    raises(da.AxisError, lambda: acme.stacked(x, None, [], axis=3), "acme.stacked")
    """
    python(program(body), built())


def test_without_a_kernel_on_a_device_the_error_and_the_fallback_are_those_of_every_op(
    built: Build, python: Run
) -> None:
    body = """
    da.device("acme")
    swish = da.custom_ops.acme.swish
    raises(da.UnsupportedOp, lambda: swish(da.asarray([1.0])), "acme.swish does not run on cpu")
    device = da.device("bare")
    x = da.asarray([1.0, 2.0], dtype="float32", device=device)
    assert swish(x).device == device  # this plugin declares the very same op, and has a kernel
    swish.kernel(device="cpu")(lambda x, *, beta: x / (1 + np.exp(-beta * x)))
    np.testing.assert_allclose(swish(da.asarray([1.0])).numpy(), swish(x).numpy()[:1], rtol=1e-6)
    """
    python(program(body), built(), built(device_type="bare"))


def test_declared_ops_run_under_every_layer_and_validate_finds_nothing(built: Build, python: Run) -> None:
    body = """
    from device_api import layers
    da.device("acme")
    acme = da.custom_ops.acme
    x = leaf([0.5, -1.0, 2.0])
    acme.outer(x, acme.swish(x))
    acme.stacked(x, None, [x], repeats=(1, 2))
    print("findings:", layers.findings())
    """
    stack = "validate,trace(file=t.jsonl),stats"
    done = python(program(body), built(), DEVICE_API_LAYERS=stack)
    assert "findings: ()" in done.stdout


def test_an_op_goes_with_the_last_plugin_that_declares_it(built: Build, python: Run) -> None:
    body = """
    from device_api import loading
    da.device("acme"), da.device("bare")
    outer = da.custom_ops.acme.outer
    x = da.asarray([1.0, 2.0], dtype="float32", device="bare")
    loading.load_plugin("acme").shutdown()
    assert outer(x, x).tolist() == [[1, 2], [2, 4]]
    loading.load_plugin("bare").shutdown()
    assert list(da.custom_ops) == []
    raises(da.AttributeValueError, lambda: outer(x, x), "unregistered")
    """
    python(program(body), built(), built(device_type="bare"))


def test_plugins_that_declare_different_ops_of_one_name_do_not_both_load(built: Build, python: Run) -> None:
    body = """
    da.device("acme")
    for _ in range(2):
        raises(da.PluginLoadError, lambda: da.device("other"), "acme.swish", "'acme'", "another op")
    assert not da.is_available("other") and da.is_available("acme")
    """
    python(program(body), built(), built("OTHER_BETA", device_type="other"))


def test_a_name_that_python_has_taken_is_a_load_error_that_leaves_no_op_behind(
    built: Build, python: Run
) -> None:
    body = """
    mine = da.custom_op("acme.stacked(x: T) -> out: T", types={"T": "floating"})
    raises(da.PluginLoadError, lambda: da.device("acme"), "acme.stacked", "taken")
    assert list(da.custom_ops) == ["acme.stacked"]
    mine.unregister()
    da.device("acme")
    assert len(da.custom_ops) == 9
    """
    python(program(body), built())


BAD = {
    "TWICE": ["acme.swish is declared twice"],
    "RESERVED": ["device_api.swish", "reserved"],
    "UNKNOWN_GRADIENT": ["acme.swish", "'acme.nothing'", "no such op"],
    "ARITY": ["acme.swish_gradient", "has 2 inputs", "is given 3"],
    "GRADIENT_OUTPUT": ["acme.swish_gradient", "'slope'", "grad_x"],
    "SIZE": ["da_custom_op.struct_size of custom op 2 is 40"],
    "SCHEMA": ["'beta: float = 1.0'", "an input reads"],
    "NULL_SCHEMA": ["the schema of custom op 0 is NULL"],
    "TYPES": ["acme.outer", "more than its 1 type variables"],
    "NO_TYPES": ["acme.outer", "no dtype"],
    "ENDLESS_LIST": ["acme.chunks", "how long the list parts", "parts: T[n]"],
    "LIST_GRADIENT": ["parts of acme.chunks is a list", "g of its gradient acme.chunks_gradient"],
    "AMP": ["acme.outer", "'maybe'", "allow, deny, promote, neutral"],
    "STRIDE": ["its list has 9 entries", "stride 8"],
}


def test_a_bad_declaration_is_a_load_error_that_says_what_is_wrong(built: Build, python: Run) -> None:
    body = f"""
    for path, (fault, words) in zip(sys.argv[1:], {BAD!r}.items(), strict=True):
        kind = f"bad_{{fault.lower()}}"
        error = raises(da.PluginLoadError, lambda: da.device(kind), path, *words)
        assert error.path == path
        assert list(da.custom_ops) == [] and not da.is_available(kind)
    """
    python(program(body), *(built(fault, device_type=f"bad_{fault.lower()}") for fault in BAD))


def test_a_plugin_that_cannot_list_its_ops_fails_with_its_own_words(built: Build, python: Run) -> None:
    body = 'raises(da.PluginFailed, lambda: da.device("acme"), "custom_op.list", "acme is out of order")'
    python(program(body), built("LIST"))


NONSENSE = {
    "INFER_RANK": ("ShapeError", ["acme.outer", "no shape", "rank 33"]),
    "INFER_SIZE": ("ShapeError", ["acme.outer", "(-1, 2)", "negative"]),
    "INFER_DTYPE": ("ShapeError", ["acme.outer", "dtype"]),
    "INFER_TOO_LARGE": ("ShapeError", ["acme.outer", "bytes"]),
    "INFER_FAILS": ("PluginFailed", ["custom_op.infer", "acme is out of order"]),
}
# What the validation layer says of them.
RULES = {"INFER_RANK": "VAL-CUSTOM-04", "INFER_SIZE": "VAL-CUSTOM-04", "INFER_DTYPE": "VAL-CUSTOM-05"}


def test_a_shape_function_that_gives_nonsense_is_an_error_and_a_finding(built: Build, python: Run) -> None:
    body = f"""
    from collections import Counter
    from device_api import layers, loading
    seen = Counter()
    for fault, (kind, words) in {NONSENSE!r}.items():
        device = fault.lower()
        x = da.asarray([1.0, 2.0], dtype="float32", device=device)
        raises(getattr(da, kind), lambda: da.custom_ops.acme.outer(x, x), *words)
        assert da.custom_ops.acme.swish(x).shape == (2,)
        found = Counter(finding.rule for finding in layers.findings())
        rules, seen = {{*(found - seen)}}, found
        assert rules == {{*filter(None, [{RULES!r}.get(fault)])}}, (fault, rules)
        loading.load_plugin(device).shutdown()
    """
    libraries = [built(fault, device_type=fault.lower()) for fault in NONSENSE]
    python(program(body), *libraries, DEVICE_API_LAYERS="validate")
