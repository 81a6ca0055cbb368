"""Where in the user's code something was asked for: the innermost line outside."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np

__all__ = ["PACKAGE", "user_line"]

# NumPy calls the operators of our arrays.
PACKAGE = str(Path(__file__).parent.parent) + os.sep
NOT_THE_USERS = (PACKAGE, str(Path(np.__file__).parent) + os.sep)


def user_line() -> tuple[str, int] | None:
    """Return file and line of the innermost caller outside this package, or None.

    Example:
        >>> user_line() == ("<doctest tinytorch_gpu.memory.origin.user_line[0]>", 1)
        True
    """
    frame = sys._getframe(1)  # noqa: SLF001  (the only way to see one's callers)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(NOT_THE_USERS):
            return file, frame.f_lineno
        frame = frame.f_back  # type: ignore[assignment]
    return None
