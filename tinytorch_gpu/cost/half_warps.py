"""Coalescing on GPUs of compute capability 1.x, where half-warps move memory.

1.0 and 1.1 take a half-warp whole or not at all; 1.2 and 1.3 find the segments that it
touches, and move no more of each than the half or the quarter that is used.

Source: CUDA C Best Practices Guide 3.2, "A Sequential but Misaligned Access Pattern";
NVIDIA, "How to Access Global Memory Efficiently in CUDA C/C++ Kernels" (the effect on a
C870 and a C1060); CUDA C Programming Guide 3.2, G.3.2 (the steps of the rule).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tinytorch_gpu.cost.requests import BoolArray, IntArray, row_sums, steps

if TYPE_CHECKING:
    from tinytorch_gpu.arch import GpuSpec

__all__ = ["HALF_WARP", "half_warp_transactions"]

HALF_WARP = 16
_WORDS = (4, 8, 16)  # bytes of an element that 1.0 coalesces
_LARGEST = 128  # bytes of one transaction


def half_warp_transactions(
    addresses: IntArray, itemsize: int, active_mask: BoolArray, spec: GpuSpec
) -> tuple[IntArray, IntArray]:
    """Count the transactions of both half-warps, and the 32-byte sectors they move.

    Args:
        addresses: int64 (requests, 32), byte address of each lane's element, aligned to
            `itemsize`; 0 or more where the lane is active.
        itemsize: bytes of one element: 1, 2, 4, 8 or 16.
        active_mask: bool (requests, 32).
        spec: compute capability 1.x.

    Returns:
        Transactions and sectors, int64 (requests,) each.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> everyone, row = np.ones((1, 32), bool), 4 * np.arange(32)[None]
        >>> half_warp_transactions(row, 4, everyone, find_gpu("c870"))   # 2 × 64 B
        (array([2]), array([4]))
        >>> half_warp_transactions(row + 4, 4, everyone, find_gpu("c870"))   # 32 × 32 B
        (array([32]), array([32]))
        >>> half_warp_transactions(row + 4, 4, everyone, find_gpu("c1060"))
        (array([3]), array([7]))

    Limits: elements that are not aligned to their size fault on hardware.
    Source: as for the module.
    """
    rows = addresses.reshape(-1, HALF_WARP)
    active = np.ascontiguousarray(active_mask).reshape(-1, HALF_WARP)
    rule = _whole_or_not if spec.compute_capability < (1, 2) else _shrunk_segments
    transactions, sectors = rule(rows, itemsize, active)
    halves = spec.warp_size // HALF_WARP
    of_requests = transactions.reshape(-1, halves).sum(axis=1)
    return of_requests, sectors.reshape(-1, halves).sum(axis=1)


def _whole_or_not(
    addresses: IntArray, itemsize: int, active: BoolArray
) -> tuple[IntArray, IntArray]:
    """Rule of 1.0 and 1.1: lane k at word k of an aligned segment, or all apart."""
    count = row_sums(active)
    segment = HALF_WARP * itemsize
    start = addresses - itemsize * np.arange(HALF_WARP)
    is_in_place = (start == start.max(axis=1, where=active, initial=-1)[:, None]) | (
        ~active
    )
    is_aligned = start.max(axis=1, where=active, initial=0) % segment == 0
    is_whole = is_in_place.all(axis=1) & is_aligned & (itemsize in _WORDS)
    used = count > 0
    transactions = np.where(is_whole, -(-segment // _LARGEST) * used, count)
    return transactions, np.where(is_whole, segment // 32 * used, count)


def _shrunk_segments(
    addresses: IntArray, itemsize: int, active: BoolArray
) -> tuple[IntArray, IntArray]:
    """Rule of 1.2 and 1.3: each touched segment once, shrunk to the part in use."""
    # A segment has 128 bytes, for elements of 2 bytes 64 and of 1 byte 32: 4, 2 or 1
    # sectors. One half of it is moved if all lanes lie there, and half of that again.
    sectors_in_segment = min(_LARGEST, 32 * itemsize) // 32
    sector = np.sort(np.where(active, addresses >> 5, -1), axis=1)
    segment = np.where(sector < 0, -1, sector // sectors_in_segment)
    is_start = steps(segment) != 0
    is_start[:, 0] = True
    is_end = np.ones_like(is_start)
    is_end[:, :-1] = is_start[:, 1:]
    low, high = sector[is_start], sector[is_end]
    moved = np.where(low == high, 1, np.where(low // 2 == high // 2, 2, 4))
    moved = np.where(low < 0, 0, moved)  # the inactive lanes
    row = np.nonzero(is_start)[0]
    count = len(addresses)
    transactions = np.bincount(row, moved > 0, count).astype(np.int64)
    return transactions, np.bincount(row, moved, count).astype(np.int64)
