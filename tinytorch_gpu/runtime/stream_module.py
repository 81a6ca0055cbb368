"""Streams and events of the device module, by torch.cuda's names.

Source: PyTorch 2.x, `torch.cuda.Stream`, `Event`, `stream`, `current_stream`,
`default_stream` (streams do not wait for the default stream; milliseconds).
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from tinytorch_gpu.runtime import event
from tinytorch_gpu.runtime import stream as streams
from tinytorch_gpu.runtime.current_stream import check_names_stream, in_stream

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Event", "Stream", "current_stream", "default_stream", "stream"]


class Stream(streams.Stream):
    """A new queue of work, which neither waits for the default stream nor it for this.

    Put work into it with `with simgpu.stream(s):` or `kernel[grid, block, s]`; order it
    behind other work with `wait_stream` and `wait_event`.

    Args:
        priority: accepted for torch's sake; all streams are served alike.

    Example:
        >>> side = Stream()
        >>> side.wait_stream(current_stream())
        >>> with stream(side):
        ...     current_stream() == side
        True
    """

    def __init__(self, priority: int = 0) -> None:
        del priority
        super().__init__(streams.new_handle(is_blocking=False))


class Event(event.Event):
    """A mark in the device's work.

    Args:
        enable_timing: time can be measured between it and another event.
        blocking: accepted for torch's sake, as is the next.
        interprocess: other processes may use it.

    Example:
        >>> start, end = Event(enable_timing=True), Event(enable_timing=True)
        >>> start.record()
        >>> end.record()
        >>> start.elapsed_time(end)     # modelled milliseconds
        0.0
    """

    def __init__(
        self,
        enable_timing: bool = False,
        blocking: bool = False,
        interprocess: bool = False,
    ) -> None:
        del blocking, interprocess
        super().__init__(enable_timing)


@contextmanager
def stream(stream: streams.Stream | None) -> Iterator[None]:
    """Put launches and copies of the `with` block into a stream.

    Args:
        stream: the stream; None changes nothing. What names its own stream goes there.

    Yields:
        Nothing.

    Raises:
        KernelTypeError: it is no stream.
    """
    check_names_stream(stream, "with simgpu.stream(stream)")
    with in_stream(stream):
        yield


def current_stream() -> streams.Stream:
    """Return the stream that launches and copies go to."""
    return streams.current_stream()


def default_stream() -> streams.Stream:
    """Return the default stream."""
    return streams.Stream(0)
