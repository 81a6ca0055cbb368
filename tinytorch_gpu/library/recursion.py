"""An op whose function calls the op again, and so on: refused in the op's own terms.

Python's limit would come in the middle of whatever is at work there, a launch perhaps,
and tell of that. So a circle of ops ends a little earlier.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tinytorch_gpu.errors import OpRecursionError
from tinytorch_gpu.library.keys import DispatchKey
from tinytorch_gpu.library.log_text import path_text
from tinytorch_gpu.library.registry import shipped

if TYPE_CHECKING:
    from tinytorch_gpu.library.routes import Route

__all__ = ["Opened", "check_is_no_circle"]

Opened = tuple[tuple[str, "Route"], ...]

LEAST = 8  # calls of one op within each other that are no coincidence
ROOM = 300  # calls of Python that the last one may need, with what it launches


def check_is_no_circle(op: str, opened: Opened) -> None:
    """Refuse a call of an op within itself that Python has hardly room for.

    Args:
        op: the op, by its qualified name.
        opened: the ops that are open around the call, the outermost first.

    Raises:
        OpRecursionError: there are many, and the room is used up.
    """
    if len(opened) < LEAST:
        return
    same = [i for i, (name, _) in enumerate(opened) if name == op]
    if len(same) < LEAST or _depth() < sys.getrecursionlimit() - ROOM:
        return
    raise _told(dict(opened[same[-1] :]), len(same))


def _depth() -> int:
    """Count Python's calls that are open."""
    depth, frame = 0, sys._getframe()  # noqa: SLF001  (the only way to see one's callers)
    while frame is not None:
        depth, frame = depth + 1, frame.f_back  # type: ignore[assignment]
    return depth


def _told(ops: dict[str, Route], count: int) -> OpRecursionError:
    """Tell a circle of ops, each with what served it; the first one is called again."""
    first, *others = ops
    through = f" through {', '.join(f'`{op}`' for op in others)}" if others else ""
    found = [route.found.source for route in ops.values() if route.found]
    return OpRecursionError(
        f"op `{first}` calls itself{through}, without end",
        where="\n".join(f"{op}: {path_text(r.path)}" for op, r in ops.items()),
        why="a call of the op, by an operator as `x + y` too, begins at the first key\n"
        f"and comes to the same function again: {count} calls within each other, as\n"
        f"many as fit into Python's {sys.getrecursionlimit()}",
        fix=f"{_other_way(first)}; or register\n"
        'the function at "Autograd": from there a call goes on at the next key',
        op=first,
        ops=tuple(ops),
        sites=tuple(f"{source.file}:{source.line}" for source in found),
    )


def _other_way(op: str) -> str:
    kernel = shipped(op, DispatchKey.SIMGPU)
    if kernel is None:
        return "launch a kernel there, or call other ops"
    module, name = kernel.function.__module__, kernel.source.name
    return f"call the shipped kernel:\nfrom {module} import {name}"
