"""`preset`: a `GpuSpec` from its compute capability, its host link and its own numbers.

Source: CUDA C++ Best Practices Guide, "Data Transfer Between Host and Device" (PCIe 2
and 3); public bandwidth tests of A100 (25.1 GB/s) and A10 (19.6 GB/s) hosts (PCIe 4).
PCIe 1, PCIe 5, NVLink-C2C and all pageable numbers: unmeasured. NVLink joins GPUs with
each other; to an x86 host every one of them goes over PCIe. NVLink-C2C joins a GPU with
a Grace host: 450 GB/s each way in theory, 350 to 400 of a large pinned copy in public
reports, of which the middle is taken.
"""

from __future__ import annotations

from typing import Any

from tinytorch_gpu.arch.limits import sm_fields
from tinytorch_gpu.arch.spec import GpuSpec

__all__ = ["GIB", "HOST_LINKS", "preset"]

GIB = 2**30
_KIB = 2**10

# GB/s of a large copy: from page-locked memory, and from ordinary (pageable) memory.
HOST_LINKS = {
    "PCIe 1 x16": (3.0, 1.5),
    "PCIe 2 x16": (5.0, 2.5),
    "PCIe 3 x16": (12.0, 6.0),
    "PCIe 4 x16": (25.0, 10.0),
    "PCIe 5 x16": (50.0, 15.0),
    # Simplified: the host's share of a pageable copy is taken over from PCIe 5. Nothing
    # public was found for it; how far it is off is not known.
    "NVLink-C2C": (375.0, 15.0),
    # Host and device share one DRAM, in which a copy is read and written.
    "integrated": (30.0, 15.0),
}


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
