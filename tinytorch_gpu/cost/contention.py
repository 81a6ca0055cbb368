"""Contention: how many lanes of a request meet at one address in an atomic operation.

Lanes at different addresses go side by side, lanes at one address one after another.

Source: CUDA C++ Programming Guide, "Atomic Functions"; NVIDIA, "Tuning CUDA
Applications for Kepler", 1.4.3.3 (one operation for each clock at one address) and for
Maxwell, 1.4.3.2 (native atomics of shared memory).
"""

from __future__ import annotations

import numpy as np

from tinytorch_gpu.cost.requests import BoolArray, IntArray, sorted_runs

__all__ = ["most_at_one_address"]


def most_at_one_address(addresses: IntArray, active_mask: BoolArray) -> IntArray:
    """Count the lanes of each request that meet where most of them meet.

    Args:
        addresses: int64 (requests, lanes), 0 or more where the lane is active.
        active_mask: bool (requests, lanes).

    Returns:
        int64 (requests,): 1 when no lanes meet, 32 when all want one address, 0 of a
        request without active lanes.

    Example:
        >>> lanes = np.arange(32)[None]
        >>> most_at_one_address(4 * (lanes % 8), np.ones((1, 32), bool))
        array([4])

    Limits: compilers merge the atomics of a warp at one known address to one; here they
    are not merged.
    Source: as for the module.
    """
    ordered, is_start = sorted_runs(addresses, active_mask)
    starts = np.flatnonzero(is_start)
    lengths = np.diff(starts, append=ordered.size)
    lengths[ordered.ravel()[starts] < 0] = 0  # the inactive lanes
    row_starts = np.flatnonzero(starts % ordered.shape[1] == 0)
    most: IntArray = (
        np.maximum.reduceat(lengths, row_starts) if len(starts) else lengths
    )
    return most
