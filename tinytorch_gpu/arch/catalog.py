"""Presets: real GPUs and a toy one, as data with sources.

Read `PRESETS`; look a name up with `find_gpu`, which forgives case and spaces and
answers a wrong name with the right ones. Those before compute capability 5.0 stand in
`older_gpus`.

Source: NVIDIA T4 data sheet and a Colab deviceQuery dump; NVIDIA A100 data sheet; GA102
whitepaper and a public RTX 3090 microbenchmark (bandwidth 87 % of peak, kernel floor
3.2 µs); NVIDIA data sheets of P100, V100, RTX A6000, H100 and H200; CUDA C++ Best
Practices Guide 10.1 (host links); CUDA C++ Programming Guide, "Compute Capabilities"
(limits for each SM).
"""

from __future__ import annotations

import difflib
import textwrap

from tinytorch_gpu.arch.older_gpus import OLDER_GPUS
from tinytorch_gpu.arch.spec import GpuSpec
from tinytorch_gpu.errors import GPUNotFoundError

__all__ = ["PRESETS", "find_gpu"]

_GIB = 2**30

PRESETS: dict[str, GpuSpec] = {
    "t4": GpuSpec(
        name="Tesla T4",
        compute_capability=(7, 5),
        num_sms=40,
        clock_ghz=1.59,
        fp32_lanes_per_sm=64,
        fp64_lanes_per_sm=2,
        dram_gb_per_s=320.0,
        memory_bytes=15 * _GIB,
        l2_bytes=4 * 2**20,
        max_threads_per_sm=1024,
        max_blocks_per_sm=16,
        shared_bytes_per_sm=64 * 1024,
        pinned_gb_per_s=12.0,
        pageable_gb_per_s=6.0,
        fp32_sustained=0.5,
        sources="NVIDIA T4 data sheet; Colab deviceQuery; 70 W board sustains 0.4-0.5",
    ),
    "a100": GpuSpec(
        name="A100-SXM4-40GB",
        compute_capability=(8, 0),
        num_sms=108,
        clock_ghz=1.41,
        fp32_lanes_per_sm=64,
        fp64_lanes_per_sm=32,
        dram_gb_per_s=1555.0,
        memory_bytes=40 * _GIB,
        l2_bytes=40 * 2**20,
        max_threads_per_sm=2048,
        max_blocks_per_sm=32,
        shared_bytes_per_sm=164 * 1024,
        pinned_gb_per_s=25.0,
        pageable_gb_per_s=10.0,
        sources="NVIDIA A100 data sheet; measured PCIe 4 copy 25.1 GB/s",
    ),
    "rtx3090": GpuSpec(
        name="GeForce RTX 3090",
        compute_capability=(8, 6),
        num_sms=82,
        clock_ghz=1.695,
        fp32_lanes_per_sm=128,
        fp64_lanes_per_sm=2,
        dram_gb_per_s=936.0,
        memory_bytes=24 * _GIB,
        l2_bytes=6 * 2**20,
        max_threads_per_sm=1536,
        max_blocks_per_sm=16,
        shared_bytes_per_sm=100 * 1024,
        pinned_gb_per_s=25.0,
        pageable_gb_per_s=10.0,
        fp32_sustained=0.62,
        kernel_floor_ns=3_200.0,
        sources="GA102 whitepaper; public microbenchmark: 819 GB/s read, floor 3.2 µs",
    ),
    "p100": GpuSpec(
        name="Tesla P100-SXM2-16GB",
        compute_capability=(6, 0),
        num_sms=56,
        clock_ghz=1.48,
        fp32_lanes_per_sm=64,
        fp64_lanes_per_sm=32,
        dram_gb_per_s=732.0,
        memory_bytes=16 * _GIB,
        l2_bytes=4 * 2**20,
        max_threads_per_sm=2048,
        max_blocks_per_sm=32,
        shared_bytes_per_sm=64 * 1024,
        pinned_gb_per_s=12.0,
        pageable_gb_per_s=6.0,
        schedulers_per_sm=2,
        launch_issue_ns=2_200.0,
        sources="NVIDIA P100 data sheet; public microbenchmark: launches 2.2 µs apart",
    ),
    "v100": GpuSpec(
        name="Tesla V100-SXM2-16GB",
        compute_capability=(7, 0),
        num_sms=80,
        clock_ghz=1.53,
        fp32_lanes_per_sm=64,
        fp64_lanes_per_sm=32,
        dram_gb_per_s=898.0,
        memory_bytes=16 * _GIB,
        l2_bytes=6 * 2**20,
        max_threads_per_sm=2048,
        max_blocks_per_sm=32,
        shared_bytes_per_sm=96 * 1024,
        pinned_gb_per_s=12.0,
        pageable_gb_per_s=6.0,
        sources="NVIDIA V100 data sheet; Best Practices Guide 9.2: 898 GB/s, copy 790",
    ),
    "rtxa6000": GpuSpec(
        name="RTX A6000",
        compute_capability=(8, 6),
        num_sms=84,
        clock_ghz=1.8,
        fp32_lanes_per_sm=128,
        fp64_lanes_per_sm=2,
        dram_gb_per_s=768.0,
        memory_bytes=48 * _GIB,
        l2_bytes=6 * 2**20,
        max_threads_per_sm=1536,
        max_blocks_per_sm=16,
        shared_bytes_per_sm=100 * 1024,
        pinned_gb_per_s=25.0,
        pageable_gb_per_s=10.0,
        fp32_sustained=0.6,
        sources="RTX A6000 data sheet; siboehm/SGEMM_CUDA: cuBLAS at 60 % of peak",
    ),
    "h100": GpuSpec(
        name="H100-SXM5-80GB",
        compute_capability=(9, 0),
        num_sms=132,
        clock_ghz=1.98,
        fp32_lanes_per_sm=128,
        fp64_lanes_per_sm=64,
        dram_gb_per_s=3350.0,
        memory_bytes=80 * _GIB,
        l2_bytes=50 * 2**20,
        max_threads_per_sm=2048,
        max_blocks_per_sm=32,
        shared_bytes_per_sm=228 * 1024,
        pinned_gb_per_s=50.0,
        pageable_gb_per_s=15.0,
        sources="NVIDIA H100 data sheet and whitepaper; PCIe 5 copies: unmeasured",
    ),
    "h200": GpuSpec(
        name="H200-SXM-141GB",
        compute_capability=(9, 0),
        num_sms=132,
        clock_ghz=1.98,
        fp32_lanes_per_sm=128,
        fp64_lanes_per_sm=64,
        dram_gb_per_s=4800.0,
        memory_bytes=141 * 10**9,
        l2_bytes=50 * 2**20,
        max_threads_per_sm=2048,
        max_blocks_per_sm=32,
        shared_bytes_per_sm=228 * 1024,
        pinned_gb_per_s=50.0,
        pageable_gb_per_s=15.0,
        sources="NVIDIA H200 data sheet; PCIe 5 copies: unmeasured",
    ),
    "toy": GpuSpec(
        name="toy GPU",
        compute_capability=(7, 5),
        num_sms=1,
        clock_ghz=1.0,
        fp32_lanes_per_sm=32,
        fp64_lanes_per_sm=1,
        dram_gb_per_s=32.0,
        memory_bytes=2**20,
        l2_bytes=64 * 1024,
        max_threads_per_sm=1024,
        max_blocks_per_sm=4,
        shared_bytes_per_sm=16 * 1024,
        shared_bytes_per_block=16 * 1024,
        pinned_gb_per_s=2.0,
        pageable_gb_per_s=1.0,
        schedulers_per_sm=1,
        sfu_lanes_per_sm=4,
        int32_lanes_per_sm=32,
        dram_efficiency=1.0,
        fp32_sustained=1.0,
        copy_latency_ns=1_000.0,
        launch_issue_ns=1_000.0,
        kernel_floor_ns=1_000.0,
        synchronize_ns=0.0,
        sources="made up: one SM, round numbers, 1 MiB of memory; for work by hand",
    ),
} | OLDER_GPUS


def find_gpu(gpu: str | GpuSpec) -> GpuSpec:
    """Return the preset of that name, or the spec itself.

    Args:
        gpu: a name of `PRESETS` (case, spaces, `-` and `_` do not matter) or a spec.

    Returns:
        The spec.

    Raises:
        GPUNotFoundError: no preset has that name.

    Example:
        >>> find_gpu("RTX 3090").num_sms
        82

    Source: the presets' own `sources`.
    """
    if isinstance(gpu, GpuSpec):
        return gpu
    key = _plain(gpu)
    if key in PRESETS:
        return PRESETS[key]
    near = difflib.get_close_matches(key, PRESETS, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise GPUNotFoundError(
        f"no GPU preset is named {gpu!r}",
        where="arch/catalog.py",
        why="\n".join(textwrap.wrap("presets: " + ", ".join(PRESETS), 75)),
        fix=hint + 'use one of these names, or pass a GpuSpec: install(gpu="t4")',
        gpu=gpu,
    )


def _plain(name: object) -> str:
    """Drop case and separators."""
    return str(name).lower().replace(" ", "").replace("-", "").replace("_", "")
