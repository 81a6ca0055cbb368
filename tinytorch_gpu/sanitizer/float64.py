"""Float64 arithmetic by accident: which lines do it, and the note on each.

A Python constant such as `0.0` or `0.1` is float64, and so is what it is added to or
multiplied with. Results stay right; most GPUs do 32 to 64 times fewer float64
operations than float32 ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tinytorch_gpu.sanitizer.finding import Finding
from tinytorch_gpu.units import format_count

if TYPE_CHECKING:
    from tinytorch_gpu.trace import LaunchCounts, LineCounts

__all__ = ["FLOAT32_FIX", "float64_findings", "float64_lines", "float64_text"]

FLOAT32_FIX = "make constants and start values float32: float32(0.0)"


def float64_lines(counts: LaunchCounts) -> tuple[LineCounts, ...]:
    """Return the lines of a float32 kernel that do float64 arithmetic by accident.

    Args:
        counts: counts of one launch.

    Returns:
        The lines in source order, in a kernel that touches no float64 array; none if
        it touches one, or no float32 array.

    Example:
        >>> from tinytorch_gpu.trace import LaunchCounts
        >>> float64_lines(LaunchCounts((), (), 0))
        ()
    """
    dtypes = {access.dtype for access in counts.accesses}
    if "float32" not in dtypes or "float64" in dtypes:
        return ()
    return tuple(line for line in counts.lines if line.fp64)


def float64_findings(counts: LaunchCounts) -> list[Finding]:
    """Return a note on each such line.

    Args:
        counts: counts of one launch.

    Example:
        >>> from tinytorch_gpu.trace import LaunchCounts
        >>> float64_findings(LaunchCounts((), (), 0))
        []
    """
    return [_finding(line) for line in float64_lines(counts)]


def float64_text(count: int) -> str:
    """Tell what is wrong with so many operations.

    Example:
        >>> float64_text(64)
        '64 float64 operations in a kernel that touches no float64 array'
    """
    operations = f"{format_count(count)} float64 operations"
    return f"{operations} in a kernel that touches no float64 array"


def _finding(line: LineCounts) -> Finding:
    return Finding(
        tool="numcheck",
        kind="float64_arithmetic",
        level="note",
        what=float64_text(line.fp64),
        where=str(line.line),
        why="most GPUs do 32 to 64 times fewer float64 operations than float32 ones",
        fix=FLOAT32_FIX,
        line=line.line,
        count=line.fp64,
    )
