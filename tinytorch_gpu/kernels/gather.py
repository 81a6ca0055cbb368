"""The ops index_select, gather, scatter_add, index and index_put; PyTorch's names.

Comes in: device arrays, and indices that lie on the device as well, of any integer
dtype or whole numbers stored as float32. Several index arrays are joined into one, by
a launch for each. Nothing is read by the host.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from tinytorch_gpu import cuda, library
from tinytorch_gpu.errors import ShapeError
from tinytorch_gpu.kernels import indexing_kernels as kernels
from tinytorch_gpu.kernels.copying import copy, fill
from tinytorch_gpu.kernels.operands import INT64
from tinytorch_gpu.kernels.reduce import normalized_axes
from tinytorch_gpu.kernels.rows import around, launch_flat

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tinytorch_gpu.memory import DeviceArray

__all__ = ["gather", "index", "index_put", "index_select", "scatter_add"]


@library.impl("tinytorch::index_select", "simgpu")
def index_select(x: DeviceArray, dim: int, index: DeviceArray) -> DeviceArray:
    """Return the slices of x along `dim` that an index names.

    Args:
        x: device array.
        dim: the axis.
        index: device array of any shape; its axes replace `dim`.

    Raises:
        ShapeError: there is no such axis.
        OutOfBoundsError: an index is no place along the axis.

    Example:
        >>> import numpy as np
        >>> x = cuda.to_device(np.float32([10, 20, 30]))
        >>> index_select(x, 0, cuda.to_device(np.int64([2, 0]))).copy_to_host().tolist()
        [30.0, 10.0]
    """
    (axis,) = normalized_axes("index_select", x, dim)
    return _selected(x, axis, 1, index.reshape(-1), index.shape)


def _selected(
    x: DeviceArray, axis: int, axes: int, flat: DeviceArray, shape: tuple[int, ...]
) -> DeviceArray:
    """Replace `axes` axes from `axis` on by those of the index."""
    out = cuda.device_array((*x.shape[:axis], *shape, *x.shape[axis + axes :]), x.dtype)
    if out.size:
        view = around(out, axis, len(shape))
        arguments = (around(x, axis, axes), flat, view)
        launch_flat(kernels.index_select_kernel, arguments, out.size)
    return out


@library.impl("tinytorch::gather", "simgpu")
def gather(x: DeviceArray, dim: int, index: DeviceArray) -> DeviceArray:
    """Return, for each place of the index, the element of x that it names along `dim`.

    Args:
        x: device array.
        dim: the axis.
        index: device array with as many axes, along the others at most as long.

    Returns:
        Device array of the index's shape.

    Raises:
        ShapeError: the shapes do not fit.
        OutOfBoundsError: an index is no place along the axis.

    Example:
        >>> import numpy as np
        >>> x = cuda.to_device(np.float32([[1, 2], [3, 4]]))
        >>> targets = cuda.to_device(np.int64([[1], [0]]))
        >>> gather(x, 1, targets).copy_to_host().tolist()
        [[2.0], [3.0]]
    """
    (axis,) = normalized_axes("gather", x, dim)
    pairs = zip(_others(index, axis), _others(x, axis), strict=False)
    if index.ndim != x.ndim or any(a > b for a, b in pairs):
        raise _does_not_fit("gather", x, index, axis)
    part = tuple(
        slice(None) if i == axis else slice(n) for i, n in enumerate(index.shape)
    )
    out = cuda.device_array(index.shape, x.dtype)
    if out.size:
        views = [around(a, axis) for a in (x[part], index, out)]
        launch_flat(kernels.gather_kernel, tuple(views), out.size)
    return out


@library.impl("tinytorch::scatter_add", "simgpu")
def scatter_add(
    x: DeviceArray, dim: int, index: DeviceArray, src: DeviceArray
) -> DeviceArray:
    """Return a copy of x to which each element of src is added where its index says.

    Args:
        x: device array.
        dim: the axis.
        index: device array, along the other axes as long as x.
        src: device array of the index's shape.

    Raises:
        ShapeError: the shapes do not fit.
        OutOfBoundsError: an index is no place along the axis.

    Example:
        >>> import numpy as np
        >>> x, ones = (cuda.to_device(np.float32(v)) for v in ([0, 0], [1, 1, 1]))
        >>> where = cuda.to_device(np.int64([1, 0, 1]))
        >>> scatter_add(x, 0, where, ones).copy_to_host().tolist()
        [1.0, 2.0]
    """
    (axis,) = normalized_axes("scatter_add", x, dim)
    if _others(index, axis) != _others(x, axis) or src.shape != index.shape:
        raise _does_not_fit("scatter_add", x, index, axis)
    out = copy(x)
    if src.size:
        views = [around(a, axis) for a in (index, src, out)]
        launch_flat(kernels.scatter_add_kernel, tuple(views), src.size)
    return out


@library.impl("tinytorch::index", "simgpu")
def index(x: DeviceArray, indices: Sequence[DeviceArray | None]) -> DeviceArray:
    """Return `x[indices]` as NumPy does: index arrays are walked together.

    Args:
        x: device array.
        indices: one device array for each leading axis, None for all of an axis.

    Returns:
        A new device array. The axes of the indices stand where the indexed axes stood,
        or first if these are apart.

    Raises:
        ShapeError: there are more indices than axes, or they do not broadcast.
        OutOfBoundsError: an index is no place along its axis.

    Example:
        >>> import numpy as np
        >>> x = cuda.to_device(np.float32([[1, 2], [3, 4]]))
        >>> both = cuda.to_device(np.int64([0, 1]))
        >>> index(x, (both, both)).copy_to_host().tolist()
        [1.0, 4.0]
    """
    moved, first, arrays = _arranged(x, indices)
    flat, shape = _joined(arrays, moved.shape[first : first + len(arrays)])
    return _selected(moved, first, len(arrays), flat, shape)


@library.impl("tinytorch::index_put", "simgpu")
def index_put(
    x: DeviceArray,
    indices: Sequence[DeviceArray | None],
    values: DeviceArray,
    accumulate: bool = False,
) -> DeviceArray:
    """Do `x[indices] = values` in place, or add if `accumulate`; return x.

    Args:
        x: device array, changed.
        indices: as in `index`.
        values: device array that broadcasts to `x[indices]`.
        accumulate: add, so that an index that stands twice counts twice. If not, and
            it stands twice with different values, any of them stays.

    Raises:
        ShapeError: there are more indices than axes, or shapes do not broadcast.
        OutOfBoundsError: an index is no place along its axis.

    Example:
        >>> import numpy as np
        >>> x, ones = cuda.to_device(np.zeros(3)), cuda.to_device(np.ones(3))
        >>> twice = cuda.to_device(np.int64([0, 2, 2]))
        >>> index_put(x, (twice,), ones, accumulate=True).copy_to_host().tolist()
        [1.0, 0.0, 2.0]
    """
    moved, first, arrays = _arranged(x, indices)
    last = first + len(arrays)
    flat, shape = _joined(arrays, moved.shape[first:last])
    given = values.broadcast_to((*moved.shape[:first], *shape, *moved.shape[last:]))
    if not given.size:
        return x
    kernel = kernels.index_add_kernel if accumulate else kernels.index_put_kernel
    target = around(moved, first, len(arrays))
    source = around(given, first, len(shape))
    launch_flat(kernel, (flat, source, target), given.size)
    if target.buffer is not x.buffer:  # no strides express the view: put it back
        copy(target.reshape(moved.shape), out=moved)
    return x


def _arranged(
    x: DeviceArray, indices: Sequence[DeviceArray | None]
) -> tuple[DeviceArray, int, list[DeviceArray]]:
    """Return a view whose indexed axes stand side by side, their first, the indices."""
    axes = [i for i, given in enumerate(indices) if given is not None]
    if len(indices) > x.ndim or not axes:
        raise ShapeError(
            f"index: {len(indices)} indices, {len(axes)} arrays, for {x.ndim} axes",
            where=f"tinytorch::index, operand {x.dtype.name} {x.shape}",
            why="there is one index, or None, for each leading axis",
            fix=f"give 1 to {x.ndim} index arrays",
            shape=x.shape,
        )
    arrays = [given for given in indices if given is not None]
    if axes == list(range(axes[0], axes[0] + len(axes))):
        return x, axes[0], arrays
    others = [i for i in range(x.ndim) if i not in axes]
    return x.transpose((*axes, *others)), 0, arrays


def _joined(
    arrays: list[DeviceArray], lengths: tuple[int, ...]
) -> tuple[DeviceArray, tuple[int, ...]]:
    """Join index arrays into a flat one over the joined axes; return its shape too."""
    try:
        shape = np.broadcast_shapes(*(a.shape for a in arrays))
    except ValueError:
        shapes = tuple(a.shape for a in arrays)
        raise ShapeError(
            f"index: index arrays of shapes {shapes} do not broadcast",
            where="tinytorch::index",
            why="index arrays are walked together, element by element",
            fix="give them one shape, for example rows.reshape(-1, 1)",
            shapes=shapes,
        ) from None
    flat = [a.broadcast_to(shape).reshape(-1) for a in arrays]
    if len(flat) == 1:
        return flat[0], shape
    total = math.prod(lengths)
    joined = fill(cuda.device_array(flat[0].shape, INT64), 0)
    for given, length in zip(flat, lengths, strict=True):
        out = cuda.device_array_like(joined)
        arguments = (joined, given, length, total, out)
        launch_flat(kernels.linear_index_kernel, arguments, out.size)
        joined = out
    return joined, shape


def _others(x: DeviceArray, axis: int) -> list[int]:
    """Return the lengths of all axes but one."""
    return [n for i, n in enumerate(x.shape) if i != axis]


def _does_not_fit(op: str, x: DeviceArray, given: DeviceArray, axis: int) -> ShapeError:
    return ShapeError(
        f"{op}: index {given.shape} for x {x.shape} along axis {axis}",
        where=f"tinytorch::{op}",
        why="index and x have as many axes, and fit along all but that one; src has "
        "the index's shape",
        fix="reshape the index, for example index.reshape(-1, 1)",
        shapes=(x.shape, given.shape),
    )
