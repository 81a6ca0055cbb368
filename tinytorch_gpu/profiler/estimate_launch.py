"""`estimate`: what a launch would cost, told from a sample of its blocks.

A launch of 4096 × 4096 threads takes minutes to simulate, and its blocks do the same
each. A few of them run, nothing they write stays, and their counts are scaled.

Limits: blocks that meet (atomics at one address, blocks that wait for each other) are
seen only within the sample; their counts are scaled like all others. Reuse between
blocks is seen only among neighbours in the sample.

Source: `sample.py` for the blocks, `tinytorch_gpu.cost` for the model of time.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.cost import GpuCountRules, issued_instructions, kernel_time
from tinytorch_gpu.executor.engine import run
from tinytorch_gpu.profiler.estimate_checks import check_request
from tinytorch_gpu.profiler.estimate_report import Estimate
from tinytorch_gpu.profiler.sample import Part, chosen_parts, scaled, spread
from tinytorch_gpu.profiler.stand_in import StandIn, kernel_array_of
from tinytorch_gpu.runtime.arguments import check_arguments
from tinytorch_gpu.runtime.device import current_device
from tinytorch_gpu.runtime.dimensions import read_launch
from tinytorch_gpu.runtime.launch import launch_shape
from tinytorch_gpu.trace import CountingRecorder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tinytorch_gpu.arch import GpuSpec
    from tinytorch_gpu.executor.engine import LaneProgram
    from tinytorch_gpu.executor.global_memory import GlobalArray
    from tinytorch_gpu.runtime.launch import Launchable, LaunchShape
    from tinytorch_gpu.trace import LaunchCounts, SourceLine

__all__ = ["estimate"]

LANES = 16_384  # threads that run where nobody says how many blocks


def estimate(
    kernel: Launchable,
    grid: Any,
    block: Any,
    args: tuple[Any, ...],
    *,
    blocks: int | None = None,
    seed: int = 0,
    dynamic_shared_bytes: int = 0,
    gpu: str | GpuSpec | None = None,
) -> Estimate:
    """Estimate what a launch costs, from some of its blocks.

    Nothing that the blocks write stays, and no record of a launch is made.

    Args:
        kernel: a `cuda.jit` kernel.
        grid: blocks, an int or a tuple of one to three.
        block: threads of a block, likewise.
        args: as for a launch, or `profiler.like(shape, dtype)` for an array whose
            values do not matter. The same object given twice is one array.
        blocks: how many; by default about 16,384 threads, first and last among them.
        seed: of which blocks run.
        dynamic_shared_bytes: dynamic shared memory of each block.
        gpu: a preset's name or a spec; the current GPU if not told.

    Returns:
        The estimate; atomics at an address for each block are taken to meet.

    Raises:
        GPUNotFoundError: no preset has that name.
        LaunchConfigError: as for a launch, or `blocks` is below 1, or `seed` below 0.
        KernelTypeError: it is no kernel, or the arguments do not fit the parameters.
        SimGPUError: a block of the sample faults.

    Example:
        >>> from tinytorch_gpu import cuda, profiler
        >>> @cuda.jit
        ... def double(x):
        ...     x[cuda.grid(1)] *= 2
        >>> profiler.estimate(double, 2**16, 256, (profiler.like(2**24),)).time.bound
        'memory'
    """
    spec = current_device().spec if gpu is None else find_gpu(gpu)
    check_request(kernel, args, blocks, dynamic_shared_bytes, seed)
    sizes = read_launch(grid, block, kernel.source, spec)
    values = _kernel_values(kernel, args)
    program = kernel.program_for(values)
    shape = launch_shape(program, *sizes, dynamic_shared_bytes, spec)
    return _Launch(spec, program, shape, values).scaled(blocks, seed)


class _Launch(NamedTuple):
    """What does not change from one run of the sample to the next."""

    spec: GpuSpec
    program: LaneProgram
    shape: LaunchShape
    values: tuple[Any, ...]

    def counts_of(self, blocks: range) -> LaunchCounts:
        """Run some blocks, count them, and undo what they wrote."""
        recorder = CountingRecorder(GpuCountRules(self.spec))
        journal = run(
            self.program,
            self.shape.grid,
            self.shape.block,
            self.values,
            recorder,
            self.shape.dynamic_shared_bytes,
            blocks=(blocks,),
        )
        journal.roll_back()
        return recorder.counts()

    def scaled(self, blocks: int | None, seed: int) -> Estimate:
        """Run a sample, and tell what follows for the whole launch."""
        grid, block, _, size, registers = self.shape
        some = blocks or max(1, LANES // math.prod(block))
        parts = chosen_parts(math.prod(grid), some, seed)
        counted = [self.counts_of(part.run) for part in parts]
        counts = scaled(counted, [part.weight for part in parts])
        return Estimate(
            kernel=self.program.source,
            grid=grid,
            block=block,
            gpu=self.spec.name,
            sample=tuple(part.run for part in parts),
            counts=counts,
            time=kernel_time(counts, grid, block, size, self.spec, registers),
            spread=_largest_spread(counted, parts),
            partial_lines=_partial_lines(counted),
            shared_bytes=size,
            registers=registers or 0,
            are_registers_given=self.program.are_registers_given,
        )


def _kernel_values(kernel: Launchable, args: Sequence[Any]) -> tuple[Any, ...]:
    """Return the arguments as the executor takes them."""
    arrays = {id(value): _placed(value) for value in args}  # x, x is one array
    placed = [arrays[id(value)] for value in args]
    pairs = zip(placed, args, strict=True)
    others = tuple(value if array is None else None for array, value in pairs)
    checked = check_arguments(kernel.source, kernel.parameters, others)
    both = zip(placed, checked, strict=True)
    return tuple(value if array is None else array for array, value in both)


def _placed(value: Any) -> GlobalArray | None:
    """Return a stand-in or a host array as a kernel sees it; None of anything else."""
    if isinstance(value, StandIn):
        return kernel_array_of(np.zeros(value.shape, value.dtype))
    if isinstance(value, np.ndarray):
        return kernel_array_of(np.array(value, order="C"))
    return None


def _largest_spread(counted: list[LaunchCounts], parts: tuple[Part, ...]) -> float:
    """How far the parts lie apart in instructions or in sectors of a block."""
    pairs = list(zip(counted, parts, strict=True))
    issued = [issued_instructions(one) / len(part.run) for one, part in pairs]
    sectors = [one.sectors / len(part.run) for one, part in pairs]
    weights = [part.stands_for for part in parts]
    return max(spread(issued, weights), spread(sectors, weights))


def _partial_lines(counted: list[LaunchCounts]) -> tuple[SourceLine, ...]:
    """Lines that some parts ran and others did not."""
    ran = [{line.line for line in one.lines if line.instructions} for one in counted]
    every = {line for lines in ran for line in lines}
    some = [line for line in every if not all(line in lines for lines in ran)]
    return tuple(sorted(some, key=lambda line: (line.file, line.line)))
