"""`preset`: a `GpuSpec` from its compute capability, its host link and its own numbers.

**Host links**, GB/s of a large copy. Pinned: Best Practices Guide, "Data Transfer
Between Host and Device" (PCIe 2 and 3); public bandwidth tests of an A100 (25.1 GB/s,
PCIe 4). PCIe 1 and 5 get the share of their peak that PCIe 3 and 4 reach (0.76, 0.79).
NVLink-C2C joins a GPU with a Grace host: 450 GB/s each way, of which public reports
reach 350 to 400. NVLink joins GPUs; to an x86 host every one of them goes over PCIe.
Pageable: `HOST_COPY_GB_PER_S`.

**Shares of the peaks.** `dram_efficiency` is what two loads and a store reach
(`gpu-stream`, triad): 0.86 to 0.95 of an A40, two A100, an H100 and an L40; 0.79 of an
H200, by `gpu-roofline`. V100-SXM2: a copy of 790 of 898 GB/s (Best Practices Guide).
Where nothing is known it is 0.87, between these: an RTX 3090's 819 of 936 GB/s.
`fp32_sustained` is the best of `gpu-roofline`: 0.98 on an A100, 0.63 on an A40 and 0.64
on an H200, whose SMs have 128 lanes, 0.56 on an L40 at its limit of power. Where
nothing is known it is 1.0, the data sheet's: a board that runs at a lower clock for its
power is up to 2 x too fast then.

Source: te42kyfo/gpu-benches, `gpu-stream` and `gpu-roofline`, divided by the data
sheets' peaks. The RTX 3090's numbers are of a public set of results that `limits` tells
of.
"""

from __future__ import annotations

from typing import Any

from tinytorch_gpu.arch.limits import sm_fields
from tinytorch_gpu.arch.spec import GpuSpec

__all__ = ["GIB", "HOST_LINKS", "preset"]

GIB = 2**30
_KIB = 2**10

# An assumption of ours: what one core of a host copies. The driver copies pageable
# memory into a page-locked buffer, then the link carries it, one after the other (Best
# Practices Guide, "Pinned Memory"). Cores copy 5 to 15 GB/s, which makes a pageable
# copy 0.5 to 1.2 times as fast; no table that the model is checked against has copies.
HOST_COPY_GB_PER_S = 12.0

# GB/s of a large copy from page-locked memory.
_PINNED = {
    "PCIe 1 x16": 3.0,
    "PCIe 2 x16": 5.0,
    "PCIe 3 x16": 12.0,
    "PCIe 4 x16": 25.0,
    "PCIe 5 x16": 50.0,
    "NVLink-C2C": 375.0,
    # Host and device share one DRAM, in which a copy is read and written.
    "integrated": 30.0,
}


def _pageable(pinned: float) -> float:
    """GB/s of a copy that the host makes first, rounded to a tenth."""
    return round(1 / (1 / pinned + 1 / HOST_COPY_GB_PER_S), 1)


# GB/s from page-locked memory, and from ordinary (pageable) memory.
HOST_LINKS = {link: (pinned, _pageable(pinned)) for link, pinned in _PINNED.items()}


def preset(
    name: str,
    capability: tuple[int, int],
    *,
    sms: int,
    ghz: float,
    dram: float,
    memory_bytes: int,
    l2_kib: int,
    link: str,
    sources: str,
    **own: Any,
) -> GpuSpec:
    """Make a spec of what is a GPU's own.

    Args:
        name: how the GPU is called.
        capability: its compute capability, a row of `limits.SM_LIMITS`.
        sms: streaming multiprocessors.
        ghz: boost clock.
        dram: peak DRAM bandwidth in GB/s.
        memory_bytes: DRAM.
        l2_kib: L2 cache in KiB.
        link: a name of `HOST_LINKS`.
        sources: where the numbers come from.
        **own: fields of `GpuSpec` in which it differs from its compute capability.

    Returns:
        The spec.

    Raises:
        KeyError: capability or link is in no table.

    Example:
        >>> own = {"sms": 4, "ghz": 1.0, "dram": 9.0, "memory_bytes": GIB, "l2_kib": 64}
        >>> mine = preset("mine", (7, 5), **own, link="PCIe 3 x16", sources="made up")
        >>> mine.max_threads_per_sm, mine.pinned_gb_per_s
        (1024, 12.0)
    """
    fields = sm_fields(capability) | _link_fields(link)
    fields |= {
        "name": name,
        "num_sms": sms,
        "clock_ghz": ghz,
        "dram_gb_per_s": dram,
        "memory_bytes": memory_bytes,
        "l2_bytes": l2_kib * _KIB,
        "sources": sources,
    }
    return GpuSpec(**fields | own)


def _link_fields(link: str) -> dict[str, Any]:
    pinned, pageable = HOST_LINKS[link]
    return {
        "pinned_gb_per_s": pinned,
        "pageable_gb_per_s": pageable,
        "host_link": link,
    }
