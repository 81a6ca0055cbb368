"""A profile's notes on float64 arithmetic by accident; see `sanitizer/float64.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tinytorch_gpu.sanitizer.float64 import FLOAT32_FIX, float64_lines, float64_text

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
    return f"{line}\n  {float64_text(count)}:\n  {FLOAT32_FIX}"
