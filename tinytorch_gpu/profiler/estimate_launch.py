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
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.cost import GpuCountRules, issued_instructions, kernel_time
from tinytorch_gpu.errors import LaunchConfigError
from tinytorch_gpu.executor.engine import run
from tinytorch_gpu.executor.shared_memory import shared_bytes
from tinytorch_gpu.profiler.sample import chosen_blocks, scaled, spread
from tinytorch_gpu.profiler.stand_in import StandIn, kernel_array_of
from tinytorch_gpu.runtime.arguments import check_arguments
from tinytorch_gpu.runtime.device import current_device
from tinytorch_gpu.runtime.dimensions import read_launch
from tinytorch_gpu.runtime.launch import registers_of
from tinytorch_gpu.trace import CountingRecorder
from tinytorch_gpu.units import format_ns

if TYPE_CHECKING:
    from tinytorch_gpu.arch import GpuSpec
    from tinytorch_gpu.cost import KernelTime
    from tinytorch_gpu.executor.engine import LaneProgram
    from tinytorch_gpu.executor.geometry import Dim3
    from tinytorch_gpu.executor.global_memory import GlobalArray
    from tinytorch_gpu.runtime.launch import Launchable
    from tinytorch_gpu.trace import KernelSource, LaunchCounts

__all__ = ["Estimate", "estimate"]

LANES = 16_384  # threads that run where nobody says how many blocks


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a sample says of a launch.

    Args:
        kernel: the kernel.
        grid: blocks in x, y, z.
        block: threads in x, y, z.
        gpu: name of the GPU.
        sample: linear indices of the blocks that ran.
        counts: of the whole launch, scaled.
        time: modelled time of the whole launch.
        spread: standard deviation ÷ mean of the instructions and sectors of a block,
            over the runs of the sample, whichever is larger; 0 for a single run.
        shared_bytes: shared memory of one block.
        registers: of a thread.
        are_registers_given: the learner told them; else they are an estimate.
    """

    kernel: KernelSource
    grid: Dim3
    block: Dim3
    gpu: str
    sample: tuple[range, ...]
    counts: LaunchCounts
    time: KernelTime
    spread: float
    shared_bytes: int
    registers: int
    are_registers_given: bool

    @property
    def duration_ns(self) -> float:
        """Modelled time of the launch."""
        return self.time.duration_ns

    def __str__(self) -> str:
        """Tell time, what binds, and what the estimate rests on."""
        ran, blocks = sum(map(len, self.sample)), math.prod(self.grid)
        known = "given" if self.are_registers_given else "estimated"
        return (
            f"{self.kernel.name} on {self.gpu}: "
            f"modelled {format_ns(self.duration_ns)}, "
            f"bound: {self.time.bound} ({self.time.binding_term})\n"
            f"estimated from {ran} of {blocks} blocks, which differ by "
            f"{100 * self.spread:.1f} %; {self.registers} registers a thread ({known})"
        )


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
            values do not matter; host arrays are not copied to the device.
        blocks: how many blocks run; by default about 16,384 threads.
        seed: of which blocks run.
        dynamic_shared_bytes: dynamic shared memory of each block.
        gpu: a preset's name or a spec; the current GPU if not told.

    Returns:
        The estimate.

    Raises:
        GPUNotFoundError: no preset has that name.
        LaunchConfigError: the launch would be refused, or `blocks` is less than 1.
        KernelTypeError: the arguments do not fit the parameters.
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
    sizes = read_launch(grid, block, kernel.source, spec)
    how_many = _how_many(blocks, math.prod(sizes[1]), kernel.source)
    sample = chosen_blocks(math.prod(sizes[0]), how_many, seed)
    values = _kernel_values(kernel, args)
    program = kernel.program_for(values)
    return _Launch(spec, program, *sizes, values, dynamic_shared_bytes).scaled(sample)


class _Launch(NamedTuple):
    """What does not change from one run of the sample to the next."""

    spec: GpuSpec
    program: LaneProgram
    grid: Dim3
    block: Dim3
    values: tuple[Any, ...]
    dynamic_shared_bytes: int

    def counts_of(self, blocks: range) -> LaunchCounts:
        """Run some blocks, count them, and undo what they wrote."""
        recorder = CountingRecorder(GpuCountRules(self.spec))
        journal = run(
            self.program,
            self.grid,
            self.block,
            self.values,
            recorder,
            self.dynamic_shared_bytes,
            blocks=(blocks,),
        )
        journal.roll_back()
        return recorder.counts()

    def scaled(self, sample: tuple[range, ...]) -> Estimate:
        """Run the sample, and tell what follows for the whole launch."""
        spec, program, grid, block = self.spec, self.program, self.grid, self.block
        limit = spec.shared_bytes_per_block
        size = shared_bytes(list(program.shared), limit, self.dynamic_shared_bytes)
        registers = registers_of(program, block, spec)
        parts = [self.counts_of(blocks) for blocks in sample]
        counts = scaled(parts, math.prod(grid) / sum(map(len, sample)))
        return Estimate(
            kernel=program.source,
            grid=grid,
            block=block,
            gpu=spec.name,
            sample=sample,
            counts=counts,
            time=kernel_time(counts, grid, block, size, spec, registers),
            spread=_largest_spread(parts, sample),
            shared_bytes=size,
            registers=registers or 0,
            are_registers_given=program.are_registers_given,
        )


def _kernel_values(kernel: Launchable, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the arguments as the executor takes them."""
    placed = [_placed(value) for value in args]
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


def _how_many(blocks: int | None, threads: int, kernel: KernelSource) -> int:
    if blocks is None:
        return max(1, LANES // threads)
    if blocks < 1:
        raise LaunchConfigError(
            f"an estimate from {blocks} blocks",
            where=f"profiler.estimate of {kernel}",
            why="what no block does cannot be scaled to the launch",
            fix="give blocks=1 or more, or leave it out",
        )
    return blocks


def _largest_spread(parts: list[LaunchCounts], sample: tuple[range, ...]) -> float:
    """How far the runs lie apart in instructions or in sectors of a block."""
    pairs = list(zip(parts, sample, strict=True))
    issued = [issued_instructions(counts) / len(ran) for counts, ran in pairs]
    sectors = [counts.sectors / len(ran) for counts, ran in pairs]
    return max(spread(issued), spread(sectors))
