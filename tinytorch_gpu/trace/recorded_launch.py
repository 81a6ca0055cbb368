"""`RecordedLaunch`: what a trace holds of one launch, and what it does not."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tinytorch_gpu.errors import TraceQueryError
from tinytorch_gpu.trace.places import WARP, Dim3, Place, linear, padded_threads
from tinytorch_gpu.trace.traced_arrays import first_name
from tinytorch_gpu.units import format_bytes

if TYPE_CHECKING:
    from tinytorch_gpu.trace.counts import LaunchCounts
    from tinytorch_gpu.trace.source import KernelSource
    from tinytorch_gpu.trace.steps import Step, TracedArray

__all__ = ["RecordedLaunch"]

BINARY = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))
SHOWN = 8  # names or numbers that an error or a note lists


@dataclass(frozen=True, eq=False)
class RecordedLaunch:
    """What was kept of one launch.

    Args:
        kernel: name, file and line of the kernel.
        grid: blocks in x, y, z.
        block: threads in x, y, z.
        arrays: the array parameters, then the other arrays that it touched.
        steps: what was kept, in order.
        counts: exact counts of the whole launch; None when counters were off, or when
            the launch stopped.
        seen: steps of the chosen lanes, kept or not.
        budget_bytes: greatest size of what is kept.
        blocks: linear numbers of the blocks that were chosen; None for all.
        warps: numbers of the warps that were chosen in each block; None for all.
        error: what stopped the launch, or "".
    """

    kernel: KernelSource
    grid: Dim3
    block: Dim3
    arrays: tuple[TracedArray, ...]
    steps: tuple[Step, ...]
    counts: LaunchCounts | None
    seen: int
    budget_bytes: int
    blocks: tuple[int, ...] | None = None
    warps: tuple[int, ...] | None = None
    error: str = ""

    @property
    def is_complete(self) -> bool:
        """Whether every step of every block and warp was kept."""
        is_everywhere = self.blocks is None and self.warps is None
        return is_everywhere and len(self.steps) == self.seen

    @property
    def note(self) -> str:
        """What was kept and what not, and what stopped the launch; "" if nothing."""
        told = []
        if self.blocks is not None:
            count = math.prod(self.grid)
            told.append(f"kept {len(self.blocks):,} of {count:,} blocks")
        if self.warps is not None:
            told.append(f"kept these warps of each block: {_listed(self.warps)}")
        if len(self.steps) < self.seen:
            told.append(
                f"kept the first {len(self.steps):,} of {self.seen:,} steps: "
                f"{_size(self.budget_bytes)} are full; raise budget=, or choose blocks="
            )
        if self.error:
            told.append(f"the launch stopped: {self.error}")
        return "; ".join(told)

    def array(self, name: str) -> TracedArray:
        """Return the array of a name; a parameter before any other.

        A name that only a view or a device function has finds the array behind it.

        Raises:
            TraceQueryError: the launch touched no array of that name.
        """
        for array in self.arrays:
            if array.name == name:
                return array
        for step in self.steps:
            if step.array is not None and first_name(step.expression) == name:
                return step.array
        names = tuple(dict.fromkeys(array.name for array in self.arrays))
        raise TraceQueryError(
            f"the trace knows no array `{name}`",
            where=str(self.kernel),
            why=f"it knows {_listed(names) or 'none'}",
            fix="name a parameter, or an array as the kernel spells it",
            name=name,
        )

    def block_number(self, block: Place) -> int:
        """Return the linear number of a block that was kept.

        Raises:
            TraceQueryError: the launch has no such block, or the trace did not keep it.
        """
        number = linear("block", block, self.grid, str(self.kernel))
        if self.blocks is not None and number not in self.blocks:
            raise self._not_kept(f"block {number}", "blocks", self.blocks)
        return number

    def thread_number(self, thread: Place) -> int:
        """Return the linear number of a thread whose warp was kept.

        Raises:
            TraceQueryError: a block has no such thread, or the trace did not keep it.
        """
        number = linear("thread", thread, self.block, str(self.kernel))
        if self.warps is not None and number // WARP not in self.warps:
            raise self._not_kept(
                f"thread {number}, of warp {number // WARP}", "warps", self.warps
            )
        return number

    def warp_number(self, warp: int) -> int:
        """Return the number of a warp that was kept.

        Raises:
            TraceQueryError: a block has no such warp, or the trace did not keep it.
        """
        count = padded_threads(self.block) // WARP
        number = linear("warp", warp, (count, 1, 1), str(self.kernel))
        if self.warps is not None and number not in self.warps:
            raise self._not_kept(f"warp {number}", "warps", self.warps)
        return number

    def check_kept(self, answer: object, what: str, *, is_chosen: bool = True) -> None:
        """Refuse an empty answer where it may only mean that nothing was kept.

        Args:
            answer: true if it is not empty.
            what: that was asked for.
            is_chosen: what was asked for lies in blocks and warps that were chosen.

        Raises:
            TraceQueryError: the answer is empty, and the trace may lack something.
        """
        if answer or (is_chosen and len(self.steps) == self.seen):
            return
        raise TraceQueryError(
            f"the trace holds nothing of {what}",
            where=str(self.kernel),
            why=self.note.replace("; ", ";\n"),
            fix="trace again with a larger budget=, or choose other blocks= or warps=",
        )

    def _not_kept(self, what: str, kind: str, kept: tuple[int, ...]) -> TraceQueryError:
        return TraceQueryError(
            f"the trace does not hold {what}",
            where=str(self.kernel),
            why=f"it keeps these {kind}: {_listed(kept) or 'none'}",
            fix=f"ask for one of these, or trace with {kind}=[...]",
        )


def _listed(things: tuple[object, ...]) -> str:
    more = f" and {len(things) - SHOWN:,} more" * (len(things) > SHOWN)
    return ", ".join(map(str, things[:SHOWN])) + more


def _size(count: int) -> str:
    """Write a budget as people ask for it."""
    for unit, name in BINARY:
        if count and count % unit == 0:
            return f"{count // unit} {name}"
    return format_bytes(count)
