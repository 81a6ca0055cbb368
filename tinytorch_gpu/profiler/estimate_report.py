"""`Estimate`: what a sample of a launch's blocks says of the whole launch.

Comes in: scaled counts, modelled time, and how the parts of the sample differ. Goes
out: two or three lines of text, and the numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tinytorch_gpu.profiler.finding import many
from tinytorch_gpu.units import format_ns

if TYPE_CHECKING:
    from tinytorch_gpu.cost import KernelTime
    from tinytorch_gpu.executor.geometry import Dim3
    from tinytorch_gpu.trace import KernelSource, LaunchCounts, SourceLine

__all__ = ["Estimate"]

SHOWN = 5  # lines told


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a sample says of a launch.

    Args:
        kernel: the kernel.
        grid: blocks in x, y, z.
        block: threads in x, y, z.
        gpu: name of the GPU.
        sample: linear indices of the blocks that ran, by part of the grid.
        counts: of the whole launch, scaled.
        time: modelled time of the whole launch.
        spread: standard deviation ÷ mean of the instructions and sectors of a block,
            over the parts of the grid, whichever is larger; 0 for a single part.
        partial_lines: lines that the blocks of some parts ran, and of others did not.
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
    partial_lines: tuple[SourceLine, ...]
    shared_bytes: int
    registers: int
    are_registers_given: bool

    @property
    def duration_ns(self) -> float:
        """Modelled time of the launch."""
        return self.time.duration_ns

    def __str__(self) -> str:
        """Tell time, what binds, and what the estimate rests on."""
        known = "given" if self.are_registers_given else "estimated"
        registers = many(self.registers, "register", "registers")
        return (
            f"{self.kernel.name} on {self.gpu}: "
            f"modelled {format_ns(self.duration_ns)}, "
            f"bound: {self.time.bound} ({self.time.binding_term})\n"
            f"{self._sampled()}; {registers} a thread ({known}){self._guarded()}"
        )

    def _sampled(self) -> str:
        """Tell what ran, and how far that can be trusted."""
        ran = sum(map(len, self.sample))
        blocks = many(math.prod(self.grid), "block", "blocks")
        if ran == math.prod(self.grid):
            return f"counted: all of {blocks} ran"
        if len(self.sample) == 1:
            return (
                f"estimated from {ran} of {blocks}: how the others differ is not known"
            )
        told = f"estimated from {ran} of {blocks} at {len(self.sample)} places, which "
        percent = 100 * self.spread
        if not self.spread:
            return told + "all did the same"
        differ = f"{percent:.1f} %" if percent >= 0.05 else "less than 0.1 %"
        return f"{told}differ by {differ}"

    def _guarded(self) -> str:
        """Tell of lines that some places did not run: there may be more of them."""
        if not self.partial_lines:
            return ""
        numbers = ", ".join(str(line.line) for line in self.partial_lines[:SHOWN])
        more = ", ..." if len(self.partial_lines) > SHOWN else ""
        lines = "line" if len(self.partial_lines) == 1 else "lines"
        return (
            f"\nonly some of the places ran {lines} {numbers}{more}: try more blocks="
        )
