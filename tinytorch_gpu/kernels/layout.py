"""Where elements lie: any strides become rows × columns, and those a grid of threads.

Comes in: device arrays of any shape and strides. Goes out: views that a kernel indexes
with `[row, col]` (or `[outer, k, inner]` when one axis is special), a launch
configuration, and the launches. Views cost nothing; what no view can express is copied
by a launch, in `unary.copy`, never on the host.

Read `launch_elementwise` first, then `split_axis`.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.memory import DeviceArray

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = [
    "MAX_GRID_YZ",
    "block_of_row",
    "collapsed",
    "configuration",
    "launch_elementwise",
    "split_axis",
]

THREADS = 256  # of a block: 8 warps, which every GPU since 2010 can hold several times
MAX_GRID_YZ = 65_535  # blocks along y and z; CUDA C++ Programming Guide, Table 21

Shape = tuple[int, ...]


def configuration(*lengths: int) -> tuple[Shape, Shape]:
    """Return grid and block for one thread for each element.

    Threads go to the first length (x) before the second, in powers of two, so that a
    warp covers neighbours along x first.

    Args:
        *lengths: elements along x, y and z.

    Returns:
        Grid and block.

    Example:
        >>> configuration(1000, 1)
        ((4, 1), (256, 1))
        >>> configuration(10, 64)       # 16 × 16 threads, 6 of 16 columns idle
        ((1, 4), (16, 16))
    """
    left, block = THREADS, []
    for axis, length in enumerate(lengths):
        most = min(left, 64) if axis == 2 else left
        block.append(min(most, 1 << (length - 1).bit_length()))
        left //= block[-1]
    grid = tuple(-(-n // b) for n, b in zip(lengths, block, strict=True))
    return grid, tuple(block)


def block_of_row(length: int, most: int = THREADS) -> int:
    """Return the threads of a block that works on one row: a power of two, whole warps.

    Each thread gets four elements or more: it adds them alone, and every halving of the
    threads saves a step with a barrier.

    Args:
        length: elements of the row.
        most: threads at most.

    Example:
        >>> block_of_row(10), block_of_row(200), block_of_row(5000)
        (32, 64, 256)
    """
    return max(32, min(most, 1 << (-(-length // 4) - 1).bit_length()))


def launch_elementwise(
    kernel: Any, operands: Sequence[Any], out: DeviceArray
) -> DeviceArray:
    """Launch `kernel(*operands, out)` with one thread for each element of `out`.

    Arrays are broadcast to the shape of `out` and collapsed to rows × columns; axes
    that cannot be merged for all arrays are looped over, one launch each.

    Args:
        kernel: indexes arrays with `[row, col]`, where `col, row = cuda.grid(2)`.
        operands: device arrays that broadcast to `out`, and scalars.
        out: where the kernel stores.

    Returns:
        `out`.

    Example:
        >>> import numpy as np
        >>> from tinytorch_gpu import cuda
        >>> @cuda.jit
        ... def negate(x, out):
        ...     col, row = cuda.grid(2)
        ...     if row < out.shape[0] and col < out.shape[1]:
        ...         out[row, col] = -x[row, col]
        >>> x = cuda.to_device(np.arange(4, dtype=np.float32).reshape(2, 2))
        >>> out = cuda.device_array((2, 2), np.float32)
        >>> launch_elementwise(negate, (x.T,), out).copy_to_host().tolist()
        [[-0.0, -2.0], [-1.0, -3.0]]
    """
    if not out.size:
        return out
    shape = out.shape
    arrays = [out]
    for operand in operands:
        if isinstance(operand, DeviceArray):
            same = operand.shape == shape
            arrays.append(operand if same else operand.broadcast_to(shape))
    order, lengths = collapsed(shape, tuple(a.strides for a in arrays))
    views = [a.transpose(order).reshape(lengths) for a in arrays]
    for grid, block, (target, *sources) in _planes(views):
        rest = iter(sources)
        given = (next(rest) if isinstance(o, DeviceArray) else o for o in operands)
        kernel[grid, block](*given, target)
    return out


@functools.lru_cache(maxsize=4096)
def collapsed(shape: Shape, strides: tuple[Shape, ...]) -> tuple[Shape, Shape]:
    """Return an order of axes, and the fewest lengths (at least two) they merge to.

    The axis along which the first array has its smallest stride comes last: it becomes
    the columns, so that a warp's stores fall on neighbours. The longest of the others
    becomes the rows, so that few planes are left.

    Args:
        shape: of all arrays, broadcast.
        strides: of each array, in bytes; those of the output first.

    Example:
        >>> collapsed((4, 5, 6), ((120, 24, 4), (120, 24, 4)))
        ((0, 1, 2), (1, 120))
    """
    long_axes = [i for i, n in enumerate(shape) if n > 1]
    long_axes.sort(key=lambda i: -abs(strides[0][i]))
    groups = _groups(long_axes, shape, strides)
    if len(groups) > 2:
        *others, columns = groups
        rows = max(others, key=lambda group: _length(group, shape))
        groups = [*(group for group in others if group is not rows), rows, columns]
    lengths = [_length(group, shape) for group in groups]
    long_axes = [axis for group in groups for axis in group]
    units = (i for i, n in enumerate(shape) if n == 1)
    padding = [1] * (2 - len(lengths))
    return (*units, *long_axes), (*padding, *lengths)


def _groups(
    axes: Sequence[int], shape: Shape, strides: tuple[Shape, ...]
) -> list[list[int]]:
    """Join axes that follow one another without a gap in every array."""
    groups: list[list[int]] = []
    for axis in axes:
        if groups and all(s[groups[-1][-1]] == s[axis] * shape[axis] for s in strides):
            groups[-1].append(axis)
        else:
            groups.append([axis])
    return groups


def _length(axes: Sequence[int], shape: Shape) -> int:
    length = 1
    for axis in axes:
        length *= shape[axis]
    return length


def _planes(
    views: list[DeviceArray],
) -> Iterator[tuple[Shape, Shape, list[DeviceArray]]]:
    """Cut views into rows × columns that one grid covers; one launch each."""
    *leading, rows, cols = views[0].shape
    block = configuration(cols, rows)[1]
    most = MAX_GRID_YZ * block[1]
    for index in np.ndindex(*leading):
        planes = [view[index] for view in views] if leading else views
        for first in range(0, rows, most):
            part = planes if rows <= most else [p[first : first + most] for p in planes]
            grid = (-(-cols // block[0]), -(-part[0].shape[0] // block[1]))
            yield grid, block, part


def split_axis(arrays: Sequence[DeviceArray], axes: Shape) -> list[DeviceArray] | None:
    """View arrays of one shape as (outer, n, inner), where `axes` became n.

    Args:
        arrays: device arrays of the same shape, not empty.
        axes: the axes to join into the middle one, non-negative.

    Returns:
        The views, or None when no strides express them: the other axes do not merge
        into two, or `axes` not into one. When one axis is enough for all others, it is
        the inner one.

    Example:
        >>> import numpy as np
        >>> from tinytorch_gpu import cuda
        >>> x = cuda.device_array((4, 5, 6), np.float32)
        >>> split_axis([x], (1,))[0].shape, split_axis([x], (2,))[0].shape
        ((4, 5, 6), (1, 6, 20))
    """
    plan = _split(arrays[0].shape, tuple(a.strides for a in arrays), axes)
    if plan is None:
        return None
    order, lengths = plan
    return [a.transpose(order).reshape(lengths) for a in arrays]


@functools.lru_cache(maxsize=4096)
def _split(
    shape: Shape, strides: tuple[Shape, ...], axes: Shape
) -> tuple[Shape, Shape] | None:
    """Return the order of axes and the three lengths of `split_axis`."""
    long_axes = [i for i, n in enumerate(shape) if n > 1]
    middle = sorted((i for i in long_axes if i in axes), key=lambda i: -strides[0][i])
    others = [i for i in long_axes if i not in axes]
    groups = _groups(others, shape, strides)
    if len(groups) > 2 or len(_groups(middle, shape, strides)) > 1:
        return None
    outer, inner = [[], [], *groups][-2:]
    units = (i for i, n in enumerate(shape) if n == 1)
    lengths = tuple(_length(part, shape) for part in (outer, middle, inner))
    return (*units, *outer, *middle, *inner), lengths
