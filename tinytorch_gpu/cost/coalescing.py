"""Coalescing: what a warp-wide request to global memory moves, on every GPU.

Comes in: the byte address of each lane. Goes out: sectors, lines, transactions and
distinct bytes of each request. Memory moves in aligned segments; which segments is all
that GPUs differ in:

| compute capability | loads | stores and atomics |
|---|---|---|
| 5.0 and later, 3.x | 32-byte sectors of a warp | the same |
| 2.x | 128-byte lines of a warp | 32-byte sectors of a warp |
| 1.x | half-warps: see `half_warps` | the same |

Source: CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory"; CUDA C++
Programming Guide 8.0, "Compute Capability 2.x" and "3.x", "Global Memory".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from tinytorch_gpu.cost.half_warps import half_warp_transactions
from tinytorch_gpu.cost.requests import (
    BoolArray,
    IntArray,
    check_requests,
    count_distinct,
)

if TYPE_CHECKING:
    from tinytorch_gpu.arch import GpuSpec

__all__ = ["LINE_BYTES", "Traffic", "moves_lines", "sectors_touched", "traffic"]

LINE_BYTES = 128  # of L1, on every GPU that has one: four sectors


class Traffic(NamedTuple):
    """What each request moves; every field int64 (requests,).

    Args:
        sectors: 32-byte sectors moved.
        transactions: the same in the unit of the GPU: sectors, lines or the
            transactions of half-warps.
        lines: distinct 128-byte lines touched.
        distinct: distinct elements touched.
    """

    sectors: IntArray
    transactions: IntArray
    lines: IntArray
    distinct: IntArray


def sectors_touched(
    addresses: IntArray,
    itemsize: int,
    active_mask: BoolArray,
    spec: GpuSpec,
    kind: str = "load",
) -> IntArray:
    """Count the 32-byte sectors that each warp-wide request moves.

    A load by 32 lanes is one request. The memory system fetches whole sectors, so the
    price is the number of different sectors, not the number of lanes.

    Args:
        addresses: int64 (requests, 32), byte address of each lane's element; 0 or more
            where the lane is active, anything where it is not.
        itemsize: bytes of one element, 32 at most; both of its ends are counted.
        active_mask: bool (requests, 32); inactive lanes cost nothing.
        spec: supplies `compute_capability` and `sector_bytes`, a power of two.
        kind: `load`, `store` or `atomic`; compute capability 2.x moves whole lines for
            loads.

    Returns:
        int64 (requests,), sectors of each request; 0 to 32 for aligned elements on
        compute capability 3.0 and later.

    Raises:
        ShapeError: a shape is not (requests, 32), or the two shapes differ.

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
    return traffic(addresses, itemsize, active_mask, spec, kind).sectors


def traffic(
    addresses: IntArray,
    itemsize: int,
    active_mask: BoolArray,
    spec: GpuSpec,
    kind: str = "load",
) -> Traffic:
    """Count all that a warp-wide request to global memory moves.

    Args:
        addresses: as for `sectors_touched`, like the other four.
        itemsize: bytes of one element.
        active_mask: bool (requests, 32).
        spec: the GPU.
        kind: `load`, `store` or `atomic`.

    Returns:
        Sectors, transactions, lines and distinct elements of each request.

    Raises:
        ShapeError: a shape is not (requests, 32), or the two shapes differ.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> everyone = np.ones((1, 32), bool)
        >>> row = 8 * np.arange(32)[None]       # float32, every second element
        >>> moved = traffic(row, 4, everyone, find_gpu("c2050"))
        >>> int(moved.transactions[0]), int(moved.sectors[0])   # two lines of 128 B
        (2, 8)

    Limits: as for `sectors_touched`.
    Source: as for the module.
    """
    check_requests(addresses, active_mask, spec)
    lines = _segments(addresses, itemsize, active_mask, LINE_BYTES)
    distinct = count_distinct(addresses, active_mask)
    if spec.compute_capability[0] == 1:
        transactions, sectors = half_warp_transactions(
            addresses, itemsize, active_mask, spec
        )
    elif moves_lines(spec, kind):
        transactions, sectors = lines, lines * (LINE_BYTES // spec.sector_bytes)
    else:
        sectors = _segments(addresses, itemsize, active_mask, spec.sector_bytes)
        transactions = sectors
    return Traffic(sectors, transactions, lines, distinct)


def moves_lines(spec: GpuSpec, kind: str) -> bool:
    """Tell whether an access moves whole lines: a load on compute capability 2.x.

    Args:
        spec: the GPU.
        kind: `load`, `store` or `atomic`.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> c2050 = find_gpu("c2050")
        >>> moves_lines(c2050, "load"), moves_lines(c2050, "store")
        (True, False)

    Source: as for the module.
    """
    return spec.compute_capability[0] == 2 and kind == "load"


def _segments(
    addresses: IntArray, itemsize: int, active_mask: BoolArray, nbytes: int
) -> IntArray:
    """Count the aligned segments in which the ends of each element lie, (requests,)."""
    both = np.concatenate([addresses, addresses + (itemsize - 1)], axis=1) // nbytes
    return count_distinct(both, np.concatenate([active_mask] * 2, axis=1))
