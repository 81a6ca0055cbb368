"""Loops over arrays, tuples, `enumerate` and `zip`, written as loops over `range`.

Also `x += y` of a variable becomes `x = x + y`, since reading and assigning may need
two versions of the variable, and `x in (1, 3)` becomes two comparisons. What remains is
what the other rewriting files know.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.cuda.intrinsics import range_length
from tinytorch_gpu.cuda.names import NOT_STATIC
from tinytorch_gpu.cuda.spelling import renamed

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.cuda.names import Names

__all__ = ["desugar"]


def desugar(tree: ast.FunctionDef, names: Names) -> ast.FunctionDef:
    r"""Let every `for` of a kernel go over `range`, in place; return the kernel.

    Args:
        tree: the kernel.
        names: tells what `enumerate` and `zip` stand for.

    Example:
        >>> from tinytorch_gpu.cuda.names import Names
        >>> def k(x):
        ...     for v in x:
        ...         v += 1
        >>> tree = ast.parse("def k(x):\n for v in x:\n  v += 1").body[0]
        >>> loop = desugar(tree, Names(k, tree)).body[0]    # over range(len(x))
        >>> [ast.unparse(statement) for statement in loop.body]
        ['v = x[1k1]', 'v = v + 1']
    """
    _Desugar(names).visit(tree)
    return ast.fix_missing_locations(tree)


@dataclass(frozen=True)
class _Sequence:
    """Something that a loop goes over: its length, and its element at an index."""

    length: ast.expr
    element: Callable[[ast.expr], ast.expr]


class _Desugar(ast.NodeTransformer):
    """Rewrites loops from the inside out."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._count = 0
        self._assigned: set[str] = set()

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        self.generic_visit(node)
        if not isinstance(node.target, ast.Name):
            return node
        old = ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
        value = ast.copy_location(ast.BinOp(old, node.op, node.value), node)
        return ast.copy_location(ast.Assign([node.target], value), node)

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        """Write `x in (1, 3)` as `x == 1 or x == 3`."""
        self.generic_visit(node)
        operator, among = node.ops[0], node.comparators[0]
        # The left side is read several times, so that it must have no effects.
        is_simple = isinstance(node.left, (ast.Name, ast.Constant))
        is_tuple = isinstance(among, ast.Tuple) and bool(among.elts)
        is_membership = isinstance(operator, (ast.In, ast.NotIn)) and len(node.ops) == 1
        if not (is_membership and is_simple and is_tuple):
            return node
        tests: list[ast.expr] = [
            ast.Compare(node.left, [ast.Eq()], [one])
            for one in among.elts  # type: ignore[attr-defined]
        ]
        found = tests[0] if len(tests) == 1 else ast.BoolOp(ast.Or(), tests)
        is_absent = isinstance(operator, ast.NotIn)
        made = ast.UnaryOp(ast.Not(), found) if is_absent else found
        return ast.copy_location(made, node)

    def visit_For(self, node: ast.For) -> Any:
        self.generic_visit(node)
        if self._called(node.iter) is range:
            return node
        names = (n for n in ast.walk(node) if isinstance(n, ast.Name))
        self._assigned = {n.id for n in names if isinstance(n.ctx, ast.Store)}
        before: list[ast.stmt] = []
        sequence = self._sequence(node.iter, before)
        index = self._fresh("k")
        element = sequence.element(renamed(index, "its index", ast.Load()))
        first = ast.Assign([node.target], element)
        made = ast.For(
            renamed(index, "its index", ast.Store()),
            _call(range, sequence.length),
            [first, *node.body],
            node.orelse,
        )
        for statement in (*before, first, made):
            ast.copy_location(statement, node)
        return [*before, made]

    def _called(self, node: ast.expr) -> Any:
        """Return what an expression calls, or NOT_STATIC."""
        is_call = isinstance(node, ast.Call)
        return self._names.static(node.func) if is_call else NOT_STATIC  # type: ignore[attr-defined]

    def _sequence(self, node: ast.expr, before: list[ast.stmt]) -> _Sequence:
        """Describe what a loop goes over; `before` gets what is evaluated once."""
        makers = {range: self._range, enumerate: self._enumerate, zip: self._zip}
        callee = self._called(node)
        for known, make in makers.items():
            if callee is known:
                return make(node.args, before)  # type: ignore[attr-defined]
        is_kept = isinstance(node, ast.Name) and node.id not in self._assigned
        read = _reader(node) if is_kept else self._once(node, before)
        return _Sequence(
            _call(len, read()), lambda k: ast.Subscript(read(), k, ctx=ast.Load())
        )

    def _range(self, bounds: list[ast.expr], before: list[ast.stmt]) -> _Sequence:
        reads = [self._once(bound, before) for bound in bounds]

        def element(k: ast.expr) -> ast.expr:
            start = reads[0]() if len(reads) > 1 else ast.Constant(0)
            step = reads[2]() if len(reads) > 2 else ast.Constant(1)
            return ast.BinOp(start, ast.Add(), ast.BinOp(k, ast.Mult(), step))

        given = ast.Tuple([read() for read in reads], ast.Load())
        return _Sequence(_call(range_length, given), element)

    def _enumerate(self, parts: list[ast.expr], before: list[ast.stmt]) -> _Sequence:
        inner = self._sequence(parts[0], before)
        start = self._once(parts[1] if len(parts) > 1 else ast.Constant(0), before)

        def element(k: ast.expr) -> ast.expr:
            number = ast.BinOp(start(), ast.Add(), k)
            return ast.Tuple([number, inner.element(k)], ast.Load())

        return _Sequence(inner.length, element)

    def _zip(self, parts: list[ast.expr], before: list[ast.stmt]) -> _Sequence:
        inner = [self._sequence(part, before) for part in parts]
        lengths = [sequence.length for sequence in inner]
        least = lengths[0]
        if len(lengths) > 1:
            least = _call(min, *lengths)
        return _Sequence(
            least, lambda k: ast.Tuple([s.element(k) for s in inner], ast.Load())
        )

    def _once(self, node: ast.expr, before: list[ast.stmt]) -> Callable[[], ast.Name]:
        """Evaluate an expression once, before the loop; return how to read it."""
        name, spelled = self._fresh("once"), ast.unparse(node)
        before.append(ast.Assign([renamed(name, spelled, ast.Store())], node))
        return lambda: renamed(name, spelled, ast.Load())

    def _fresh(self, prefix: str) -> str:
        self._count += 1
        return f"1{prefix}{self._count}"  # nobody else's; see `spelling`


def _call(function: Any, *arguments: ast.expr) -> ast.Call:
    """Return a call of a function object, whatever its name is taken for."""
    return ast.Call(ast.Constant(function), list(arguments), [])


def _reader(node: ast.expr) -> Callable[[], ast.Name]:
    """Return how to read a variable as often as needed."""
    return lambda: ast.Name(node.id, ast.Load())  # type: ignore[attr-defined]
