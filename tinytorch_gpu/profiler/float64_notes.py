"""Notes on float64 arithmetic in kernels without float64 arrays: lines and the fix.

A Python constant such as `0.0` or `0.1` is float64, and so is what it is added to or
multiplied with. The values that come out are right; the time is not: most GPUs do 32 to
64 times fewer float64 operations than float32 ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tinytorch_gpu.sanitizer.float64 import float64_lines
from tinytorch_gpu.units import format_count

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tinytorch_gpu.trace import LaunchRecord, SourceLine

__all__ = ["float64_notes"]


def float64_notes(launches: Iterable[LaunchRecord]) -> list[str]:
    """Return one note for each such line of the launches' kernels, with the fix.

    Args:
        launches: all launches; several of one kernel add up.

    Example:
        >>> float64_notes([])
        []
    """
    totals: dict[SourceLine, int] = {}
    for launch in launches:
        for line in float64_lines(launch.counts) if launch.counts else ():
            totals[line.line] = totals.get(line.line, 0) + line.fp64
    return [_note(line, count) for line, count in totals.items()]


def _note(line: SourceLine, count: int) -> str:
    return (
        f"{line}\n"
        f"  {format_count(count)} float64 operations in a kernel that touches no "
        "float64 array.\n"
        "  Make constants and start values float32: float32(0.0)."
    )
