"""Issue a `KernelWarning` at the kernel's line, by Python's own rules for warnings."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.errors import KernelWarning

if TYPE_CHECKING:
    from tinytorch_gpu.trace import SourceLine

__all__ = ["warn_at"]

_shown: dict[Any, Any] = {}  # Python keeps here which texts it has shown at which lines


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
    warnings.warn_explicit(
        warning, KernelWarning, line.file, line.line, registry=_shown
    )
