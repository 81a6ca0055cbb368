"""Expressions of a kernel, written as operations on whole batches of lanes.

`x[i] + 1` becomes `add(load(b, m0, v_x, v_i, s1), c1)`: `b` is the batch, `m0` the mask
of the suite, `s1` the site, `c1` a typed constant. In the counted program each
operation is wrapped in `op(b, site, mask, kind, value)`.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from tinytorch_gpu.cuda.constants import compile_time, known_divisor
from tinytorch_gpu.cuda.dummies import typed_constant
from tinytorch_gpu.cuda.from_end import negative_constants
from tinytorch_gpu.cuda.intrinsics import Special
from tinytorch_gpu.cuda.names import NOT_STATIC, Names
from tinytorch_gpu.cuda.operators import (
    BINARY_NAMES,
    COMPARE_NAMES,
    DIVISIONS,
    TOLD,
    UNARY_NAMES,
    fuses,
    kind_of,
)
from tinytorch_gpu.cuda.purity import is_pure
from tinytorch_gpu.cuda.spelling import spell
from tinytorch_gpu.cuda.versions import Converted
from tinytorch_gpu.memory import DeviceArray
from tinytorch_gpu.trace import Site

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.cuda.kernel_source import KernelText

__all__ = ["ExpressionWriter"]

SCALARS = (bool, int, float, np.number, np.bool_)


class ExpressionWriter:
    """Writes expressions without calls; subclasses write calls and statements.

    Args:
        text: the kernel's source, for sites and errors.
        names: which names are local, and what the others stand for.
        is_counted: wrap operations for the recorder.
    """

    is_debug = False

    def __init__(self, text: KernelText, names: Names, *, is_counted: bool) -> None:
        self.text = text
        self.names = names
        self.is_counted = is_counted
        self.constants: dict[str, Any] = {}
        self.mask = "m0"
        self._is_asked = False
        self.needed = ""  # lanes that need what is written, if not all of the mask
        self.is_lazy = False
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
            Converted: self._converted,
        }

    # What subclasses and callers use.

    def write(self, node: ast.expr) -> str:
        """Return the lane program's text of an expression."""
        constant = compile_time(node, self.names)
        if constant is NOT_STATIC:
            written = self.writers[type(node)](node)
        else:
            written = self.keep(constant)
        common = getattr(node, "unified", None)
        return written if common is None else self.converted(written, common)

    def converted(self, written: str, dummy: Any) -> str:
        """Write a value's conversion to the type of a dummy."""
        return f"convert({written}, {self.keep(dummy)})"

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
        from_end = negative_constants(node, self.names)
        return self.keep(Site(self.text.line_of(node), expression, from_end), "s")

    def refuse(self, node: ast.AST, what: str, fix: str = "") -> NoReturn:
        """Raise the error for a construct outside the kernel language."""
        raise self.text.syntax_error(node, what, fix)

    def is_pure(self, node: ast.expr) -> bool:
        """Tell whether evaluating for lanes that do not need it changes nothing."""
        return is_pure(node, self.names)

    # One method for each kind of expression.

    def _constant(self, node: ast.Constant) -> str:
        if node.value is ...:
            return "..."
        return self._typed(node.value)

    def _typed(self, value: Any) -> str:
        """Name a constant with its GPU type: int64 (uint64), float64 or bool."""
        return self.keep(typed_constant(value))

    def _name(self, node: ast.Name) -> str:
        if node.id in self.names.local:
            return f"v_{node.id}"
        return self._static(node, self.names.static(node))

    def _static(self, node: ast.expr, value: Any) -> str:
        """Write a name or attribute that stands for a compile-time value."""
        if isinstance(value, Special):
            return f"{self.keep(value.lower)}(b)"
        if isinstance(value, tuple):
            return f"({''.join(self._static(node, v) + ', ' for v in value)})"
        if isinstance(value, DeviceArray):
            return f"global_array({self.keep(value)})"
        if isinstance(value, np.ndarray):
            return self.keep(self.names.frozen(value))
        return self._typed(value)

    def counted(self, node: ast.AST, kind: str, value: str, *operand: str) -> str:
        """Wrap an operation for the recorder, in the counted program.

        Args:
            node: where it stands.
            kind: how it is counted.
            value: the written operation.
            *operand: the quoted name and the operand that a recorder gets.
        """
        if not self.is_counted:
            return value
        if operand and self.needed:
            operand, self._is_asked = (*operand, self.needed), True
        told = ", ".join((self.site(node), self.mask, repr(kind), value, *operand))
        return f"op(b, {told})"

    def _binary(self, node: ast.BinOp) -> str:
        return self.binary(node, node.op, self.write(node.left), self.write(node.right))

    def binary(self, node: ast.AST, operator: ast.operator, a: str, b: str) -> str:
        """Write `a operator b` of two written operands."""
        name = BINARY_NAMES[type(operator)]
        if isinstance(node, ast.BinOp) and getattr(node, "is_tuple", False):
            return f"({a} + {b})"
        if self.is_debug and name in DIVISIONS:
            b = f"kernel_divisor(b, {self.mask}, {self.site(node)}, {b})"
        right = getattr(node, "right", getattr(node, "value", None))
        kind = kind_of(name, known_divisor(right, self.names))
        if self.is_counted and name in TOLD:
            told_b = self.fresh("t")
            written = f"{name}({a}, {told_b} := {b})"
            return self.counted(node, kind, written, repr(name), told_b)
        told = ("'fused'", "None") if fuses(node, self._is_computed) else ()
        return self.counted(node, kind, f"{name}({a}, {b})", *told)

    def _is_computed(self, node: ast.expr) -> bool:
        return compile_time(node, self.names) is NOT_STATIC

    def _unary(self, node: ast.UnaryOp) -> str:
        written = f"{UNARY_NAMES[type(node.op)]}({self.write(node.operand)})"
        return self.counted(node, "arithmetic", written)

    def _compare(self, node: ast.Compare) -> str:
        known = getattr(node, "known", None)
        if known is not None:
            return self._typed(known)
        return self._chain(node, 0, self.write(node.left))

    def _chain(self, node: ast.Compare, first: int, left: str) -> str:
        """Write the comparisons of `a < b < c` from one on; b is evaluated once."""
        name = COMPARE_NAMES[type(node.ops[first])]
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
        first, *others = node.values
        joined = self.write(first)
        for value in others:
            if self.is_pure(value):
                name, asked = "and_then" if is_and else "or_else", self.fresh("t")
                right, is_asked = self._side(value, asked, "0" if is_and else "1")
                left = f"{asked} := {joined}" if is_asked else joined
                joined = self.counted(node, "arithmetic", f"{name}({left}, {right})")
            else:
                name = "both" if is_and else "either"
                joined = f"b.{name}({self.mask}, {joined}, {self._lazy(value)})"
        return joined

    def _ternary(self, node: ast.IfExp) -> str:
        test = self.write(node.test)
        are_numbers = getattr(node, "is_number", True)
        if are_numbers and self.is_pure(node.body) and self.is_pure(node.orelse):
            asked = self.fresh("t")
            yes, is_asked = self._side(node.body, asked, "0")
            no, is_asked_too = self._side(node.orelse, asked, "1")
            test = f"{asked} := {test}" if is_asked or is_asked_too else test
            return self.counted(node, "arithmetic", f"select({test}, {yes}, {no})")
        sides = f"{self._lazy(node.body)}, {self._lazy(node.orelse)}"
        return f"b.choose({self.mask}, {test}, {sides}, {self.site(node)})"

    def _side(self, node: ast.expr, test: str, which: str) -> tuple[str, bool]:
        """Write a pure side, computed for all lanes; the recorder hears of its own.

        Args:
            node: the side.
            test: the name of what decides.
            which: "0" if the side is for lanes where that is true, else "1".

        Returns:
            What is written, and whether it asks for the test.
        """
        outer, self._is_asked = (self.needed, self._is_asked), False
        self.needed = f"{outer[0] or self.mask}.split(truth({test}))[{which}]"
        written, is_asked = self.write(node), self._is_asked
        self.needed, self._is_asked = outer[0], outer[1] or is_asked
        return written, is_asked

    def _lazy(self, node: ast.expr) -> str:
        """Write a side that is evaluated under a mask of its own."""
        return self._lazily(lambda: self.write(node))

    def _lazily(self, write: Callable[[], str]) -> str:
        outer = self.mask, self.is_lazy, self.needed
        self.mask, self.is_lazy, self.needed = self.fresh("m"), True, ""
        written = f"(lambda {self.mask}: {write()})"
        self.mask, self.is_lazy, self.needed = outer
        return written

    def _subscript(self, node: ast.Subscript) -> str:
        constant = self.names.static(node.value)
        if isinstance(constant, tuple):
            array = self._static(node.value, constant)
        else:
            array = self.write(node.value)
        site = self.site(node, spell(node.value))
        return f"load(b, {self.mask}, {array}, {self.index(node.slice)}, {site})"

    def index(self, node: ast.expr) -> str:
        """Write an index: integers, slices, or a tuple of them."""
        if isinstance(node, ast.Tuple):
            return f"({''.join(self.index(part) + ', ' for part in node.elts)})"
        if not isinstance(node, ast.Slice):
            return self.write(node)
        bounds = (node.lower, node.upper, node.step)
        written = ("None" if b is None else self.write(b) for b in bounds)
        return f"slice({', '.join(written)})"

    def _attribute(self, node: ast.Attribute) -> str:
        value = self.names.static(node)
        if value is not NOT_STATIC:
            return self._static(node, value)
        site = self.site(node, spell(node))
        return f"attribute({self.write(node.value)}, {node.attr!r}, {site})"

    def _converted(self, node: Converted) -> str:
        return self.converted(self.write(node.value), node.dummy)

    def _tuple(self, node: ast.Tuple) -> str:
        if not node.elts:
            self.refuse(node, "an empty tuple in a kernel", "leave it out")
        return f"({', '.join(self.write(part) for part in node.elts)},)"
