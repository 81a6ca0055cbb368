"""When an offload pays: modelled time on a GPU, with copies, against the host's.

Comes in: the `Work` of a computation at some size, a `Host`, a GPU. Goes out:
nanoseconds on either side. `profiler.breakeven` walks over sizes to find the crossing.

Source: Williams, Waterman, Patterson, "Roofline" (2009) for both sides; CUDA C++ Best
Practices Guide, "Data Transfer Between Host and Device".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tinytorch_gpu.cost.transfer import copy_ns
from tinytorch_gpu.errors import UnsupportedError

if TYPE_CHECKING:
    from tinytorch_gpu.arch import GpuSpec

__all__ = ["HOSTS", "Host", "Work", "find_host", "host_ns", "roofline_ns", "work_ns"]


@dataclass(frozen=True, slots=True)
class Host:
    """A CPU on paper, as NumPy uses it.

    Args:
        name: how it is told.
        gflop_per_s: float32 operations that a large matrix product reaches.
        gb_per_s: bytes read and written that a long addition reaches.
        call_ns: what one NumPy call costs however small its arrays.
        source: where the numbers come from.
    """

    name: str
    gflop_per_s: float
    gb_per_s: float
    call_ns: float
    source: str


# An assumption of ours, for who does not measure: 60 of at most 96 GFLOP/s and 12 GB/s
# lie amid what one core reaches (30 to 96, 8 to 15), so a crossing may lie 2 x higher
# or lower. No modelled time of a GPU depends on it; `host="measure"` asks this machine.
HOSTS = {
    "laptop": Host(
        name="laptop core",
        gflop_per_s=60.0,
        gb_per_s=12.0,
        call_ns=1_000.0,
        source="one AVX2 core: 8 lanes x 2 units x 2 operations x 3 GHz = 96 GFLOP/s "
        "at most; it streams 8 to 15 GB/s; NumPy needs about 1 us for each call",
    ),
}


@dataclass(frozen=True, slots=True)
class Work:
    """What a computation does at one size.

    Args:
        flops: arithmetic operations.
        host_bytes: bytes that the host reads and writes for it.
        host_calls: NumPy calls that it takes on the host.
        bytes_in: bytes of each array to copy to the device.
        bytes_out: bytes of each array to copy back.
        kernel_ns: modelled time of each kernel on the device, floors included.
    """

    flops: float
    host_bytes: float
    host_calls: int
    bytes_in: tuple[int, ...]
    bytes_out: tuple[int, ...]
    kernel_ns: tuple[float, ...]


def find_host(name: str) -> Host:
    """Return a stated host.

    Args:
        name: a key of `HOSTS`.

    Returns:
        The host.

    Raises:
        UnsupportedError: there is none of that name.

    Example:
        >>> find_host("laptop").gflop_per_s
        60.0

    Limits: a laptop may be 3 x faster or slower; `host="measure"` asks yours.
    Source: arithmetic of one AVX2 core.
    """
    if name in HOSTS:
        return HOSTS[name]
    raise UnsupportedError(
        f"no host is called {name!r}",
        where="choosing the host side of a break-even",
        why=f"{len(HOSTS)} host is stated: {', '.join(HOSTS)}",
        fix='host="laptop", host="measure" for this machine, or a Host of your own',
    )


def host_ns(work: Work, host: Host) -> float:
    """Model the host's time: calls, and the slower of arithmetic and memory.

    Args:
        work: what is computed.
        host: the CPU.

    Returns:
        Nanoseconds.

    Example:
        >>> add = Work(1e6, 12e6, 1, (), (), ())     # 1 µs + 12 MB at 12 GB/s
        >>> host_ns(add, find_host("laptop"))
        1001000.0

    Limits: arrays that stay in the CPU's caches are up to 5 x faster than this.
    Source: Williams, Waterman, Patterson, "Roofline" (2009).
    """
    # Simplified: every byte comes from the host's DRAM; small arrays that stay in its
    # caches are up to 5 x faster, so small sizes favour the GPU a little too much.
    busy = max(work.flops / host.gflop_per_s, work.host_bytes / host.gb_per_s)
    return work.host_calls * host.call_ns + busy


def roofline_ns(flops: float, nbytes: float, spec: GpuSpec) -> float:
    """Model a well-written kernel: the floor, and the slower of arithmetic and DRAM.

    Args:
        flops: float32 operations.
        nbytes: bytes that DRAM must move.
        spec: the GPU.

    Returns:
        Nanoseconds.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> roofline_ns(0.0, 3200.0, find_gpu("toy"))     # 1 µs + 3200 B at 32 GB/s
        1100.0

    Limits: no cache, no tail; a learner's first kernel may be 10 x slower.
    Source: Williams, Waterman, Patterson, "Roofline" (2009).
    """
    arithmetic = 1e9 * flops / (spec.peak_fp32_flops * spec.fp32_sustained)
    memory = nbytes / (spec.dram_gb_per_s * spec.dram_efficiency)
    return spec.kernel_floor_ns + max(arithmetic, memory)


def work_ns(
    work: Work, spec: GpuSpec, *, is_pinned: bool = False, is_resident: bool = False
) -> float:
    """Model the time on the GPU, one step after another: copies, launches, copies.

    Args:
        work: what is computed.
        spec: the GPU.
        is_pinned: the host's arrays are page-locked.
        is_resident: the data is on the device and stays there: nothing is copied.

    Returns:
        Nanoseconds.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> toy = find_gpu("toy")     # a copy of 1 + 1 µs, a launch of 1 µs, 3 µs
        >>> work = Work(0, 0, 1, (1000,), (), (3000.0,))
        >>> work_ns(work, toy), work_ns(work, toy, is_resident=True)
        (6000.0, 4000.0)

    Limits: nothing overlaps; with several streams it can be shorter.
    Source: CUDA C++ Best Practices Guide, "Data Transfer Between Host and Device".
    """
    copied: tuple[int, ...] = () if is_resident else work.bytes_in + work.bytes_out
    copies = sum(copy_ns(nbytes, is_pinned, spec) for nbytes in copied)
    # Simplified: each launch waits for the kernel before it. In a queue the host issues
    # ahead, and kernels shorter than their issue cost nothing more: a chain of k short
    # kernels may be up to k - 1 kernel times shorter.
    return copies + sum(spec.launch_issue_ns + ns for ns in work.kernel_ns)
