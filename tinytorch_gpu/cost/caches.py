"""Caches: how many bytes a launch moves between L1, L2 and DRAM.

Comes in: what a launch asked for and how often it came back to it (`trace.Reuse`). Goes
out: `MemoryTraffic`, three numbers of bytes. The rules, in the order of the levels:

1. L1: every sector that a request wants, as counted.
2. L2: each block fetches a sector once if L1 keeps global loads and holds what all
   blocks of an SM touch at a time, else as often as it asks. Stores and atomics go
   through.
3. DRAM: if all that the launch touches fits in L2, each sector comes once; else blocks
   that run together fetch it once. An atomic's sector comes and goes.

Source: CUDA C++ Programming Guide, "Compute Capabilities", "Global Memory" (which L1
caches loads); Nsight Compute Profiling Guide, "Memory Chart" (the three levels);
"hierarchical roofline": one count of bytes for each level.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tinytorch_gpu.trace import Reuse

if TYPE_CHECKING:
    from tinytorch_gpu.arch import GpuSpec
    from tinytorch_gpu.trace import LaunchCounts

__all__ = ["MemoryTraffic", "dram_bytes", "l1_bytes_of_sm", "memory_traffic"]

# Simplified: what stays in L2 depends on the order of accesses and on a hash of their
# addresses. A kernel that touches at most 80 % of L2 is taken to find all of it again.
# Near that limit DRAM traffic may be off by the factor of reuse.
L2_USABLE_SHARE = 0.8
LINE_BYTES = 128


class MemoryTraffic(NamedTuple):
    """Bytes of a launch at each level of memory.

    Args:
        l1_bytes: what requests ask for, in whole sectors.
        l2_bytes: what L2 gives to the SMs and takes from them.
        dram_bytes: what DRAM gives and takes.
        l2_loaded: the loads in `l2_bytes`.
        dram_loaded: the loads in `dram_bytes`.
        l1_loaded: the loads in `l1_bytes`.
    """

    l1_bytes: int
    l2_bytes: int
    dram_bytes: int
    l1_loaded: int = 0
    l2_loaded: int = 0
    dram_loaded: int = 0


def memory_traffic(
    counts: LaunchCounts,
    spec: GpuSpec,
    *,
    blocks_per_sm: int = 1,
    shared_bytes: int = 0,
) -> MemoryTraffic:
    """Estimate the bytes that move at each level of memory.

    Args:
        counts: what the launch did.
        spec: supplies the sizes of L1 and L2.
        blocks_per_sm: resident blocks, which share an L1.
        shared_bytes: shared memory of one block, which L1 goes without.

    Returns:
        The bytes.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> from tinytorch_gpu.trace import LaunchCounts, Reuse
        >>> again = Reuse("x", "load", 1024, 64, 40, 32)
        >>> counts = LaunchCounts((), (), 0, (again,))
        >>> memory_traffic(counts, find_gpu("t4"))[:3]      # 64, 40 and 32 sectors
        (2048, 1280, 1024)
        >>> memory_traffic(counts, find_gpu("c1060"))[:3]   # has no caches
        (2048, 2048, 2048)

    Limits: constant memory moves nothing; a store of a part of a sector costs no load.
    Source: as for the module.
    """
    # Simplified: blocks whose reuse is farther apart than L1 keeps it (a vector read
    # again and again) are too cheap in L2, by at most the times that they read it. The
    # threads that the simulator runs together (65,536) stand for those of the GPU
    # (41,000 on a T4 to 270,000 on an H100).
    reuse = counts.reuse or _without_reuse(counts)
    lines = sum(r.step_lines for r in reuse if r.kind == "load")
    cache = l1_bytes_of_sm(spec, blocks_per_sm, shared_bytes)
    is_held = 0 < LINE_BYTES * lines * blocks_per_sm <= cache
    is_held = is_held or (not lines and cache > 0)
    fits = _footprint(reuse, spec) <= L2_USABLE_SHARE * spec.l2_bytes
    levels = [(r, _levels(r, spec, is_held=is_held, fits=fits)) for r in reuse]
    unit = spec.sector_bytes
    totals = (unit * sum(level[i] for _, level in levels) for i in range(3))
    loads = [level for r, level in levels if r.kind == "load"]
    loaded = (unit * sum(level[i] for level in loads) for i in range(3))
    return MemoryTraffic(*totals, *loaded)


def dram_bytes(counts: LaunchCounts, spec: GpuSpec) -> int:
    """Estimate the bytes that move between L2 and DRAM.

    Args:
        counts: what the launch did.
        spec: supplies `l2_bytes` and `sector_bytes`.

    Returns:
        Bytes.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> from tinytorch_gpu.trace import AccessCounts, LaunchCounts, SourceLine
        >>> here = SourceLine("sum", "sum.py", 4, "total += x[i]")
        >>> reads = AccessCounts(here, "x", "global", "load", 8, 64, 256, 1024, 1024)
        >>> toy = find_gpu("toy")     # read twice, but 1024 B fit in L2: moved once
        >>> dram_bytes(LaunchCounts((reads,), (), 0), toy)
        1024

    Limits, Source: as for `memory_traffic`.
    """
    return memory_traffic(counts, spec).dram_bytes


def l1_bytes_of_sm(spec: GpuSpec, blocks_per_sm: int, shared_bytes: int) -> int:
    """Tell what is left for L1 of the array that it shares with shared memory.

    Args:
        spec: supplies the array and the sizes that shared memory may take of it.
        blocks_per_sm: resident blocks.
        shared_bytes: shared memory of one block.

    Returns:
        Bytes; 0 where L1 does not cache global loads.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> a100 = find_gpu("a100")             # 192 KB, of which shared memory takes
        >>> [l1_bytes_of_sm(a100, n, 9000) // 1024 for n in (0, 1, 2)]   # 0, 16, 32
        [192, 176, 160]

    Limits: the driver may choose a larger size for shared memory.
    Source: CUDA C++ Programming Guide, "Compute Capabilities", "Shared Memory".
    """
    wanted = blocks_per_sm * shared_bytes
    enough = [size for size in spec.shared_carveouts if size >= wanted]
    taken = min(enough, default=max(spec.shared_carveouts, default=0))
    return max(0, spec.l1_and_shared_bytes_per_sm - taken)


def _levels(
    r: Reuse, spec: GpuSpec, *, is_held: bool, fits: bool
) -> tuple[int, int, int]:
    """Sectors of one array's loads, stores or atomics in L1, L2 and DRAM."""
    in_l2 = r.block_sectors if is_held and r.kind == "load" else r.sectors
    if not spec.l2_bytes:
        in_dram = in_l2
    elif fits:
        in_dram = _different(r, spec)
    else:
        in_dram = min(r.together_sectors, in_l2)
    ways = 2 if r.kind == "atomic" else 1  # L2 fetches an atomic's sector, writes back
    return r.sectors, in_l2, ways * in_dram


def _different(r: Reuse, spec: GpuSpec) -> int:
    """Sectors that are touched at all."""
    return min(r.together_sectors, -(-r.array_bytes // spec.sector_bytes))


def _footprint(reuse: tuple[Reuse, ...], spec: GpuSpec) -> int:
    """Bytes that the launch touches, whatever it does with them."""
    touched: dict[str, int] = {}
    for r in reuse:
        touched[r.array] = max(touched.get(r.array, 0), _different(r, spec))
    return spec.sector_bytes * sum(touched.values())


def _without_reuse(counts: LaunchCounts) -> tuple[Reuse, ...]:
    """What is known from the accesses alone: an array is what has the same name."""
    found: dict[tuple[str, str], Reuse] = {}
    for a in counts.global_accesses:
        before = found.get((a.array, a.kind), Reuse(a.array, a.kind, 0, 0, 0, 0))
        size = max(before.array_bytes, a.array_bytes)
        sectors = before.sectors + a.sectors
        found[a.array, a.kind] = Reuse(a.array, a.kind, size, *[sectors] * 3)
    return tuple(found.values())
