"""Bank conflicts: how many passes a request to shared memory takes, on every GPU.

Shared memory has banks; successive words lie in successive banks, and one pass serves
one word of every bank. Read `bank_passes` first.

| compute capability | banks | one pass of a bank | served together |
|---|---|---|---|
| 5.0 and later, 2.x | 32 | a word of 4 bytes | a warp; of 8-byte elements a half |
| 3.x | 32 | two words, 128 bytes apart | the same |
| 3.x, `bank_bytes=8` | 32 | a word of 8 bytes | a warp |
| 1.x | 16 | a word of 4 bytes | a half-warp; of 8-byte elements a quarter |

Source: CUDA C++ Best Practices Guide, "Shared Memory and Memory Banks"; CUDA C++
Programming Guide 8.0, "Compute Capability 2.x" and "3.x", "Shared Memory"; CUDA C
Programming Guide 3.2, G.3.3 (1.x).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tinytorch_gpu.cost.requests import (
    BoolArray,
    IntArray,
    check_requests,
    sorted_runs,
    steps,
)

if TYPE_CHECKING:
    from tinytorch_gpu.arch import GpuSpec

__all__ = ["BANKS", "Passes", "bank_passes", "passes_and_parts", "warp_parts"]

BANKS = 32


class Passes(NamedTuple):
    """Passes of each request, and the fewest that its lanes could need.

    Args:
        passes: passes over the banks, int64 (requests,).
        ideal: parts of the warp that are served apart and have active lanes.
    """

    passes: IntArray
    ideal: IntArray


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
        spec: supplies `compute_capability` and `bank_bytes`.

    Returns:
        int64 (requests,), passes of each request; the conflicts are the passes beyond
        1, 2 or 4.

    Raises:
        ShapeError: a shape is not (requests, 32), or the two shapes differ.

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
    return passes_and_parts(addresses, itemsize, active_mask, spec).passes


def passes_and_parts(
    addresses: IntArray, itemsize: int, active_mask: BoolArray, spec: GpuSpec
) -> Passes:
    """Count the passes of each request, and the fewest that its lanes could need.

    Args:
        addresses: as for `bank_passes`, like the other three.
        itemsize: bytes of one element.
        active_mask: bool (requests, 32).
        spec: the GPU.

    Returns:
        Both counts; the bank conflicts are their difference.

    Raises:
        ShapeError: a shape is not (requests, 32), or the two shapes differ.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> everyone, toy = np.ones((1, 32), bool), find_gpu("toy")
        >>> column = 8 * 32 * np.arange(32)[None]       # float64: two halves of 16
        >>> passes_and_parts(column, 8, everyone, toy)
        Passes(passes=array([32]), ideal=array([2]))

    Limits, Source: as for `bank_passes`.
    """
    check_requests(addresses, active_mask, spec)
    words_per_lane = max(1, itemsize // spec.bank_bytes)
    parts = warp_parts(itemsize, spec)
    # One row is what the banks serve together: a warp, or a part of one.
    shape = (-1, spec.warp_size // parts)
    first = (addresses // spec.bank_bytes).reshape(shape)
    active = active_mask.reshape(shape)
    used = np.asarray(active.any(axis=1), np.int64)
    if spec.compute_capability[0] == 1:
        passes = _one_broadcast(_words(first, words_per_lane), active, words_per_lane)
    elif _is_within_banks(first, words_per_lane):
        passes = used
    else:
        cells = _bank_cells(_words(first, words_per_lane), spec)
        passes = _largest_queue(cells, active.repeat(words_per_lane, axis=1))
    return Passes(
        passes.reshape(-1, parts).sum(axis=1), used.reshape(-1, parts).sum(axis=1)
    )


def warp_parts(itemsize: int, spec: GpuSpec) -> int:
    """Tell in how many parts the banks serve a warp: as many as fill them once.

    Args:
        itemsize: bytes of one element.
        spec: supplies `compute_capability` and `bank_bytes`.

    Returns:
        1 for elements of 4 bytes and less, 2 for 8, 4 for 16; twice that on 1.x.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> warp_parts(8, find_gpu("t4")), warp_parts(4, find_gpu("c870"))
        (2, 2)

    Limits: none.
    Source: as for the module.
    """
    halves = 2 if spec.compute_capability[0] == 1 else 1
    return halves * max(1, itemsize // spec.bank_bytes)


def _words(first: IntArray, words_per_lane: int) -> IntArray:
    """All words of each row, given the first word of each lane."""
    words = first[:, :, None] + np.arange(words_per_lane)
    return words.reshape(len(first), -1)


def _bank_cells(words: IntArray, spec: GpuSpec) -> IntArray:
    """Number what a bank gives in one pass, so that `cell % 32` is the bank."""
    is_double = spec.compute_capability[0] == 3 and spec.bank_bytes == 4
    if not is_double:
        return words
    # Compute capability 3.x: words i and i + 32 of 64 are one row of their bank.
    return (words >> 6 << 5) | (words & (BANKS - 1))


def _is_within_banks(first: IntArray, words_per_lane: int) -> bool:
    """Tell whether every row's words ascend within 32 words: no bank is asked twice."""
    span = first[:, -1] - first[:, 0] + words_per_lane
    return bool(span.max(initial=0) <= BANKS and steps(first).min(initial=0) >= 0)


def _largest_queue(cells: IntArray, active: BoolArray) -> IntArray:
    """Most different cells that a row wants of one bank, (rows,)."""
    ordered, is_new = sorted_runs(cells, active)
    row_start = BANKS * np.arange(len(cells))[:, None]
    queue = row_start + (ordered & (BANKS - 1))  # one queue for each row and bank
    waiting = queue[is_new & (ordered >= 0)]
    queues = np.bincount(waiting, minlength=len(cells) * BANKS)
    longest: IntArray = queues.reshape(-1, BANKS).max(axis=1, initial=0)
    return longest


def _one_broadcast(words: IntArray, active: BoolArray, words_per_lane: int) -> IntArray:
    """Passes of each row on 1.x: 16 banks, and lanes share one word of a request.

    A lane is served apart even from one that wants the same word, except for the lanes
    of one word. The word is chosen so that the longest queue gets as short as it can.
    """
    # Simplified: hardware chooses a word anew at each step, and does not say which. A
    # half-warp with several shared words in different banks may take fewer passes: of
    # two words with 8 lanes each, 2 and not the 8 counted here.
    banks = 16
    active = active.repeat(words_per_lane, axis=1)
    rows, lanes = words.shape
    row = np.repeat(np.arange(rows), lanes).reshape(rows, lanes)
    waiting = np.bincount(
        (row * banks + words % banks)[active], minlength=rows * banks
    ).reshape(rows, banks)
    longest = waiting.max(axis=1, initial=0)
    same = (words[:, :, None] == words[:, None, :]) & active[:, None, :]
    sharing = np.where(active, same.sum(axis=2), 0)  # lanes that want each lane's word
    ordered = np.sort(waiting, axis=1)
    runner_up = ordered[:, -2]
    at_longest = active & (
        np.take_along_axis(waiting, words % banks, 1) == longest[:, None]
    )
    saved = np.max(sharing - 1, axis=1, where=at_longest, initial=0)
    result: IntArray = np.maximum(longest - saved, runner_up)
    return result
