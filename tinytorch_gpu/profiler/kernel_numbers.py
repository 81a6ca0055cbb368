"""`KernelNumbers`: everything that a report tells of one launch, as plain numbers.

Comes in: equal launches and the GPU. Goes out: counts, which are exact, and times and
DRAM bytes, which are modelled.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.cost.caches import memory_traffic
from tinytorch_gpu.trace import LaunchCounts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tinytorch_gpu.arch import GpuSpec
    from tinytorch_gpu.trace import AccessCounts, LaunchRecord

__all__ = ["KernelNumbers", "numbers_of"]

_NOTHING = LaunchCounts((), (), 0)
_NO_PIPES = ("floor", "latency", "exposed")  # terms in which nothing works


@dataclass(frozen=True)
class KernelNumbers:
    """Numbers of one launch; all counts are 0 where counters were off.

    Args:
        name: the kernel's name.
        launches: how many equal launches there were.
        is_counted: False where counters were off.
        duration_ns: modelled time of one launch on the device.
        issue_ns: modelled host time of one launch.
        bound: what binds the modelled time.
        terms: modelled nanoseconds of the floor, of each pipe and of waiting, by name.
        grid: blocks in x, y, z.
        block: threads in x, y, z.
        shared_bytes: shared memory of one block.
        theoretical_occupancy: resident warps of an SM ÷ the most it holds, 0 to 1.
        occupancy_limiter: what keeps more blocks off an SM.
        waves: blocks ÷ blocks that the GPU holds at a time.
        requests: warp-wide requests to global memory.
        sectors: 32-byte sectors of them.
        sectors_per_request: 4.0 is the minimum of 32 lanes × 4 bytes.
        coalescing_efficiency: bytes used ÷ bytes of the sectors, 0 to 1.
        requested_bytes: bytes that the lanes asked for, each lane counted.
        l1_bytes: bytes of the sectors that requests asked L1 for.
        l2_bytes: modelled bytes between L1 and L2.
        dram_bytes: modelled bytes between L2 and DRAM.
        l1_hit_rate: modelled share of the loaded bytes that L1 had, 0 to 1.
        l2_hit_rate: modelled share of the bytes loaded from L2 that it had, 0 to 1.
        shared_requests: warp-wide requests to shared memory.
        shared_wavefronts: passes over the banks.
        bank_conflicts: passes beyond the fewest.
        warp_instructions: issued.
        warp_execution_efficiency: active lanes ÷ (32 × warp instructions), 0 to 1.
        branches: warp-level branch decisions.
        divergent_branches: those at which lanes of one warp parted.
        barriers: warps that arrived at barriers.
        fp32_flops: float32 operations.
        fp64_flops: float64 operations.
        special_functions: divisions, roots, exponentials and their like.
        arithmetic_intensity: flops for each byte of DRAM.
        ridge_flops_per_byte: intensity at which the GPU's two roofs meet.
        flops_per_s: flops ÷ modelled duration.
        gpu: the modelled GPU.
        launch: one of the launches.
    """

    name: str
    launches: int
    is_counted: bool
    duration_ns: float
    issue_ns: float
    bound: str
    terms: dict[str, float]
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    theoretical_occupancy: float
    occupancy_limiter: str
    waves: float
    requests: int
    sectors: int
    sectors_per_request: float
    coalescing_efficiency: float
    requested_bytes: int
    l1_bytes: int
    l2_bytes: int
    dram_bytes: int
    l1_hit_rate: float
    l2_hit_rate: float
    shared_requests: int
    shared_wavefronts: int
    bank_conflicts: int
    warp_instructions: int
    warp_execution_efficiency: float
    branches: int
    divergent_branches: int
    barriers: int
    fp32_flops: int
    fp64_flops: int
    special_functions: int
    arithmetic_intensity: float
    ridge_flops_per_byte: float
    flops_per_s: float
    gpu: GpuSpec = field(repr=False)
    launch: LaunchRecord = field(repr=False)

    @property
    def total_ns(self) -> float:
        """Modelled device time of all equal launches together."""
        return self.launches * self.duration_ns

    @property
    def branch_efficiency(self) -> float:
        """Share of the branch decisions in which a warp stayed together, 0 to 1."""
        parted = self.divergent_branches
        return 1 - parted / self.branches if self.branches else 1.0

    @property
    def speed_of_light(self) -> dict[str, float]:
        """Share of the duration in which each pipe works at its peak, 0 to 1."""
        pipes = {n: ns for n, ns in self.terms.items() if n not in _NO_PIPES}
        return {name: ns / (self.duration_ns or 1.0) for name, ns in pipes.items()}

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers by name, in plain types."""
        names = [f.name for f in fields(self) if f.name not in ("gpu", "launch")]
        plain = {name: getattr(self, name) for name in names}
        for name in ("total_ns", "branch_efficiency", "speed_of_light"):
            plain[name] = getattr(self, name)
        return plain | {"kernel": str(self.launch.kernel), "gpu": self.gpu.name}


def numbers_of(launches: Sequence[LaunchRecord], gpu: GpuSpec) -> dict[str, Any]:
    """Return the fields of `KernelNumbers` for launches that are equal.

    Args:
        launches: at least one; same kernel, configuration and counts.
        gpu: the modelled GPU.

    Returns:
        Values by the names of the fields.
    """
    launch = launches[0]
    counts = launch.counts or _NOTHING
    flops = counts.total("fp32") + counts.total("fp64")
    traffic = _traffic(launch, counts, gpu)
    moved = traffic["dram_bytes"]
    return {
        "name": launch.kernel.name,
        "launches": len(launches),
        "is_counted": launch.counts is not None,
        "duration_ns": launch.duration_ns,
        "issue_ns": launch.issue_ns,
        "bound": launch.bound,
        "terms": dict(launch.terms),
        "grid": launch.grid,
        "block": launch.block,
        "shared_bytes": launch.shared_bytes,
        "theoretical_occupancy": launch.theoretical_occupancy,
        "occupancy_limiter": launch.occupancy_limiter,
        "waves": launch.waves,
        **_global_memory(counts),
        **traffic,
        **_shared_memory(counts),
        **_warps(counts),
        "arithmetic_intensity": flops / moved if moved else 0.0,
        "ridge_flops_per_byte": gpu.ridge_flops_per_byte,
        "flops_per_s": 1e9 * flops / launch.duration_ns if flops else 0.0,
        "gpu": gpu,
        "launch": launch,
    }


def _traffic(
    launch: LaunchRecord, counts: LaunchCounts, gpu: GpuSpec
) -> dict[str, float]:
    """Bytes at each level of memory, as the cost model takes them."""
    warps_of_block = -(-math.prod(launch.block) // gpu.warp_size)
    resident_warps = launch.theoretical_occupancy * gpu.max_threads_per_sm / 32
    moved = memory_traffic(
        counts,
        gpu,
        blocks_per_sm=max(1, round(resident_warps / warps_of_block)),
        shared_bytes=launch.shared_bytes,
    )
    return {
        "l1_bytes": moved.l1_bytes,
        "l2_bytes": moved.l2_bytes,
        "dram_bytes": moved.dram_bytes,
        "l1_hit_rate": _hits(moved.l1_loaded, moved.l2_loaded),
        "l2_hit_rate": _hits(moved.l2_loaded, moved.dram_loaded),
    }


def _hits(asked: int, missed: int) -> float:
    return 1 - missed / asked if asked else 0.0


def _global_memory(counts: LaunchCounts) -> dict[str, float]:
    accesses = counts.global_accesses
    moved = _sum(accesses, "bytes_moved")
    return {
        "requests": counts.requests,
        "sectors": counts.sectors,
        "sectors_per_request": counts.sectors_per_request,
        "coalescing_efficiency": _sum(accesses, "bytes_used") / moved if moved else 1.0,
        "requested_bytes": _sum(accesses, "bytes_requested"),
    }


def _shared_memory(counts: LaunchCounts) -> dict[str, int]:
    accesses = counts.shared_accesses
    return {
        "shared_requests": _sum(accesses, "requests"),
        "shared_wavefronts": _sum(accesses, "wavefronts"),
        "bank_conflicts": _sum(accesses, "bank_conflicts"),
    }


def _warps(counts: LaunchCounts) -> dict[str, float]:
    lanes = 32 * counts.total("instructions")
    active = counts.total("active_lanes")
    return {
        "warp_instructions": counts.total("instructions"),
        "warp_execution_efficiency": active / lanes if lanes else 1.0,
        "branches": counts.total("branches"),
        "divergent_branches": counts.total("divergent_branches"),
        "barriers": counts.barriers,
        "fp32_flops": counts.total("fp32"),
        "fp64_flops": counts.total("fp64"),
        "special_functions": counts.total("special"),
    }


def _sum(accesses: Sequence[AccessCounts], name: str) -> int:
    return sum(getattr(access, name) for access in accesses)
