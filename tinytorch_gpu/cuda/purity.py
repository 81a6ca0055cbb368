"""Pure expressions: evaluating them for lanes that do not need it changes nothing."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from tinytorch_gpu.cuda.functions import known_function
from tinytorch_gpu.cuda.intrinsics import Intrinsic
from tinytorch_gpu.cuda.rewrite_dependence import is_host_known

if TYPE_CHECKING:
    from tinytorch_gpu.cuda.names import Names

__all__ = ["is_pure"]


def is_pure(node: ast.expr, names: Names) -> bool:
    """Tell whether an expression reads no memory and calls no function of the learner.

    Args:
        node: the expression.
        names: what the names in it stand for.
    """
    for part in ast.walk(node):
        if isinstance(part, ast.Subscript) and not is_host_known(part.value):
            return False
        if isinstance(part, ast.Call) and not _is_value(part, names):
            return False
    return True


def _is_value(node: ast.Call, names: Names) -> bool:
    """Tell whether a call only computes: no memory, no other lanes, no function."""
    callee = names.static(node.func)
    if isinstance(callee, Intrinsic):
        return callee.role in ("value", "axes") and callee.needs != "mask"
    return callee is range or known_function(callee) is not None
