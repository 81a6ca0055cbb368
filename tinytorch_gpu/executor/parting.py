"""Where lanes parted from those that wait at a barrier; asked when it never opens.

A lane program that waits is a suspended generator, and the masks of the suites around
the barrier are among its variables. The front end notes for each line of a lane program
which statements stand around it, so that correct kernels pay nothing for this. Read
`Spot`, then `parting`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tinytorch_gpu.trace.text_table import shorten

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

    from tinytorch_gpu.executor.strand import Strand
    from tinytorch_gpu.trace import SourceLine

__all__ = ["SPOTS", "Around", "Parting", "Spot", "parting"]

SPOTS = "__kernel_spots__"  # global name in a lane program: a `Spot` for each line
LONGEST = 44  # characters of a statement that a message quotes


class Around(NamedTuple):
    """A statement that stands around a line, as the lane program's variables show it.

    Args:
        line: where the statement begins.
        did: what the lanes did that did not come along; `{}` stands for the statement.
        suite: name of the mask of the suite that the statement stands in.
        others: name of the mask of those lanes; or, of a loop, the name of the loop.
        is_loop: the line is in the loop's body, or in the test of a `while`.
    """

    line: SourceLine
    did: str
    suite: str
    others: str
    is_loop: bool = False


class Spot(NamedTuple):
    """Where a line of a lane program stands.

    Args:
        function: name of the kernel or device function.
        around: the statements around the line, the outermost first.
        suite: name of the mask of the suite that the line stands in.
    """

    function: str
    around: tuple[Around, ...]
    suite: str


class Parting(NamedTuple):
    """How many lanes parted, at which statement if it is known, and what they did."""

    lanes: int
    line: SourceLine | None
    did: str


def parting(strand: Strand, missing: Any, row: int) -> Parting | None:
    """Find the outermost statement at which lanes parted from those that wait.

    Args:
        strand: waits at a barrier.
        missing: bool (threads,), live lanes of the strand that are not there.
        row: their block's position in the batch.

    Returns:
        None for a lane program in which no statements are noted.
    """
    in_frames = (_in_frame(frame, missing, row) for frame in _frames(strand))
    return next((found for found in in_frames if found), None)


def _frames(strand: Strand) -> Iterator[FrameType]:
    """Yield the frames of the lane program and of the device functions it waits in."""
    running: Any = strand.running
    while running is not None:
        if SPOTS in running.gi_frame.f_globals:
            yield running.gi_frame
        running = running.gi_yieldfrom


def _in_frame(frame: FrameType, missing: Any, row: int) -> Parting | None:
    """Find the outermost statement of one function at which lanes parted.

    Args:
        frame: of the function, suspended.
        missing: bool (threads,), lanes that are looked for.
        row: their block's position in the batch.
    """
    spot: Spot = frame.f_globals[SPOTS][frame.f_lineno - 1]
    variables, loop = frame.f_locals, None
    for statement in spot.around:
        lost = missing & ~variables[statement.suite].full()[row]
        if lost.any():
            return _lost(spot, lost, loop)
        others = variables[statement.others]
        if statement.is_loop:
            loop = statement.line
            parted = missing & ~others.mask.minus(others.finished).full()[row]
        else:
            parted = missing & others.full()[row]
        if parted.any():
            did = statement.did.format(_quoted(statement.line))
            return Parting(int(parted.sum()), statement.line, did)
    lost = missing & ~variables[spot.suite].full()[row]
    return _lost(spot, lost, loop) if lost.any() else None


def _lost(spot: Spot, lost: Any, loop: SourceLine | None) -> Parting:
    """Tell of lanes that left a suite early: a loop's turn, or the function."""
    did = f"returned from {spot.function} before"
    if loop is not None:
        did = f"skipped the rest of {_quoted(loop)} in this turn"
    return Parting(int(lost.sum()), loop, did)


def _quoted(line: SourceLine) -> str:
    return f"`{shorten(line.text, LONGEST)}` (line {line.line})"
