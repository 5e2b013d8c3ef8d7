"""The shape of an op set entry, as data. The generated table (device_api/ops/_table.py) is made of these
classes, so this module is imported by every process: it must stay free of YAML, of NumPy and of anything
that runs, and it knows nothing of devices, plans or gradients beyond their names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

LEVELS = ("primitive", "composite", "view")

# What an attribute holds, and so what a kernel finds in its attribute struct. The last column is the C type.
ATTRIBUTE_KINDS = {
    "int": "int64_t",
    "bool": "int64_t",
    "dtype": "int64_t",
    "axis": "int64_t",
    "float": "double",
    "scalar": "uint64_t[2]",
    "axes": "const int64_t *",
    "shape": "const int64_t *",
    "ints": "const int64_t *",
    "string": "const char *",
}

# How the type variables of a call are bound to dtypes (device_api/ops/promotion.py).
#   common  every tensor and scalar of one variable is converted to the dtype they have in common
#   float   as common, and booleans and integers become the default floating dtype
#   number  as common, and booleans become the default integer dtype
#   first   every input of one variable is converted to the dtype of the variable's first tensor
#   truth   everything is converted to bool: numbers are true when they are not zero
#   none    inputs keep their dtypes, which must agree within one variable
PROMOTIONS = ("common", "float", "number", "first", "truth", "none")

AMP_CLASSES = ("allow", "deny", "promote", "neutral")


@dataclass(frozen=True, slots=True)
class Input:
    """A tensor input. `type` is a type variable ("T") or a dtype name ("bool").

    A variadic input stands last and takes any number of tensors, at least one.
    """

    name: str
    type: str
    optional: bool = False
    variadic: bool = False


@dataclass(frozen=True, slots=True)
class Output:
    """A tensor output. `type` is a type variable, a dtype name, or "real(T)".

    A variable that no input has is bound by the attribute `dtype` or by the op's shape rule. A variadic one,
    which only custom ops have, is the last: as many tensors as `length` says, the name of an int attribute or
    of the list among the inputs, or as the shape rule says where there is no such name.
    """

    name: str
    type: str
    variadic: bool = False
    length: str = ""


@dataclass(frozen=True, slots=True)
class Attribute:
    """A static parameter of a call.

    `required` attributes have no default. `optional` ones take None and carry a `has_` field in the C
    struct. `keyword` ones are keyword-only in Python. `host` ones never reach a kernel: the host has used
    them up when it shaped the operands. `choices` names the integers that an int attribute may hold.
    """

    name: str
    kind: str
    default: object = None
    required: bool = False
    optional: bool = False
    keyword: bool = True
    host: bool = False
    choices: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class OpSpec:
    """One op. `id` is its position in the table, the number that dispatch takes.

    `types` maps each type variable to the dtype codes it ranges over. `in_place` holds (output, input)
    positions that may share memory exactly, in kernels that say so. `gradient` names the inputs that have a
    gradient rule.
    `ulp` is the largest accepted error per dtype name, in units in the last place of the exact result;
    0 is bit for bit, and so is a dtype that is not named: the op moves or makes elements there.
    `numerics` holds the remaining rules, in words. `random_blocks` says that an op draws
    from the device's generator; the shape rules tell how much.
    """

    id: int
    name: str
    family: str
    level: str
    public: bool
    doc: str
    since: str
    types: tuple[tuple[str, frozenset[int]], ...]
    inputs: tuple[Input, ...]
    outputs: tuple[Output, ...]
    attributes: tuple[Attribute, ...]
    elementwise: bool
    promotion: str
    shape: str
    gradient: tuple[str, ...]
    has_decomposition: bool
    in_place: tuple[tuple[int, int], ...]
    amp: str
    onnx: tuple[str, ...]
    ulp: dict[str, float]
    numerics: tuple[tuple[str, str], ...]
    example: str
    random: bool = False

    def allowed(self, variable: str) -> frozenset[int]:
        """The dtype codes that a type variable of this op ranges over."""
        for name, codes in self.types:
            if name == variable:
                return codes
        raise KeyError(variable)

    @property
    def kernel_attributes(self) -> tuple[Attribute, ...]:
        """The attributes that a kernel of this op receives, in the order of its C struct."""
        return tuple(a for a in self.attributes if not a.host)

    def grouped(self, results: Sequence[Any]) -> tuple[Any, ...]:
        """One value for each output, from flat results: those of a variadic output become a tuple."""
        if not self.outputs[-1].variadic:
            return tuple(results)
        fixed = len(self.outputs) - 1
        return (*results[:fixed], tuple(results[fixed:]))

    def gathered(self, results: Sequence[Any]) -> Any:
        """Flat results as the caller of an op sees them: the value of the only output, or a tuple of all."""
        groups = self.grouped(results)
        return groups[0] if len(self.outputs) == 1 else groups

    def flattened(self, made: Any) -> list[Any]:
        """What a kernel or rule gave, a tuple for several outputs and a list or tuple for a variadic one, as
        flat results. What has another form has another number of results."""
        if not self.outputs[-1].variadic:
            return list(made) if isinstance(made, tuple) else [made]
        groups = list(made) if len(self.outputs) > 1 and isinstance(made, list | tuple) else [made]
        last = groups.pop() if groups else ()
        return [*groups, *(last if isinstance(last, list | tuple) else [last])]

    @property
    def creates(self) -> bool:
        """Whether no tensor among the inputs says on which device the op runs."""
        return self.family in ("creation", "random") and all(x.name != "x" for x in self.inputs)
