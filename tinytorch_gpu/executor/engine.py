"""The engine: run a lane program over all blocks of a launch, batch after batch.

Comes in: a `LaneProgram` (what a front end makes of a kernel), a launch configuration
and kernel arguments. Goes out: memory changed, counts recorded; or an error, and
memory as it was before.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu import settings
from tinytorch_gpu.errors import SimGPUError
from tinytorch_gpu.executor.journal import Journal
from tinytorch_gpu.executor.lanes import Batch, Dim3
from tinytorch_gpu.executor.mask import WARP

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.trace import CountingRecorder, KernelSource, SourceLine

__all__ = ["LaneProgram", "run"]


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
        lines: (file name of a program, its line) → line of the kernel or device
            function.
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
    lines: dict[tuple[str, int], SourceLine] = field(repr=False)


def run(
    program: LaneProgram,
    grid: Dim3,
    block: Dim3,
    arguments: tuple[Any, ...],
    recorder: CountingRecorder | None,
) -> None:
    """Run every block of a launch.

    Args:
        program: what to run.
        grid: blocks in x, y, z.
        block: threads in x, y, z.
        arguments: `GlobalArray`s and NumPy scalars, one for each parameter.
        recorder: counts what happens; None computes values only.

    Raises:
        SimGPUError: the kernel faults; all arrays are as they were before.
    """
    journal = Journal()
    blocks = math.prod(grid)
    padded = -(-math.prod(block) // WARP) * WARP
    at_once = max(1, settings.current().batch_lanes // padded)
    try:
        with np.errstate(all="ignore"):
            for first in range(0, blocks, at_once):
                count = min(at_once, blocks - first)
                batch = Batch(
                    grid,
                    block,
                    first=first,
                    count=count,
                    recorder=recorder,
                    journal=journal,
                )
                _run_batch(program, batch, arguments)
    except BaseException as error:
        journal.roll_back()
        if isinstance(error, SimGPUError) and not error.where:
            error.where = _where(program, error)
        raise


def _run_batch(program: LaneProgram, batch: Batch, arguments: tuple[Any, ...]) -> None:
    """Run one batch to its end; at a barrier all its lanes stop together."""
    chosen = program.plain if batch.recorder is None else program.counted
    started = chosen(batch, batch.entry, *arguments)
    if program.is_resumable:
        for _barrier in started:
            pass


def _where(program: LaneProgram, error: BaseException) -> str:
    """Find the kernel's line that the program was at when the error came."""
    found = ""
    trace = error.__traceback__
    while trace is not None:
        place = (trace.tb_frame.f_code.co_filename, trace.tb_lineno)
        if place in program.lines:
            found = str(program.lines[place])
        trace = trace.tb_next
    return found
