"""`Bill`: what some launches cost together."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.cost.caches import memory_traffic
from tinytorch_gpu.units import format_bytes, format_ns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tinytorch_gpu.arch import GpuSpec
    from tinytorch_gpu.trace import LaunchRecord

__all__ = ["Bill", "bill_of"]


@dataclass(frozen=True)
class Bill:
    """Launches, bytes and modelled time.

    Args:
        launches: how many there are.
        dram_bytes: between DRAM and L2, of all launches.
        kernel_ns: modelled time of the kernels.
        time_ns: modelled time from the first issue to the last kernel's end, on an idle
            device: kernels wait for the host to issue them.
        noun: what is counted, `launch` or `copy`.

    Example:
        >>> Bill.of([2000, 2000], 4096, 5000.0).time_ns     # 2 × 5 µs, then 2 µs
        12000.0
    """

    launches: int
    dram_bytes: int
    kernel_ns: float
    time_ns: float
    noun: str = "launch"

    @classmethod
    def of(cls, durations: Sequence[float], dram_bytes: int, issue_ns: float) -> Bill:
        """Make the bill of launches one after another.

        Args:
            durations: modelled nanoseconds of the kernels, in order.
            dram_bytes: that they move.
            issue_ns: modelled host time of a launch.
        """
        end = 0.0
        for number, duration in enumerate(durations, start=1):
            end = max(end, number * issue_ns) + duration
        return cls(len(durations), dram_bytes, float(sum(durations)), end)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by name."""
        return dict(vars(self))

    def __str__(self) -> str:
        """Tell it in one line."""
        nouns = {"launch": "launches", "copy": "copies"}
        noun = self.noun if self.launches == 1 else nouns[self.noun]
        where = "DRAM traffic" if self.noun == "launch" else "the link"
        moved, time = format_bytes(self.dram_bytes), format_ns(self.time_ns)
        return f"{self.launches} {noun}, {moved} of {where}, modelled {time}"


def bill_of(launches: Sequence[LaunchRecord], spec: GpuSpec) -> Bill:
    """Add up what launches cost.

    Args:
        launches: in order; uncounted ones move nothing.
        spec: the GPU that they ran on.
    """
    moved = sum(_dram_bytes(launch, spec) for launch in launches)
    durations = [launch.duration_ns for launch in launches]
    return Bill.of(durations, moved, spec.launch_issue_ns)


def _dram_bytes(launch: LaunchRecord, spec: GpuSpec) -> int:
    if launch.counts is None:
        return 0
    resident = launch.theoretical_occupancy * spec.max_threads_per_sm / spec.warp_size
    warps = -(-math.prod(launch.block) // spec.warp_size)
    return memory_traffic(
        launch.counts,
        spec,
        blocks_per_sm=max(1, round(resident / warps)),
        shared_bytes=launch.shared_bytes,
    ).dram_bytes
