"""Which dtype a computation has: the array API's promotion table, with the leniency that real programs need
(integers meet floats, booleans meet numbers), and Python scalars that never widen a tensor. It knows dtype
codes and an op's declaration; it converts nothing and knows no shapes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from device_api import dtypes
from device_api.errors import DTypeError
from device_api.ops.shape_support import TensorSpec
from device_api.opset.spec import OpSpec

# An operand is a tensor, a Python scalar, or only the type of a scalar whose value is not known yet.
Scalar = bool | int | float | complex
Operand = TensorSpec | Scalar | type

_KINDS = (bool, int, float, complex)


class Binding(NamedTuple):
    """The dtype code of each type variable, and of each operand (None where an optional one is absent)."""

    types: dict[str, int]
    inputs: tuple[int | None, ...]


def result_dtype(operands: Iterable[Operand], op: str | None = None) -> int:
    """The dtype code that operands have in common.

    Within a kind the array API's table holds. Of several kinds the highest wins: bool < integer < floating
    < complex; integers have no say in the width of floats. Python scalars take the tensors' dtype, or the
    default dtype of their kind where no tensor has that kind. Raises `DTypeError` for uint64 with a signed
    integer and for float8 with anything else, which have nothing in common.
    """
    codes: list[int] = []
    kind = -1
    for operand in operands:
        if isinstance(operand, TensorSpec):
            codes.append(operand.dtype)
        else:
            kind = max(kind, scalar_kind(operand))
    if not codes:
        return dtypes.default_code(_KINDS[max(kind, 0)])
    joined = codes[0] if len(set(codes)) == 1 else _join(set(codes), op)
    return _with_scalar(joined, kind)


def scalar_kind(operand: object) -> int:
    """0 bool, 1 int, 2 float, 3 complex, of a Python number or its type; `TypeError` for anything else."""
    kind = operand if isinstance(operand, type) else type(operand)
    for index, each in enumerate(_KINDS):
        if issubclass(kind, each):
            return index
    raise TypeError(f"{operand!r} is neither a tensor nor a Python number")


def bind_types(op: OpSpec, operands: Sequence[Operand | None]) -> Binding:
    """Binds an op's type variables to the operands of a call, variadic ones flattened at the end.

    Raises `DTypeError`, naming op, argument, dtypes and what the op takes.
    """
    declared = [_declaration(op, index) for index in range(len(operands))]
    groups: dict[str, list[Operand]] = {}
    for (_, kind), operand in zip(declared, operands, strict=True):
        if operand is not None:
            groups.setdefault(kind, []).append(operand)
    types: dict[str, int] = {}
    variables = dict(op.types)
    for variable, members in groups.items():
        if variable in variables:
            types[variable] = _bind_variable(op, variable, members)
    codes: list[int | None] = []
    for (name, kind), operand in zip(declared, operands, strict=True):
        if operand is None:
            codes.append(None)
        elif kind in types:
            codes.append(types[kind])
        else:
            codes.append(_fixed(op, name, kind, operand))
    return Binding(types, tuple(codes))


def _declaration(op: OpSpec, index: int) -> tuple[str, str]:
    declared = op.inputs[min(index, len(op.inputs) - 1)] if op.inputs else None
    if declared is None or (index >= len(op.inputs) and not declared.variadic):
        raise TypeError(f"{op.name} takes {len(op.inputs)} tensors, got more")
    return declared.name, declared.type


def _bind_variable(op: OpSpec, variable: str, members: list[Operand]) -> int:
    allowed = op.allowed(variable)
    tensors = [each for each in members if isinstance(each, TensorSpec)]
    if op.promotion == "truth":
        return _truth(op, tensors)
    if op.promotion == "first" and tensors:
        code = tensors[0].dtype
    elif op.promotion == "none" and tensors:
        code = tensors[0].dtype
        if any(each.dtype != code for each in tensors):
            raise _mismatch(op, tensors)
    else:
        code = result_dtype(members, op.name)
    if op.promotion == "float" and code in dtypes.BOOL | dtypes.INTEGER:
        code = dtypes.default_code(float)
    elif op.promotion == "number" and code in dtypes.BOOL and code not in allowed:
        code = _number(op, members)
    if code not in allowed:
        raise _not_taken(op, code, allowed)
    return code


def _number(op: OpSpec, members: list[Operand]) -> int:
    """Booleans count as integers where an op has no boolean form, but not by accident: a boolean tensor does
    so only beside a number or in an op of one operand."""
    if len(members) > 1 and all(isinstance(each, TensorSpec) for each in members):
        raise DTypeError(
            f"{op.name} is not defined for booleans",
            subject="every operand is bool",
            remedy="Use the logical or bitwise op, or convert one operand with astype.",
            op=op.name,
            dtypes=("bool",),
        )
    return dtypes.INT64


def _truth(op: OpSpec, tensors: list[TensorSpec]) -> int:
    for each in tensors:
        if each.dtype in dtypes.FLOAT8:
            raise _not_taken(op, each.dtype, dtypes.BOOL | dtypes.NUMERIC)
    return dtypes.BOOL_CODE


def _fixed(op: OpSpec, name: str, kind: str, operand: Operand) -> int:
    """An input declared with a dtype: an index takes any integer, everything else must be exact."""
    wanted = dtypes.CODES_BY_NAME[kind]
    code = (
        operand.dtype
        if isinstance(operand, TensorSpec)
        else dtypes.default_code(_KINDS[scalar_kind(operand)])
    )
    if code == wanted or (wanted in dtypes.INTEGER and code in dtypes.INTEGER):
        return wanted
    raise DTypeError(
        f"{op.name} cannot take {name}",
        subject=f"its dtype is {dtypes.NAMES[code]}",
        remedy=f"Convert it to {kind} with astype.",
        op=op.name,
        argument=name,
        dtypes=(dtypes.NAMES[code],),
    )


def _not_taken(op: OpSpec, code: int, allowed: frozenset[int]) -> DTypeError:
    return DTypeError(
        f"{op.name} does not take {dtypes.NAMES[code]}",
        why=f"it takes {', '.join(dtypes.names(allowed))}",
        remedy="Convert with astype.",
        op=op.name,
        dtypes=(dtypes.NAMES[code],),
    )


def _mismatch(op: OpSpec, tensors: list[TensorSpec]) -> DTypeError:
    names = tuple(dtypes.NAMES[each.dtype] for each in tensors)
    return DTypeError(
        f"{op.name} takes tensors of one dtype",
        subject=", ".join(names),
        why="this op converts nothing",
        remedy="Convert with astype.",
        op=op.name,
        dtypes=names,
    )


def _with_scalar(code: int, kind: int) -> int:
    if kind == 1 and code in dtypes.BOOL:
        return dtypes.INT64
    if kind == 2 and code in dtypes.BOOL | dtypes.INTEGER:
        return dtypes.default_code(float)
    if kind == 3 and code not in dtypes.COMPLEX:
        if code not in dtypes.FLOATING:
            return dtypes.default_code(complex)
        return dtypes.COMPLEX128 if code == dtypes.FLOAT64 else dtypes.COMPLEX64
    return code


def _join(codes: set[int], op: str | None) -> int:
    """What several different dtypes have in common."""
    if codes & dtypes.FLOAT8:
        raise _nothing_in_common(codes, op, "float8 is for storage only and converts on request only")
    inexact = codes & (dtypes.FLOATING | dtypes.COMPLEX)
    if inexact:
        return _join_inexact(inexact)
    integers = codes & dtypes.INTEGER
    if len(integers) == 1:
        return next(iter(integers))
    # Within a group, codes rise with the width; a signed code and its unsigned twin are four apart.
    signed = max(integers & dtypes.SIGNED, default=0)
    unsigned = max(integers & dtypes.UNSIGNED, default=0)
    if not signed or not unsigned:
        return signed or unsigned
    if unsigned == dtypes.UINT64:
        raise _nothing_in_common(codes, op, "no integer dtype holds all values of uint64 and of a signed one")
    return max(signed, unsigned - 4 + 1)


def _join_inexact(codes: set[int]) -> int:
    wide = bool(codes & {dtypes.FLOAT64, dtypes.COMPLEX128})
    if codes & dtypes.COMPLEX:
        return dtypes.COMPLEX128 if wide else dtypes.COMPLEX64
    if wide:
        return dtypes.FLOAT64
    # float16 and bfloat16 meet in the narrowest dtype that holds both.
    return dtypes.FLOAT32 if len(codes) > 1 else next(iter(codes))


def _nothing_in_common(codes: set[int], op: str | None, why: str) -> DTypeError:
    names = dtypes.names(frozenset(codes))
    return DTypeError(
        f"{op or 'promotion'} got dtypes with nothing in common",
        subject=" and ".join(names),
        why=why,
        remedy="Convert one of them with astype.",
        op=op,
        dtypes=names,
    )
