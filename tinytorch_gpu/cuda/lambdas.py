"""Lambdas: which one of a file a function is, and how it looks as a `def`."""

from __future__ import annotations

import ast
from types import CodeType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import FunctionType

__all__ = ["matching_lambdas"]


def matching_lambdas(module: ast.Module, function: FunctionType) -> list[ast.stmt]:
    """Return the different lambdas of a file that a function may be, each as a `def`.

    Args:
        module: the file.
        function: made by a lambda in it.

    Example:
        >>> sums = lambda a: a + 1
        >>> module = ast.parse("f = lambda a: a + 1; g = lambda a: a + 2")
        >>> sums.__code__ = sums.__code__.replace(co_firstlineno=1)
        >>> [ast.unparse(d.body[0]) for d in matching_lambdas(module, sums)]
        ['return a + 1']
    """
    code = function.__code__
    lambdas = (n for n in ast.walk(module) if isinstance(n, ast.Lambda))
    in_line = (n for n in lambdas if n.lineno == code.co_firstlineno)
    same = (n for n in in_line if _signature(_compiled(n, code)) == _signature(code))
    by_text = {ast.dump(node): node for node in same}
    return [_as_function(node) for node in by_text.values()]


def _signature(code: CodeType) -> tuple[object, ...]:
    """Everything that tells two lambdas of a line apart."""
    constants = [repr(c) for c in code.co_consts if not isinstance(c, CodeType)]
    return code.co_code, constants, code.co_names, code.co_varnames, code.co_freevars


def _compiled(node: ast.Lambda, like: CodeType) -> CodeType:
    """Compile a lambda with the same names around it, so that they are closed over."""
    outer = ast.parse(f"def outer({', '.join(like.co_freevars)}): return None").body[0]
    outer.body[0].value = node  # type: ignore[attr-defined]
    module = compile(ast.Module([outer], []), "<lambda>", "exec")
    around = next(c for c in module.co_consts if isinstance(c, CodeType))
    return next(c for c in around.co_consts if isinstance(c, CodeType))


def _as_function(node: ast.Lambda) -> ast.stmt:
    body = ast.copy_location(ast.Return(node.body), node.body)
    made = ast.parse("def lambda_(): pass").body[0]
    made.args, made.body = node.args, [body]  # type: ignore[attr-defined]
    return ast.copy_location(made, node)
