"""Causes in memory: scattered lanes, data fetched again, bank conflicts, atomics.

Each has two functions: what remains without it, and the sentence with its change.

Source: CUDA C++ Best Practices Guide, "Memory Optimizations"; the shares are ratios of
exact counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tinytorch_gpu.profiler.cause import Cause, Judged, below_well
from tinytorch_gpu.profiler.kernel_advice import bytes_used, unused_bytes
from tinytorch_gpu.units import format_bytes, format_count, format_share

if TYPE_CHECKING:
    from tinytorch_gpu.trace import AccessCounts

__all__ = ["MEMORY_CAUSES"]

MEMORY = ("dram", "l2", "l1")


def _moved(judged: Judged) -> int:
    return sum(access.bytes_moved for access in judged.counts.global_accesses)


def _coalesced(judged: Judged) -> float | None:
    used = sum(map(bytes_used, judged.counts.global_accesses))
    return below_well(used, _moved(judged))


def _tell_uncoalesced(judged: Judged) -> tuple[str, str]:
    worst = max(judged.counts.global_accesses, key=unused_bytes)
    used = format_share(bytes_used(worst), worst.bytes_moved)
    sentence = (
        f"{judged.name}: the {worst.kind} of `{worst.array}` (line {worst.line.line}) "
        f"moves {worst.sectors_per_request:.1f} sectors of 32 bytes per request and "
        f"uses {used} of their bytes."
    )
    return sentence, f"{worst.array}[row, cuda.threadIdx.x]   # neighbours: last index"


def _array_bytes(judged: Judged) -> int:
    """Bytes of the arrays, once for each way in which the kernel uses them."""
    accesses = judged.counts.global_accesses
    return sum({(a.array, a.kind): a.array_bytes for a in accesses}.values())


def _dram_bytes(judged: Judged) -> float:
    """Bytes that DRAM moves, from the modelled time that it takes for them."""
    rate = judged.spec.dram_gb_per_s * judged.spec.dram_efficiency
    return dict(judged.launch.terms)["dram"] * rate


def _fetched_once(judged: Judged) -> float | None:
    if _coalesced(judged) is not None:
        return None
    return below_well(_array_bytes(judged), _dram_bytes(judged))


def _tell_rereads(judged: Judged) -> tuple[str, str]:
    sentence = (
        f"{judged.name} fetches {format_bytes(_dram_bytes(judged))} from DRAM of "
        f"arrays that hold {format_bytes(_array_bytes(judged))}: the caches lose data "
        "before it is used again."
    )
    return (
        sentence,
        "tile = cuda.shared.array((16, 16), float32)   # fetch once a block",
    )


def _ideal(access: AccessCounts) -> int:
    """The fewest passes over the banks; a record without them had 4-byte elements."""
    return access.ideal_wavefronts or access.requests


def _without_conflicts(judged: Judged) -> float | None:
    shared = judged.counts.shared_accesses
    return below_well(sum(map(_ideal, shared)), sum(a.wavefronts for a in shared))


def _tell_conflicts(judged: Judged) -> tuple[str, str]:
    shared = judged.counts.shared_accesses
    worst = max(shared, key=lambda access: access.wavefronts_per_request)
    sentence = (
        f"{judged.name}: the {worst.kind} of `{worst.array}` (line {worst.line.line}) "
        f"takes {worst.wavefronts_per_request:.1f} passes over the banks per request; "
        f"without bank conflicts it is {_ideal(worst) / worst.requests:.1f}."
    )
    fix = f"{worst.array} = cuda.shared.array((32, 33), float32)   # one column more"
    return sentence, fix


def _one_atomic_a_warp(judged: Judged) -> float | None:
    atomics = judged.counts.atomics
    lanes = sum(a.active_lanes for a in atomics)
    return below_well(sum(a.requests for a in atomics), lanes)


def _tell_atomics(judged: Judged) -> tuple[str, str]:
    atomics = judged.counts.atomics
    hottest = max(a.hottest_address for a in atomics)
    sentence = (
        f"{judged.name} does {format_count(sum(a.active_lanes for a in atomics))} "
        f"atomic operations, up to {format_count(hottest)} of them on one address, one "
        "after another."
    )
    return sentence, "add the lanes of a warp first, then one cuda.atomic.add a warp"


MEMORY_CAUSES = (
    Cause("uncoalesced", MEMORY, _coalesced, _tell_uncoalesced),
    Cause("cache-missing", ("dram",), _fetched_once, _tell_rereads),
    Cause("bank conflicts", ("shared",), _without_conflicts, _tell_conflicts),
    Cause("atomics", ("atomic",), _one_atomic_a_warp, _tell_atomics),
)
