"""Expressions of a kernel, written as operations on whole batches of lanes.

`x[i] + 1` becomes `add(load(b, m0, v_x, v_i, s1), c1)`: `b` is the batch, `m0` the mask
of the suite, `s1` the site, `c1` a typed constant. In the counted program each
operation is wrapped in `op(site, mask, kind, value)`.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from tinytorch_gpu.cuda.functions import FUNCTIONS
from tinytorch_gpu.cuda.intrinsics import Intrinsic, Special
from tinytorch_gpu.cuda.names import NOT_STATIC, Names
from tinytorch_gpu.executor.arithmetic import SPECIAL_OPERATORS
from tinytorch_gpu.trace import Site

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.cuda.kernel_source import KernelText

__all__ = ["ExpressionWriter", "is_known"]

_BINARY = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.BitAnd: "and_",
    ast.BitOr: "or_",
    ast.BitXor: "xor",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
}
_COMPARE = {
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Eq: "eq",
    ast.NotEq: "ne",
}
_UNARY = {ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert", ast.Not: "not_"}
SCALARS = (bool, int, float, np.number, np.bool_)


class ExpressionWriter:
    """Writes expressions without calls; subclasses write calls and statements.

    Args:
        text: the kernel's source, for sites and errors.
        names: which names are local, and what the others stand for.
        is_counted: wrap operations for the recorder.
    """

    def __init__(self, text: KernelText, names: Names, *, is_counted: bool) -> None:
        self.text = text
        self.names = names
        self.is_counted = is_counted
        self.constants: dict[str, Any] = {}
        self.mask = "m0"
        self._counter = 0
        self.writers: dict[type[ast.expr], Callable[[Any], str]] = {
            ast.Constant: self._constant,
            ast.Name: self._name,
            ast.BinOp: self._binary,
            ast.UnaryOp: self._unary,
            ast.Compare: self._compare,
            ast.BoolOp: self._bool,
            ast.IfExp: self._ternary,
            ast.Subscript: self._subscript,
            ast.Attribute: self._attribute,
            ast.Tuple: self._tuple,
        }

    # What subclasses and callers use.

    def write(self, node: ast.expr) -> str:
        """Return the lane program's text of an expression."""
        writer = self.writers.get(type(node))
        if writer is None:
            self.refuse(node, f"{type(node).__name__} in a kernel")
        return writer(node)

    def fresh(self, prefix: str) -> str:
        """Return a name that is not used yet."""
        self._counter += 1
        return f"{prefix}{self._counter}"

    def keep(self, value: Any, prefix: str = "c") -> str:
        """Give a compile-time value a name in the lane program."""
        name = self.fresh(prefix)
        self.constants[name] = value
        return name

    def site(self, node: ast.AST, expression: str = "") -> str:
        """Return the name of the site of a node."""
        return self.keep(Site(self.text.line_of(node), expression), "s")

    def refuse(self, node: ast.AST, what: str, fix: str = "") -> NoReturn:
        """Raise the error for a construct outside the kernel language."""
        raise self.text.syntax_error(node, what, fix)

    def is_pure(self, node: ast.expr) -> bool:
        """Tell whether evaluating for lanes that do not need it changes nothing."""
        for part in ast.walk(node):
            if isinstance(part, ast.Subscript) and not _is_shape(part.value):
                return False
            if isinstance(part, ast.Call) and self.is_device_call(part):
                return False
        return True

    def is_device_call(self, node: ast.Call) -> bool:
        """Tell whether a call runs another kernel function."""
        callee = self.names.static(node.func)
        is_ours = isinstance(callee, Intrinsic) or callee is range or is_known(callee)
        return not is_ours

    # One method for each kind of expression.

    def _constant(self, node: ast.Constant) -> str:
        if node.value is None or isinstance(node.value, SCALARS):
            return self._typed(node.value)
        raise self.text.syntax_error(node, f"a {type(node.value).__name__} constant")

    def _typed(self, value: Any) -> str:
        """Name a constant with its GPU type: int64 (uint64), float64 or bool."""
        is_large = type(value) is int and value >= 2**63
        integer = np.uint64 if is_large else np.int64
        kinds: dict[type, Any] = {bool: np.bool_, int: integer, float: np.float64}
        made = kinds.get(type(value))
        return self.keep(made(value) if made else value)

    def _name(self, node: ast.Name) -> str:
        if node.id in self.names.local:
            return f"v_{node.id}"
        return self._static(node, self.names.static(node))

    def _static(self, node: ast.expr, value: Any) -> str:
        """Write a name or attribute that stands for a compile-time value."""
        if isinstance(value, Special):
            return f"{self.keep(value.lower)}(b)"
        if isinstance(value, SCALARS) or value is None:
            return self._typed(value)
        if isinstance(value, tuple) and all(isinstance(v, SCALARS) for v in value):
            return f"({', '.join(self._typed(v) for v in value)},)"
        spelled = ast.unparse(node)
        if value is NOT_STATIC:
            self.refuse(node, f"`{spelled}` is not defined", "pass it as an argument")
        raise self.text.syntax_error(
            node,
            f"`{spelled}` is a {type(value).__name__}, which a kernel cannot capture",
            f"pass `{spelled}` as an argument of the kernel",
        )

    def counted(self, node: ast.AST, kind: str, value: str) -> str:
        """Wrap an operation for the recorder, in the counted program."""
        if not self.is_counted:
            return value
        return f"op({self.site(node)}, {self.mask}, {kind!r}, {value})"

    def _binary(self, node: ast.BinOp) -> str:
        return self.binary(node, node.op, self.write(node.left), self.write(node.right))

    def binary(self, node: ast.AST, operator: ast.operator, a: str, b: str) -> str:
        """Write `a operator b` of two written operands."""
        name = _BINARY.get(type(operator))
        if name is None:
            self.refuse(node, f"the operator {type(operator).__name__}")
        kind = "special" if name in SPECIAL_OPERATORS else "arithmetic"
        return self.counted(node, kind, f"{name}({a}, {b})")

    def _unary(self, node: ast.UnaryOp) -> str:
        operand = node.operand
        constant = operand.value if isinstance(operand, ast.Constant) else None
        if isinstance(node.op, ast.USub) and type(constant) in (int, float):
            return self._typed(-constant)  # type: ignore[operator]
        written = f"{_UNARY[type(node.op)]}({self.write(operand)})"
        return self.counted(node, "arithmetic", written)

    def _compare(self, node: ast.Compare) -> str:
        return self._chain(node, 0, self.write(node.left))

    def _chain(self, node: ast.Compare, first: int, left: str) -> str:
        """Write the comparisons of `a < b < c` from one on; b is evaluated once."""
        name = _COMPARE.get(type(node.ops[first]))
        if name is None:
            self.refuse(node, f"`{ast.unparse(node)}`", "compare with ==, <, ...")
        right = self.write(node.comparators[first])
        rest = node.comparators[first + 1 :]
        middle = self.fresh("t")
        given = f"({middle} := {right})" if rest else right
        pair = self.counted(node, "compare", f"{name}({left}, {given})")
        if not rest:
            return pair
        if all(map(self.is_pure, rest)):
            return f"and_({pair}, {self._chain(node, first + 1, middle)})"
        later = self._lazily(lambda: self._chain(node, first + 1, middle))
        return f"b.both({self.mask}, {pair}, {later})"

    def _bool(self, node: ast.BoolOp) -> str:
        """Write `and`/`or`: at once if the right side is pure, else lane by lane."""
        is_and = isinstance(node.op, ast.And)
        joined = self.write(node.values[0])
        for value in node.values[1:]:
            if self.is_pure(value):
                name = "and_then" if is_and else "or_else"
                written = f"{name}({joined}, {self.write(value)})"
                joined = self.counted(node, "arithmetic", written)
            else:
                name = "both" if is_and else "either"
                joined = f"b.{name}({self.mask}, {joined}, {self._lazy(value)})"
        return joined

    def _ternary(self, node: ast.IfExp) -> str:
        test = self.write(node.test)
        if self.is_pure(node.body) and self.is_pure(node.orelse):
            sides = f"{self.write(node.body)}, {self.write(node.orelse)}"
            return self.counted(node, "arithmetic", f"select({test}, {sides})")
        sides = f"{self._lazy(node.body)}, {self._lazy(node.orelse)}"
        return f"b.choose({self.mask}, {test}, {sides}, {self.site(node)})"

    def _lazy(self, node: ast.expr) -> str:
        """Write a side that is evaluated under a mask of its own."""
        return self._lazily(lambda: self.write(node))

    def _lazily(self, write: Callable[[], str]) -> str:
        outer, self.mask = self.mask, self.fresh("m")
        written = f"(lambda {self.mask}: {write()})"
        self.mask = outer
        return written

    def _subscript(self, node: ast.Subscript) -> str:
        constant = self.names.static(node.value)
        if isinstance(constant, tuple):
            array = self._static(node.value, constant)
        else:
            array = self.write(node.value)
        site = self.site(node, ast.unparse(node.value))
        return f"load(b, {self.mask}, {array}, {self.index(node.slice)}, {site})"

    def index(self, node: ast.expr) -> str:
        """Write an index; slices are outside the language for now."""
        for part in node.elts if isinstance(node, ast.Tuple) else [node]:
            if isinstance(part, ast.Slice):
                self.refuse(node, "a slice in a kernel", "index element by element")
        return self.write(node)

    def _attribute(self, node: ast.Attribute) -> str:
        value = self.names.static(node)
        if value is not NOT_STATIC:
            return self._static(node, value)
        site = self.site(node, ast.unparse(node))
        return f"attribute({self.write(node.value)}, {node.attr!r}, {site})"

    def _tuple(self, node: ast.Tuple) -> str:
        if not node.elts:
            self.refuse(node, "an empty tuple in a kernel", "leave it out")
        return f"({', '.join(self.write(part) for part in node.elts)},)"


def _is_shape(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in ("shape", "strides")


def is_known(callee: Any) -> bool:
    """Tell whether a call's target is in the table of functions."""
    try:
        return callee in FUNCTIONS
    except TypeError:  # unhashable
        return False
