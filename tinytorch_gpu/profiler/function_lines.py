"""The lines of a kernel's source, as its file or notebook cell has them."""

from __future__ import annotations

import ast
import linecache
import textwrap
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tinytorch_gpu.trace import SourceLine

__all__ = ["function_lines"]

Function = ast.FunctionDef | ast.AsyncFunctionDef


def function_lines(known: Iterable[SourceLine]) -> dict[int, str]:
    """Return the whole function that some source lines are of.

    Args:
        known: lines of one function, at least one.

    Returns:
        Text by line number, from the `def` on, without what all lines are indented by.
        Only the known lines, stripped, where the file is gone or has changed since.

    Example:
        >>> from tinytorch_gpu.trace import SourceLine
        >>> function_lines([SourceLine("add", "<gone>", 14, "out[i] = x[i]")])
        {14: 'out[i] = x[i]'}
    """
    lines = sorted(known, key=lambda line: line.line)
    texts = linecache.getlines(lines[0].file)
    if all(_stands_in(texts, line) for line in lines):
        function = _around(texts, lines[0].kernel, lines[-1].line)
        if function is not None:
            return _numbered(texts, function)
    return {line.line: line.text for line in lines}


def _stands_in(texts: Sequence[str], line: SourceLine) -> bool:
    return line.line <= len(texts) and texts[line.line - 1].strip() == line.text


def _around(texts: Sequence[str], name: str, line: int) -> Function | None:
    """The innermost function of that name that holds the line."""
    try:
        tree = ast.parse("".join(texts))
    except SyntaxError:  # a notebook cell with magics
        return None
    found = [
        node
        for node in ast.walk(tree)
        if isinstance(node, Function)
        and node.name == name
        and node.lineno <= line <= (node.end_lineno or 0)
    ]
    return max(found, key=lambda node: node.lineno, default=None)


def _numbered(texts: Sequence[str], function: Function) -> dict[int, str]:
    first, last = function.lineno, function.end_lineno
    text = textwrap.dedent("".join(texts[first - 1 : last]).expandtabs(4))
    return dict(enumerate(text.splitlines(), first))
