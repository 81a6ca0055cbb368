"""Causes in memory: scattered lanes, data fetched again, bank conflicts, atomics.

Each has two functions: the modelled time without it, and the sentence with its change.

Source: CUDA C++ Best Practices Guide, "Memory Optimizations"; what is changed are exact
counts, of which the cost model makes a time.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tinytorch_gpu.profiler.cause import Cause, Judged, below_well
from tinytorch_gpu.profiler.packed import share_needed, side_by_side, wasted_sectors
from tinytorch_gpu.units import format_bytes, format_count, format_share

if TYPE_CHECKING:
    from tinytorch_gpu.cost import KernelTime
    from tinytorch_gpu.trace import AccessCounts, LaunchCounts, Reuse

__all__ = [
    "MEMORY_CAUSES",
    "fewest_passes",
    "lanes_apart",
]

SECTOR_BYTES = 32


def _coalesced(judged: Judged) -> KernelTime | None:
    if share_needed(*judged.counts.global_accesses) is None:
        return None
    return judged.time(counts=side_by_side(judged.counts))


def _tell_uncoalesced(judged: Judged) -> tuple[str, str]:
    worst = max(judged.counts.global_accesses, key=wasted_sectors)
    used = format_share(worst.coalescing_efficiency, 1)
    sentence = (
        f"{judged.name}: the {worst.kind} of `{worst.array}` (line {worst.line.line}) "
        f"moves {worst.sectors_per_request:.1f} sectors of 32 bytes per request and "
        f"uses {used} of their bytes."
    )
    return sentence, f"{worst.array}[row, cuda.threadIdx.x]   # neighbours: last index"


def _loaded_arrays(counts: LaunchCounts) -> tuple[Reuse, ...]:
    return tuple(reuse for reuse in counts.reuse if reuse.kind == "load")


def _array_bytes(judged: Judged) -> int:
    """Bytes of the arrays that the kernel loads."""
    return sum(reuse.array_bytes for reuse in _loaded_arrays(judged.counts))


def _dram_loaded(judged: Judged) -> int:
    """Bytes that DRAM gives for loads."""
    return judged.now.traffic.dram_loaded if judged.now.traffic else 0


def _fetched_once(judged: Judged) -> KernelTime | None:
    """The time if DRAM gave each sector once; stores and atomics remain as they are."""
    counts = judged.counts
    is_well = below_well(_array_bytes(judged), _dram_loaded(judged)) is None
    if is_well or share_needed(*counts.global_accesses) is not None:
        return None
    loaded = _loaded_arrays(counts)
    once = {r: _once(r, has_l2=bool(judged.spec.l2_bytes)) for r in loaded}
    reuse = tuple(once.get(r, r) for r in counts.reuse)
    return judged.time(counts=replace(counts, reuse=reuse))


def _once(reuse: Reuse, *, has_l2: bool) -> Reuse:
    sectors = min(reuse.together_sectors, -(-reuse.array_bytes // SECTOR_BYTES))
    once = replace(reuse, together_sectors=sectors)
    if has_l2:
        return once
    return replace(once, sectors=sectors, block_sectors=sectors)  # DRAM answers blocks


def _tell_rereads(judged: Judged) -> tuple[str, str]:
    sentence = (
        f"{judged.name} loads {format_bytes(_dram_loaded(judged))} from DRAM of "
        f"arrays that hold {format_bytes(_array_bytes(judged))}: the caches lose data "
        "before it is used again."
    )
    return (
        sentence,
        "tile = cuda.shared.array((32, 32), float32)   # the larger, the fewer loads",
    )


def fewest_passes(access: AccessCounts) -> int:
    """Return the passes over the banks that padding leaves.

    Args:
        access: an access of shared memory; a record without `ideal_wavefronts` had
            4-byte elements.

    Returns:
        Passes; lanes of an atomic that meet at one address take turns wherever it lies.
    """
    return max(access.ideal_wavefronts or access.requests, access.serial_passes)


def _without_conflicts(judged: Judged) -> KernelTime | None:
    shared = judged.counts.shared_accesses
    fewest = sum(map(fewest_passes, shared))
    if below_well(fewest, sum(access.wavefronts for access in shared)) is None:
        return None
    free = {a: _conflict_free(a) for a in shared}
    accesses = tuple(free.get(a, a) for a in judged.counts.accesses)
    return judged.time(counts=replace(judged.counts, accesses=accesses))


def _conflict_free(access: AccessCounts) -> AccessCounts:
    passes = min(access.wavefronts, fewest_passes(access))
    left = passes / access.wavefronts if access.wavefronts else 1.0
    merged = round(left * access.merged_wavefronts)
    return replace(access, wavefronts=passes, merged_wavefronts=merged)


def _tell_conflicts(judged: Judged) -> tuple[str, str]:
    shared = judged.counts.shared_accesses
    worst = max(shared, key=lambda a: (a.wavefronts - fewest_passes(a)) / a.requests)
    sentence = (
        f"{judged.name}: the {worst.kind} of `{worst.array}` (line {worst.line.line}) "
        f"takes {worst.wavefronts_per_request:.1f} passes over the banks per request; "
        f"without bank conflicts it is {fewest_passes(worst) / worst.requests:.1f}."
    )
    fix = f"{worst.array} = cuda.shared.array((32, 33), float32)   # one column more"
    return sentence, fix


def lanes_apart(access: AccessCounts) -> int:
    """Return an atomic's operations if lanes of a warp that meet were added first.

    Args:
        access: an atomic operation.

    Returns:
        Lanes: of each request one for each different address.
    """
    if not access.bytes_requested or not access.bytes_used:
        return access.active_lanes
    return round(access.active_lanes * access.bytes_used / access.bytes_requested)


def _one_atomic_an_address(judged: Judged) -> KernelTime | None:
    atomics = judged.counts.atomics
    lanes = sum(access.active_lanes for access in atomics)
    if below_well(sum(map(lanes_apart, atomics)), lanes) is None:
        return None
    added = {access: _added_first(access) for access in atomics}
    accesses = tuple(added.get(a, a) for a in judged.counts.accesses)
    return judged.time(counts=replace(judged.counts, accesses=accesses))


def _added_first(access: AccessCounts) -> AccessCounts:
    """An atomic whose lanes of one warp never meet."""
    lanes = lanes_apart(access)
    left = lanes / access.active_lanes if access.active_lanes else 1.0
    turns = max(0, access.serial_passes - access.requests)
    passes = max(access.ideal_wavefronts, access.wavefronts - turns)
    is_shared = access.space == "shared"
    return replace(
        access,
        active_lanes=lanes,
        hottest_address=round(left * access.hottest_address),
        serial_passes=access.serial_passes - turns,
        wavefronts=passes if is_shared else access.wavefronts,
    )


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
    Cause("uncoalesced", _coalesced, _tell_uncoalesced),
    Cause("cache-missing", _fetched_once, _tell_rereads),
    Cause("bank conflicts", _without_conflicts, _tell_conflicts),
    Cause("atomics", _one_atomic_an_address, _tell_atomics),
)
