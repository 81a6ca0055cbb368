"""Caches: how many bytes a launch moves between L1, L2 and DRAM.

Comes in: what a launch asked for and how often it came back to it (`trace.Reuse`). Goes
out: `MemoryTraffic`, bytes at three levels and the requests that get there. The rules,
for sectors and for requests alike, in the order of the levels:

1. L1: every sector that a request wants, as counted.
2. L2: each block fetches a sector once if L1 keeps global loads and holds what all
   blocks of an SM touch at a time, else as often as it asks. Stores and atomics go
   through.
3. DRAM: blocks that run together fetch a sector once. Of what later blocks come back
   to, L2 still has the share of the launch's footprint that it holds. An atomic's
   sector comes and goes.

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

Levels = tuple[int, int, int]  # at L1, L2 and DRAM

# Simplified: what stays in L2 depends on the order of accesses and on a hash of their
# addresses. 80 % of L2 is taken to keep what was touched, each sector as likely as the
# other: right for accesses in no order; a walk around and around more than L2 finds
# nothing of it again, and is too cheap by up to the factor of reuse.
# Bandwidth stays within 5 % of L2's up to data of 0.69 of its size on an A100, 0.72 on
# an H100 PCIe, 0.79 on an H200 and 0.93 on an L40; a V100 reads DRAM from 0.90 on: 0.8
# is their mean. Source: te42kyfo/gpu-benches, `gpu-l2-cache` and (V100) `gpu-cache`.
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
        l2_requests: loads, or atomics, that L1 does not answer: of the access with
            most.
        dram_requests: those that L2 does not answer, either.
    """

    l1_bytes: int
    l2_bytes: int
    dram_bytes: int
    l1_loaded: int = 0
    l2_loaded: int = 0
    dram_loaded: int = 0
    l2_requests: int = 0
    dram_requests: int = 0


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
        >>> again = Reuse("x", "load", 1024, 64, 40, 32, 16, 10, 8)
        >>> counts = LaunchCounts((), (), 0, (again,))
        >>> moved = memory_traffic(counts, find_gpu("t4"))
        >>> moved[:3], moved.l2_requests, moved.dram_requests  # 64, 40 and 32 sectors
        ((2048, 1280, 1024), 10, 8)
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
    footprint = _footprint(reuse, spec)
    kept = min(1.0, L2_USABLE_SHARE * spec.l2_bytes / footprint) if footprint else 1.0
    return _Flow(spec, is_held, kept).traffic(reuse)


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


class _Flow(NamedTuple):
    """What the caches of a launch hold.

    Args:
        spec: supplies which caches there are.
        is_held: L1 holds what the blocks of an SM touch at a time.
        kept: share of what the launch touches that L2 holds.
    """

    spec: GpuSpec
    is_held: bool
    kept: float

    def traffic(self, reuse: tuple[Reuse, ...]) -> MemoryTraffic:
        """Sum what gets to each level."""
        sectors = [(r.kind, self.of(r, *_sectors(r))) for r in reuse]
        requests = [self.of(r, *_requests(r)) for r in reuse if r.kind != "store"]
        unit = self.spec.sector_bytes
        ways = {"atomic": 2}  # L2 fetches its sector from DRAM, and writes it back
        return MemoryTraffic(
            l1_bytes=unit * sum(n[0] for _, n in sectors),
            l2_bytes=unit * sum(n[1] for _, n in sectors),
            dram_bytes=unit * sum(ways.get(kind, 1) * n[2] for kind, n in sectors),
            l1_loaded=unit * sum(n[0] for kind, n in sectors if kind == "load"),
            l2_loaded=unit * sum(n[1] for kind, n in sectors if kind == "load"),
            dram_loaded=unit * sum(n[2] for kind, n in sectors if kind == "load"),
            l2_requests=max((n[1] for n in requests), default=0),
            dram_requests=max((n[2] for n in requests), default=0),
        )

    def of(self, r: Reuse, asked: int, own: int, together: int) -> Levels:
        """Tell how many of an array's sectors or requests get to L1, L2 and DRAM."""
        in_l2 = own if self.is_held and r.kind == "load" else asked
        if not self.spec.l2_bytes:
            return asked, in_l2, in_l2
        anew = min(together, in_l2)
        once = min(anew, _reach(r, self.spec))
        return asked, in_l2, round(once + (1 - self.kept) * (anew - once))


def _sectors(r: Reuse) -> Levels:
    return r.sectors, r.block_sectors, r.together_sectors


def _requests(r: Reuse) -> Levels:
    return r.requests, r.block_requests, r.together_requests


def _different(r: Reuse, spec: GpuSpec) -> int:
    """Sectors that are touched at all."""
    return min(r.together_sectors, _reach(r, spec))


def _reach(r: Reuse, spec: GpuSpec) -> int:
    """Sectors that there are to touch."""
    return -(-r.array_bytes // spec.sector_bytes)


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
        before = found.get((a.array, a.kind), Reuse(a.array, a.kind, *[0] * 7))
        size = max(before.array_bytes, a.array_bytes)
        sectors = before.sectors + a.sectors
        numbers = [sectors] * 3 + [max(before.requests, a.requests)] * 3
        found[a.array, a.kind] = Reuse(a.array, a.kind, size, *numbers)
    return tuple(found.values())
