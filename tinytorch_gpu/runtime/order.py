"""`WorkOrder`: which work of a device is in order, by streams, events and waits.

Each stream has a point: how many launches of each stream are over before what it runs
next, and the modelled time of that. Recording an event keeps a stream's point, waiting
for the event takes it over, and what the host has waited for is over for everything
issued afterwards. The default stream waits for all blocking streams and they for it.

The sanitizer's races and the timeline's overlap both come from these points.

Source: CUDA C++ Programming Guide, "Streams", "Events" and "Default Stream"; streams
made by `cuda.stream()` are blocking streams, as in numba.cuda 0.30.4, those of the
device module (`simgpu.Stream()`) are not, as in PyTorch.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tinytorch_gpu.trace import Stamp

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["NON_BLOCKING", "Point", "WorkOrder"]

DEFAULT = (0, 1)  # handles of the default stream
NON_BLOCKING: set[int] = set()  # handles of streams that the default stream leaves be


@dataclass(slots=True)
class Point:
    """What is certainly over at some moment.

    Args:
        over: for each stream's handle, how many of its launches.
        ready_ns: modelled time at which they, and the copies before, are done.

    Example:
        >>> point = Point({7: 1}, 100.0)
        >>> point.take_over(Point({7: 3, 8: 1}, 50.0))
        >>> point
        Point(over={7: 3, 8: 1}, ready_ns=100.0)
    """

    over: dict[int, int] = field(default_factory=dict)
    ready_ns: float = 0.0

    def take_over(self, other: Point) -> None:
        """Let this point come after another one too."""
        for stream, number in other.over.items():
            self.over[stream] = max(self.over.get(stream, 0), number)
        self.ready_ns = max(self.ready_ns, other.ready_ns)

    def copy(self) -> Point:
        """Return a point that later work does not move."""
        return Point(dict(self.over), self.ready_ns)


class WorkOrder:
    """The order of a device's work.

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
        self._streams: dict[int, Point] = defaultdict(Point)
        self._host = Point()
        self.changes = 0  # how often something was put into a stream

    def next_point(self, stream: int) -> Point:
        """Return what must be over before a stream runs the next thing.

        Args:
            stream: the stream's handle.

        Returns:
            The stream's own point: whoever puts work into the stream moves it.
        """
        self.changes += 1
        stream = 0 if stream in DEFAULT else stream
        point = self._streams[stream]
        for before in (self._host, *self._others(stream)):
            point.take_over(before)
        return point

    def seen(self, stream: int) -> Point:
        """Return what is over once a stream's work so far is, and put nothing into it.

        Args:
            stream: the stream's handle.

        Returns:
            A point of its own: asking for it moves no stream.

        Example:
            >>> order = WorkOrder()
            >>> order.next_point(7).ready_ns = 100.0
            >>> order.seen(0).ready_ns     # the default stream waits for 7 ...
            100.0
            >>> order.next_point(8).ready_ns     # ... and has nothing that 8 waits for
            0.0
        """
        stream = 0 if stream in DEFAULT else stream
        point = self._streams[stream].copy()
        for before in (self._host, *self._others(stream)):
            point.take_over(before)
        return point

    def launch(self, stream: int) -> Stamp:
        """Put a launch into a stream.

        Args:
            stream: the stream's handle.

        Returns:
            Its place.
        """
        stream = 0 if stream in DEFAULT else stream
        over = self.next_point(stream).over
        stamp = Stamp(stream, over.get(stream, 0) + 1, dict(over))
        over[stream] = stamp.number
        return stamp

    def record(self, stream: int) -> Point:
        """Return the point that an event keeps which is recorded in a stream.

        Args:
            stream: the stream's handle.
        """
        return self.next_point(stream).copy()

    def wait(self, stream: int, point: Point) -> None:
        """Let what a stream runs next wait for an event.

        Args:
            stream: the stream's handle.
            point: what the event keeps.
        """
        self.changes += 1
        self._streams[0 if stream in DEFAULT else stream].take_over(point)

    def synchronize(self, stream: int | None = None) -> None:
        """Let the host wait for a stream, or for all of the device's work.

        Args:
            stream: the stream's handle; None for all.
        """
        if stream is not None:
            self._host.take_over(self.next_point(stream))
            return
        for point in self._streams.values():
            self._host.take_over(point)

    def reach(self, point: Point) -> None:
        """Let the host wait for an event.

        Args:
            point: what the event keeps.
        """
        self._host.take_over(point)

    def restart_clock(self) -> None:
        """Put the modelled time of all points to 0; what is over stays over."""
        for point in (self._host, *self._streams.values()):
            point.ready_ns = 0.0

    def _others(self, stream: int) -> Iterable[Point]:
        """Points of the other streams that a stream waits for."""
        if stream in NON_BLOCKING:
            return ()
        if stream:
            return (self._streams[0],)
        return [p for other, p in self._streams.items() if other not in NON_BLOCKING]
