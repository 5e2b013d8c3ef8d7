"""The text of decompose and gradient rules: parsing, checking and rewriting. A rule is the body of a Python
function (or one expression) over an entry's inputs, outputs, attributes and, for gradients, `g`. Calls of ops
become calls on `F`, so one text runs on symbolic operands in the planner and on tensors in eager mode. This
module knows Python's syntax tree and a list of names; it does not know what an op does."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Collection

# What a rule may use besides ops: facts about shapes and dtypes (device_api/ops/facts.py), builtins that no
# op hides, and what the planner offers to decompositions besides ops:
#   assemble(shape, dtype, pieces)  a new tensor into which pieces (value, start, stop, step) are written
#                                   in order, each into the slice of these bounds
#   random_state(blocks)            seed and offset of the device's generator as 0-d uint64 tensors; the
#                                   offset moves on by this many blocks each time that the plan runs
# A decomposition that does not apply to the dtypes at hand returns NotImplemented.
FACTS = frozenset(
    {
        "accumulation_dtype",
        "axes_of",
        "both_sides",
        "broadcast_shape",
        "default_dtype",
        "each_axis",
        "inverse_permutation",
        "is_complex",
        "is_floating",
        "last_axis_order",
        "last_axis_shape",
        "product",
        "reduced_shape",
        "replaced",
        "slice_bounds",
        "spread_bounds",
        "sum_dtype",
        "window_count",
        "window_ends",
    }
)
BUILTINS = frozenset(
    {"bool", "enumerate", "float", "int", "isinstance", "len", "list", "range", "reversed", "tuple", "zip"}
)
MODULES = frozenset({"math", "np"})
ENVIRONMENT = frozenset({"assemble", "random_state"})
CONSTANTS = frozenset({"NotImplemented"})


class RuleError(ValueError):
    """A rule is not Python, or uses a name that nothing binds."""


def parse_rule(text: str) -> list[ast.stmt]:
    """The statements of a rule; a single expression becomes `return expression`."""
    try:
        body = ast.parse(textwrap.dedent(text).strip()).body
    except SyntaxError as error:
        raise RuleError(f"not Python: {error.msg} (line {error.lineno})") from error
    if not body:
        raise RuleError("empty")
    if len(body) == 1 and isinstance(body[0], ast.Expr):
        return [ast.copy_location(ast.Return(body[0].value), body[0])]
    if not any(isinstance(node, ast.Return) for statement in body for node in ast.walk(statement)):
        raise RuleError("nothing is returned")
    return body


def check_rule(text: str, ops: Collection[str], bound: Collection[str]) -> set[str]:
    """Checks that every name of a rule is bound; returns the names of the ops that it calls."""
    ops = frozenset(ops)
    bound = frozenset(bound)
    body = parse_rule(text)
    called: set[str] = set()
    stored = {node.id for s in body for node in ast.walk(s) if isinstance(node, ast.Name) and _is_store(node)}
    for name in stored & (FACTS | MODULES | ENVIRONMENT):
        raise RuleError(f"{name!r} may not be assigned")
    for statement in body:
        for node in ast.walk(statement):
            if isinstance(node, ast.Import | ast.ImportFrom | ast.Global | ast.FunctionDef | ast.ClassDef):
                raise RuleError(f"a rule has no {type(node).__name__}")
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ops:
                called.add(node.func.id)
            if isinstance(node, ast.Name) and not _is_store(node) and node.id not in bound | stored:
                allowed = node.id in FACTS | BUILTINS | MODULES | ENVIRONMENT | CONSTANTS or node.id in called
                if not allowed and node.id not in ops:
                    raise RuleError(
                        f"{node.id!r} is no op, input, output, attribute, fact or allowed builtin"
                    )
    return called


def rewrite_rule(text: str, ops: Collection[str]) -> list[ast.stmt]:
    """The statements of a rule with every call of an op turned into a call on `F`."""
    rewriter = _OpCalls(ops)
    return [ast.fix_missing_locations(rewriter.visit(statement)) for statement in parse_rule(text)]


def values_used(text: str, names: Collection[str]) -> set[str]:
    """Which of `names` a rule needs as values, not merely for their shape or dtype."""
    facts = {"shape", "dtype", "ndim", "size"}
    used: set[str] = set()
    for statement in parse_rule(text):
        harmless: set[int] = set()
        for node in ast.walk(statement):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in facts:
                harmless.add(id(node.value))
            # `x is None` asks whether an optional input is there.
            if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Is | ast.IsNot):
                harmless.add(id(node.left))
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and node.id in names and id(node) not in harmless:
                used.add(node.id)
    return used


class _OpCalls(ast.NodeTransformer):
    def __init__(self, ops: Collection[str]) -> None:
        self.ops = ops

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and (node.func.id in self.ops or node.func.id in ENVIRONMENT):
            node.func = ast.copy_location(
                ast.Attribute(ast.Name("F", ast.Load()), node.func.id, ast.Load()), node.func
            )
        return node


def _is_store(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)
