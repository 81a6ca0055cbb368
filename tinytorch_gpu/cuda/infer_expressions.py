"""Types of a kernel's expressions, found before any thread runs.

A type is shown by a *dummy*: a NumPy scalar of its dtype, a `KernelArray` of one
element, a tuple of dummies, None. An expression is evaluated with dummies by the very
functions that the lane program will call, so that no second table of types exists.

What is found is noted on the syntax tree: `node.unified` (the dummy of a ternary's or
an `and`'s common type), `node.program` (of a device function's call).
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.cuda.constructs import construct_of
from tinytorch_gpu.cuda.dummies import (
    array_dummy,
    dummy_of,
    index_dummy,
    join_dummies,
    key_of,
)
from tinytorch_gpu.cuda.infer_decided import DecidedTests
from tinytorch_gpu.cuda.intrinsics import Special
from tinytorch_gpu.cuda.names import NOT_STATIC, Names
from tinytorch_gpu.cuda.operators import BINARY_NAMES, COMPARE_NAMES, UNARY_NAMES
from tinytorch_gpu.cuda.spelling import spell
from tinytorch_gpu.errors import KernelTypeError, SimGPUError
from tinytorch_gpu.executor.arithmetic import BINARY, COMPARE, UNARY
from tinytorch_gpu.executor.indexing import get_attribute
from tinytorch_gpu.executor.kernel_array import KernelArray
from tinytorch_gpu.memory import DeviceArray
from tinytorch_gpu.trace import Site

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.cuda.kernel_source import KernelText

__all__ = ["ExpressionTypes", "UnknownTypeError"]


class UnknownTypeError(Exception):
    """A type is not known yet: of a variable in a loop, or of a recursive call."""

    def __init__(self, error: SimGPUError) -> None:
        super().__init__(str(error))
        self.error = error


class ExpressionTypes(DecidedTests):
    """Finds types of expressions; `StatementTypes` adds variables.

    Args:
        text: the kernel's source, for errors.
        names: what names stand for.
    """

    def __init__(self, text: KernelText, names: Names) -> None:
        super().__init__(text, names)
        self.readers: dict[type[ast.expr], Callable[[Any], Any]] = {
            ast.Constant: self._constant,
            ast.Name: self._name,
            ast.BinOp: self._binary,
            ast.UnaryOp: self._unary,
            ast.Compare: self._compare,
            ast.BoolOp: self._bool,
            ast.IfExp: self._ternary,
            ast.Subscript: self._subscript,
            ast.Attribute: self._attribute,
            ast.Tuple: lambda node: tuple(map(self.read, node.elts)),
        }

    def read(self, node: ast.expr) -> Any:
        """Return the dummy of an expression.

        Raises:
            KernelSyntaxError: it is outside the kernel language.
            KernelTypeError: its types do not fit.
            UnknownTypeError: it hangs on a type that is not known yet.
        """
        reader = self.readers.get(type(node))
        if reader is None:
            self.refuse(node, *construct_of(node))
        try:
            return reader(node)
        except SimGPUError as error:
            if not error.where:
                error.where = str(self.text.line_of(node))
            raise

    def variable(self, node: ast.Name) -> Any:
        """Return the dummy of a local variable."""
        raise NotImplementedError

    def ask_again(self, unknown: UnknownTypeError) -> None:
        """Note that a type is not known yet; if it never is, that is the error."""
        raise NotImplementedError

    # One method for each kind of expression.

    def _constant(self, node: ast.Constant) -> Any:
        if node.value is ...:
            return ...
        is_large = isinstance(node.value, int) and not -(2**63) <= node.value < 2**64
        if is_large:
            self.refuse(node, "an integer of more than 64 bits", "use a float")
        dummy = dummy_of(node.value)
        if dummy is NOT_STATIC or isinstance(dummy, str):
            kind = type(node.value).__name__
            self.refuse(node, f"a {kind} constant", "only print takes literal strings")
        return dummy

    def _name(self, node: ast.Name) -> Any:
        if node.id in self.names.local:
            return self.variable(node)
        return self._static(node, self.names.static(node))

    def _static(self, node: ast.expr, value: Any) -> Any:
        if isinstance(value, Special):
            return value.dummy
        spelled = spell(node)
        if value is NOT_STATIC:
            self.refuse(node, f"`{spelled}` is not defined", "pass it as an argument")
        is_host = isinstance(value, np.ndarray)
        dummy = array_dummy(value.dtype, value.ndim) if is_host else dummy_of(value)
        if dummy is NOT_STATIC or isinstance(dummy, str):
            self.refuse(
                node,
                f"`{spelled}` is a {type(value).__name__}, which a kernel cannot "
                "capture",
                f"pass `{spelled}` as an argument of the kernel",
            )
        return dummy

    def _binary(self, node: ast.BinOp) -> Any:
        name = BINARY_NAMES.get(type(node.op))
        if name is None:
            self.refuse(node, f"the operator {type(node.op).__name__}")
        left, right = self.read(node.left), self.read(node.right)
        is_tuple = (
            name == "add" and isinstance(left, tuple) and isinstance(right, tuple)
        )
        node.is_tuple = is_tuple  # type: ignore[attr-defined]
        if is_tuple:
            return left + right
        return dummy_of(BINARY[name](left, right))

    def _unary(self, node: ast.UnaryOp) -> Any:
        return dummy_of(UNARY[UNARY_NAMES[type(node.op)]](self.read(node.operand)))

    def _compare(self, node: ast.Compare) -> Any:
        node.known = self.none_test(node)  # type: ignore[attr-defined]
        if node.known is not None:  # type: ignore[attr-defined]
            return np.True_
        values = [self.read(part) for part in (node.left, *node.comparators)]
        for position, operator in enumerate(node.ops):
            name = COMPARE_NAMES.get(type(operator))
            if name is None:
                self.refuse(node, f"`{spell(node)}`", "compare with ==, <, ...")
            COMPARE[name](values[position], values[position + 1])
        return np.True_

    def _bool(self, node: ast.BoolOp) -> Any:
        stops = isinstance(node.op, ast.Or)
        kept: list[ast.expr] = []
        for value in node.values[:-1]:
            decided = self.decided(value)
            if decided is not (not stops):  # else the next one is the value
                kept.append(value)
            if decided is stops:
                break  # nothing after it is evaluated
        else:
            kept.append(node.values[-1])
        node.kept = kept  # type: ignore[attr-defined]
        return self._common(node, kept)

    def _ternary(self, node: ast.IfExp) -> Any:
        node.decided = self.decided(node.test)  # type: ignore[attr-defined]
        if node.decided is not None:  # type: ignore[attr-defined]
            node.unified = None  # type: ignore[attr-defined]
            return self.read(node.body if node.decided else node.orelse)  # type: ignore[attr-defined]
        self.read(node.test)
        common = self._common(node, [node.body, node.orelse])
        node.is_number = isinstance(common, np.generic)  # type: ignore[attr-defined]
        return common

    def _common(self, node: ast.expr, parts: list[ast.expr]) -> Any:
        """Return the type that unifies those of several parts; note if they differ."""
        dummies = [dummy for part in parts for dummy in self._if_known(part)]
        if not dummies:
            return self.read(parts[0])  # says what is not known
        common = join_dummies(dummies)
        differs = any(key_of(dummy) != key_of(common) for dummy in dummies)
        node.unified = common if differs else None  # type: ignore[attr-defined]
        return common

    def _if_known(self, part: ast.expr) -> list[Any]:
        """Return a part's dummy; of a recursive call none yet: the others tell."""
        try:
            return [self.read(part)]
        except UnknownTypeError as unknown:
            self.ask_again(unknown)
            return []

    def _subscript(self, node: ast.Subscript) -> Any:
        base = self.read(node.value)
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if isinstance(base, tuple):
            return self._element(base, node.slice, node.value)
        indices = tuple(map(self._index, parts))
        if len(parts) == 1 and isinstance(indices[0], tuple):
            indices = indices[0]
        return index_dummy(base, indices, Site(self.text.line_of(node), _spelled(node)))

    def _index(self, node: ast.expr) -> Any:
        if not isinstance(node, ast.Slice):
            return self.read(node)
        bounds = (node.lower, node.upper, node.step)
        return slice(*(None if b is None else self.read(b) for b in bounds))

    def _element(self, base: tuple[Any, ...], index: ast.expr, of: ast.expr) -> Any:
        """Type of a tuple's element: of the one, or of all if they are alike."""
        position = self.names.static(index)
        if isinstance(index, ast.UnaryOp) and isinstance(index.operand, ast.Constant):
            position = -index.operand.value  # type: ignore[operator]
        if isinstance(position, int) and -len(base) <= position < len(base):
            return base[position]
        self.read(index)
        if not base:
            self.refuse(index, "an element of an empty tuple", "leave the loop out")
        keys = set(map(key_of, base))
        if len(keys) != 1:
            raise KernelTypeError(
                f"`{spell(of)}`, of {len(keys)} types, indexed by a variable",
                why="what is picked while the kernel runs has one type",
                fix="make the elements one type, or use a constant index",
            )
        return base[0]

    def _attribute(self, node: ast.Attribute) -> Any:
        value = self.names.static(node)
        is_static = value is not NOT_STATIC
        self.check_exists(node)
        base = None if is_static else self.read(node.value)
        is_layout = isinstance(base, KernelArray) and node.attr != "T"
        is_fixed = is_static and not isinstance(value, (np.ndarray, DeviceArray))
        node.is_host_known = is_fixed or is_layout  # type: ignore[attr-defined]
        if is_static:
            return self._static(node, value)
        site = Site(self.text.line_of(node), spell(node))
        return dummy_of(get_attribute(base, node.attr, site))


def _spelled(node: ast.Subscript) -> str:
    return spell(node.value)
