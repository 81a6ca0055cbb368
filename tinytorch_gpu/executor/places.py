"""Places: where in its storage the element lies that each lane's indices name.

The part that is the same for all lanes is kept apart from what differs: in a loop over
`a[row, k]` the lanes' part stays the same, and only a number changes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.executor.bounds import in_bounds

if TYPE_CHECKING:
    from tinytorch_gpu.executor.kernel_array import KernelArray
    from tinytorch_gpu.executor.lanes import Batch
    from tinytorch_gpu.executor.mask import Mask
    from tinytorch_gpu.trace import Site

__all__ = ["flat_index", "split_index"]


def split_index(
    batch: Batch, mask: Mask, array: KernelArray, parts: Any, site: Site, action: str
) -> tuple[Any, Any]:
    """Return element indices into the storage as a sum of two.

    Args:
        batch: the lanes.
        mask: the active ones.
        array: a KernelArray.
        parts: a lane value for each axis, or for the first ones.
        site: where it stands.
        action: "load from" or "store to", for the error.

    Returns:
        int64, what is the same for all lanes; and the rest, broadcastable to (blocks,
        threads), or a scalar 0.

    Raises:
        OutOfBoundsError: an active lane's index is outside.
        KernelTypeError: an index is no integer.
    """
    uniform: Any = np.int64(0)
    lanes: Any = uniform
    for axis, part in enumerate(parts):
        far = _far(batch, mask, array, axis, part, site, action)
        if isinstance(far, np.ndarray):
            lanes = far if lanes.ndim == 0 else lanes + far
        else:
            uniform = uniform + far
    if isinstance(array.offset, np.ndarray):
        return uniform, lanes + array.offset
    return uniform + array.offset, lanes


def flat_index(
    batch: Batch, mask: Mask, array: KernelArray, parts: Any, site: Site, action: str
) -> Any:
    """Return element indices into the storage: int64, a scalar or lanes.

    Args: and raises: as `split_index`.
    """
    uniform, lanes = split_index(batch, mask, array, parts, site, action)
    return uniform + lanes if uniform else lanes


def _far(
    batch: Batch,
    mask: Mask,
    array: KernelArray,
    axis: int,
    part: Any,
    site: Site,
    action: str,
) -> Any:
    """Return how many elements an index leads away from index 0 of its axis.

    Lane values are never changed in place: the same array at the same place and under
    the same mask, as a row's index in a loop, needs no second look.
    """
    length, step = array.lengths[axis], array.steps[axis]
    if not isinstance(part, np.ndarray) or not isinstance(length, int):
        inside = in_bounds(batch, mask, array, axis, part, site, action)
        return inside * np.int64(step)
    known = batch.places.get((site, axis))
    if known and known[0] is part and known[1] is mask and known[2:4] == (length, step):
        return known[4]
    inside = in_bounds(batch, mask, array, axis, part, site, action)
    far = inside if step == 1 else inside * np.int64(step)
    batch.places[site, axis] = (part, mask, length, step, far)
    return far
