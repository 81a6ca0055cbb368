"""Events: marks in the device's work, between which modelled time is measured.

Source: numba.cuda 0.30.4, `Event`; CUDA Runtime API, "Event Management" (milliseconds;
an event that was never recorded counts as done).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tinytorch_gpu.errors import KernelTypeError, UnsupportedError
from tinytorch_gpu.memory.hooks import hooks
from tinytorch_gpu.runtime.current_stream import check_names_stream, stream_handle
from tinytorch_gpu.runtime.device import current_device
from tinytorch_gpu.runtime.order import Point
from tinytorch_gpu.units import format_ns

if TYPE_CHECKING:
    from tinytorch_gpu.runtime.timeline import Timeline

__all__ = ["Event", "check_event", "elapsed_ms"]


class Event:
    """A mark in the device's work.

    Args:
        timing: whether time is measured between it and another event.

    Example:
        >>> start, end = Event(), Event()
        >>> start.record()
        >>> end.record()
        >>> start.elapsed_time(end)     # nothing ran in between
        0.0
    """

    def __init__(self, timing: bool = True) -> None:
        self.timing = timing
        self._mark: tuple[Timeline, Point] | None = None

    def record(self, stream: Any = 0) -> None:
        """Mark the point at which the work of a stream so far is done.

        Args:
            stream: the stream; 0 is the current one.

        Raises:
            KernelTypeError: it is no stream.
        """
        check_names_stream(stream, "event.record(stream)")
        hooks.look()
        timeline = current_device().timeline
        self._mark = timeline, timeline.mark(stream_handle(stream))

    def query(self) -> bool:
        """Tell whether the work before the mark is done at the host's modelled time.

        A question moves no clock; one that is asked again and again, with nothing else
        in between, is a wait: each "no" brings it one issue closer to the "yes".
        """
        return current_device().timeline.is_over(self._point())

    def is_reached(self) -> bool:
        """Tell what `query` would say, without being a question that polls.

        Example:
            >>> Event().is_reached()     # never recorded: nothing to wait for
            True
        """
        return current_device().timeline.has_reached(self._point())

    def synchronize(self) -> None:
        """Let the host wait for the mark (modelled host time)."""
        timeline = current_device().timeline
        timeline.wait_for_event(self._point(), "event.synchronize()")

    def wait(self, stream: Any = 0) -> None:
        """Let what a stream runs from now on wait for the mark; the host goes on.

        Args:
            stream: the stream; 0 is the current one.

        Raises:
            KernelTypeError: it is no stream.
        """
        check_names_stream(stream, "event.wait(stream)")
        order = current_device().timeline.order
        order.wait(stream_handle(stream), self._point())

    def _point(self) -> Point:
        """The mark; a mark on another clock, or none, is over."""
        if self._mark is None or self._mark[0] is not current_device().timeline:
            return Point()
        return self._mark[1]

    def elapsed_time(self, evtend: Event) -> float:
        """Return the modelled milliseconds from this event to a later one.

        Args:
            evtend: the later event.

        Raises:
            KernelTypeError: it is no event.
            UnsupportedError: one was never recorded, or has no timing, or another GPU
                was modelled in between, or the work before one is not over.
        """
        return elapsed_ms(self, evtend)

    def mark(self) -> tuple[Timeline, float]:
        """Return the timeline that was marked, and its modelled time in nanoseconds.

        Raises:
            UnsupportedError: it was never recorded, or has no timing.
        """
        if self._mark is not None and self.timing:
            return self._mark[0], self._mark[1].ready_ns
        raise UnsupportedError(
            "elapsed_time of an event that was never recorded"
            if self.timing
            else "elapsed_time of an event without timing",
            where="event.elapsed_time(...)",
            why="time is measured between two recorded events with timing",
            fix="start = cuda.event(); start.record() before the work, and\n"
            "end = cuda.event(); end.record() after it",
        )


def check_event(event: object, where: str) -> None:
    """Refuse what is no event.

    Args:
        event: what was given.
        where: for the error.

    Raises:
        KernelTypeError: it is none.
    """
    if not isinstance(event, Event):
        raise KernelTypeError(
            f"{event!r} given as the event",
            where=where,
            why=f"it is of type {type(event).__name__}, and an event is what\n"
            "cuda.event() or stream.record_event() returns",
            fix="done = stream.record_event(), and then other.wait_event(done)",
        )


def elapsed_ms(start: Event, end: Event) -> float:
    """Return the modelled milliseconds between two recorded events.

    Args:
        start: the earlier event.
        end: the later event.

    Returns:
        Milliseconds of modelled device time, not of the simulation.

    Raises:
        KernelTypeError: one is no event.
        UnsupportedError: one was never recorded, or has no timing, or another GPU was
            modelled in between, or the work before one is not over (CUDA's
            cudaErrorNotReady).
    """
    for event in (start, end):
        check_event(event, "event.elapsed_time(later)")
    (timeline, start_ns), (other, end_ns) = start.mark(), end.mark()
    if timeline is other:
        for name, event, ready_ns in (("end", end, end_ns), ("start", start, start_ns)):
            if not event.is_reached():
                raise _not_ready(name, ready_ns, timeline.host_ns)
        return (end_ns - start_ns) / 1e6
    raise UnsupportedError(
        "elapsed_time between events on the clocks of two modelled GPUs",
        where="event.elapsed_time(...)",
        why="use_gpu(...) starts a new clock, and each event was recorded on its own",
        fix="record both events again after the change of GPU",
    )


def _not_ready(name: str, ready_ns: float, host_ns: float) -> UnsupportedError:
    return UnsupportedError(
        f"elapsed_time before the work before the {name} event is over",
        where="event.elapsed_time(...)",
        why=f"the device comes to the event at {format_ns(ready_ns)} on the modelled "
        f"clock,\nthe host asks at {format_ns(host_ns)} (CUDA: cudaErrorNotReady)",
        fix=f"{name}.synchronize() first; it waits for the event alone",
    )
