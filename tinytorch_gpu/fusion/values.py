"""Steps and values: what an op launched, and what an array held between two writes.

A value is what one op wrote at one place in memory; memory that is freed and given out
again, or overwritten, holds a new one.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.fusion.rules import IN_PLACE
from tinytorch_gpu.trace import ArrayUse

if TYPE_CHECKING:
    from tinytorch_gpu.trace import LaunchRecord, OpRecord

__all__ = ["Memory", "Step", "Value", "extent", "item_bytes", "uses_in"]

ITEM_BYTES = {"bool": 1, "float64": 8, "int64": 8, "uint64": 8, "float16": 2}
ITEM_BYTES |= {"int8": 1, "uint8": 1, "int16": 2, "uint16": 2}


@dataclass(eq=False)
class Value:
    """What an array held from one write to the next.

    Args:
        use: the array, as it was written or first read.
        made_by: the step that wrote it; None for what was there before.
        readers: steps that read it, in order, with the array as they read it.
        host_reads: positions of copies to the host.
        is_kept: something wrote into a part of it, so it has to be in memory.
    """

    use: ArrayUse
    made_by: Step | None = None
    readers: list[tuple[Step, ArrayUse]] = field(default_factory=list)
    host_reads: list[int] = field(default_factory=list)
    is_kept: bool = False


@dataclass(eq=False)
class Step:
    """One op that launched kernels.

    Args:
        position: of its record among all.
        record: what the dispatcher told.
        launches: the launches that it made.
        reads: the value of each operand, None for scalars.
        made: the values that it wrote, results first.
        over: the values that it overwrote, in whole or in part.
        every_read: all values that it reads, those in lists of arrays too.
    """

    position: int
    record: OpRecord
    launches: tuple[LaunchRecord, ...]
    reads: tuple[Value | None, ...] = ()
    made: tuple[Value, ...] = ()
    over: tuple[Value, ...] = ()
    every_read: tuple[Value, ...] = ()

    @property
    def op(self) -> str:
        """The op's name without its namespace."""
        return self.record.op.rpartition("::")[2]

    def parameter(self, name: str, default: Any = None) -> Any:
        """Return one of the op's parameters by name."""
        return dict(self.record.parameters).get(name, default)

    @property
    def is_in_place(self) -> bool:
        """Tell whether it wrote into an array that was there before."""
        return self.parameter("out") is not None or self.op in IN_PLACE

    @property
    def origin(self) -> tuple[str, int] | None:
        """File and line of the user's code, where the profile kept it."""
        return self.record.origin


def item_bytes(dtype: str) -> int:
    """Return the bytes of one element.

    Example:
        >>> item_bytes("float32"), item_bytes("bool")
        (4, 1)
    """
    return ITEM_BYTES.get(dtype, 4)


def extent(use: ArrayUse) -> tuple[int, int]:
    """Return the first address of an array, and the one after its last.

    Example:
        >>> from tinytorch_gpu.trace import ArrayUse
        >>> extent(ArrayUse(512, (2, 3), (12, 4), "float32"))
        (512, 536)
    """
    spans = [(n - 1) * s for n, s in zip(use.shape, use.strides, strict=True)]
    if 0 in use.shape:
        return use.address, use.address
    low = use.address + sum(span for span in spans if span < 0)
    high = use.address + sum(span for span in spans if span > 0)
    return low, high + item_bytes(use.dtype)


class Memory:
    """Which value lies where now: intervals that do not overlap."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._values: list[Value] = []

    def find(self, use: ArrayUse) -> list[Value]:
        """Return the values that an array lies on.

        Args:
            use: the array.
        """
        begin, end = self._overlapped(*extent(use))
        return self._values[begin:end]

    def put(self, value: Value) -> None:
        """Place a value, and forget those that it lies on.

        An array of which a part is changed is still needed as a whole; memory that was
        freed and given out again is not.

        Args:
            value: the value.
        """
        low, high = extent(value.use)
        begin, end = self._overlapped(low, high)
        for i in range(begin, end):
            is_part = self._starts[i] < low or self._ends[i] > high
            is_same = self._values[i].use.serial == value.use.serial
            self._values[i].is_kept |= is_part and is_same
        self._starts[begin:end] = [low]
        self._ends[begin:end] = [high]
        self._values[begin:end] = [value]

    def values(self) -> tuple[Value, ...]:
        """Return all values that are there."""
        return tuple(self._values)

    def _overlapped(self, low: int, high: int) -> tuple[int, int]:
        return bisect_right(self._ends, low), bisect_left(self._starts, high)


def uses_in(value: Any) -> list[ArrayUse]:
    """Return the arrays in what an op was given, in order.

    Args:
        value: an operand, a parameter, or a tuple of some.
    """
    if isinstance(value, tuple):
        return [use for part in value for use in uses_in(part)]
    return [value] if isinstance(value, ArrayUse) else []
