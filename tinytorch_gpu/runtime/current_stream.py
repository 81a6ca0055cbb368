"""The current stream: where work goes that names no stream.

Source: PyTorch 2.x, `torch.cuda.stream` and `current_stream`.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, SupportsInt

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["in_stream", "stream_handle"]

_current: ContextVar[int] = ContextVar("current_stream", default=0)


def stream_handle(stream: SupportsInt | None = None) -> int:
    """Return the handle of a stream, or of the current one if none is named.

    Args:
        stream: a stream; 0 and None name none. `cuda.default_stream()` names one.

    Example:
        >>> with in_stream(7):
        ...     stream_handle(), stream_handle(0)
        (7, 7)
        >>> stream_handle()
        0
    """
    return int(stream) if stream else _current.get()


@contextmanager
def in_stream(stream: SupportsInt | None) -> Iterator[None]:
    """Make a stream the current one within the `with` block.

    Args:
        stream: a stream; 0 and None leave the current one.

    Yields:
        Nothing.
    """
    token = _current.set(stream_handle(stream))
    try:
        yield
    finally:
        _current.reset(token)
