"""What is counted: exact numbers of one access, one source line, one launch.

Counts are in the units that their names say. `AccessCounts` tells of one memory access
in the source, `LineCounts` of one source line, `LaunchCounts` of one launch.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tinytorch_gpu.trace.source import SourceLine

__all__ = ["AccessCounts", "LaunchCounts", "LineCounts", "Reuse"]

SECTOR_BYTES = 32  # on every GPU: all larger units are multiples of it


@dataclass(frozen=True, slots=True)
class AccessCounts:
    """Counts of one memory access in the source, summed over the launch.

    Args:
        line: where the access stands.
        array: the array as the source spells it, for example `x` or `tile_a`.
        space: `global`, `shared`, `local` or `constant`.
        kind: `load`, `store` or `atomic`.
        requests: warp-wide requests (warps with at least one active lane).
        sectors: 32-byte sectors moved (global); 0 in other spaces.
        active_lanes: lanes that took part, over all requests.
        bytes_requested: active lanes × bytes of one element.
        array_bytes: bytes of the array (global), for the footprint.
        dtype: name of the element type, "" if not known.
        wavefronts: passes over the banks of shared memory, or of L1 where the two
            are one array (shared, global); distinct words of each request (constant).
        ideal_wavefronts: fewest passes for the same lanes (shared): 1 for a full warp
            of 4-byte elements, 2 for 8-byte ones.
        bytes_used: bytes of the distinct elements of each request, summed; what several
            lanes of a warp share counts once.
        transactions: global memory transactions, in the GPU's own unit: sectors; for
            loads of compute capability 2.x lines; on 1.x those of half-warps.
        serial_passes: of atomics, the most lanes of each request that meet at one
            address, summed; equal to `requests` when no lanes meet.
        hottest_address: of atomics, the most lanes that met at one address in all.
        merged: of the requests, loads of shared memory that a compiler makes a part of
            a neighbour's, which is one of 128 bits then (`wide_loads.py`).
        merged_wavefronts: of the wavefronts, those of such requests. A wide load takes
            the passes of one of its parts: its lanes lie alike in their 16 bytes, so
            four banks in place of one give to the same lanes.
        tags: distinct 128-byte lines of each request, summed (global): what a cache
            looks up.
    """

    line: SourceLine
    array: str
    space: str
    kind: str
    requests: int
    sectors: int
    active_lanes: int
    bytes_requested: int
    array_bytes: int
    dtype: str = ""
    wavefronts: int = 0
    ideal_wavefronts: int = 0
    bytes_used: int = 0
    transactions: int = 0
    serial_passes: int = 0
    hottest_address: int = 0
    merged: int = 0
    merged_wavefronts: int = 0
    tags: int = 0

    @property
    def sectors_per_request(self) -> float:
        """Sectors for each request; 4.0 is the minimum of 32 lanes × 4 bytes."""
        return self.sectors / self.requests if self.requests else 0.0

    @property
    def wavefronts_per_request(self) -> float:
        """Passes for each request; 1.0 is the minimum of 4-byte elements."""
        return self.wavefronts / self.requests if self.requests else 0.0

    @property
    def bank_conflicts(self) -> int:
        """Passes over the banks beyond the fewest (shared); 0 in other spaces."""
        is_shared = self.space == "shared"
        return self.wavefronts - self.ideal_wavefronts if is_shared else 0

    @property
    def bytes_moved(self) -> int:
        """Bytes of all sectors."""
        return SECTOR_BYTES * self.sectors

    @property
    def coalescing_efficiency(self) -> float:
        """Bytes used ÷ bytes moved, 0 to 1; 1.0 where nothing moves."""
        return self.bytes_used / self.bytes_moved if self.sectors else 1.0


@dataclass(frozen=True, slots=True)
class LineCounts:
    """Counts of one source line, summed over the launch.

    Args:
        line: the line.
        instructions: warp instructions issued for the line's arithmetic and memory. An
            integer `//` or `%` is as many as a compiler makes of it (`counting.py`).
        active_lanes: lanes active in those instructions; 32 × instructions at most.
        branches: warp-level branch decisions taken on this line.
        divergent_branches: those at which lanes of one warp parted.
        fp32: float32 (and float16) operations, one for each active lane.
        fp64: float64 operations.
        integer: integer, comparison and logical operations; of a `//` or `%` as many
            as it has instructions.
        special: divisions of floats, roots, exponentials and other functions of many
            steps.
        executions: how often a warp ran the line: the most operations, accesses or
            branch decisions of any one place on it.
        fused_instructions: those of them that a compiler fuses with the multiplication
            that they add or subtract.
        fused_fp32: the float32 operations of these.
        fused_fp64: the float64 operations of these.
        fp32_warps: warp instructions that do float32 operations, without those fused.
        fp64_warps: those that do float64 operations, likewise.
        special_warps: those that do special ones.
    """

    line: SourceLine
    instructions: int
    active_lanes: int
    branches: int
    divergent_branches: int
    fp32: int
    fp64: int
    integer: int
    special: int
    executions: int = 0
    fused_instructions: int = 0
    fused_fp32: int = 0
    fused_fp64: int = 0
    fp32_warps: int = 0
    fp64_warps: int = 0
    special_warps: int = 0

    @property
    def warp_execution_efficiency(self) -> float:
        """Active lanes ÷ (32 × warp instructions), 0 to 1; 1.0 without instructions."""
        lanes = 32 * self.instructions
        return self.active_lanes / lanes if lanes else 1.0

    @property
    def branch_efficiency(self) -> float:
        """Share of the branch decisions in which a warp stayed together, 0 to 1."""
        if not self.branches:
            return 1.0
        return 1 - self.divergent_branches / self.branches


@dataclass(frozen=True, slots=True)
class Reuse:
    """How often a launch comes back to what it touched in one allocation.

    It is seen in the blocks that run first together, and scaled to the launch by the
    sectors that these ask for; exact when they are all blocks.

    Args:
        array: the array as its first access spells it.
        kind: `load`, `store` or `atomic`.
        array_bytes: bytes that the indices can reach.
        sectors: 32-byte sectors asked for, as in `AccessCounts`.
        block_sectors: different sectors of each block, summed: what misses a cache that
            keeps all that its block touches.
        together_sectors: different sectors of blocks that run together, summed over the
            groups: what misses a cache that they share.
        requests: warp-wide requests, as in `AccessCounts`, of the access with most.
        block_requests: those that come to sectors new to their block, likewise.
        together_requests: those that come to sectors new to all that run together.
        step_lines: most different 128-byte lines that the accesses of one block touch
            at a time, summed over the accesses.
    """

    array: str
    kind: str
    array_bytes: int
    sectors: int
    block_sectors: int
    together_sectors: int
    requests: int
    block_requests: int
    together_requests: int
    step_lines: int = 0


@dataclass(frozen=True, slots=True)
class LaunchCounts:
    """Everything counted in one launch, by access and by line.

    `reuse` is no count but what is known of what comes again, by array; two launches
    with the same counts are equal whatever it says.

    Example:
        >>> LaunchCounts((), (), 0).sectors_per_request
        0.0
    """

    accesses: tuple[AccessCounts, ...]
    lines: tuple[LineCounts, ...]
    barriers: int
    reuse: tuple[Reuse, ...] = field(default=(), compare=False)

    @property
    def global_accesses(self) -> tuple[AccessCounts, ...]:
        """The accesses to global memory."""
        return tuple(a for a in self.accesses if a.space == "global")

    @property
    def shared_accesses(self) -> tuple[AccessCounts, ...]:
        """The accesses to shared memory."""
        return tuple(a for a in self.accesses if a.space == "shared")

    @property
    def atomics(self) -> tuple[AccessCounts, ...]:
        """The atomic operations, in whichever memory."""
        return tuple(a for a in self.accesses if a.kind == "atomic")

    @property
    def requests(self) -> int:
        """Warp-wide requests to global memory."""
        return sum(a.requests for a in self.global_accesses)

    @property
    def sectors(self) -> int:
        """32-byte sectors of global memory."""
        return sum(a.sectors for a in self.global_accesses)

    @property
    def sectors_per_request(self) -> float:
        """Sectors for each global request of the whole launch."""
        return self.sectors / self.requests if self.requests else 0.0

    def total(self, field: str) -> int:
        """Sum one field of `LineCounts` over all lines."""
        return sum(getattr(line, field) for line in self.lines)
