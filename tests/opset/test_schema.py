"""The schema refuses what is wrong and says where; what is generated from the op set is current."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import device_api
from device_api.ops import facts
from device_api.ops._rules import DECOMPOSE, GRADIENT, GRADIENTS_TOGETHER
from device_api.ops._table import BY_NAME, OPS
from device_api.ops.shapes import RULES
from device_api.opset import generate, rules, schema

ROOT = Path(device_api.__file__).parents[1]
GOOD = {
    "name": "twice",
    "doc": "x + x.",
    "types": "{T: floating}",
    "inputs": "{x: T}",
    "outputs": "{out: T}",
    "shape": "elementwise",
    "decompose": '"x + x"',
    "example": '"da.twice(1.0) == 2.0"',
}


def written(**changes):
    entry = {key: value for key, value in {**GOOD, **changes}.items() if value is not None}
    lines = [
        f"{'- ' if place == 0 else '  '}{key}: {value}" for place, (key, value) in enumerate(entry.items())
    ]
    return "ops:\n" + "\n".join(lines) + "\n"


def load(tmp_path, text):
    (tmp_path / "unary.yaml").write_text(text)
    return schema.load(tmp_path)


def test_a_good_entry_loads_with_its_defaults(tmp_path):
    (entry,) = load(tmp_path, written(attributes='{axis: "axis = -1", shape: shape host positional}'))
    assert entry.spec.level == "composite"
    assert entry.spec.attributes[0].default == -1
    assert entry.spec.attributes[1].host
    assert entry.spec.attributes[1].required
    assert not entry.spec.attributes[1].keyword
    assert [a.name for a in entry.spec.kernel_attributes] == ["axis"]


@pytest.mark.parametrize(
    ("changes", "key", "text"),
    [
        ({"colour": "red"}, "colour", "unknown key"),
        ({"doc": None}, "doc", "missing"),
        ({"doc": "no full stop"}, "doc", "full stop"),
        ({"shape": None}, "shape", "missing"),
        ({"example": None}, "example", "public"),
        ({"example": '"da.("'}, "example", "not a Python expression"),
        ({"name": "Twice"}, "name", "lower-case"),
        ({"level": "magic"}, "level", "primitive, composite, view"),
        ({"level": "view"}, "decompose", "view"),
        ({"decompose": None}, "decompose", "needs one"),
        ({"types": "{T: floaty}"}, "types.T", "floaty"),
        ({"types": "{Tee: floating}"}, "types", "one capital letter"),
        ({"types": "{A: bool, B: bool, C: bool, D: bool, T: bool}"}, "types", "at most four"),
        ({"inputs": "{x: U}"}, "inputs.x", "'U'"),
        ({"inputs": "{x: T*, y: T}"}, "inputs.y", "last"),
        ({"inputs": "{out: T}"}, None, "more than one"),
        ({"outputs": "{}"}, "outputs", "at least one"),
        ({"outputs": "{out: real(V)}"}, "outputs.out", "real(V)"),
        ({"attributes": "{a: length}"}, "attributes.a", "length"),
        ({"attributes": "{a: int sideways}"}, "attributes.a", "sideways"),
        ({"attributes": "{a: int one=x}"}, "attributes.a", "name=number"),
        ({"attributes": '{a: "int = 1 +"}'}, "attributes.a", "literal"),
        ({"promotion": "upwards"}, "promotion", "upwards"),
        ({"elementwise": "maybe"}, "elementwise", "bool"),
        ({"since": "soon"}, "since", "MAJOR.MINOR"),
        ({"amp": "perhaps"}, "amp", "allow"),
        ({"onnx": "[1]"}, "onnx", "names"),
        ({"in_place": "{out: y}"}, "in_place", "no output and input"),
        ({"gradient": "{y: g}"}, "gradient.y", "no such input"),
        ({"gradient": "{x: 3}"}, "gradient.x", "text"),
        ({"gradient": '{"x, y": g}'}, "gradient.x, y", "no such input"),
        ({"gradient": '{"x, x": g}'}, "gradient.x, x", "two rules"),
        ({"inputs": "{x: T, y: T}", "gradient": '{"x, y": "(g, g)", x: g}'}, "gradient.x", "two rules"),
        (
            {"inputs": "{x: T, y: T, z: T}", "gradient": '{"x, y": "(g, g)", z: g}'},
            "gradient",
            "only one",
        ),
        ({"inputs": "{x: T, y: T*}", "gradient": '{"x, y": "(g, g)"}'}, "gradient.x, y", "variadic"),
        ({"gradient": "{x: g if wanted else g}"}, "gradient.x", "'wanted'"),
        ({"numerics": "{speed: high}"}, "numerics.speed", "unknown key"),
        ({"numerics": "{ulp: {float99: 1}}"}, "numerics.ulp.float99", "no such dtype"),
        ({"numerics": "{ulp: {float32: -1}}"}, "numerics.ulp.float32", ">= 0"),
        ({"decompose": '"x +"'}, "decompose", "not Python"),
        ({"decompose": '"thrice(x)"'}, "decompose", "'thrice'"),
        ({"decompose": '"open(x)"'}, "decompose", "'open'"),
        ({"decompose": '"y = x"'}, "decompose", "nothing is returned"),
        ({"decompose": '"import os"'}, "decompose", "nothing is returned"),
        ({"gradient": '{x: "out2 * g"}'}, "gradient.x", "'out2'"),
    ],
)
def test_a_bad_entry_is_an_error_naming_file_op_and_key(tmp_path, changes, key, text):
    with pytest.raises(schema.SchemaError) as caught:
        load(tmp_path, written(**changes))
    assert caught.value.file == "unary.yaml"
    assert caught.value.key == key
    assert text in str(caught.value)
    assert "unary.yaml" in str(caught.value)


def test_a_key_given_twice_is_an_error(tmp_path):
    with pytest.raises(schema.SchemaError, match="given twice"):
        load(tmp_path, written() + "  doc: Again.\n")


def test_an_op_defined_twice_is_an_error(tmp_path):
    with pytest.raises(schema.SchemaError, match="already defined"):
        load(tmp_path, written() + written().removeprefix("ops:\n"))


def test_an_unknown_family_and_a_broken_file_are_errors(tmp_path):
    (tmp_path / "cookery.yaml").write_text(written())
    with pytest.raises(schema.SchemaError, match="no such family"):
        schema.load(tmp_path)
    (tmp_path / "cookery.yaml").unlink()
    for text in ("- a\n", "ops: [", "ops: []\nextras: 1\n", "ops: [3]\n"):
        with pytest.raises(schema.SchemaError, match=r"unary\.yaml"):
            load(tmp_path, text)


def test_gradient_rules_may_not_create_tensors_that_know_no_device(tmp_path):
    shutil.copy(schema.folder() / "creation.yaml", tmp_path)
    for op in ("copy", "manipulation", "comparison"):
        shutil.copy(schema.folder() / f"{op}.yaml", tmp_path)
    with pytest.raises(schema.SchemaError):
        load(tmp_path, written(gradient='{x: "full(0, shape=x.shape)"}'))


def test_generated_files_are_current():
    entries = schema.load()
    assert generate.stale(entries, ROOT) == []


def test_check_fails_when_a_file_is_stale(tmp_path):
    assert set(generate.stale(schema.load(), tmp_path)) == set(generate.generated(schema.load()))


def test_generation_is_deterministic():
    assert generate.generated(schema.load()) == generate.generated(schema.load())


def test_the_table_says_what_the_files_say():
    assert tuple(entry.spec for entry in schema.load()) == OPS
    assert list(BY_NAME) == [op.name for op in OPS]
    assert [op.id for op in OPS] == list(range(len(OPS)))


def test_every_op_has_a_shape_rule_and_every_rule_is_generated():
    assert {op.shape for op in OPS} == RULES.keys()
    assert {op.name for op in OPS if op.has_decomposition} == DECOMPOSE.keys()
    together = {(op, name) for op, (names, _) in GRADIENTS_TOGETHER.items() for name in names}
    assert not together & GRADIENT.keys()
    assert {(op.name, name) for op in OPS for name in op.gradient} == GRADIENT.keys() | together


def test_the_facts_that_rules_may_use_are_those_that_exist():
    defined = {
        name for name, value in vars(facts).items() if getattr(value, "__module__", "") == facts.__name__
    }
    assert {name for name in defined if not name.startswith("_")} == rules.FACTS


def test_decompositions_end_at_primitives():
    """Nothing is composed of itself in a circle, so every composite reaches primitives."""
    calls = {}
    for entry in schema.load():
        if entry.decompose is not None and entry.spec.level == "composite":
            bound = {x.name for x in (*entry.spec.inputs, *entry.spec.attributes)}
            # roll and uniform call themselves once, with other attributes.
            calls[entry.spec.name] = rules.check_rule(entry.decompose, BY_NAME.keys(), bound) - {
                entry.spec.name
            }
    done = {op.name for op in OPS if op.level != "composite"}
    while calls:
        ready = [name for name, needs in calls.items() if needs <= done]
        assert ready, f"composed in a circle: {sorted(calls)}"
        for name in ready:
            done.add(name)
            del calls[name]


def test_the_mandatory_primitives_are_all_there():
    names = (
        "copy fill iota negative abs sign square sqrt reciprocal exp expm1 log log1p log2 log10 sin "
        "cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp2 erf erfc floor ceil trunc "
        "round logical_not bitwise_invert isnan isinf isfinite signbit real imag conj add subtract "
        "multiply divide floor_divide remainder pow maximum minimum atan2 hypot copysign nextafter "
        "logaddexp bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift "
        "logical_and logical_or logical_xor equal not_equal less less_equal greater greater_equal "
        "where reduce_sum reduce_prod reduce_max reduce_min reduce_any reduce_all reduce_argmax "
        "reduce_argmin scan_sum scan_prod batch_matmul gather_rows scatter_rows compact "
        "argsort_last"
    )
    assert {op.name for op in OPS if op.level == "primitive"} == set(names.split())


@pytest.mark.parametrize(
    "command",
    [
        ["gcc", "-x", "c", "-std=c99"],
        ["gcc", "-x", "c", "-std=c11"],
        ["clang", "-x", "c", "-std=c99"],
        ["g++", "-x", "c++", "-std=c++11"],
        ["clang++", "-x", "c++", "-std=c++17"],
        ["g++", "-x", "c++", "-std=c++20"],
    ],
    ids=lambda command: f"{command[0]}{command[-1]}",
)
def test_ops_h_compiles_alone_without_warnings(command):
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    result = subprocess.run(
        [
            *command,
            "-Wall",
            "-Wextra",
            "-Wpedantic",
            "-Werror",
            "-fsyntax-only",
            f"-I{device_api.get_include()}",
            "-",
        ],
        input='#include "device_api/ops.h"\n',
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert result.returncode == 0, result.stderr


def test_the_table_loads_without_yaml_and_quickly():
    code = (
        "import sys, time, marshal, device_api.opset.spec, device_api.ops._table as t\n"
        "assert 'yaml' not in sys.modules and 'numpy' not in sys.modules, 'heavy import'\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=ROOT
    )
    assert result.returncode == 0, result.stderr
