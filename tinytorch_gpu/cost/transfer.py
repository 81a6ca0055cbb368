"""What a copy costs: a latency for each copy, and bandwidth for its bytes.

Comes in: bytes and a GPU. Goes out: modelled nanoseconds. The host link carries `h2d`
and `d2h`, DRAM carries `d2d`.

Source: CUDA C++ Best Practices Guide, "Data Transfer Between Host and Device".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tinytorch_gpu.arch import GpuSpec

__all__ = [
    "achieved_gb_per_s",
    "available_gb_per_s",
    "copy_ns",
    "device_copy_ns",
    "pcie_peak_gb_per_s",
]

_GIGATRANSFERS = {1: 2.5, 2: 5.0, 3: 8.0, 4: 16.0, 5: 32.0}  # a second, each lane


def copy_ns(nbytes: int, is_pinned: bool, spec: GpuSpec) -> float:
    """Model the time of one copy between host and device.

    Args:
        nbytes: bytes moved, 0 or more.
        is_pinned: the host memory is page-locked; NumPy arrays are not.
        spec: supplies latency and the two bandwidths.

    Returns:
        Nanoseconds.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> toy = find_gpu("toy")     # 1 µs + 1000 B at 1 GB/s, or at 2 GB/s pinned
        >>> copy_ns(1000, False, toy), copy_ns(1000, True, toy)
        (2000.0, 1500.0)

    Limits: both directions cost the same; one copy at a time.
    Source: CUDA C++ Best Practices Guide, "Pinned Memory" (about 12 GB/s on PCIe 3
    x16); measured 25.1 GB/s on PCIe 4 x16.
    """
    # Simplified: pageable memory goes through a staging buffer whose speed is the host
    # CPU's; a cloud machine may be 2 x slower or faster than the preset.
    bandwidth = available_gb_per_s("h2d", is_pinned, spec)
    return spec.copy_latency_ns + nbytes / bandwidth


def device_copy_ns(nbytes: int, spec: GpuSpec) -> float:
    """Model the time of one copy within device memory: DRAM reads and writes each byte.

    Args:
        nbytes: bytes moved, 0 or more.
        spec: supplies the kernel floor and DRAM bandwidth.

    Returns:
        Nanoseconds.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> device_copy_ns(3200, find_gpu("toy"))     # 1 µs + 6400 B at 32 GB/s
        1200.0

    Limits: small copies that stay in L2 are priced as DRAM traffic.
    Source: data sheet bandwidth; the floor is that of a kernel, as such copies are one.
    """
    return spec.kernel_floor_ns + nbytes / available_gb_per_s(
        "d2d", is_pinned=False, spec=spec
    )


def available_gb_per_s(direction: str, is_pinned: bool, spec: GpuSpec) -> float:
    """Tell the bandwidth that a large copy gets, latency left out.

    Args:
        direction: `h2d`, `d2h` or `d2d`.
        is_pinned: the host memory is page-locked.
        spec: supplies the bandwidths.

    Returns:
        GB/s (10⁹ bytes).

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> t4 = find_gpu("t4")
        >>> [available_gb_per_s("h2d", pinned, t4) for pinned in (False, True)]
        [6.0, 12.0]

    Limits: both directions of the host link are equally fast, also at the same time.
    Source: as `copy_ns` and `device_copy_ns`, which price with it.
    """
    if direction == "d2d":
        return spec.dram_gb_per_s * spec.dram_efficiency / 2  # read and written
    return spec.pinned_gb_per_s if is_pinned else spec.pageable_gb_per_s


def achieved_gb_per_s(nbytes: int, duration_ns: float) -> float:
    """Tell the bandwidth that a copy reached, latency included.

    Args:
        nbytes: bytes moved.
        duration_ns: time of the copy.

    Returns:
        GB/s (10⁹ bytes); 0 for a copy that took no time.

    Example:
        >>> achieved_gb_per_s(1000, 2000.0)
        0.5

    Limits: none.
    Source: CUDA C++ Best Practices Guide, "Effective Bandwidth Calculation".
    """
    return nbytes / duration_ns if duration_ns else 0.0


def pcie_peak_gb_per_s(generation: int, lanes: int = 16) -> float:
    """Tell what a PCIe link could carry in each direction: no copy reaches it.

    Packet headers and flow control leave a large pinned copy 60 to 80 % of it.

    Args:
        generation: 1 to 5.
        lanes: 1 to 16.

    Returns:
        GB/s (10⁹ bytes).

    Raises:
        KeyError: the generation is none of these.

    Example:
        >>> [round(pcie_peak_gb_per_s(n), 2) for n in (1, 2, 3, 4, 5)]
        [4.0, 8.0, 15.75, 31.51, 63.02]

    Limits: none.
    Source: PCI Express Base Specification: 8b/10b encoding up to generation 2,
    128b/130b from 3 on.
    """
    payload = 8 / 10 if generation <= 2 else 128 / 130
    return _GIGATRANSFERS[generation] * payload * lanes / 8
