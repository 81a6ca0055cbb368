"""What every SM of one compute capability has: limits, lanes, caches, latencies.

One row for each compute capability, so that a preset tells only what is its own: SMs,
clock, memory, host link. `sm_fields` gives a row as fields of `GpuSpec`.

Marks: limits, carve-outs and register units from 3.5 on are read in NVIDIA's own
occupancy calculator; lanes and the older limits are those of the Programming Guides'
tables. Latencies and bytes of L2 are measured, each on one GPU:

| rows | latencies of | bytes that L2 gives, of |
|---|---|---|
| 1.x | GT200, 440 clocks (Wong) | - |
| 2.0 | GF106, 45, 310 and 685 clocks (Andersch) | GF110, 384 a clock (NVIDIA) |
| 3.0, 3.5 | GK104, 175 and 300 clocks (Andersch) | GK104, 512 a clock (NVIDIA) |
| 6.0 | P100, 82 and 234 clocks (Jia); DRAM as V100's | V100 |
| 7.0 | V100 | V100, 2430 GB/s |
| 7.5 | RTX 2080 SUPER | V100 |
| 8.0 | A100 | A100, 5420 GB/s |
| 8.6 | RTX 3090 | A40, 2440 GB/s |
| 8.7 | RTX 3090's clocks at 0.625 GHz | A40 |
| 8.9, 12.0 | L40 | L40, 5210 GB/s |
| 9.0, 10.0 | H100 PCIe | H200, 9700 GB/s |

Where a row has no GPU of its own, the one that is nearest stands in; DRAM may be off by
30 % there, L2 by 2 x.

Source: `cuda_occupancy.h`, CUDA Toolkit 12.9; CUDA C++ Programming Guide, "Compute
Capabilities" and "Arithmetic Instructions" (also editions 3.2 and 8.0), and "Best
Practices Guide", "Synchronization Instruction"; NVIDIA whitepapers of GTX 680 (L2),
GA102 (shared memory: 128 bytes a clock, on Turing 64), GV100, GA100, GH100 (L1 sizes,
load/store units). Measured: te42kyfo/gpu-benches, `gpu-latency`, `gpu-cache`,
`gpu-l2-cache` (V100, A40, A100, L40, H100, H200); public pointer chases of RTX 2080
SUPER and RTX 3090; Jia et al., "Dissecting the NVIDIA Volta GPU Architecture via
Microbenchmarking" (2018); Andersch et al., "On Latency in GPU Microarchitecture"
(2015); Wong et al., "Demystifying GPU Microarchitecture through Microbenchmarking"
(2010).
"""

from __future__ import annotations

from typing import Any, NamedTuple

__all__ = ["SM_LIMITS", "SmLimits", "sm_fields"]

Capability = tuple[int, int]


class SmLimits(NamedTuple):
    """One SM of a compute capability; KB are 1024 bytes.

    Args:
        fp32, fp64, int32, sfu, ldst: lanes; operations for each clock.
        schedulers: warp instructions issued for each clock.
        threads, blocks: resident at most.
        registers: 32-bit registers, in thousands of 1024.
        of_thread: registers that one thread may have.
        shared_kb: shared memory of an SM, the largest choice.
        opt_in_kb: what one block may have of it when it asks for more than 48 KB.
        array_kb: the array that L1 and shared memory share; 0 where global loads are
            not cached in L1.
        carveouts_kb: the sizes that shared memory may take of it.
        shared_bytes: bytes that shared memory gives for each clock.
        tags: lines that L1 looks up for each clock; before 5.0 a request goes to
            memory once for each.
        barrier: threads that an SM takes in at a barrier for each clock.
        l2_bytes: what L2 gives for each clock, divided by the SMs.
        alu_clocks: clocks until a dependent operation can start.
        latencies_ns: of a load that hits L1, of one that hits L2, of one from DRAM.
    """

    fp32: int
    fp64: int
    int32: int
    sfu: int
    ldst: int
    schedulers: float
    threads: int
    blocks: int
    registers: int
    of_thread: int
    shared_kb: int
    opt_in_kb: int
    array_kb: int
    carveouts_kb: tuple[int, ...]
    shared_bytes: int
    tags: int
    barrier: int
    l2_bytes: float
    alu_clocks: int
    latencies_ns: tuple[float, float, float]


_VOLTA = (0, 8, 16, 32, 64, 96)
_AMPERE = (0, 8, 16, 32, 64, 100, 132, 164)
_SMALL = (0, 8, 16, 32, 64, 100)
_HOPPER = (*_AMPERE, 196, 228)
_GA102 = (23.0, 146.0, 264.0)
_AD102 = (14.5, 111.0, 254.0)
_GH100 = (19.5, 151.0, 373.0)

# fmt: off
SM_LIMITS: dict[Capability, SmLimits] = {
    # fp32 fp64 int32 sfu ldst schedulers threads blocks registers of_thread shared
    # opt-in array carve-outs shared bytes, tags, barrier, L2 bytes, ALU clocks,
    # latencies
    # Simplified: 1.0 and 3.0 to 3.5 differ from each other in more than is told here;
    # 1.0 has no float64, and compilers of its time made float32 of it.
    (1, 0): SmLimits(8, 8, 8, 2, 8, 0.25, 768, 8, 8, 124,
                     16, 16, 0, (), 32, 1, 8, 64.0, 24, (0.0, 0.0, 340.0)),
    (1, 3): SmLimits(8, 1, 8, 2, 8, 0.25, 1024, 8, 16, 124,
                     16, 16, 0, (), 32, 1, 8, 64.0, 24, (0.0, 0.0, 340.0)),
    (2, 0): SmLimits(32, 16, 32, 4, 16, 1, 1536, 8, 32, 63,
                     48, 48, 64, (16, 48), 64, 1, 16, 24.0, 18, (39.0, 270.0, 596.0)),
    (3, 0): SmLimits(192, 8, 160, 32, 32, 4, 2048, 16, 64, 63,
                     48, 48, 0, (), 128, 1, 128, 64.0, 9, (0.0, 174.0, 298.0)),
    (3, 5): SmLimits(192, 64, 160, 32, 32, 4, 2048, 16, 64, 255,
                     48, 48, 0, (), 128, 1, 128, 64.0, 9, (0.0, 248.0, 425.0)),
    (6, 0): SmLimits(64, 32, 64, 16, 16, 2, 2048, 32, 64, 255,
                     64, 48, 88, (64,), 128, 4, 32, 22.0, 6, (55.0, 158.0, 318.0)),
    (7, 0): SmLimits(64, 32, 64, 16, 32, 4, 2048, 32, 64, 255,
                     96, 96, 128, _VOLTA, 128, 4, 16, 22.0, 4, (22.0, 156.0, 316.0)),
    (7, 5): SmLimits(64, 2, 64, 16, 16, 4, 1024, 16, 64, 255,
                     64, 64, 96, (32, 64), 64, 4, 16, 22.0, 4, (24.0, 116.0, 235.0)),
    (8, 0): SmLimits(64, 32, 64, 16, 32, 4, 2048, 32, 64, 255,
                     164, 163, 192, _AMPERE, 128, 4, 16, 36.0, 4, (25.5, 150.0, 404.0)),
    (8, 6): SmLimits(128, 2, 64, 16, 16, 4, 1536, 16, 64, 255,
                     100, 99, 128, _SMALL, 128, 4, 16, 17.0, 4, _GA102),
    (8, 7): SmLimits(128, 2, 64, 16, 16, 4, 1536, 16, 64, 255,
                     164, 163, 192, _AMPERE, 128, 4, 16, 17.0, 4, (62.0, 395.0, 513.0)),
    (8, 9): SmLimits(128, 2, 64, 16, 16, 4, 1536, 24, 64, 255,
                     100, 99, 128, _SMALL, 128, 4, 16, 15.0, 4, _AD102),
    (9, 0): SmLimits(128, 64, 64, 16, 32, 4, 2048, 32, 64, 255,
                     228, 227, 256, _HOPPER, 128, 4, 16, 37.0, 4, _GH100),
    (10, 0): SmLimits(128, 64, 64, 16, 32, 4, 2048, 32, 64, 255,
                      228, 227, 256, _HOPPER, 128, 4, 16, 37.0, 4, _GH100),
    (12, 0): SmLimits(128, 2, 128, 16, 16, 4, 1536, 24, 64, 255,
                      100, 99, 128, _SMALL, 128, 4, 16, 15.0, 4, _AD102),
}
# fmt: on


def sm_fields(capability: Capability) -> dict[str, Any]:
    """Return what a compute capability says of a GPU, as fields of `GpuSpec`.

    Args:
        capability: (major, minor), one of `SM_LIMITS`.

    Returns:
        Names and values; a preset adds its own, or says otherwise.

    Raises:
        KeyError: the table has no such compute capability.

    Example:
        >>> turing = sm_fields((7, 5))
        >>> turing["max_threads_per_sm"], turing["shared_bytes_per_sm"]
        (1024, 65536)

    Source: as for the module.
    """
    sm, is_old = SM_LIMITS[capability], capability < (3, 0)
    l1_ns, l2_ns, dram_ns = sm.latencies_ns
    fields = {
        "compute_capability": capability,
        "fp32_lanes_per_sm": sm.fp32,
        "fp64_lanes_per_sm": sm.fp64,
        "int32_lanes_per_sm": sm.int32,
        "sfu_lanes_per_sm": sm.sfu,
        "ldst_lanes_per_sm": sm.ldst,
        "schedulers_per_sm": sm.schedulers,
        "max_threads_per_sm": sm.threads,
        "max_blocks_per_sm": sm.blocks,
        "registers_per_sm": 1024 * sm.registers,
        "max_registers_per_thread": sm.of_thread,
        "shared_bytes_per_sm": 1024 * sm.shared_kb,
        "shared_bytes_per_block": 1024 * min(48, sm.shared_kb),
        "shared_bytes_per_block_optin": 1024 * sm.opt_in_kb,
        "l1_and_shared_bytes_per_sm": 1024 * sm.array_kb,
        "shared_carveouts": tuple(1024 * kb for kb in sm.carveouts_kb),
        "shared_bytes_per_clock": sm.shared_bytes,
        "l1_tags_per_clock": sm.tags,
        "barrier_threads_per_clock": sm.barrier,
        "l2_bytes_per_clock_per_sm": sm.l2_bytes,
        "alu_latency_clocks": sm.alu_clocks,
        "l1_latency_ns": l1_ns,
        "l2_latency_ns": l2_ns,
        "dram_latency_ns": dram_ns,
    }
    if is_old:
        fields["max_grid_dim"] = (65_535, 65_535, 65_535 if capability[0] > 1 else 1)
    if capability[0] == 1:
        fields |= {"max_threads_per_block": 512, "max_block_dim": (512, 512, 64)}
        fields["copy_engines"] = 0 if capability == (1, 0) else 1
    return fields
