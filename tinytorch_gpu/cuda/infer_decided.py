"""What constants and types alone decide, before a kernel runs.

`if MODE == 1`, `if x.ndim == 2`, `if limit is None`: the compiler drops the side that
is never taken, and with it the side's types. Also which names exist at all.
"""

from __future__ import annotations

import ast
import difflib
import operator
from typing import TYPE_CHECKING, Any, NoReturn

from tinytorch_gpu.cuda.dummies import SCALARS
from tinytorch_gpu.cuda.names import NOT_STATIC
from tinytorch_gpu.cuda.operators import COMPARE_NAMES
from tinytorch_gpu.cuda.spelling import spell
from tinytorch_gpu.executor.kernel_array import KernelArray

if TYPE_CHECKING:
    from tinytorch_gpu.cuda.kernel_source import KernelText
    from tinytorch_gpu.cuda.names import Names

__all__ = ["DecidedTests"]


class DecidedTests:
    """Finds tests whose outcome is known; `ExpressionTypes` reads expressions.

    Args:
        text: the kernel's source, for errors.
        names: what names stand for.
    """

    def __init__(self, text: KernelText, names: Names) -> None:
        self.text = text
        self.names = names

    def read(self, node: ast.expr) -> Any:
        """Return the dummy of an expression."""
        raise NotImplementedError

    def refuse(self, node: ast.AST, what: str, fix: str = "") -> NoReturn:
        """Raise the error for a construct outside the kernel language.

        Raises:
            KernelSyntaxError: always.
        """
        raise self.text.syntax_error(node, what, fix)

    def decided(self, node: ast.expr) -> bool | None:
        """Return what a test is that constants or types alone decide, else None.

        The compiler drops the side that is never taken, and with it the side's types.
        """
        value = self.names.static(node)
        if value is None or isinstance(value, SCALARS):
            return bool(value)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self.decided(node.operand)
            return None if inner is None else not inner
        if isinstance(node, ast.BoolOp):
            return self._decided_together(node)
        known = self.none_test(node)
        return self._constant_test(node) if known is None else known

    def _decided_together(self, node: ast.BoolOp) -> bool | None:
        """Return what `and` or `or` is whose parts are decided, else None."""
        stops = isinstance(node.op, ast.Or)
        for value in node.values:
            decided = self.decided(value)
            if decided is None or decided is stops:
                return decided
        return not stops

    def _constant_test(self, node: ast.expr) -> bool | None:
        """Return what `x.ndim == 2` or `MODE == "fast"` is, else None."""
        if not isinstance(node, ast.Compare) or len(node.ops) != 1:
            return None
        name = COMPARE_NAMES.get(type(node.ops[0]))
        sides = [self._constant_of(n) for n in (node.left, node.comparators[0])]
        if name is None or not all(isinstance(s, (str, *SCALARS)) for s in sides):
            return None
        if any(isinstance(side, str) for side in sides) and name not in ("eq", "ne"):
            return None
        return bool(getattr(operator, name)(*sides))

    def _constant_of(self, node: ast.expr) -> Any:
        """Return a constant's value, an array's number of axes, or NOT_STATIC."""
        value = self.names.static(node)
        is_ndim = isinstance(node, ast.Attribute) and node.attr == "ndim"
        if value is not NOT_STATIC or not is_ndim:
            return value
        base = self.read(node.value)  # type: ignore[attr-defined]
        return len(base.lengths) if isinstance(base, KernelArray) else NOT_STATIC

    def none_test(self, node: ast.expr) -> bool | None:
        """Return what `x is None` is, which types alone decide; else None."""
        if not isinstance(node, ast.Compare) or len(node.ops) != 1:
            return None
        operator, right = node.ops[0], node.comparators[0]
        is_none = isinstance(right, ast.Constant) and right.value is None
        if not is_none or not isinstance(operator, (ast.Is, ast.IsNot)):
            return None
        return (self.read(node.left) is None) == isinstance(operator, ast.Is)

    def check_exists(self, node: ast.Attribute) -> None:
        """Refuse a name that a module or the like does not have.

        Raises:
            KernelSyntaxError: it has none; says which is spelled alike.
        """
        owner = self.names.static(node.value)
        if owner is NOT_STATIC or hasattr(owner, node.attr):
            return
        near = difflib.get_close_matches(node.attr, dir(owner), n=1)
        fix = (
            f"did you mean `{spell(node.value)}.{near[0]}`?"
            if near
            else ("look the name up in docs/reference/cuda.md")
        )
        self.refuse(node, f"`{spell(node)}` does not exist", fix)
