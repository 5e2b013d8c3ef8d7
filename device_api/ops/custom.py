"""Custom ops: what the op set does not know, made from a schema, a shape function and kernels.

    swish = da.custom_op(
        "acme.swish(x: T, *, beta: float = 1.0) -> out: T",
        types={"T": "floating"},
        gradient=lambda g, x, out, *, beta: ...,
        decompose=lambda F, x, *, beta: x * F.sigmoid(x * beta),
    )

    @swish.kernel(device="cpu")
    def swish_on_cpu(x, *, beta): ...

    y = swish(x, beta=2.0)

A custom op is planned, cached, recorded and run like any other: a plugin's native kernel that claims its name
serves it, then a Python kernel, then its decomposition, then the CPU by the fallback policy. Every call runs
one plan whose shapes are known beforehand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from device_api import _core, dtypes
from device_api.errors import AttributeValueError, GradientError, ShapeError
from device_api.ops import _functions as F
from device_api.ops import op_registry, python_kernels
from device_api.ops._table import BY_NAME
from device_api.ops.binding import bind_call
from device_api.ops.custom_schema import Schema, codes_of, parse
from device_api.ops.kernel_decorator import DtypesLike, PythonKernel, kernel
from device_api.ops.shape_rules import elementwise
from device_api.ops.shape_support import Rule, TensorSpec, dtype_of, list_length
from device_api.opset.spec import AMP_CLASSES, PROMOTIONS, OpSpec
from device_api.runtime.devices import DeviceLike
from device_api.runtime.devices import device as open_device

Gradient = Callable[..., Any]


class TensorInfo(NamedTuple):
    """What a shape function is told of an input."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


class CustomOp:
    """A registered custom op. Calling it runs it: inputs by position or name, a list for one that takes any
    number of tensors, attributes by name, and `out` as for every op."""

    def __init__(self, spec: OpSpec) -> None:
        self.spec = spec
        self.name = spec.name
        self.__doc__ = spec.doc

    def __call__(
        self, *inputs: Any, out: Any = None, device: DeviceLike | None = None, **attributes: Any
    ) -> Any:
        """The output, or a tuple of them; a list of outputs is a tuple, in `out` as well. `device` says where
        an op without inputs runs."""
        if BY_NAME.get(self.name) is not self.spec:
            raise AttributeValueError("this op was unregistered", subject=self.name, op=self.name)
        given, values = bind_call(self.spec, inputs, attributes)
        ordered = tuple(values[each.name] for each in self.spec.attributes)
        place = None if device is None else open_device(device)
        if not self.spec.outputs[-1].variadic:
            return _core.dispatch(self.spec.id, tuple(given), ordered, out, place)
        targets = None if out is None else tuple(self.spec.flattened(out))
        made = _core.dispatch(self.spec.id, tuple(given), ordered, targets, place)
        return self.spec.gathered(made if isinstance(made, tuple) else (made,))

    def __repr__(self) -> str:
        return f"<custom op {self.name}>"

    def kernel(
        self, *, device: str, dtypes: DtypesLike | None = None, prefer: bool = False
    ) -> Callable[[Callable[..., Any]], PythonKernel[..., Any]]:
        """A decorator that makes a function of arrays the op's kernel on a device type; see `kernel`."""
        return kernel(self.name, device=device, dtypes=dtypes, prefer=prefer)

    def unregister(self) -> None:
        """Takes the op and its Python kernels away; its name is free again. Recorded calls of it have no
        gradient any more."""
        op_registry.remove(self.spec)
        python_kernels.forget(self.name)


def custom_op(
    schema: str,
    *,
    types: Mapping[str, Any] | None = None,
    shape: Callable[..., Any] | None = None,
    gradient: Gradient | str | None = None,
    decompose: Callable[..., Any] | None = None,
    promotion: str = "common",
    amp: str = "neutral",
    doc: str = "",
    ulp: Mapping[str, float] | None = None,
) -> CustomOp:
    """Registers an op by its schema, which `custom_schema` describes.

    `types` has the dtypes of each type variable: kinds and names in a text ("floating bool"), or dtypes.
    `shape` gets a `TensorInfo` for each input (None for an absent one, a tuple of them for a list) and the
    attributes by name; it gives the shape of the output, or a tuple of one for each, for a list of outputs a
    list of shapes. Without it the op is elementwise: inputs broadcast together, and every output has their
    shape.

    `gradient` gets the gradient of the output (a tuple for several and for a list, None where nothing flows),
    the inputs, the outputs, and the attributes by name; it gives the gradient of the input, or a tuple of one
    for each, None for one without. It is written with operations on tensors, so that it can be differentiated
    again. The name of an op stands for a function that calls this op with the gradients of the outputs, the
    outputs, the inputs and the attributes; its output "grad_x" is the gradient of input x. Where the op has a
    list of outputs, their gradients are the list at the end of that call, and the list itself is not passed.
    `decompose` gets F, whose attributes are ops, the inputs, and the attributes by name: the op in terms of
    others, for devices without a kernel. `promotion` and `amp` are those of the op set, `ulp` the error that
    is allowed by dtype.

    Raises `AttributeValueError` for a schema that cannot be read or fits its arguments badly, and for a name
    that is taken.
    """
    parsed = parse(schema)
    rule = None if shape is None else _shape_rule(shape)
    return register(parsed, types or {}, rule, gradient, decompose, promotion, amp, doc, ulp or {})


def register(
    parsed: Schema,
    types: Mapping[str, Any],
    rule: Rule | None,
    gradient: Gradient | str | None,
    decompose: Callable[..., Any] | None,
    promotion: str,
    amp: str,
    doc: str,
    ulp: Mapping[str, float],
) -> CustomOp:
    """What `custom_op` does, for a schema that was read and a shape rule of the form that the op set has."""
    spec = _entry(parsed, types, promotion, amp, doc, dict(ulp), rule, decompose, gradient)
    names = (*(each.name for each in spec.inputs), *(each.name for each in spec.outputs))
    rules = op_registry.Rules(
        shape=elementwise if rule is None else rule,
        decompose=decompose,
        gradient=None if gradient is None else _joint(parsed, gradient),
        needs={} if gradient is None else {each.name: names for each in spec.inputs},
    )
    try:
        return CustomOp(op_registry.add(spec, rules))
    except ValueError as error:
        raise AttributeValueError(
            "the name of a custom op is taken",
            subject=parsed.name,
            why=str(error),
            remedy="Choose another name, or unregister the op that has it.",
            op=parsed.name,
            argument="schema",
            value=parsed.name,
        ) from None


def _entry(
    parsed: Schema,
    types: Mapping[str, Any],
    promotion: str,
    amp: str,
    doc: str,
    ulp: dict[str, float],
    shape: Any,
    decompose: Any,
    gradient: Any,
) -> OpSpec:
    """The op's entry; what does not fit the schema is an error."""
    for argument, value, known in (("promotion", promotion, PROMOTIONS), ("amp", amp, AMP_CLASSES)):
        if value not in known:
            _unfit(parsed, argument, value, f"it is one of {', '.join(known)}")
    if unknown := sorted(set(types) - set(parsed.variables)):
        _unfit(parsed, "types", unknown[0], "the schema has no such type variable")
    if missing := [name for name in parsed.variables if name not in types]:
        _unfit(parsed, "types", missing[0], "the dtypes of this type variable are not given")
    if shape is None and not parsed.inputs:
        _unfit(parsed, "shape", None, "without inputs nothing tells the shape of the outputs")
    lists = parsed.outputs[-1].variadic
    if shape is None and lists:
        _unfit(
            parsed, "shape", None, f"nothing tells how many tensors the list {parsed.outputs[-1].name} has"
        )
    if isinstance(gradient, str) and lists and parsed.inputs and parsed.inputs[-1].variadic:
        _unfit(
            parsed, "gradient", gradient, "inputs and outputs have a list each, and an op takes one list only"
        )
    codes = {name: codes_of(types[name]) for name in parsed.variables}
    if empty := [name for name, each in codes.items() if not each]:
        _unfit(parsed, "types", empty[0], "this type variable has no dtype")
    return OpSpec(
        id=-1,
        name=parsed.name,
        family="custom",
        level="composite",
        public=True,
        doc=doc,
        since="",
        types=tuple(codes.items()),
        inputs=parsed.inputs,
        outputs=parsed.outputs,
        attributes=parsed.attributes,
        elementwise=shape is None,
        promotion=promotion,
        shape="",
        gradient=tuple(each.name for each in parsed.inputs) if gradient is not None else (),
        has_decomposition=decompose is not None,
        in_place=parsed.in_place,
        amp=amp,
        onnx=(),
        ulp=ulp,
        numerics=(),
        example="",
    )


def _unfit(parsed: Schema, argument: str, value: object, why: str) -> NoReturn:
    raise AttributeValueError(
        f"{parsed.name} cannot be registered",
        subject=f"{argument} {value!r}",
        why=why,
        op=parsed.name,
        argument=argument,
        value=value,
    )


# --- shapes -----------------------------------------------------------------------------------------------


def _shape_rule(function: Callable[..., Any]) -> Rule:
    """A rule of the op set around a user's shape function, which may return anything."""

    def rule(
        op: OpSpec, inputs: Sequence[TensorSpec | None], attributes: Mapping[str, Any]
    ) -> list[TensorSpec]:
        told = [each and TensorInfo(each.shape, dtypes.from_code(each.dtype)) for each in inputs]
        fixed = sum(not each.variadic for each in op.inputs)
        arguments: list[Any] = told[:fixed]
        if fixed < len(op.inputs):
            arguments.append(tuple(told[fixed:]))
        try:
            made = function(*arguments, **attributes)
        except (ShapeError, AttributeValueError):
            raise
        except Exception as error:
            raise ShapeError(
                f"the shape function of {op.name} failed",
                subject=" and ".join(str(each.shape) for each in told if each is not None),
                why=f"{type(error).__name__}: {error}",
                op=op.name,
            ) from error
        groups = [made] if len(op.outputs) == 1 else made
        if not isinstance(groups, list | tuple) or len(groups) != len(op.outputs):
            raise _nonsense(op, made, f"the op has {len(op.outputs)} outputs")
        shapes = list(groups)
        if op.outputs[-1].variadic:
            shapes += _listed(op, made, shapes.pop(), list_length(op, inputs, attributes))
        return [
            TensorSpec(_checked(op, made, each), dtype_of(op, inputs, attributes, place))
            for place, each in enumerate(shapes)
        ]

    return rule


def _listed(op: OpSpec, made: object, shapes: object, length: int | None) -> Sequence[object]:
    if not isinstance(shapes, list | tuple) or not all(isinstance(each, list | tuple) for each in shapes):
        raise _nonsense(op, made, f"the output {op.outputs[-1].name} is a list, and needs a list of shapes")
    if length is not None and len(shapes) != length:
        raise _nonsense(op, made, f"the list {op.outputs[-1].name} has {length} tensors")
    if not shapes and len(op.outputs) == 1:
        raise _nonsense(op, made, f"the list {op.outputs[-1].name} is empty, and a call has a result")
    return shapes


def _checked(op: OpSpec, made: object, shape: object) -> tuple[int, ...]:
    if not isinstance(shape, Iterable) or isinstance(shape, str | bytes):
        raise _nonsense(op, made, "a shape is a tuple of sizes")
    sizes = tuple(shape)
    if not all(isinstance(size, int | np.integer) and not isinstance(size, bool) for size in sizes):
        raise _nonsense(op, made, "sizes are integers")
    if any(size < 0 for size in sizes):
        raise _nonsense(op, made, "a size is negative")
    return tuple(int(size) for size in sizes)


def _nonsense(op: OpSpec, made: object, why: str) -> ShapeError:
    return ShapeError(
        f"the shape function of {op.name} gave what is no shape",
        subject=repr(made)[:200],
        why=why,
        remedy="Correct the shape function.",
        op=op.name,
    )


# --- gradients --------------------------------------------------------------------------------------------


def _joint(parsed: Schema, gradient: Gradient | str) -> op_registry.JointGradient:
    """One gradient for each input of the schema, from a user's function or a named op."""
    function = _gradient_op(parsed, gradient) if isinstance(gradient, str) else gradient

    def joint(*arguments: Any, **attributes: Any) -> tuple[Any, ...]:
        made = function(*arguments, **attributes)
        parts = made if isinstance(made, tuple) else (made,)
        if len(parts) != len(parsed.inputs):
            raise GradientError(
                f"the gradient of {parsed.name} gave {len(parts)} results",
                why=f"the op has {len(parsed.inputs)} inputs: one for each, None for one without",
                op=parsed.name,
            )
        return parts

    return joint


def _gradient_op(parsed: Schema, name: str) -> Gradient:
    """Calls the op `name` with the outputs' gradients, the outputs, the inputs and the attributes. Its result
    "grad_x" is the gradient of input x; an input without such a result has none."""
    fixed = sum(not each.variadic for each in parsed.outputs)

    def function(g: Any, *rest: Any, **attributes: Any) -> Any:
        spec = BY_NAME.get(name)
        if spec is None:
            raise GradientError(
                f"the gradient of {parsed.name} is missing",
                why=f"there is no op named {name!r}",
                remedy="Register it before the first backward.",
                op=parsed.name,
            )
        inputs, outputs = rest[: len(parsed.inputs)], rest[len(parsed.inputs) :]
        slopes = g if len(parsed.outputs) > 1 else (g,)
        passed = [*map(_filled, slopes[:fixed], outputs), *outputs[:fixed], *inputs]
        if fixed < len(parsed.outputs):
            passed.append([*map(_filled, slopes[fixed], outputs[fixed])])
        given, values = bind_call(spec, passed, attributes)
        ordered = tuple(values[each.name] for each in spec.attributes)
        made = _core.dispatch(spec.id, tuple(given), ordered)
        results = spec.grouped(made if isinstance(made, tuple) else (made,))
        by_name = {each.name: result for each, result in zip(spec.outputs, results, strict=True)}
        return tuple(by_name.get(f"grad_{each.name}") for each in parsed.inputs)

    return function


def _filled(slope: Any, output: Any) -> Any:
    """The gradient of an output, zeros where nothing flows."""
    return F.full_like(output, 0.0) if slope is None else slope
