"""Issue a `KernelWarning` at the kernel's line, by Python's own rules for warnings."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.errors import KernelWarning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tinytorch_gpu.trace import SourceLine

__all__ = ["hearing", "warn_at"]

_shown: dict[Any, Any] = {}  # Python keeps here which texts it has shown at which lines
_hearers: list[Callable[[KernelWarning], bool]] = []


@contextmanager
def hearing(hear: Callable[[KernelWarning], bool]) -> Iterator[None]:
    """Let somebody hear the warnings of a `with` block first.

    Args:
        hear: gets each warning; the warning is not issued if it returns true.

    Yields:
        Nothing.
    """
    _hearers.append(hear)
    try:
        yield
    finally:
        _hearers.remove(hear)


def warn_at(line: SourceLine, warning: KernelWarning) -> None:
    """Issue a warning as if the kernel's own line had.

    By default Python shows a line's warning once for each text: a launch whose numbers
    differ warns again.

    Args:
        line: the line that the warning is about.
        warning: its text in four parts, and facts.

    Raises:
        KernelWarning: the reader's filters turn warnings into errors.
    """
    if any(hear(warning) for hear in _hearers):
        return
    warnings.warn_explicit(
        warning, KernelWarning, line.file, line.line, registry=_shown
    )
