"""`Cause`: one reason for a kernel's time, and its modelled time without that.

Comes in: a `Judged`, one launch with its counts on a GPU, whose `time` asks the cost
model again with other counts or another shape. The causes themselves stand in
`memory_causes` and `work_causes`; `kernel_findings` makes findings of them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from tinytorch_gpu.cost import kernel_time, occupancy
from tinytorch_gpu.profiler.case import grouped
from tinytorch_gpu.trace import LaunchCounts

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from tinytorch_gpu.arch import GpuSpec
    from tinytorch_gpu.cost import KernelTime
    from tinytorch_gpu.trace import LaunchRecord

Counted = TypeVar("Counted", bound=Any)

__all__ = ["Cause", "Judged", "below_well", "judged_alike"]

WELL = 0.75  # of the ideal; what does better is left alone


@dataclass(frozen=True)
class Judged:
    """One launch as a cause sees it.

    Args:
        launch: the launch.
        counts: what it did; nothing when counters were off.
        spec: the modelled GPU.
    """

    launch: LaunchRecord
    counts: LaunchCounts
    spec: GpuSpec

    @classmethod
    def of(cls, launch: LaunchRecord, spec: GpuSpec) -> Judged:
        """Take a launch with its counts, if it has any."""
        return cls(launch, launch.counts or LaunchCounts((), (), 0), spec)

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self.launch.kernel.name

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return math.prod(self.launch.grid)

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return math.prod(self.launch.block)

    @property
    def warps(self) -> int:
        """Warps of the launch."""
        return self.blocks * self._warps_of_block

    @property
    def resident(self) -> int:
        """Blocks that an SM holds at a time, whether the grid has so many or not."""
        most = self.spec.max_threads_per_sm // self.spec.warp_size
        return round(self.launch.theoretical_occupancy * most / self._warps_of_block)

    @property
    def filled(self) -> float:
        """Share of an SM's warps that the launch fills, 0 to 1: where most blocks are.

        A grid of one block fills no more than that block does, however many would fit.
        """
        held = min(self.resident, -(-self.blocks // self.spec.num_sms))
        warps = held * self._warps_of_block
        return warps * self.spec.warp_size / self.spec.max_threads_per_sm

    @property
    def is_partly_filled(self) -> bool:
        """Whether lanes idle for the size of the blocks: no branch parts a warp."""
        is_ragged = self.threads % self.spec.warp_size > 0
        return is_ragged and not self.counts.total("divergent_branches")

    @property
    def _warps_of_block(self) -> int:
        return -(-self.threads // self.spec.warp_size)

    @cached_property
    def registers(self) -> int | None:
        """The most registers of a thread with which so many blocks are resident.

        A record does not tell them; None stands for an estimate that limits nothing.
        """
        shared, resident = self.launch.shared_bytes, self.resident
        free = occupancy(self.threads, self.spec, shared_bytes=shared)
        if free.blocks_per_sm <= resident or not resident:
            return None
        for registers in range(self.spec.max_registers_per_thread, 0, -1):
            fit = occupancy(
                self.threads,
                self.spec,
                registers_per_thread=registers,
                shared_bytes=shared,
            )
            if fit.blocks_per_sm == resident:
                return registers
        return None

    @cached_property
    def now(self) -> KernelTime:
        """The modelled time of the launch as it is, with all that the model knows."""
        return self.time()

    def time(self, **changes: Any) -> KernelTime:
        """Model the launch's time with something changed.

        Args:
            changes: of `counts`, `grid`, `block`, `shared_bytes` and `registers`.

        Returns:
            What the cost model says.
        """
        given: dict[str, Any] = {
            "counts": self.counts,
            "grid": self.launch.grid,
            "block": self.launch.block,
            "shared_bytes": self.launch.shared_bytes,
            "registers": self.registers,
        }
        return kernel_time(**(given | changes), spec=self.spec)

    def grown(self, times: int) -> KernelTime:
        """Model the launch's time for arrays several times as large.

        Args:
            times: how many times as many blocks do the same each.

        Returns:
            What the cost model says.
        """
        counts = _grown(self.counts, times)
        return self.time(counts=counts, grid=(times * self.blocks, 1, 1))


@dataclass(frozen=True)
class Cause:
    """One reason for a kernel's time.

    Args:
        kind: its name, as in `Finding`.
        cured: the modelled time without it, or None where it is not the cause.
        tell: a sentence with two numbers, and the change as code.
    """

    kind: str
    cured: Callable[[Judged], KernelTime | None]
    tell: Callable[[Judged], tuple[str, str]]


def judged_alike(
    launches: dict[int, LaunchRecord], spec: GpuSpec
) -> list[tuple[Judged, dict[int, LaunchRecord]]]:
    """Part launches into those of which the model says the same, to ask it only once.

    Args:
        launches: by their position among the records.
        spec: the modelled GPU.

    Returns:
        For each part one launch of it to ask, and all of them by position.
    """
    parts = grouped(launches, _shape)
    return [(Judged.of(next(iter(part.values())), spec), part) for part in parts]


def _shape(launch: LaunchRecord) -> Hashable:
    """Return all that a launch's modelled time depends on."""
    return (
        launch.kernel,
        launch.counts,
        launch.grid,
        launch.block,
        launch.shared_bytes,
        launch.theoretical_occupancy,
    )


def below_well(part: float, whole: float) -> float | None:
    """Return part ÷ whole where that is far from the ideal of 1, else None.

    Args:
        part: what the ideal needs.
        whole: what there is.

    Returns:
        The share, or None from 75 % on, or when there is nothing.

    Example:
        >>> below_well(1, 4), below_well(3, 4), below_well(0, 0)
        (0.25, None, None)
    """
    return part / whole if whole and part < WELL * whole else None


def _grown(counts: LaunchCounts, times: int) -> LaunchCounts:
    """Counts of so many times as many blocks on arrays as many times as large."""
    of_block = {"shared": ("hottest_address",)}  # each block has its own
    accesses = (_times(a, times, of_block.get(a.space, ())) for a in counts.accesses)
    return replace(
        counts,
        accesses=tuple(accesses),
        lines=tuple(_times(line, times) for line in counts.lines),
        barriers=times * counts.barriers,
        reuse=tuple(_times(r, times, ("step_lines",)) for r in counts.reuse),
    )


def _times(counted: Counted, times: int, but: tuple[str, ...] = ()) -> Counted:
    """All numbers of a record so many times, but for some."""
    numbers = {f.name: getattr(counted, f.name) for f in fields(counted)}
    changed = {
        name: times * number
        for name, number in numbers.items()
        if isinstance(number, int) and name not in but
    }
    return replace(counted, **changed)
