"""Globals that a kernel reads: compiled in once, and told when they are another later.

`Names` notes what it finds outside a function (`Captured`); each compiled program keeps
the notes of its functions, and every launch looks at them. That costs one
look-up and one `is` for each name.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.errors import KernelWarning
from tinytorch_gpu.executor.notices import warn_at
from tinytorch_gpu.memory import DeviceArray
from tinytorch_gpu.trace.text_table import shorten

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from types import CellType

    from tinytorch_gpu.trace import SourceLine

__all__ = ["Captured", "warn_of_changes"]

LONGEST = 30  # characters of a value that a message shows
PLAIN = (bool, int, float, complex, str, bytes, np.generic, np.dtype)
GONE: Any = object()


class Captured:
    """A name that a program found outside the function, and what it stood for.

    Args:
        line: where the function that reads it begins.
        name: as the function spells it.
        holder: the globals, or the closure's cell.
        value: what it stood for when the program was compiled.
    """

    def __init__(
        self, line: SourceLine, name: str, holder: dict[str, Any] | CellType, value: Any
    ) -> None:
        self.line = line
        self.name = name
        self.value = self.seen = value
        self.now: Callable[[], Any] = (
            partial(holder.get, name, GONE)
            if isinstance(holder, dict)
            else partial(_content, holder)
        )
        self.key = id(holder), name, id(value)


def _content(cell: CellType) -> Any:
    """Return what a closure's variable holds."""
    try:
        return cell.cell_contents
    except ValueError:  # it was deleted
        return GONE


def warn_of_changes(captures: Iterable[Captured]) -> None:
    """Warn once of each name that stands for something else than it was compiled with.

    What a host array holds is not looked at, unless the name is given another array.

    Args:
        captures: what a program was compiled with.

    Raises:
        KernelWarning: the reader's filters turn warnings into errors.
    """
    for captured in captures:
        now = captured.now()
        if now is not captured.seen:
            captured.seen = now
            if now is not GONE and not _is_same(captured.value, now):
                _warn(captured, now)


def _is_same(before: Any, now: Any) -> bool:
    """Tell whether a program compiled with either would be the same."""
    if before is now:
        return True
    if type(before) is not type(now):
        return False
    if isinstance(before, tuple):
        return len(before) == len(now) and all(map(_is_same, before, now))
    if isinstance(before, np.ndarray):
        return before.dtype == now.dtype and np.array_equal(before, now)
    if isinstance(before, PLAIN):
        return bool(before == now)
    # A function of the same text: a notebook's cell was run again.
    code = getattr(getattr(before, "py_func", before), "__code__", None)
    return code is not None and code == getattr(now, "py_func", now).__code__


def _warn(captured: Captured, now: Any) -> None:
    line, name = captured.line, captured.name
    given, compiled = _shown(now), _shown(captured.value)
    what = f"`{name}` is {given} now; {line.kernel} was compiled with {compiled}"
    if given == compiled:
        what = f"`{name}` is not the {given} that {line.kernel} was compiled with"
    warning = KernelWarning(
        what,
        where=str(line),
        why="a kernel keeps what names outside it stood for when it was compiled",
        fix=f"run the kernel's `@cuda.jit` again after `{name}` has changed,\n"
        "or pass the value as an argument",
        kernel=line.kernel,
        line=line.line,
        name=name,
        compiled=captured.value,
        now=now,
    )
    warn_at(line, warning)


def _shown(value: Any) -> str:
    """Return a value in a few words."""
    if isinstance(value, (np.ndarray, DeviceArray)):
        return f"{value.dtype} array {value.shape}"
    return shorten(repr(value).partition("\n")[0], LONGEST)
