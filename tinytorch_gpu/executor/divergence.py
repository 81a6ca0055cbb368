"""What is told when a block does not come to a barrier as a whole."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.errors import BarrierDivergenceError, KernelWarning
from tinytorch_gpu.executor.faults import place_facts, place_of
from tinytorch_gpu.executor.notices import warn_at
from tinytorch_gpu.executor.parting import Parting, parting
from tinytorch_gpu.trace import Recorder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tinytorch_gpu.executor.barrier import Arrival
    from tinytorch_gpu.executor.strand import Strand
    from tinytorch_gpu.trace import SourceLine

__all__ = ["divergence", "warn_of_returned"]

FIXES = {
    "block": "move the barrier out of the `if` or loop that some threads skip",
    "grid": "let every thread reach the same grid.sync(), or return before it",
}
HANGS = "hardware may hang here"
COUNTS = "hardware counts arrivals only, so this may appear to work there"


def divergence(
    strands: Sequence[Strand], came: Any, live: Any, missing: Any, arrival: Arrival
) -> BarrierDivergenceError:
    """Make the error of the first block with missing threads.

    The launch is lost, so the lanes run on to see where the missing ones come to.

    Args:
        strands: the block's strands.
        came: bool (blocks, threads), lanes at the barrier.
        live: bool (blocks, threads), lanes that it waits for.
        missing: bool (blocks, threads), lanes that are not there.
        arrival: the barrier.
    """
    batch, line = strands[0].batch, arrival.site.line
    row, absent, text = place_of(batch, missing)
    arrived, expected = int(came[row].sum()), int(live[row].sum())
    parted = _parted(strands, missing[row], row, arrival)
    other = _line_of_others(strands, came[row], missing[row], row, arrival)
    line_told = other or (parted.line if parted else None)
    scope = "grid" if arrival.kind == "grid" else "block"
    return BarrierDivergenceError(
        f"{arrival.call} reached by {arrived} of the block's {expected} live threads",
        where=f"{line}\nnot there: {text}" + _whereabouts(parted, other, len(absent)),
        why=f"a barrier opens when every live thread of the {scope} has come;\n"
        + (COUNTS if other else HANGS),
        fix=FIXES[scope],
        kind="divergent_barrier",
        arrived=arrived,
        expected=expected,
        lanes_at_fault=int(missing.sum()),
        **place_facts(batch, line, row, absent),
        elsewhere=line_told.line if line_told else None,
    )


def _parted(
    strands: Sequence[Strand], missing: Any, row: int, arrival: Arrival
) -> Parting | None:
    """Find where missing lanes parted from the lanes of their strand that wait.

    A warp that has run to its end cannot tell which statements it skipped.

    Args:
        strands: the block's strands.
        missing: bool (threads,), lanes that are not there.
        row: the block's position in its batch.
        arrival: the barrier that they miss.
    """
    at_end = 0
    for strand in strands:
        absent = missing & strand.batch.live.full()[row]
        if strand.arrival is None:
            at_end += int(absent.sum())
        elif strand.arrival.is_at(arrival):
            found = parting(strand, absent, row)
            if found is not None:
                return found
    return Parting(at_end, None, "ran to the end of the kernel") if at_end else None


def _whereabouts(parted: Parting | None, other: SourceLine | None, missing: int) -> str:
    """Tell where missing lanes are: at another barrier, or past which statement.

    Args:
        parted: what they did.
        other: the barrier at which they wait.
        missing: how many they are.
    """
    if other is not None:
        return f"\nthey wait at line {other.line}:    {other.text}"
    if parted is None:
        return ""
    who = "they" if parted.lanes == missing else f"{parted.lanes} of them"
    return f"\n{who} {parted.did}"


def _line_of_others(
    strands: Sequence[Strand], came: Any, missing: Any, row: int, arrival: Arrival
) -> SourceLine | None:
    """Find the other barrier that missing lanes of a block come to, if there is one.

    Args:
        strands: the block's strands.
        came: bool (threads,), lanes of the block at the barrier.
        missing: bool (threads,), lanes that are not there.
        row: the block's position in its batch.
        arrival: the barrier that they miss.
    """
    for strand in strands:
        if not (strand.batch.live.full()[row] & missing).any():
            continue
        if strand.arrival is not None and strand.arrival.is_at(arrival):
            _run_on(strand)
        if strand.arrival is not None:
            lanes = strand.arrival.mask.full()[row]
            if (lanes & missing).any() and not (lanes & came).any():
                return strand.arrival.site.line
    return None


def _run_on(strand: Strand) -> None:
    """Let a strand pass its barrier, which never opened; nobody hears what it does."""
    journal = strand.batch.journal
    if strand.batch.recorder is not None:
        strand.batch.recorder = Recorder()
    printed = len(journal.lines) if journal is not None else 0
    with contextlib.suppress(Exception):
        strand.advance(np.int32(0))
    if journal is not None:
        del journal.lines[printed:]


def warn_of_returned(
    strands: Sequence[Strand], arrival: Arrival, told: set[SourceLine]
) -> None:
    """Warn once for each line when threads of a waiting block have returned.

    Args:
        strands: all strands of the blocks.
        arrival: the barrier, which opens.
        told: lines that a warning was issued for in this launch; grows.
    """
    if all(s.batch.live.count == s.batch.entry.count for s in strands):
        return
    live = np.logical_or.reduce([s.batch.live.full() for s in strands])
    entry = np.logical_or.reduce([s.batch.entry.full() for s in strands])
    came = np.logical_or.reduce([s.arrival.mask.full() for s in strands if s.arrival])
    returned = entry & ~live & came.any(axis=1, keepdims=True)
    if not returned.any():
        return
    batch, line = strands[0].batch, arrival.site.line
    row, threads, text = place_of(batch, returned)
    gone, all_threads = len(threads), int(entry[row].sum())
    told.add(line)
    warning = KernelWarning(
        f"{gone} of the block's {all_threads} threads returned before {arrival.call}",
        where=f"{line}\n{text}",
        why="CUDA's guide asks all threads to come; hardware goes on without these",
        fix="guard the work with an `if` instead of returning, so that all come",
        kind="barrier_after_return",
        returned=gone,
        lanes_at_fault=int(returned.sum()),
        **place_facts(batch, line, row, threads),
    )
    warn_at(line, warning)
