"""`Stamp`: which launches are over when a launch begins, whatever the streams do.

Work of one stream runs in order. Work of two streams is unordered unless an event, the
default stream or the host puts it in order. A stamp counts, for each stream, how many
of its launches are certainly over: a vector clock.

Source: CUDA C++ Programming Guide, "Streams" and "Default Stream"; Lamport, "Time,
Clocks, and the Ordering of Events in a Distributed System", 1978.
"""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Stamp"]


@dataclass(frozen=True)
class Stamp:
    """The place of a launch among all launches of a device.

    Args:
        stream: handle of the stream that it runs in.
        number: how many launches that stream has had, this one included.
        over: for each stream, how many of its launches are over when this one begins.

    Example:
        >>> first, second = Stamp(7, 1), Stamp(8, 1)
        >>> second.is_after(first)                  # two streams, no event
        False
        >>> Stamp(8, 1, {7: 1}).is_after(first)     # it waited for stream 7
        True
    """

    stream: int = 0
    number: int = 0
    over: dict[int, int] = field(default_factory=dict)

    def is_after(self, other: Stamp) -> bool:
        """Tell whether the other launch is over when this one begins."""
        return self.over.get(other.stream, 0) >= other.number
