"""The current stream: where work goes that names no stream.

Source: PyTorch 2.x, `torch.cuda.stream` and `current_stream`.
"""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, SupportsInt

from tinytorch_gpu.errors import KernelTypeError
from tinytorch_gpu.units import is_whole

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = [
    "check_names_stream",
    "in_handle",
    "in_stream",
    "know_handle",
    "no_stream",
    "stream_handle",
]

_current: ContextVar[int] = ContextVar("current_stream", default=0)
_known = {1, 2}  # handles of streams: CUDA's two default ones, and what was made


def know_handle(handle: int) -> None:
    """Remember the handle of a stream that is made.

    Args:
        handle: the handle; from now on it names a stream as the stream itself does.
    """
    if _is_handle(handle):
        _known.add(int(handle))


def stream_handle(stream: SupportsInt | None = None) -> int:
    """Return the handle of a stream, or of the current one if none is named.

    Args:
        stream: a stream, or the handle of one that was made; 0 and None name none.
            `cuda.default_stream()` names one.

    Raises:
        KernelTypeError: it is no stream and no handle of one.

    Example:
        >>> from tinytorch_gpu.runtime.stream import Stream
        >>> with in_stream(Stream(7)):
        ...     stream_handle(), stream_handle(0)
        (7, 7)
        >>> stream_handle()
        0
    """
    if not stream:
        return _current.get()
    if hasattr(stream, "handle"):
        return int(stream)
    if not _is_handle(stream):
        raise no_stream(stream, "a copy or launch with stream=...")
    if int(stream) not in _known:
        raise _unknown_handle(int(stream))
    return int(stream)


def check_names_stream(stream: object, where: str) -> None:
    """Refuse what is neither a stream nor nothing (0 or None).

    Args:
        stream: what was given.
        where: for the error.

    Raises:
        KernelTypeError: it is something else.
    """
    if stream and not hasattr(stream, "handle"):
        raise no_stream(stream, where)


def _is_handle(value: object) -> bool:
    return is_whole(value) and value > 0


def no_stream(stream: object, where: str) -> KernelTypeError:
    """Return the error of what was given as a stream and is none.

    Args:
        stream: what was given.
        where: for the error.
    """
    return KernelTypeError(
        f"{stream!r} given as the stream",
        where=where,
        why=f"it is of type {type(stream).__name__}, and a stream is an object that\n"
        "cuda.stream() or simgpu.Stream() returns; 0 is the current one",
        fix="s = cuda.stream(), and then stream=s",
    )


def _unknown_handle(handle: int) -> KernelTypeError:
    return KernelTypeError(
        f"{handle} given as the stream",
        where="a copy or launch with stream=...",
        why=f"no stream with the handle {handle} was made; a number names a stream\n"
        "that is there, and 0 the current one",
        fix="s = cuda.stream(), and then stream=s; for a stream of another library\n"
        f"cuda.external_stream({handle})",
    )


@contextmanager
def in_stream(stream: SupportsInt | None) -> Iterator[None]:
    """Make a stream the current one within the `with` block.

    Args:
        stream: a stream; 0 and None leave the current one.

    Yields:
        Nothing.
    """
    with in_handle(stream_handle(stream)):
        yield


@contextmanager
def in_handle(handle: int) -> Iterator[None]:
    """Make a stream the current one within the `with` block, by its handle.

    Args:
        handle: what `stream_handle()` returned; 0 is the null stream.

    Yields:
        Nothing.
    """
    token = _current.set(handle)
    try:
        yield
    finally:
        _current.reset(token)
