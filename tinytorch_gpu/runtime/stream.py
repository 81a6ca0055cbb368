"""Streams: queues of work for the device; work of two of them may overlap.

Values are moved and computed when the call that asks for it returns; what overlaps is
the modelled time. So a program without races between its streams computes the same here
as on hardware, and the sanitizer finds the races of the others.

Source: numba.cuda 0.30.4, `Stream` (names, handles, what it prints); PyTorch 2.x,
`torch.cuda.Stream` (`wait_event`, `wait_stream`, `record_event`, `query`).
"""

from __future__ import annotations

import itertools
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.errors import KernelTypeError
from tinytorch_gpu.runtime.current_stream import know_handle, no_stream, stream_handle
from tinytorch_gpu.runtime.device import current_device
from tinytorch_gpu.runtime.event import Event, check_event
from tinytorch_gpu.runtime.order import NON_BLOCKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = [
    "LEGACY",
    "PER_THREAD",
    "Stream",
    "check_stream",
    "current_stream",
    "new_handle",
    "new_stream",
]

LEGACY, PER_THREAD = 1, 2  # handles that CUDA gives to its two default streams
_NAMES = {
    0: "<Default CUDA stream>",
    LEGACY: "<Legacy default CUDA stream>",
    PER_THREAD: "<Per-thread default CUDA stream>",
}
_handles = itertools.count(0x1000)


class Stream:
    """A queue of copies and launches: in order within, beside other streams without.

    Args:
        handle: the stream's number; 0 is the default stream.
        external: another library made it.

    Example:
        >>> stream = Stream(0)
        >>> with stream.auto_synchronize():
        ...     print(stream)
        <Default CUDA stream>
    """

    def __init__(self, handle: int, external: bool = False) -> None:
        know_handle(handle)
        self.handle = handle
        self.external = external

    def __int__(self) -> int:
        """Return the handle."""
        return self.handle

    def __eq__(self, other: object) -> bool:
        """Tell whether both are the same queue."""
        return isinstance(other, Stream) and self.handle == other.handle

    def __hash__(self) -> int:
        """Hash the handle."""
        return hash(self.handle)

    def __repr__(self) -> str:
        """Print it as numba does."""
        kind = "External CUDA" if self.external else "CUDA"
        return _NAMES.get(self.handle, f"<{kind} stream {self.handle}>")

    def synchronize(self) -> None:
        """Let the host wait until the stream's work is done (modelled host time)."""
        timeline = current_device().timeline
        timeline.wait_for_stream(self.handle, "stream.synchronize()")

    def query(self) -> bool:
        """Tell whether the stream's work is done at the host's modelled time.

        A question puts nothing into the stream and moves no clock; one that is asked
        again and again, with nothing else in between, is a wait.
        """
        timeline = current_device().timeline
        return timeline.is_over(timeline.order.seen(self.handle))

    def record_event(self, event: Event | None = None) -> Event:
        """Record an event in the stream.

        Args:
            event: the event; a new one if None.

        Returns:
            The event.

        Raises:
            KernelTypeError: it is no event.
        """
        event = Event() if event is None else event
        check_event(event, "stream.record_event(event)")
        event.record(self)
        return event

    def wait_event(self, event: Event) -> None:
        """Let what the stream runs from now on wait for an event; the host goes on.

        Args:
            event: the event; one that was never recorded is over.

        Raises:
            KernelTypeError: it is no event.
        """
        check_event(event, "stream.wait_event(event)")
        event.wait(self)

    def wait_stream(self, stream: Stream) -> None:
        """Let what the stream runs from now on wait for another stream's work so far.

        Args:
            stream: the other stream.

        Raises:
            KernelTypeError: it is no stream.
        """
        if not isinstance(stream, Stream):
            raise no_stream(stream, "stream.wait_stream(stream)")
        self.wait_event(stream.record_event())

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
        """Return the stream to who awaits it, once the work before it is done.

        Waiting takes modelled host time, as `synchronize` does.
        """
        self.synchronize()
        return self


def new_stream() -> Stream:
    """Return a new stream; the default stream waits for it, and it for that.

    Example:
        >>> new_stream().handle != new_stream().handle
        True
    """
    return Stream(new_handle())


def new_handle(*, is_blocking: bool = True) -> int:
    """Return the handle of a new stream.

    Args:
        is_blocking: the default stream waits for it, and it for the default stream.
    """
    handle = next(_handles)
    if not is_blocking:
        NON_BLOCKING.add(handle)
    return handle


def current_stream() -> Stream:
    """Return the stream that work goes to which names none."""
    return Stream(stream_handle())


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
