"""Warp-wide requests as arrays: what the counting rules take, and how to count in them.

Comes in: byte addresses and active lanes, both (requests, lanes). `check_requests`
refuses other shapes; `steps` and `row_sums` are the two fast moves that the rules
share; `count_distinct` is the slow and general count.

Source: CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory" and "Shared
Memory and Memory Banks".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from tinytorch_gpu.errors import ShapeError

if TYPE_CHECKING:
    from tinytorch_gpu.arch import GpuSpec

__all__ = [
    "BoolArray",
    "IntArray",
    "check_requests",
    "count_distinct",
    "row_sums",
    "steps",
]

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]


def check_requests(addresses: IntArray, active_mask: BoolArray, spec: GpuSpec) -> None:
    """Refuse arrays that are no warp-wide requests.

    Args:
        addresses: int64 (requests, 32), bytes.
        active_mask: bool (requests, 32).
        spec: supplies `warp_size`.

    Raises:
        ShapeError: a shape is not (requests, 32), or the two shapes differ.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> everyone = np.ones((2, 32), bool)
        >>> check_requests(np.zeros((2, 32), int), everyone, find_gpu("t4"))

    Limits: none.
    Source: CUDA C++ Programming Guide, "SIMT Architecture": a warp has 32 lanes.
    """
    is_rows = addresses.shape == (len(addresses), spec.warp_size)
    if is_rows and addresses.shape == active_mask.shape:
        return
    raise ShapeError(
        f"addresses of shape {addresses.shape}, active mask of {active_mask.shape}",
        where="counting warp-wide requests",
        why=f"both are (requests, {spec.warp_size}): one row is one request",
        fix=f"reshape both: addresses.reshape(-1, {spec.warp_size})",
        shape=addresses.shape,
    )


def steps(values: IntArray) -> IntArray:
    """Subtract from each lane's value that of the lane before; lane 0 gets 0.

    Args:
        values: int64 (requests, lanes).

    Returns:
        int64 (requests, lanes).

    Example:
        >>> steps(np.array([[5, 6, 6, 9]]))
        array([[0, 1, 0, 3]])

    Limits: none.
    Source: NumPy; one subtraction over all lanes costs a fifth of a sort.
    """
    flat = values.ravel()
    difference = np.empty_like(flat)
    # Lane 0's difference is taken across two requests here, and put right below.
    np.subtract(flat[1:], flat[:-1], out=difference[1:])
    by_request = difference.reshape(values.shape)
    by_request[:, 0] = 0
    return by_request


def row_sums(flags: BoolArray) -> IntArray:
    """Count the true lanes of each request.

    Args:
        flags: bool (requests, lanes), at most 127 lanes.

    Returns:
        int64 (requests,).

    Example:
        >>> row_sums(np.array([[True, False, True], [False, False, False]]))
        array([2, 0])

    Limits: 127 lanes, since the sum is made in int8 for speed.
    Source: NumPy.
    """
    as_bytes = np.ascontiguousarray(flags).view(np.int8)
    sums: IntArray = np.einsum("ij->i", as_bytes).astype(np.int64)
    return sums


def sorted_runs(values: IntArray, active_mask: BoolArray) -> tuple[IntArray, BoolArray]:
    """Sort the values of each request, and mark where runs of equal ones begin.

    Args:
        values: int64 (requests, lanes), 0 or more where the lane is active.
        active_mask: bool (requests, lanes).

    Returns:
        int64 and bool, (requests, lanes): the values in order, -1 first for inactive
        lanes; and whether the value before is another, or there is none.

    Example:
        >>> sorted_runs(np.array([[7, 3, 7]]), np.ones((1, 3), bool))
        (array([[3, 7, 7]]), array([[ True,  True, False]]))

    Limits: none.
    Source: definition of a sort.
    """
    ordered = np.sort(np.where(active_mask, values, -1), axis=1)
    is_start = steps(ordered) != 0
    is_start[:, 0] = True
    return ordered, is_start


def count_distinct(values: IntArray, active_mask: BoolArray) -> IntArray:
    """Count the different values of the active lanes of each request, by sorting.

    Args:
        values: int64 (requests, lanes), 0 or more where the lane is active.
        active_mask: bool (requests, lanes).

    Returns:
        int64 (requests,).

    Example:
        >>> first_three = np.array([[True, True, True, False]])
        >>> count_distinct(np.array([[7, 3, 7, 9]]), first_three)
        array([2])

    Limits: none.
    Source: definition of a set's size.
    """
    ordered, is_start = sorted_runs(values, active_mask)
    is_start[:, 0] = ordered[:, 0] >= 0  # a run of -1 is that of inactive lanes
    return row_sums(is_start)
