"""`record_function`: name a part of a program, so that reports tell what it cost."""

from __future__ import annotations

from contextlib import ContextDecorator
from typing import TYPE_CHECKING

from tinytorch_gpu.errors import UnsupportedError
from tinytorch_gpu.runtime.device import current_device

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from types import TracebackType

__all__ = ["record_function"]


class record_function(ContextDecorator):  # noqa: N801  (torch.profiler's name)
    """Give what happens within a `with` block, or in a function, a row of its own.

    Args:
        name: how the tables and the chrome trace call it.

    Example:
        >>> from tinytorch_gpu.profiler import profile
        >>> from tinytorch_gpu.runtime import to_device
        >>> with profile() as prof, record_function("load"):
        ...     x = to_device([1.0, 2.0])
        >>> prof.key_averages()[0].op, prof.key_averages()[0].copies
        ('load', 1)

    Limits: named on the device that is current when it begins.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        # A decorated function that calls itself enters the same object again.
        self._open: list[AbstractContextManager[None]] = []

    def __enter__(self) -> record_function:  # noqa: PYI034  (Self needs Python 3.11)
        """Begin the range."""
        opened = current_device().timeline.range_scope(self.name)
        opened.__enter__()
        self._open.append(opened)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the range; an error of the block goes on.

        Raises:
            UnsupportedError: it has not begun, or has ended.
        """
        if not self._open:
            raise UnsupportedError(
                f"the range {self.name!r} ends and has not begun",
                where=f"record_function({self.name!r}).__exit__(...)",
                why="each end belongs to one begin, and 0 are open",
                fix=f"with record_function({self.name!r}): ...",
            )
        self._open.pop().__exit__(kind, error, trace)
