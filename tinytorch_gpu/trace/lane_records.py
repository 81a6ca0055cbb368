"""What one thread or one warp did in one step of a trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.trace.places import spelled

if TYPE_CHECKING:
    from tinytorch_gpu.trace.places import Dim3
    from tinytorch_gpu.trace.source import SourceLine

__all__ = ["LaneRecord", "WarpRecord"]


@dataclass(frozen=True, slots=True)
class LaneRecord:
    """What one thread did in one step.

    Args:
        step: the step's number.
        kind: load, store, atomic, branch, barrier, warp, fence or operation.
        line: the source line.
        block: x, y, z.
        thread: x, y, z.
        array: name of the array touched, or "".
        index: index of the element in that array, or None.
        value: what was loaded or stored; of an atomic what was there before.
        detail: `taken` or `not taken` of a branch; else which barrier, warp operation,
            fence or operation.
    """

    step: int
    kind: str
    line: SourceLine
    block: Dim3
    thread: Dim3
    array: str = ""
    index: tuple[int, ...] | None = None
    value: Any = None
    detail: str = ""

    @property
    def element(self) -> str:
        """The element as the source would write it, for example `out[5]`."""
        if self.index is None:
            return self.array
        return spelled(self.array, self.index)


@dataclass(frozen=True, slots=True)
class WarpRecord:
    """What one warp did in one step.

    Args:
        step: the step's number.
        kind: as of a `LaneRecord`.
        line: the source line.
        active: 32 characters, lane 0 first: `#` for a lane that takes part, `.` for
            one that does not.
        taken: of a branch the lanes that take it, likewise; else "".
        detail: the array touched; how many take a branch; else which barrier, warp
            operation, fence or operation.
    """

    step: int
    kind: str
    line: SourceLine
    active: str
    taken: str = ""
    detail: str = ""
