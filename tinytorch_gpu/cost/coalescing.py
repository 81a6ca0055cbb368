"""Coalescing: how many 32-byte sectors a warp-wide request to global memory moves.

Comes in: the byte address of each lane. Goes out: sectors of each request. Read
`sectors_touched` first; below it stand the fast count for lanes in ascending order and
the general one.

Source: CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tinytorch_gpu.cost.requests import (
    BoolArray,
    IntArray,
    check_requests,
    count_distinct,
    row_sums,
    steps,
)

if TYPE_CHECKING:
    from tinytorch_gpu.arch import GpuSpec

__all__ = ["sectors_touched"]


def sectors_touched(
    addresses: IntArray, itemsize: int, active_mask: BoolArray, spec: GpuSpec
) -> IntArray:
    """Count the 32-byte sectors that each warp-wide request needs.

    A load by 32 lanes is one request. The memory system fetches whole sectors, so the
    price is the number of different sectors, not the number of lanes.

    Args:
        addresses: int64 (requests, 32), byte address of each lane's element; 0 or more
            where the lane is active, anything where it is not.
        itemsize: bytes of one element, 32 at most; both of its ends are counted.
        active_mask: bool (requests, 32); inactive lanes cost nothing.
        spec: supplies `sector_bytes`, a power of two.

    Returns:
        int64 (requests,), sectors of each request; 0 to 32 for aligned elements.

    Raises:
        ShapeError: a shape is not (requests, 32), or the two shapes differ.
        UnsupportedError: the GPU is older than compute capability 6.0.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> consecutive = 4 * np.arange(32)[None]
        >>> everyone = np.ones((1, 32), bool)
        >>> sectors_touched(consecutive, 4, everyone, find_gpu("toy"))   # 128 B ÷ 32 B
        array([4])
        >>> sectors_touched(2 * consecutive, 4, everyone, find_gpu("toy"))   # stride 2
        array([8])

    Limits: counts what is asked for; L1 and L2 are not modelled here.
    Source: CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory"; Nsight
    Compute Profiling Guide, "Memory Tables" (sectors per request).
    """
    check_requests(addresses, active_mask, spec)
    shift = spec.sector_bytes.bit_length() - 1  # 32 bytes: a shift by 5
    first = addresses >> shift
    if _may_straddle(addresses, itemsize):
        last = (addresses + (itemsize - 1)) >> shift
        both = np.concatenate([first, last], axis=1)  # (requests, 64)
        return count_distinct(both, np.concatenate([active_mask] * 2, axis=1))
    counted = _count_ascending(first, active_mask)
    return count_distinct(first, active_mask) if counted is None else counted


def _may_straddle(addresses: IntArray, itemsize: int) -> bool:
    """Tell whether an element may lie across two sectors: one is not aligned."""
    is_power_of_two = itemsize & (itemsize - 1) == 0
    all_bits = int(np.bitwise_or.reduce(addresses, axis=None))
    return not is_power_of_two or bool(all_bits & (itemsize - 1))


def _count_ascending(sectors: IntArray, active_mask: BoolArray) -> IntArray | None:
    """Count the places where the sector changes; None if the lanes are not in order."""
    step = steps(sectors)
    if active_mask.all():
        return None if step.min(initial=0) < 0 else row_sums(step != 0) + 1
    is_first = _starts_of_runs(active_mask)
    if row_sums(is_first).max(initial=0) > 1:
        return None  # two runs of active lanes may share a sector
    follows = active_mask & ~is_first  # the lane before is active, so its step counts
    if np.any(follows & (step < 0)):
        return None
    return row_sums(is_first | (follows & (step != 0)))


def _starts_of_runs(active_mask: BoolArray) -> BoolArray:
    """Mark active lanes whose lane before is inactive, (requests, 32)."""
    flat = active_mask.ravel()
    is_first = flat.copy()
    is_first[1:] = flat[1:] > flat[:-1]
    by_request = is_first.reshape(active_mask.shape)
    by_request[:, 0] = active_mask[:, 0]
    return by_request
