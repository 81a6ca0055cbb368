"""Variables of several types, told apart: each version gets a name of its own.

`v = 0` before a loop and `v = v + x[i]` in it are two versions, `1v__int64` and
`1v__float64`; at the end of the path that leads into the loop stands a conversion. A
variable of one type keeps its name.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.cuda.dummies import key_of
from tinytorch_gpu.cuda.spelling import renamed
from tinytorch_gpu.executor.arithmetic import cast

if TYPE_CHECKING:
    from tinytorch_gpu.cuda.infer_variables import Conversion, VariableTypes

__all__ = ["Converted", "convert", "separate_versions"]


class Converted(ast.expr):
    """A value converted to the type of a dummy: numba's cast where paths meet."""

    _fields = ("value",)

    def __init__(self, value: ast.expr, dummy: Any) -> None:
        super().__init__()
        self.value = value
        self.dummy = dummy


def convert(value: Any, dummy: Any) -> Any:
    """Return lanes' values in the types of a dummy, tuples part by part.

    Example:
        >>> convert((np.int64(2), np.float32(0.5)), (np.float64(1), np.float32(1)))
        (np.float64(2.0), np.float32(0.5))
    """
    if isinstance(dummy, tuple):
        return tuple(map(convert, value, dummy))
    return cast(value, dummy.dtype) if isinstance(dummy, np.generic) else value


def separate_versions(tree: ast.FunctionDef, types: VariableTypes) -> dict[str, Any]:
    """Rename versions and write conversions into the tree, in place.

    Args:
        tree: the kernel, with its types noted on it.
        types: what was found.

    Returns:
        The dummy of each variable, by its new name.
    """
    several = {n: keys for n, keys in types.versions.items() if len(keys) > 1}
    if several:
        for node in ast.walk(tree):
            if isinstance(node, ast.Name) and node.id in several:
                version = getattr(node, "version", None)
                if version:
                    node.spelled = getattr(node, "spelled", node.id)  # type: ignore[attr-defined]
                    node.id = _name(node.id, version)
    _Insert(types.conversions).visit(tree)
    tree.body[:0] = [
        _assign(a.arg, next(iter(several[a.arg])), ast.Name(a.arg, ast.Load()))
        for a in tree.args.args
        if a.arg in several
    ]
    ast.fix_missing_locations(tree)
    return {
        _name(variable, key) if variable in several else variable: dummy
        for variable, versions in types.versions.items()
        for key, dummy in versions.items()
    }


def _name(variable: str, key: str) -> str:
    """Return the name of a version, which starts with a digit; see `spelling`."""
    return f"1{variable}__" + "".join(c if c.isalnum() else "_" for c in key)


def _assign(variable: str, key: str, value: ast.expr) -> ast.stmt:
    return ast.Assign([renamed(_name(variable, key), variable, ast.Store())], value)


def _converting(conversion: Conversion) -> ast.stmt:
    name = conversion.name
    old = renamed(_name(name, conversion.old), name, ast.Load())
    return _assign(name, key_of(conversion.new), Converted(old, conversion.new))


class _Insert(ast.NodeTransformer):
    """Puts conversions before statements and at the end of suites."""

    def __init__(
        self, conversions: dict[tuple[str, int], dict[str, Conversion]]
    ) -> None:
        self._conversions = conversions

    def visit(self, node: ast.AST) -> Any:
        """Insert into one statement and those nested in it."""
        if not isinstance(node, (ast.stmt, ast.ExceptHandler)):
            return node
        key = id(node)
        self.generic_visit(node)
        for place in ("body", "orelse"):
            suite = getattr(node, place, None)
            if isinstance(suite, list):
                suite += self._made(place, key, node)
        before = self._made("before", key, node)
        return [*before, node] if before else node

    def _made(self, place: str, key: int, node: ast.AST) -> list[ast.stmt]:
        found = self._conversions.get((place, key), {}).values()
        made = [_converting(c) for c in found]
        return [ast.copy_location(statement, node) for statement in made]
