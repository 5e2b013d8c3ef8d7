"""Reads the op set from its YAML files and checks it strictly: an unknown key, an unbound type variable
or a rule that calls something that is no op is an error that names file, op and key. Used by the
generator and by tests only; at run time the generated table stands in for it. It knows the form of an
entry, not what ops mean."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from device_api import dtypes
from device_api.opset.rules import RuleError, check_rule
from device_api.opset.spec import (
    AMP_CLASSES,
    ATTRIBUTE_KINDS,
    LEVELS,
    PROMOTIONS,
    Attribute,
    Input,
    OpSpec,
    Output,
)

# One file per family, in the order of the table. New families go to the end, so that ids stay put.
FAMILIES = (
    "creation",
    "copy",
    "unary",
    "binary",
    "comparison",
    "logical",
    "bitwise",
    "select",
    "reduction",
    "scan",
    "linear_algebra",
    "indexing",
    "sort",
    "manipulation",
    "activation",
    "softmax",
    "loss",
    "statistics",
    "normalisation",
    "optimiser",
    "random",
    "windows",
    "convolution",
    "pooling",
    "vision",
    "attention",
    "embedding",
    "array",
    "placement",
    "fused",
    "amp",
    "factorisation",
    "fourier",
)

TYPE_GROUPS: Mapping[str, frozenset[int]] = {
    "bool": dtypes.BOOL,
    "signed": dtypes.SIGNED,
    "unsigned": dtypes.UNSIGNED,
    "integer": dtypes.INTEGER,
    "floating": dtypes.FLOATING,
    "complex": dtypes.COMPLEX,
    "float8": dtypes.FLOAT8,
    "all": dtypes.ALL,
}

_KEYS = frozenset(
    "name level public since doc example types inputs attributes outputs promotion elementwise shape numerics"
    " in_place gradient decompose amp onnx random".split()
)
_REQUIRED = ("name", "doc", "inputs", "outputs", "shape")
_NUMERIC_KEYS = frozenset(
    "ulp accumulate nan infinity overflow zero sign_of_zero empty order domain rounding determinism".split()
)
_NAME = re.compile(r"[a-z][a-z0-9_]*\Z")
_VARIABLE = re.compile(r"[A-Z]\Z")
_SINCE = re.compile(r"\d+\.\d+\Z")


class SchemaError(ValueError):
    """An op set file breaks the form; the text names the file, the op and the key."""

    def __init__(self, file: str, op: str | None, key: str | None, problem: str) -> None:
        where = "".join((file, f", op {op}" if op else "", f", key {key}" if key else ""))
        super().__init__(f"{where}: {problem}")
        self.file = file
        self.op = op
        self.key = key


@dataclass(frozen=True)
class Entry:
    """One op as written: its specification, and its rules as Python text."""

    spec: OpSpec
    file: str
    decompose: str | None
    # By the inputs whose gradients a rule gives: one, or several together.
    gradient: Mapping[tuple[str, ...], str] = field(default_factory=dict)


def folder() -> Path:
    """Where the YAML files of the package lie."""
    return Path(__file__).parent


def load(path: Path | None = None) -> tuple[Entry, ...]:
    """All entries, in the order of the table. Raises `SchemaError` at the first problem."""
    path = path or folder()
    known = {file.stem for file in path.glob("*.yaml")}
    for stem in sorted(known - set(FAMILIES)):
        raise SchemaError(f"{stem}.yaml", None, None, f"no such family; families are {', '.join(FAMILIES)}")
    entries: list[Entry] = []
    for family in FAMILIES:
        if family in known:
            text = (path / f"{family}.yaml").read_text(encoding="utf-8")
            entries += load_family(text, family, first_id=len(entries))
    names: dict[str, str] = {}
    for entry in entries:
        name = entry.spec.name
        if name in names:
            raise SchemaError(entry.file, name, "name", f"already defined in {names[name]}")
        names[name] = entry.file
    specs = {entry.spec.name: entry.spec for entry in entries}
    for entry in entries:
        _check_rules(entry, specs)
    return tuple(entries)


class _StrictLoader(yaml.SafeLoader):
    """Safe YAML in which a key given twice is an error instead of a silent loss."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[str] = set()
        for key, _ in node.value:
            if key.value in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"key {key.value!r} is given twice", key.start_mark
                )
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def load_family(text: str, family: str, first_id: int = 0) -> list[Entry]:
    """The entries of one file. Rules are checked by `load`, which knows every op's name."""
    file = f"{family}.yaml"
    try:
        data = yaml.load(text, Loader=_StrictLoader)
    except yaml.YAMLError as error:
        raise SchemaError(file, None, None, f"not YAML: {error}") from error
    if not isinstance(data, dict) or not isinstance(data.get("ops"), list):
        raise SchemaError(file, None, None, "a file is a mapping with a list `ops`, and `defaults` if wanted")
    for key in data.keys() - {"ops", "defaults"}:
        raise SchemaError(file, None, str(key), "unknown key; a file has `defaults` and `ops`")
    defaults = data.get("defaults") or {}
    if not isinstance(defaults, dict):
        raise SchemaError(file, None, "defaults", "must be a mapping")
    for key in defaults.keys() - (_KEYS - {"name"}):
        raise SchemaError(file, None, f"defaults.{key}", f"unknown key; keys are {', '.join(sorted(_KEYS))}")
    entries = []
    for index, raw in enumerate(data["ops"]):
        if not isinstance(raw, dict) or not isinstance(raw.get("name"), str):
            raise SchemaError(file, None, f"ops[{index}]", "an entry is a mapping with a `name`")
        entries.append(_Reader(file, raw["name"], {**defaults, **raw}).entry(family, first_id + index))
    return entries


class _Reader:
    """Turns one raw mapping into an entry, and knows where it is when something is wrong."""

    def __init__(self, file: str, op: str, raw: dict[str, Any]) -> None:
        self.file = file
        self.op = op
        self.raw = raw

    def fail(self, key: str | None, problem: str) -> SchemaError:
        return SchemaError(self.file, self.op, key, problem)

    def get(self, key: str, kind: type, default: Any) -> Any:
        value = self.raw.get(key, default)
        if value is None:
            value = default
        if not isinstance(value, kind) or (kind is not bool and isinstance(value, bool)):
            raise self.fail(key, f"must be a {kind.__name__}, not {value!r}")
        return value

    def choice(self, key: str, allowed: tuple[str, ...], default: str) -> str:
        value: str = self.get(key, str, default)
        if value not in allowed:
            raise self.fail(key, f"{value!r} is none of {', '.join(allowed)}")
        return value

    def entry(self, family: str, identity: int) -> Entry:
        for key in self.raw.keys() - _KEYS:
            raise self.fail(str(key), f"unknown key; keys are {', '.join(sorted(_KEYS))}")
        for key in _REQUIRED:
            if key not in self.raw:
                raise self.fail(key, "missing")
        if not _NAME.match(self.op):
            raise self.fail("name", "a name is lower-case words joined by underscores")
        public = self.get("public", bool, True)
        example = self.get("example", str, "")
        if public and not example:
            raise self.fail("example", "a public op shows one: an expression over `da` that is true")
        if example:
            self.parse(example, "example")
        since = str(self.raw.get("since", "0.1"))
        if not _SINCE.match(since):
            raise self.fail("since", f"a version is MAJOR.MINOR, not {since!r}")
        doc = " ".join(self.get("doc", str, "").split())
        if not doc.endswith("."):
            raise self.fail("doc", "a sentence that ends in a full stop")
        level = self.choice("level", LEVELS, "composite")
        types = self.types()
        inputs = self.inputs(types)
        attributes = self.attributes()
        outputs = self.outputs(types, inputs)
        names = [x.name for x in inputs] + [x.name for x in outputs] + [x.name for x in attributes]
        for name in names:
            if names.count(name) > 1:
                raise self.fail(None, f"{name!r} is used for more than one input, output or attribute")
        decompose = self.get("decompose", str, "") or None
        gradient = self.gradient(inputs)
        if level == "composite" and decompose is None:
            raise self.fail("decompose", "a composite op needs one")
        if level == "view" and decompose is not None:
            raise self.fail("decompose", "a view is metadata and has none")
        shape = self.get("shape", str, "")
        ulp, numerics = self.numerics()
        spec = OpSpec(
            id=identity,
            name=self.op,
            family=family,
            level=level,
            public=public,
            doc=doc,
            since=since,
            types=types,
            inputs=inputs,
            outputs=outputs,
            attributes=attributes,
            elementwise=self.get("elementwise", bool, False),
            promotion=self.choice("promotion", PROMOTIONS, "common"),
            shape=shape,
            gradient=tuple(x.name for x in inputs if any(x.name in names for names in gradient)),
            has_decomposition=decompose is not None,
            in_place=self.in_place(inputs, outputs),
            amp=self.choice("amp", AMP_CLASSES, "neutral"),
            onnx=tuple(self.strings("onnx")),
            ulp=ulp,
            numerics=numerics,
            example=example,
            random=self.get("random", bool, False),
        )
        return Entry(spec, self.file, decompose, gradient)

    def parse(self, text: str, key: str) -> None:
        try:
            ast.parse(text, mode="eval")
        except SyntaxError as error:
            raise self.fail(key, f"not a Python expression: {error.msg}") from error

    def strings(self, key: str) -> list[str]:
        values: list[Any] = self.get(key, list, [])
        for value in values:
            if not isinstance(value, str):
                raise self.fail(key, f"a list of names, not {value!r}")
        return values

    def types(self) -> tuple[tuple[str, frozenset[int]], ...]:
        result = []
        for variable, text in self.get("types", dict, {}).items():
            if not _VARIABLE.match(str(variable)):
                raise self.fail("types", f"a type variable is one capital letter, not {variable!r}")
            codes: frozenset[int] = frozenset()
            for word in str(text).split():
                if word in TYPE_GROUPS:
                    codes |= TYPE_GROUPS[word]
                elif word in dtypes.CODES_BY_NAME:
                    codes |= {dtypes.CODES_BY_NAME[word]}
                else:
                    raise self.fail(
                        f"types.{variable}", f"{word!r} is no dtype and none of {', '.join(TYPE_GROUPS)}"
                    )
            if not codes:
                raise self.fail(f"types.{variable}", "no dtypes")
            result.append((variable, codes))
        if len(result) > 4:
            raise self.fail("types", "at most four type variables: a kernel's claim has room for four")
        return tuple(result)

    def tensor_type(self, key: str, text: str, types: tuple[tuple[str, frozenset[int]], ...]) -> str:
        bare = text[5:-1] if text.startswith("real(") and text.endswith(")") else text
        if bare in dict(types) or (bare == text and text in dtypes.CODES_BY_NAME):
            return text
        raise self.fail(key, f"{text!r} is neither a declared type variable nor a dtype")

    def inputs(self, types: tuple[tuple[str, frozenset[int]], ...]) -> tuple[Input, ...]:
        result: list[Input] = []
        for name, text in self.get("inputs", dict, {}).items():
            key = f"inputs.{name}"
            if not _NAME.match(str(name)):
                raise self.fail(key, "a name is lower-case words joined by underscores")
            text = str(text)
            if result and result[-1].variadic:
                raise self.fail(key, "a variadic input must be the last")
            mark = text[-1:] if text[-1:] in ("?", "*") else ""
            kind = self.tensor_type(key, text.rstrip("?*"), types)
            result.append(Input(name, kind, optional=mark == "?", variadic=mark == "*"))
        return tuple(result)

    def outputs(
        self, types: tuple[tuple[str, frozenset[int]], ...], inputs: tuple[Input, ...]
    ) -> tuple[Output, ...]:
        raw = self.get("outputs", dict, {})
        if not raw:
            raise self.fail("outputs", "an op has at least one")
        return tuple(Output(n, self.tensor_type(f"outputs.{n}", str(t), types)) for n, t in raw.items())

    def attributes(self) -> tuple[Attribute, ...]:
        return tuple(
            self.attribute(str(name), text) for name, text in self.get("attributes", dict, {}).items()
        )

    def attribute(self, name: str, raw: Any) -> Attribute:
        """`KIND [host] [positional] [optional] [NAME=NUMBER ...] [= DEFAULT]`, for example "axes = None"."""
        key = f"attributes.{name}"
        if not _NAME.match(name):
            raise self.fail(key, "a name is lower-case words joined by underscores")
        head, equals, tail = str(raw).partition(" = ")
        kind, *flags = head.split()
        if kind not in ATTRIBUTE_KINDS:
            raise self.fail(key, f"{kind!r} is none of {', '.join(ATTRIBUTE_KINDS)}")
        choices = []
        for flag in [f for f in flags if "=" in f]:
            word, _, number = flag.partition("=")
            if not _NAME.match(word) or not number.isdigit():
                raise self.fail(key, f"a choice is name=number, not {flag!r}")
            choices.append((word, int(number)))
            flags.remove(flag)
        for flag in flags:
            if flag not in ("host", "positional", "optional"):
                raise self.fail(key, f"{flag!r} is none of host, positional, optional")
        default: object = None
        if equals:
            try:
                default = ast.literal_eval(tail.strip())
            except (ValueError, SyntaxError) as error:
                raise self.fail(key, f"the default {tail!r} is no Python literal") from error
        return Attribute(
            name=name,
            kind=kind,
            default=default,
            required=not equals,
            optional="optional" in flags or (bool(equals) and default is None),
            keyword="positional" not in flags,
            host="host" in flags,
            choices=tuple(choices),
        )

    def in_place(self, inputs: tuple[Input, ...], outputs: tuple[Output, ...]) -> tuple[tuple[int, int], ...]:
        raw = self.raw.get("in_place", {})
        if not isinstance(raw, dict):
            raise self.fail("in_place", "a mapping from output to input")
        ins = [x.name for x in inputs]
        outs = [x.name for x in outputs]
        pairs = []
        for output, input_name in raw.items():
            if output not in outs or input_name not in ins:
                raise self.fail("in_place", f"{output!r}: {input_name!r} are no output and input of the op")
            pairs.append((outs.index(output), ins.index(input_name)))
        return tuple(pairs)

    def gradient(self, inputs: tuple[Input, ...]) -> dict[tuple[str, ...], str]:
        """Rules by the inputs that they are for: `NAME`, or `NAME, NAME` where one rule gives several."""
        order = [x.name for x in inputs]
        rules: dict[tuple[str, ...], str] = {}
        for key, text in self.get("gradient", dict, {}).items():
            names = tuple(name.strip() for name in str(key).split(","))
            for name in names:
                if name not in order:
                    raise self.fail(f"gradient.{key}", f"no such input as {name!r}")
                if any(name in known for known in rules) or names.count(name) > 1:
                    raise self.fail(f"gradient.{key}", f"{name!r} has two rules")
                if len(names) > 1 and inputs[order.index(name)].variadic:
                    raise self.fail(f"gradient.{key}", f"{name!r} is variadic and has a rule of its own")
            if not isinstance(text, str):
                raise self.fail(f"gradient.{key}", f"a rule is text, not {text!r}")
            rules[names] = text.strip()
        if len(rules) > 1 and any(len(names) > 1 for names in rules):
            raise self.fail("gradient", "a rule for several inputs is the op's only one")
        # In the order of the inputs, whatever the order in the file.
        return dict(sorted(rules.items(), key=lambda rule: order.index(rule[0][0])))

    def numerics(self) -> tuple[dict[str, float], tuple[tuple[str, str], ...]]:
        raw: dict[str, Any] = self.get("numerics", dict, {})
        for key in raw.keys() - _NUMERIC_KEYS:
            raise self.fail(f"numerics.{key}", f"unknown key; keys are {', '.join(sorted(_NUMERIC_KEYS))}")
        ulp: dict[str, float] = {}
        for name, bound in (raw.get("ulp") or {}).items():
            if name not in dtypes.CODES_BY_NAME:
                raise self.fail(f"numerics.ulp.{name}", "no such dtype")
            if isinstance(bound, bool) or not isinstance(bound, int | float) or bound < 0:
                raise self.fail(f"numerics.ulp.{name}", f"a bound is a number >= 0, not {bound!r}")
            ulp[name] = bound
        words = tuple((key, " ".join(str(raw[key]).split())) for key in raw if key != "ulp")
        return ulp, words


def _check_rules(entry: Entry, specs: Mapping[str, OpSpec]) -> None:
    spec = entry.spec
    names = {x.name for x in spec.inputs} | {x.name for x in spec.attributes}
    rules = [("decompose", entry.decompose, names)] if entry.decompose is not None else []
    with_outputs = names | {"g"} | {x.name for x in spec.outputs}
    for targets, text in entry.gradient.items():
        bound = with_outputs if len(targets) == 1 else with_outputs | {"wanted"}
        rules.append((f"gradient.{', '.join(targets)}", text, bound))
    for key, text, bound in rules:
        try:
            called = check_rule(text, specs.keys(), bound)
        except RuleError as error:
            raise SchemaError(entry.file, spec.name, key, str(error)) from error
        if key != "decompose":
            for op in sorted(called):
                if specs[op].creates:
                    raise SchemaError(
                        entry.file, spec.name, key, f"{op} knows no device: shape new values from g instead"
                    )
