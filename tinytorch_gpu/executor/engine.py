"""The engine: run a lane program over all blocks of a launch, batch after batch.

Comes in: a `LaneProgram` (what a front end makes of a kernel), a launch configuration
and kernel arguments. Goes out: memory changed, counts recorded; or an error, and
memory as it was before.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu import settings
from tinytorch_gpu.errors import DeadlockError, SimGPUError, StepBudgetError
from tinytorch_gpu.executor.geometry import block_geometry
from tinytorch_gpu.executor.journal import Journal
from tinytorch_gpu.executor.lanes import Batch, Dim3
from tinytorch_gpu.executor.schedule import Order, run_teams, warps_of
from tinytorch_gpu.executor.spin import warn_of_waiting
from tinytorch_gpu.executor.strand import Strand
from tinytorch_gpu.trace import LaunchStart, Stamp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from tinytorch_gpu.trace import KernelSource, Recorder, SourceLine

__all__ = ["LINES", "LaneProgram", "run"]

# Lane values come and go by the hundred kilobytes. Until a block of some megabytes has
# been freed once, glibc hands the memory of each back to the system, and touching it
# anew makes counted launches up to three times slower. The block itself is never used.
# Source: mallopt(3), M_MMAP_THRESHOLD ("the threshold is dynamic").
np.empty(1 << 24, np.uint8)


MOST_LOCAL_BYTES = 1 << 26  # of a batch's local arrays: 64 MiB
LINES = "__kernel_lines__"  # global name in a lane program: a SourceLine for each line


@dataclass(frozen=True, eq=False)
class LaneProgram:
    """A kernel rewritten to run for all lanes of a batch at once.

    Args:
        source: the kernel's name, file and line.
        parameters: names of the kernel's parameters.
        plain: the program without recording: `plain(batch, mask, *arguments)`.
        counted: the same, reporting each operation to the batch's recorder.
        is_resumable: the program is a generator that stops at barriers.
        is_data_dependent: its addresses or branches depend on what memory holds.
        control_parameters: scalar parameters that addresses or branches depend on.
        shared: shape and dtype of each shared array.
        text: the programs' source, to read.
        is_cooperative: it has a grid barrier, so that all blocks must be resident.
        local_bytes: bytes of the local arrays that one thread makes.
        registers: 32-bit registers of a thread; 0 if nothing is known.
        are_registers_given: the learner told them; else they are an estimate.
    """

    source: KernelSource
    parameters: tuple[str, ...]
    plain: Callable[..., Any]
    counted: Callable[..., Any]
    is_resumable: bool
    is_data_dependent: bool
    control_parameters: frozenset[str]
    shared: tuple[tuple[tuple[int, ...], np.dtype[Any]], ...]
    text: str
    is_cooperative: bool = False
    local_bytes: int = 0
    registers: int = 0
    are_registers_given: bool = False


def run(
    program: LaneProgram,
    grid: Dim3,
    block: Dim3,
    arguments: tuple[Any, ...],
    recorder: Recorder | None,
    dynamic_shared_bytes: int = 0,
    stamp: Stamp | None = None,
    blocks: Sequence[range] = (),
) -> Journal:
    """Run every block of a launch, in the order that `Settings.schedule` names.

    Lanes that wait in lockstep for each other may get on when warps run one after
    another (a lock that one thread of each block takes, say), so that is tried, with a
    `KernelWarning`, before a deadlock is told.

    Args:
        program: what to run.
        grid: blocks in x, y, z.
        block: threads in x, y, z.
        arguments: `GlobalArray`s and NumPy scalars, one for each parameter.
        recorder: hears what happens; None computes values only.
        dynamic_shared_bytes: dynamic shared memory of each block.
        stamp: which launches are over, for the recorder.
        blocks: linear indices of those to run, if not all: ranges of neighbours.

    Returns:
        What the launch has written over.

    Raises:
        SimGPUError: the kernel faults; all arrays are as they were before, also after
            Ctrl-C.
    """
    which, size = blocks or (range(math.prod(grid)),), dynamic_shared_bytes
    launch = _Launch(program, grid, block, arguments, recorder, size, stamp, which)
    switches, journal = settings.current(), Journal()
    try:
        launch.run(Order(switches), journal)
    except DeadlockError as deadlock:
        is_lockstep = switches.schedule == "lockstep"
        other = _run_by_warp(launch, deadlock) if is_lockstep else None
        if other is None:
            journal.show_lines()
            raise
        return other
    return journal


def _run_by_warp(launch: _Launch, deadlock: DeadlockError) -> Journal | None:
    """Run the launch anew, warp by warp; None if it does not come to its end."""
    for schedule in ("warps", "reversed"):
        order = Order(replace(settings.current(), schedule=schedule))
        journal = Journal()
        try:
            launch.run(order, journal, deadlock)
        except DeadlockError:
            continue
        return journal
    return None


@dataclass(frozen=True, eq=False)
class _Launch:
    """One launch, which can be run in several orders: a run that fails changes nothing.

    Args: as those of `run`.
    """

    program: LaneProgram
    grid: Dim3
    block: Dim3
    arguments: tuple[Any, ...]
    recorder: Recorder | None
    dynamic_shared_bytes: int
    stamp: Stamp | None
    blocks: Sequence[range]

    def run(
        self, order: Order, journal: Journal, deadlock: DeadlockError | None = None
    ) -> None:
        """Run all blocks, and print what they print unless they come to a deadlock.

        Args:
            order: of warps and blocks.
            journal: a fresh one; after a deadlock it still holds the printed lines.
            deadlock: what another order came to, to be warned of.
        """
        if self.recorder is not None:
            self.recorder.begin(self._start())
        try:
            with np.errstate(all="ignore"):
                run_teams(self._teams(order, journal), order)
            if deadlock is not None:
                warn_of_waiting(deadlock)
        except BaseException as error:
            journal.roll_back()
            if isinstance(error, SimGPUError):
                _add_place(error)
            if not isinstance(error, DeadlockError):
                journal.show_lines()
            if isinstance(error, RecursionError):
                raise _too_deep(_line_of(error)) from None
            raise
        journal.show_lines()

    def _start(self) -> LaunchStart:
        named = dict(zip(self.program.parameters, self.arguments, strict=True))
        return LaunchStart(
            self.program.source, self.grid, self.block, named, self.stamp or Stamp()
        )

    def _teams(self, order: Order, journal: Journal) -> Iterator[list[Strand]]:
        """Yield one strand for a batch of blocks, or, of a block, one for each warp."""
        if order.is_lockstep:
            padded = block_geometry(self.block)[1]
            at_once = max(1, self._most_lanes() // padded)
            for blocks in self.blocks:
                for first in blocks[::at_once]:
                    count = min(at_once, blocks.stop - first)
                    yield [self._strand(self._batch(first, count, journal))]
        else:
            for first in order.of([b for blocks in self.blocks for b in blocks]):
                batch = self._batch(int(first), 1, journal, order.random)
                yield [self._strand(warp) for warp in warps_of(batch)]

    def _most_lanes(self) -> int:
        """Return how many lanes run at once: fewer if they have large local arrays."""
        lanes = settings.current().batch_lanes
        if not self.program.local_bytes:
            return lanes
        return min(lanes, MOST_LOCAL_BYTES // self.program.local_bytes)

    def _batch(
        self,
        first: int,
        count: int,
        journal: Journal,
        random: np.random.Generator | None = None,
    ) -> Batch:
        return Batch(
            self.grid,
            self.block,
            first=first,
            count=count,
            recorder=self.recorder,
            journal=journal,
            dynamic_shared_bytes=self.dynamic_shared_bytes,
            random=random,
        )

    def _strand(self, batch: Batch) -> Strand:
        program = self.program
        is_plain = self.recorder is None or not self.recorder.wants_operations
        start = program.plain if is_plain else program.counted
        return Strand(batch, start, self.arguments, is_resumable=program.is_resumable)


def _too_deep(line: SourceLine | None) -> StepBudgetError:
    return StepBudgetError(
        "a device function calls itself deeper and deeper",
        where=str(line or ""),
        kind="endless_loop",
        source_line=line,
        why=f"Python allows {sys.getrecursionlimit()} calls within each other; a GPU's "
        "stack is smaller",
        fix="check what ends the recursion, or write it as a loop",
    )


def _add_place(error: SimGPUError) -> None:
    """Tell where a fault came, unless it tells itself."""
    line = _line_of(error)
    if line is not None:
        error.where = error.where or str(line)
        error.add_facts(kernel=line.kernel, line=line.line, source_line=line)


def _line_of(error: BaseException) -> SourceLine | None:
    """Find the kernel's line that the program was at when the error came."""
    found = None
    trace = error.__traceback__
    while trace is not None:
        lines = trace.tb_frame.f_globals.get(LINES)
        if lines is not None:
            found = lines[trace.tb_lineno - 1]
        trace = trace.tb_next
    return found
