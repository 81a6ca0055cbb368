"""The syntax tree of a function, only if it is the text of what runs."""

from __future__ import annotations

import ast
import linecache
from functools import lru_cache
from types import CodeType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FunctionType

__all__ = ["Tree", "tree_of"]

Tree = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda


def tree_of(function: FunctionType) -> Tree | None:
    """Return the tree of a function's text; None where no text is what runs.

    A file may have been edited since it was imported: its text counts only if compiling
    it gives the very code of the function.

    Args:
        function: any function, a method or a lambda, too.

    Example:
        >>> tree_of(tree_of).name
        'tree_of'
    """
    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)
    found = _functions_of("".join(lines), code.co_filename)
    return found.get(code)


@lru_cache(maxsize=256)
def _functions_of(text: str, name: str) -> dict[CodeType, Tree]:
    """Return the functions of a text by what they compile to."""
    try:
        tree = ast.parse(text)
        compiled = compile(text, name, "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return {}
    trees: dict[tuple[str, int], list[Tree]] = {}
    for node in ast.walk(tree):
        if isinstance(node, Tree):
            key = getattr(node, "name", "<lambda>"), _first_line(node)
            trees.setdefault(key, []).append(node)
    found: dict[CodeType, Tree] = {}
    for code in _codes(compiled):
        several = trees.get((code.co_name, code.co_firstlineno), [])
        if len(several) == 1:  # of two lambdas in a line nobody knows which is which
            found[code] = several[0]
    return found


def _first_line(node: Any) -> int:
    decorators = getattr(node, "decorator_list", [])
    return int(min(one.lineno for one in (node, *decorators)))


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)
