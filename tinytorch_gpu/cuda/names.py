"""Names in a kernel: which are local variables, and what the others stand for.

A name that the kernel does not assign is looked up once, in the closure and then the
globals, and frozen, as numba does at the first compilation. `cuda` is recognised by
what it *is*, never by how it is spelled.
"""

from __future__ import annotations

import ast
import builtins
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.cuda.captured import Captured
from tinytorch_gpu.executor.constant_memory import freeze
from tinytorch_gpu.units import is_whole

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FunctionType

    from tinytorch_gpu.executor.constant_memory import ConstantArray
    from tinytorch_gpu.trace import SourceLine

__all__ = ["NOT_STATIC", "Names"]

NOT_STATIC: Any = object()
_FOLDED: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: lambda a, b: a // b,
    ast.Pow: lambda a, b: a**b,
}


class Names:
    """The names of one kernel.

    Args:
        function: the kernel.
        tree: its syntax tree.
        frozen: host arrays that were taken over before, by identity.
        line: where the kernel begins; None keeps no notes of what is looked up.
    """

    def __init__(
        self,
        function: FunctionType,
        tree: ast.FunctionDef,
        frozen: dict[int, tuple[Any, ConstantArray]] | None = None,
        line: SourceLine | None = None,
    ) -> None:
        self.captured: dict[str, Captured] = {}
        self._line = line
        self._frozen = {} if frozen is None else frozen
        self.parameters = tuple(a.arg for a in tree.args.args)
        self.local = _assigned(tree) | set(self.parameters)
        self._globals = function.__globals__
        cells = zip(
            function.__code__.co_freevars, function.__closure__ or (), strict=True
        )
        self._closure = dict(cells)
        self.single = _assigned_once(tree, self.parameters)
        self._resolving: set[str] = set()

    def lookup(self, name: str) -> Any:
        """Return what a non-local name stands for, or NOT_STATIC when nothing."""
        holder: Any = self._closure.get(name, self._globals)
        try:
            is_global = holder is self._globals
            value = holder[name] if is_global else holder.cell_contents
        except KeyError:
            return getattr(builtins, name, NOT_STATIC)
        except ValueError:  # the enclosing function has not assigned it yet
            return NOT_STATIC
        if self._line is not None and name not in self.captured:
            self.captured[name] = Captured(self._line, name, holder, value)
        return value

    def frozen(self, array: Any) -> ConstantArray:
        """Return the constant copy of a host array, taken when it is first met.

        Args:
            array: a NumPy array that the kernel finds outside its body.
        """
        if id(array) not in self._frozen:
            self._frozen[id(array)] = (array, freeze(array))
        return self._frozen[id(array)][1]

    def static(self, node: ast.AST) -> Any:
        """Return the compile-time value of an expression, or NOT_STATIC."""
        if isinstance(node, ast.Constant):
            return node.value
        if isinstance(node, ast.Name):
            return (
                self._variable(node.id)
                if node.id in self.local
                else (self.lookup(node.id))
            )
        if isinstance(node, ast.Attribute):
            base = self.static(node.value)
            return base if base is NOT_STATIC else getattr(base, node.attr, NOT_STATIC)
        if isinstance(node, ast.Tuple):
            parts = tuple(self.static(part) for part in node.elts)
            return NOT_STATIC if NOT_STATIC in parts else parts
        if isinstance(node, ast.BinOp):
            return self._folded(node)
        return self._element(node) if isinstance(node, ast.Subscript) else NOT_STATIC

    def _variable(self, name: str) -> Any:
        """Return the value of a variable that is assigned once, if it is a constant."""
        value = self.single.get(name)
        if value is None or name in self._resolving:
            return NOT_STATIC
        self._resolving.add(name)
        try:
            return self.static(value)
        finally:
            self._resolving.discard(name)

    def _element(self, node: ast.Subscript) -> Any:
        """Return an element of a constant tuple, such as `SHAPE[0]`."""
        base, index = self.static(node.value), self.static(node.slice)
        is_inside = isinstance(base, tuple) and is_whole(index)
        return (
            base[index]
            if is_inside and -len(base) <= index < len(base)
            else (NOT_STATIC)
        )

    def _folded(self, node: ast.BinOp) -> Any:
        """Fold arithmetic on compile-time integers, such as `2 * TILE`."""
        left, right = self.static(node.left), self.static(node.right)
        fold = _FOLDED.get(type(node.op))
        if fold is None or not (is_whole(left) and is_whole(right)):
            return NOT_STATIC
        try:
            return fold(int(left), int(right))
        except (ZeroDivisionError, OverflowError):
            return NOT_STATIC  # left to the kernel, which has rules of its own


def _assigned_once(
    tree: ast.FunctionDef, parameters: tuple[str, ...]
) -> dict[str, ast.expr]:
    """Return the values of variables that a single assignment sets, for all lanes."""
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name)]
    stored = [node.id for node in names if isinstance(node.ctx, ast.Store)]
    found = {
        target.id: node.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        for target in node.targets
        if isinstance(target, ast.Name) and target.id not in parameters
    }
    return {name: value for name, value in found.items() if stored.count(name) == 1}


def _assigned(tree: ast.FunctionDef) -> set[str]:
    """Return the names that the kernel assigns anywhere."""
    nodes = (node for node in ast.walk(tree) if isinstance(node, ast.Name))
    return {node.id for node in nodes if isinstance(node.ctx, ast.Store)}
