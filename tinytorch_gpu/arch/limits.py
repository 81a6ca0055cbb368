"""What every SM of one compute capability has: limits, lanes, caches, latencies.

One row for each compute capability, so that a preset tells only what is its own: SMs,
clock, memory, host link. `sm_fields` gives a row as fields of `GpuSpec`.

Limits, carve-outs and register units from 3.5 on are read in NVIDIA's own occupancy
calculator; lanes, older limits, banks and threads at a barrier are those of the
Programming Guides' tables. Measured, each on one GPU:

| rows | latencies of L1, L2, DRAM | of shared memory | bytes that L2 gives |
|---|---|---|---|
| 1.x | GT200, 440 clocks (Wong) | GT200 (Wong) | no L2: not used |
| 2.0 | GF106, 45, 310, 685 clocks (Andersch) | L1's: one array | GF110, 384 (NVIDIA) |
| 3.0, 3.5 | GK104, 175 and 300 clocks (Andersch) | GTX TITAN | GK104, 512 (NVIDIA) |
| 6.0 | P100, 82 and 234 clocks (Jia) | TITAN X (Pascal) | of V100 |
| 7.0 | V100 | GV100 | V100, 2430 GB/s |
| 7.5 | RTX 2080 SUPER | RTX 2070 | of V100 |
| 8.0 | A100 | A100 (Luo) | A100, 5420 GB/s |
| 8.6 | RTX 3090 | RTX 3070 | A40, 2440 GB/s |
| 8.7 | RTX 3090's clocks at 0.625 GHz | of 8.6 | of A40 |
| 8.9, 12.0 | L40 | RTX 4090 (Luo) | L40, 5210 GB/s |
| 9.0, 10.0 | H100 PCIe | H100 (Luo) | H200, 9700 GB/s |

Where a row has no GPU of its own, the one that is nearest stands in; L2 may be off by
2 x there. DRAM of 6.0 and 8.7 takes as many nanoseconds beyond L2 as V100's and RTX
3090's (160 and 118); it may be off by 30 %.

Taken over, since nothing public tells: four tags a clock of 7.5, 8.7, 8.9, 10.0 and
12.0 (told for 7.0, measured on 8.0, 8.6 and 9.0); 16 threads a clock at a barrier from
9.0 on (told for 7.x and 8.x); the four clocks of an operation from 7.5 on (7.0's).

Source: `cuda_occupancy.h`, CUDA Toolkit 12.9; CUDA C++ Programming Guide, "Compute
Capabilities", "Arithmetic Instructions" and "Synchronization Instruction" (also
editions 3.2 and 8.0), "Multiprocessor Level" (edition 4.2: about 22 clocks on 1.x and
2.x, 11 on 3.x); NVIDIA whitepapers of GTX 680 (L2), GA102 (shared memory: 128 bytes a
clock, on Turing 64), GV100, GA100, GH100 (L1 sizes, load/store units); NVIDIA's forum,
"Pascal L1 cache" (tags of 6.0 and 7.0). Measured: te42kyfo/gpu-benches, `gpu-latency`,
`gpu-cache`, `gpu-l2-cache` (V100, A40, A100, L40, H100, H200); Jia et al., "Dissecting
the NVIDIA Volta GPU Architecture via Microbenchmarking" (2018: 6 clocks on Pascal, 4 on
Volta); Andersch et al., "On Latency in GPU Microarchitecture" (2015); Wong et al.,
"Demystifying GPU Microarchitecture through Microbenchmarking" (2010). RTX 2080 SUPER
and RTX 3090: pointer chases in a public set of results whose name was not kept; L1 has
39 clocks there, as in Accel-Sim's RTX 3070. Shared memory: the configurations of
accel-sim/gpgpu-sim_distribution (GTX TITAN, TITAN X, GV100, RTX 3070);
sjfeng1999/gpu-arch-microbenchmark (RTX 2070); Luo et al., "Benchmarking and Dissecting
the Nvidia Hopper GPU Architecture" (2024).
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
        shared_clocks: clocks of a load from shared memory.
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
    shared_clocks: int
    latencies_ns: tuple[float, float, float]


_VOLTA = (0, 8, 16, 32, 64, 96)
_AMPERE = (0, 8, 16, 32, 64, 100, 132, 164)
_SMALL = (0, 8, 16, 32, 64, 100)
_HOPPER = (*_AMPERE, 196, 228)
# Nanoseconds of a load from L1, L2 and DRAM.
_GT200 = (0.0, 0.0, 340.0)
_GF106 = (39.0, 270.0, 596.0)
_GP100 = (55.0, 158.0, 318.0)
_GV100 = (22.0, 156.0, 316.0)
_TU104 = (24.0, 116.0, 235.0)
_GA100 = (25.5, 150.0, 404.0)
_GA102 = (23.0, 146.0, 264.0)
_ORIN = (62.0, 395.0, 513.0)
_AD102 = (14.5, 111.0, 254.0)
_GH100 = (19.5, 151.0, 373.0)

# fmt: off
SM_LIMITS: dict[Capability, SmLimits] = {
    # fp32 fp64 int32 sfu ldst schedulers threads blocks registers of_thread shared
    # opt-in array carve-outs shared bytes, tags, barrier, L2 bytes, clocks of an
    # operation and of shared memory, latencies
    # Simplified: a scheduler of 3.x can issue two instructions of a warp at once, here
    # one: float32 reaches at most two thirds of the peak there.
    # Simplified: 1.0 and 3.0 to 3.5 differ from each other in more than is told here;
    # 1.0 has no float64, and compilers of its time made float32 of it.
    (1, 0): SmLimits(8, 8, 8, 2, 8, 0.25, 768, 8, 8, 124,
                     16, 16, 0, (), 32, 1, 8, 64.0, 22, 38, _GT200),
    (1, 3): SmLimits(8, 1, 8, 2, 8, 0.25, 1024, 8, 16, 124,
                     16, 16, 0, (), 32, 1, 8, 64.0, 22, 38, _GT200),
    (2, 0): SmLimits(32, 16, 32, 4, 16, 1, 1536, 8, 32, 63,
                     48, 48, 64, (16, 48), 64, 1, 16, 24.0, 22, 45, _GF106),
    (3, 0): SmLimits(192, 8, 160, 32, 32, 4, 2048, 16, 64, 63,
                     48, 48, 0, (), 128, 1, 128, 64.0, 11, 24, (0.0, 174.0, 298.0)),
    (3, 5): SmLimits(192, 64, 160, 32, 32, 4, 2048, 16, 64, 255,
                     48, 48, 0, (), 128, 1, 128, 64.0, 11, 24, (0.0, 248.0, 425.0)),
    (6, 0): SmLimits(64, 32, 64, 16, 16, 2, 2048, 32, 64, 255,
                     64, 48, 88, (64,), 128, 4, 32, 22.0, 6, 24, _GP100),
    (7, 0): SmLimits(64, 32, 64, 16, 32, 4, 2048, 32, 64, 255,
                     96, 96, 128, _VOLTA, 128, 4, 16, 22.0, 4, 20, _GV100),
    (7, 5): SmLimits(64, 2, 64, 16, 16, 4, 1024, 16, 64, 255,
                     64, 64, 96, (32, 64), 64, 4, 16, 22.0, 4, 23, _TU104),
    (8, 0): SmLimits(64, 32, 64, 16, 32, 4, 2048, 32, 64, 255,
                     164, 163, 192, _AMPERE, 128, 4, 16, 36.0, 4, 29, _GA100),
    (8, 6): SmLimits(128, 2, 64, 16, 16, 4, 1536, 16, 64, 255,
                     100, 99, 128, _SMALL, 128, 4, 16, 17.0, 4, 29, _GA102),
    (8, 7): SmLimits(128, 2, 64, 16, 16, 4, 1536, 16, 64, 255,
                     164, 163, 192, _AMPERE, 128, 4, 16, 17.0, 4, 29, _ORIN),
    (8, 9): SmLimits(128, 2, 64, 16, 16, 4, 1536, 24, 64, 255,
                     100, 99, 128, _SMALL, 128, 4, 16, 15.0, 4, 30, _AD102),
    (9, 0): SmLimits(128, 64, 64, 16, 32, 4, 2048, 32, 64, 255,
                     228, 227, 256, _HOPPER, 128, 4, 16, 37.0, 4, 29, _GH100),
    (10, 0): SmLimits(128, 64, 64, 16, 32, 4, 2048, 32, 64, 255,
                      228, 227, 256, _HOPPER, 128, 4, 16, 37.0, 4, 29, _GH100),
    (12, 0): SmLimits(128, 2, 128, 16, 16, 4, 1536, 24, 64, 255,
                      100, 99, 128, _SMALL, 128, 4, 16, 15.0, 4, 30, _AD102),
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
    sm = SM_LIMITS[capability]
    l1_ns, l2_ns, dram_ns = sm.latencies_ns
    return _own_fields(capability) | {
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
        "shared_latency_clocks": sm.shared_clocks,
        "l1_latency_ns": l1_ns,
        "l2_latency_ns": l2_ns,
        "dram_latency_ns": dram_ns,
    }


def _own_fields(capability: Capability) -> dict[str, Any]:
    """Fields in which a few compute capabilities differ from what `GpuSpec` says."""
    fields: dict[str, Any] = {}
    if capability < (3, 0):
        fields["max_grid_dim"] = (65_535, 65_535, 65_535 if capability[0] > 1 else 1)
    if capability[0] == 1:
        fields |= {"max_threads_per_block": 512, "max_block_dim": (512, 512, 64)}
        fields["copy_engines"] = 0 if capability == (1, 0) else 1
    if capability[0] == 6:  # 8 threads of 32 bits, 4 of 64, 2 of 128
        fields["l1_request_bytes"] = 32
    return fields
