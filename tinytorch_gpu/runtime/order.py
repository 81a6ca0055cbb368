"""`WorkOrder`: which launches of a device are in order, by streams, events and waits.

Each stream has a clock: how many launches of each stream are over before what it runs
next. Recording an event keeps a stream's clock, waiting for the event takes it over,
and what the host has waited for is over for everything issued afterwards. The default
stream waits for all others and they wait for it.

Source: CUDA C++ Programming Guide, "Streams", "Events" and "Default Stream"; streams
made by `cuda.stream()` are blocking streams.
"""

from __future__ import annotations

from collections import defaultdict

from tinytorch_gpu.trace import Stamp

__all__ = ["Clock", "WorkOrder"]

Clock = dict[int, int]  # stream handle: how many of its launches are over
DEFAULT = (0, 1)  # handles of the default stream


class WorkOrder:
    """The order of a device's launches.

    Example:
        >>> order = WorkOrder()
        >>> first = order.launch(7)
        >>> order.launch(8).is_after(first)     # another stream, and nobody waited
        False
        >>> order.synchronize(7)
        >>> order.launch(8).is_after(first)
        True
    """

    def __init__(self) -> None:
        self._streams: dict[int, Clock] = defaultdict(dict)
        self._host: Clock = {}

    def launch(self, stream: int) -> Stamp:
        """Put a launch into a stream.

        Args:
            stream: the stream's handle.

        Returns:
            Its place.
        """
        stream = 0 if stream in DEFAULT else stream
        clock = self._streams[stream]
        _take_over(clock, self._host)
        sources = list(self._streams.values()) if stream == 0 else [self._streams[0]]
        for source in sources:
            _take_over(clock, source)
        stamp = Stamp(stream, clock.get(stream, 0) + 1, dict(clock))
        clock[stream] = stamp.number
        return stamp

    def record(self, stream: int) -> Clock:
        """Return the clock that an event keeps which is recorded in a stream.

        Args:
            stream: the stream's handle.
        """
        if stream in DEFAULT:  # it waits for all streams
            clock: Clock = {}
            for other in self._streams.values():
                _take_over(clock, other)
            return clock
        return dict(self._streams[stream])

    def wait(self, stream: int, clock: Clock) -> None:
        """Let what a stream runs next wait for an event.

        Args:
            stream: the stream's handle.
            clock: what the event keeps.
        """
        _take_over(self._streams[0 if stream in DEFAULT else stream], clock)

    def synchronize(self, stream: int | None = None) -> None:
        """Let the host wait for a stream, or for all of the device's work.

        Args:
            stream: the stream's handle; None for all.
        """
        if stream is None or stream in DEFAULT:
            clocks = list(self._streams.values())
        else:
            clocks = [self._streams[stream]]
        for clock in clocks:
            _take_over(self._host, clock)

    def reach(self, clock: Clock) -> None:
        """Let the host wait for an event.

        Args:
            clock: what the event keeps.
        """
        _take_over(self._host, clock)


def _take_over(clock: Clock, other: Clock) -> None:
    """Let a clock know what another one knows."""
    for stream, number in other.items():
        clock[stream] = max(clock.get(stream, 0), number)
