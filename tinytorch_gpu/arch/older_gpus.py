"""Presets before compute capability 5.0: GPUs whose counting rules are their own.

They are here to see what the hardware has learned since: half-warps that coalesce whole
or not at all (C870), that shrink segments (C1060), cached lines (C2050).

Source: NVIDIA board specifications of each Tesla card; CUDA C Programming Guide 3.2 and
8.0, "Compute Capabilities" (limits and lanes of an SM). Host links are the typical
copies of PCIe 1 and 2. Marked in `sources` with "unmeasured" is what no document tells.
"""

from __future__ import annotations

from tinytorch_gpu.arch.spec import GpuSpec

__all__ = ["OLDER_GPUS"]

_GIB = 2**30

OLDER_GPUS: dict[str, GpuSpec] = {
    "c870": GpuSpec(
        name="Tesla C870",
        compute_capability=(1, 0),
        num_sms=16,
        clock_ghz=1.35,
        fp32_lanes_per_sm=8,
        # Simplified: it has no float64; compilers of its time made float32 of it.
        fp64_lanes_per_sm=8,
        dram_gb_per_s=76.8,
        memory_bytes=3 * _GIB // 2,
        l2_bytes=0,
        max_threads_per_sm=768,
        max_blocks_per_sm=8,
        shared_bytes_per_sm=16 * 1024,
        shared_bytes_per_block=16 * 1024,
        pinned_gb_per_s=3.0,
        pageable_gb_per_s=1.5,
        sfu_lanes_per_sm=2,
        int32_lanes_per_sm=8,
        schedulers_per_sm=0.25,
        max_threads_per_block=512,
        max_block_dim=(512, 512, 64),
        max_grid_dim=(65_535, 65_535, 1),
        registers_per_sm=8 * 1024,
        sources="Tesla C870 board specification; PCIe 1, launch costs: unmeasured",
    ),
    "c1060": GpuSpec(
        name="Tesla C1060",
        compute_capability=(1, 3),
        num_sms=30,
        clock_ghz=1.296,
        fp32_lanes_per_sm=8,
        fp64_lanes_per_sm=1,
        dram_gb_per_s=102.4,
        memory_bytes=4 * _GIB,
        l2_bytes=0,
        max_threads_per_sm=1024,
        max_blocks_per_sm=8,
        shared_bytes_per_sm=16 * 1024,
        shared_bytes_per_block=16 * 1024,
        pinned_gb_per_s=5.0,
        pageable_gb_per_s=2.5,
        sfu_lanes_per_sm=2,
        int32_lanes_per_sm=8,
        schedulers_per_sm=0.25,
        max_threads_per_block=512,
        max_block_dim=(512, 512, 64),
        max_grid_dim=(65_535, 65_535, 1),
        registers_per_sm=16 * 1024,
        sources="Tesla C1060 board specification; PCIe 2, launch costs: unmeasured",
    ),
    "c2050": GpuSpec(
        name="Tesla C2050",
        compute_capability=(2, 0),
        num_sms=14,
        clock_ghz=1.15,
        fp32_lanes_per_sm=32,
        fp64_lanes_per_sm=16,
        dram_gb_per_s=144.0,
        memory_bytes=3 * _GIB,
        l2_bytes=768 * 1024,
        max_threads_per_sm=1536,
        max_blocks_per_sm=8,
        shared_bytes_per_sm=48 * 1024,
        pinned_gb_per_s=5.0,
        pageable_gb_per_s=2.5,
        sfu_lanes_per_sm=4,
        int32_lanes_per_sm=32,
        schedulers_per_sm=1,
        dram_efficiency=0.75,
        max_grid_dim=(65_535, 65_535, 65_535),
        registers_per_sm=32 * 1024,
        sources="Tesla C2050 board specification; ECC takes 10-20 %: unmeasured",
    ),
    "k20c": GpuSpec(
        name="Tesla K20c",
        compute_capability=(3, 5),
        num_sms=13,
        clock_ghz=0.706,
        fp32_lanes_per_sm=192,
        fp64_lanes_per_sm=64,
        dram_gb_per_s=208.0,
        memory_bytes=5 * _GIB,
        l2_bytes=1280 * 1024,
        max_threads_per_sm=2048,
        max_blocks_per_sm=16,
        shared_bytes_per_sm=48 * 1024,
        pinned_gb_per_s=5.0,
        pageable_gb_per_s=2.5,
        sfu_lanes_per_sm=32,
        int32_lanes_per_sm=160,
        dram_efficiency=0.75,
        launch_issue_ns=5_700.0,
        sources="Tesla K20c board specification; launch measured on a K80; ECC share: "
        "unmeasured",
    ),
}
