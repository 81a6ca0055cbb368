"""Device memory as `torch.cuda` tells of it: allocated, reserved, peaks, a table.

*Allocated* are the chunks that live arrays lie in, *reserved* the segments that the
allocator holds: allocated ones, and free ones that it keeps for the next request.
All sizes are bytes; `device` is None (the current one), an index, or a device string.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tinytorch_gpu.runtime.device import all_devices
from tinytorch_gpu.runtime.device_module import read_device
from tinytorch_gpu.units import format_bytes

if TYPE_CHECKING:
    from tinytorch_gpu.memory import Allocator

__all__ = [
    "empty_cache",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "memory_summary",
    "reset_peak_memory_stats",
]


def memory_allocated(device: Any = None) -> int:
    """Return the bytes of all live device arrays, each rounded up to 512 or more."""
    return _allocator(device).allocated_bytes


def max_memory_allocated(device: Any = None) -> int:
    """Return the most bytes that were allocated at one time."""
    return _allocator(device).peak_bytes


def memory_reserved(device: Any = None) -> int:
    """Return the bytes of the segments that the allocator holds."""
    return _allocator(device).reserved_bytes


def max_memory_reserved(device: Any = None) -> int:
    """Return the most bytes that were reserved at one time."""
    return _allocator(device).statistics.of("reserved_bytes").peak


def reset_peak_memory_stats(device: Any = None) -> None:
    """Let `max_memory_allocated` and all other peaks begin anew from now."""
    _allocator(device).statistics.reset_peaks()


def empty_cache() -> None:
    """Give the driver back the segments of all devices that no array lies in.

    It frees nothing that is in use, and the next arrays wait for cudaMalloc again.
    """
    for device in all_devices():
        device.allocator.empty_cache()


def mem_get_info(device: Any = None) -> tuple[int, int]:
    """Return (free, total) bytes as the driver sees them: reserved is not free."""
    allocator = _allocator(device)
    return allocator.free_bytes, allocator.capacity_bytes


def memory_stats(device: Any = None) -> dict[str, int]:
    """Return what the allocator counts, by torch's keys.

    Keys are `<what>.<pool>.<which>`: what is `allocation`, `segment`,
    `allocated_bytes`, `requested_bytes` or `reserved_bytes`; pool `all`, `small_pool`
    or `large_pool`; which `current`, `peak`, `allocated` or `freed`. Besides
    `inactive_split_bytes.<pool>.current`, `num_alloc_retries` and `num_ooms`.

    Example:
        >>> statistics = memory_stats()
        >>> statistics["allocated_bytes.all.current"] == memory_allocated()
        True

    Source: `torch.cuda.memory_stats`.
    """
    allocator = _allocator(device)
    small, large = (
        allocator.split_bytes(pool) for pool in ("small_pool", "large_pool")
    )
    return allocator.statistics.to_dict() | {
        "inactive_split_bytes.all.current": small + large,
        "inactive_split_bytes.small_pool.current": small,
        "inactive_split_bytes.large_pool.current": large,
    }


def memory_summary(device: Any = None) -> str:
    """Return a table of the device's memory: now, at the peak, and in all."""
    allocator = _allocator(device)
    split = allocator.split_bytes("small_pool") + allocator.split_bytes("large_pool")
    title = (
        f"Memory of {allocator.device}: {format_bytes(allocator.capacity_bytes)}, "
        f"{format_bytes(allocator.free_bytes)} not reserved"
    )
    table = allocator.statistics.to_table(title)
    return f"{table}\nfree beside arrays in the same segment: {format_bytes(split)}"


def _allocator(device: Any) -> Allocator:
    return read_device(device).allocator
