"""Arguments of a call in a kernel, by position: keywords and defaults resolved."""

from __future__ import annotations

import ast

from tinytorch_gpu.cuda.spelling import spell
from tinytorch_gpu.errors import KernelTypeError

__all__ = ["bound_arguments"]


def bound_arguments(
    node: ast.Call, parameters: ast.arguments, where: str
) -> list[ast.expr]:
    """Return the expression for each parameter, in their order.

    Args:
        node: the call.
        parameters: what the callee takes.
        where: the line, for errors.

    Raises:
        KernelTypeError: too many, a missing or an unknown argument.

    Example:
        >>> call = ast.parse("f(1, c=3)").body[0].value
        >>> takes = ast.parse("def f(a, b=2, c=0): pass").body[0].args
        >>> [ast.unparse(part) for part in bound_arguments(call, takes, "")]
        ['1', '2', '3']
    """
    names = [argument.arg for argument in parameters.args]
    filled = dict(zip(names, node.args, strict=False))
    for keyword in node.keywords:
        if keyword.arg not in names or keyword.arg in filled:
            raise _misfit(node, names, where, f"`{keyword.arg}` has no place")
        filled[keyword.arg] = keyword.value
    optional = names[len(names) - len(parameters.defaults) :]
    for name, value in zip(optional, parameters.defaults, strict=True):
        filled.setdefault(name, ast.copy_location(value, node))
    missing = [name for name in names if name not in filled]
    if missing or len(node.args) > len(names):
        lacking = f"`{missing[0]}` is missing" if missing else "too many"
        raise _misfit(node, names, where, lacking)
    return [filled[name] for name in names]


def _misfit(
    node: ast.Call, names: list[str], where: str, problem: str
) -> KernelTypeError:
    callee = spell(node.func)
    return KernelTypeError(
        f"`{spell(node)}`: {problem}",
        where=where,
        why=f"`{callee}` takes {len(names)} arguments: {', '.join(names) or 'none'}",
        fix=f"write {callee}({', '.join(names)})",
    )
