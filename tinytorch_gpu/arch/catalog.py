"""Presets: real GPUs and a toy one, as data with sources.

Read `PRESETS`; look a name up with `find_gpu`, which forgives case and spaces and
answers a wrong name with the right ones.

Source: NVIDIA T4 data sheet and a Colab deviceQuery dump; NVIDIA A100 data sheet; GA102
whitepaper and a public RTX 3090 microbenchmark (bandwidth 87 % of peak, kernel floor
3.2 µs); CUDA C++ Best Practices Guide 10.1 (host links); CUDA C++ Programming Guide,
"Compute Capabilities" (limits for each SM).
"""

from __future__ import annotations

import difflib

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
}


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
        why="presets: " + ", ".join(PRESETS),
        fix=hint + 'use one of these names, or pass a GpuSpec: install(gpu="t4")',
        gpu=gpu,
    )


def _plain(name: object) -> str:
    """Drop case and separators."""
    return str(name).lower().replace(" ", "").replace("-", "").replace("_", "")
