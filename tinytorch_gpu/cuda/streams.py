"""Streams and events by numba.cuda's names; times are modelled, never measured."""

from __future__ import annotations

from tinytorch_gpu.runtime.device import current_device
from tinytorch_gpu.runtime.event import Event, elapsed_ms
from tinytorch_gpu.runtime.stream import LEGACY, PER_THREAD, Stream, new_stream

__all__ = [
    "default_stream",
    "event",
    "event_elapsed_time",
    "external_stream",
    "legacy_default_stream",
    "per_thread_default_stream",
    "stream",
    "synchronize",
]


def stream() -> Stream:
    """Return a new stream; see `runtime.stream.Stream`.

    Example:
        >>> with stream().auto_synchronize() as s:
        ...     s.external
        False
    """
    return new_stream()


def default_stream() -> Stream:
    """Return the default stream."""
    return Stream(0)


def legacy_default_stream() -> Stream:
    """Return the default stream that all host threads share."""
    return Stream(LEGACY)


def per_thread_default_stream() -> Stream:
    """Return the default stream of this host thread."""
    return Stream(PER_THREAD)


def external_stream(ptr: int) -> Stream:
    """Return a stream that another library made.

    Args:
        ptr: its handle.

    Example:
        >>> external_stream(1234)
        <External CUDA stream 1234>
    """
    return Stream(ptr, external=True)


def event(timing: bool = True) -> Event:
    """Return a new event; see `runtime.event.Event`.

    Args:
        timing: whether time can be measured between it and another event.
    """
    return Event(timing)


def event_elapsed_time(evtstart: Event, evtend: Event) -> float:
    """Return the modelled milliseconds of device time between two recorded events.

    Args:
        evtstart: the earlier event.
        evtend: the later event.

    Raises:
        UnsupportedError: one was never recorded, or has no timing, or another GPU was
            modelled in between.

    Example:
        >>> a, b = event(), event()
        >>> a.record()
        >>> b.record()
        >>> event_elapsed_time(a, b)
        0.0
    """
    return elapsed_ms(evtstart, evtend)


def synchronize() -> None:
    """Wait until the device has done everything; costs modelled host time."""
    current_device().synchronize()
