"""Bank conflicts: how many passes a request to shared memory takes.

Shared memory has 32 banks, each 4 bytes wide; successive words lie in successive banks.
One pass serves one word of every bank. Read `bank_passes` first.

Source: CUDA C++ Best Practices Guide, "Shared Memory and Memory Banks".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tinytorch_gpu.cost.requests import BoolArray, IntArray, check_requests, steps

if TYPE_CHECKING:
    from tinytorch_gpu.arch import GpuSpec

__all__ = ["BANKS", "BANK_BYTES", "bank_passes"]

BANKS = 32
BANK_BYTES = 4


def bank_passes(
    addresses: IntArray, itemsize: int, active_mask: BoolArray, spec: GpuSpec
) -> IntArray:
    """Count the passes over the banks that each warp-wide request needs.

    Lanes that want the same word share a pass (broadcast), lanes that want different
    words of one bank queue. 8-byte elements are served by half-warps and 16-byte ones
    by quarters, so their least number of passes is 2 and 4.

    Args:
        addresses: int64 (requests, 32), byte address of each lane's element, aligned to
            `itemsize`; 0 or more where the lane is active.
        itemsize: bytes of one element: 1, 2, 4, 8 or 16.
        active_mask: bool (requests, 32); inactive lanes cost nothing.
        spec: supplies `warp_size`.

    Returns:
        int64 (requests,), passes of each request; the conflicts are the passes beyond
        1, 2 or 4.

    Raises:
        ShapeError: a shape is not (requests, 32), or the two shapes differ.
        UnsupportedError: the GPU is older than compute capability 6.0.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> everyone, toy = np.ones((1, 32), bool), find_gpu("toy")
        >>> column = 4 * 32 * np.arange(32)[None]       # column of tile[32][32]
        >>> bank_passes(column, 4, everyone, toy)       # every word in bank 0
        array([32])
        >>> padded = 4 * 33 * np.arange(32)[None]       # column of tile[32][33]
        >>> bank_passes(padded, 4, everyone, toy)
        array([1])

    Limits: elements that are not aligned to their size fault on hardware; here only the
    words from their first byte's word on are counted.
    Source: CUDA C++ Best Practices Guide, "Shared Memory and Memory Banks".
    """
    check_requests(addresses, active_mask, spec)
    words_per_lane = max(1, itemsize // BANK_BYTES)
    # One row is what the banks serve together: a warp, or a half or quarter of one.
    shape = (-1, spec.warp_size // words_per_lane)
    first = (addresses // BANK_BYTES).reshape(shape)
    active = active_mask.reshape(shape)
    passes = _passes_of_rows(first, active, words_per_lane)
    of_requests: IntArray = passes.reshape(-1, words_per_lane).sum(axis=1)
    return of_requests


def _passes_of_rows(
    first: IntArray, active: BoolArray, words_per_lane: int
) -> IntArray:
    """Passes of each row of lanes, given the first word of each, (rows,)."""
    if _is_within_banks(first, words_per_lane):
        return np.asarray(active.any(axis=1), np.int64)
    words = (first[:, :, None] + np.arange(words_per_lane)).reshape(len(first), -1)
    return _largest_queue(words, active.repeat(words_per_lane, axis=1))


def _is_within_banks(first: IntArray, words_per_lane: int) -> bool:
    """Tell whether every row's words ascend within 32 words: no bank is asked twice."""
    span = first[:, -1] - first[:, 0] + words_per_lane
    return bool(span.max(initial=0) <= BANKS and steps(first).min(initial=0) >= 0)


def _largest_queue(words: IntArray, active: BoolArray) -> IntArray:
    """Most different words that a row wants of one bank, (rows,)."""
    ordered = np.sort(np.where(active, words, -1), axis=1)
    is_new = steps(ordered) != 0
    is_new[:, 0] = True
    row_start = BANKS * np.arange(len(words))[:, None]
    queue = row_start + (ordered & (BANKS - 1))  # one queue for each row and bank
    waiting = queue[is_new & (ordered >= 0)]
    queues = np.bincount(waiting, minlength=len(words) * BANKS)
    longest: IntArray = queues.reshape(-1, BANKS).max(axis=1, initial=0)
    return longest
