"""The roofline: what a kernel's arithmetic intensity lets it reach on a GPU.

Comes in: counts of a launch, or an intensity. Goes out: flops for each byte, and flops
a second. What the bytes are stands in `pipes`.

Source: Williams, Waterman, Patterson, "Roofline" (2009).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tinytorch_gpu.cost.caches import dram_bytes

if TYPE_CHECKING:
    from tinytorch_gpu.arch import GpuSpec
    from tinytorch_gpu.trace import LaunchCounts

__all__ = ["arithmetic_intensity", "attainable_flops"]


def arithmetic_intensity(counts: LaunchCounts, spec: GpuSpec) -> float:
    """Floating-point operations for each byte of DRAM traffic; 0 without traffic.

    Args:
        counts: what the launch did.
        spec: the GPU, for what stays in its L2.

    Returns:
        Flops for each byte.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> from tinytorch_gpu.trace import LaunchCounts
        >>> arithmetic_intensity(LaunchCounts((), (), 0), find_gpu("toy"))
        0.0

    Limits: special functions are left out, as in most rooflines.
    Source: Williams, Waterman, Patterson, "Roofline" (2009).
    """
    moved = dram_bytes(counts, spec)
    return (counts.total("fp32") + counts.total("fp64")) / moved if moved else 0.0


def attainable_flops(intensity: float, spec: GpuSpec) -> float:
    """Read the roofline: float32 operations a second at an arithmetic intensity.

    Args:
        intensity: flops for each byte of DRAM traffic.
        spec: supplies the two roofs.

    Returns:
        Flops a second.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> toy = find_gpu("toy")              # 64 Gflop/s, 32 GB/s: the ridge is at 2
        >>> attainable_flops(1.0, toy) / 1e9, attainable_flops(8.0, toy) / 1e9
        (32.0, 64.0)

    Limits: peak roofs, which no kernel reaches.
    Source: Williams, Waterman, Patterson, "Roofline" (2009).
    """
    return min(spec.peak_fp32_flops, 1e9 * intensity * spec.dram_gb_per_s)
