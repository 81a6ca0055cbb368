"""Streams: queues of work for the device, all in order of issue.

Every stream's work is done when the call that issues it returns, so a program without
races between its streams computes the same here as on hardware.

Source: numba.cuda 0.30.4, `Stream` (names, handles, what it prints).
"""

from __future__ import annotations

import itertools
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.errors import KernelTypeError
from tinytorch_gpu.runtime.device import current_device

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["LEGACY", "PER_THREAD", "Stream", "check_stream", "new_stream"]

LEGACY, PER_THREAD = 1, 2  # handles that CUDA gives to its two default streams
_NAMES = {
    0: "<Default CUDA stream>",
    LEGACY: "<Legacy default CUDA stream>",
    PER_THREAD: "<Per-thread default CUDA stream>",
}
_handles = itertools.count(0x1000)


class Stream:
    """A queue of copies and launches.

    Args:
        handle: the stream's number; 0 is the default stream.
        external: another library made it.

    Example:
        >>> stream = Stream(0)
        >>> with stream.auto_synchronize():
        ...     print(stream)
        <Default CUDA stream>
    """

    # Simplified: streams do not overlap on the modelled timeline; a program whose
    # copies hide behind its kernels may take half of what is told here.

    def __init__(self, handle: int, external: bool = False) -> None:
        self.handle = handle
        self.external = external

    def __int__(self) -> int:
        """Return the handle."""
        return self.handle

    def __repr__(self) -> str:
        """Print it as numba does."""
        kind = "External CUDA" if self.external else "CUDA"
        return _NAMES.get(self.handle, f"<{kind} stream {self.handle}>")

    def synchronize(self) -> None:
        """Let the host wait until the stream's work is done (modelled host time)."""
        device = current_device()
        device.timeline.synchronize()
        device.order.synchronize(self.handle)

    @contextmanager
    def auto_synchronize(self) -> Iterator[Stream]:
        """Synchronise at the end of the `with` block.

        Yields:
            The stream.
        """
        yield self
        self.synchronize()

    def add_callback(
        self, callback: Callable[[Stream, int, Any], object], arg: Any = None
    ) -> None:
        """Call `callback(stream, status, arg)` once the work before it is done: now.

        Args:
            callback: the function; its status is 0.
            arg: handed on.
        """
        callback(self, 0, arg)

    async def async_done(self) -> Stream:
        """Return the stream to who awaits it, once the work before is done: at once."""
        return self


def new_stream() -> Stream:
    """Return a new stream.

    Example:
        >>> new_stream().handle != new_stream().handle
        True
    """
    return Stream(next(_handles))


def check_stream(stream: object, where: str) -> None:
    """Refuse what is neither a stream nor 0.

    Args:
        stream: a `Stream`, or 0 for the default stream.
        where: for the error.

    Raises:
        KernelTypeError: it is something else.
    """
    if isinstance(stream, Stream) or not stream:
        return
    raise KernelTypeError(
        f"{stream!r} given as the stream",
        where=where,
        why="a launch configuration is [grid, block, stream, bytes of dynamic shared\n"
        "memory], in this order; C++ has the last two the other way round",
        fix="kernel[grid, block, cuda.stream(), shared_bytes](...); 0 is the default",
    )
