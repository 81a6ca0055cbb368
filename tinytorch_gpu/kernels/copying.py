"""Ops that move elements without arithmetic: `copy` and `fill`.

`copy` turns any strides into a contiguous array: its stores always coalesce, and the
sectors of its loads show what the strides cost.
"""
# Kernels are written as students write them, without annotations.
# ruff: noqa: ANN001, ANN202
# mypy: allow-untyped-defs, no-check-untyped-defs

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tinytorch_gpu import cuda, library
from tinytorch_gpu.errors import ShapeError
from tinytorch_gpu.kernels.layout import launch_elementwise
from tinytorch_gpu.kernels.operands import real_dtype, without_overlap

if TYPE_CHECKING:
    import numpy.typing as npt

    from tinytorch_gpu.memory import DeviceArray

__all__ = ["copy", "fill", "in_reals"]


@cuda.jit
def copy_kernel(x, out):
    """Store x, converted to the dtype of `out`."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = x[row, col]


@library.impl("tinytorch::copy", "simgpu")
def copy(
    x: DeviceArray, dtype: npt.DTypeLike | None = None, out: DeviceArray | None = None
) -> DeviceArray:
    """Return a contiguous copy of x, or copy x into `out`.

    Args:
        x: device array of any strides; broadcast to the shape of `out`.
        dtype: of the copy; that of `x` if None.
        out: where to write; any conversion is allowed, as in an assignment.

    Raises:
        ShapeError: x does not broadcast to `out`.

    Example:
        >>> import numpy as np
        >>> copy(cuda.to_device(np.float32([1.5, -1.5])), np.int32).copy_to_host()
        array([ 1, -1], dtype=int32)
    """
    if out is None:
        out = cuda.device_array(x.shape, x.dtype if dtype is None else dtype)
    _check_fits(x, out)
    return launch_elementwise(copy_kernel, (without_overlap(x, out),), out)


def _check_fits(x: DeviceArray, out: DeviceArray) -> None:
    """Refuse an `x` that does not broadcast to the shape of `out`."""
    try:
        fits = np.broadcast_shapes(x.shape, out.shape) == out.shape
    except ValueError:
        fits = False
    if not fits:
        raise ShapeError(
            f"copy: shape {x.shape} does not broadcast to {out.shape}",
            where=f"tinytorch::copy, out={out.dtype.name} {out.shape}",
            why="each element of `out` needs one of x: lengths are equal, or 1 in x",
            fix=f"reshape x, for example x.reshape({out.shape})",
            shapes=(x.shape, out.shape),
        )


@cuda.jit
def fill_kernel(value, out):
    """Store value."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = value


@library.impl("tinytorch::fill", "simgpu")
def fill(out: DeviceArray, value: np.generic | float) -> DeviceArray:
    """Write one value into every element of `out`, and return it.

    Example:
        >>> import numpy as np
        >>> fill(cuda.device_array(3, np.float32), 7).copy_to_host().tolist()
        [7.0, 7.0, 7.0]
    """
    return launch_elementwise(fill_kernel, (out.dtype.type(value),), out)


def in_reals(*arrays: DeviceArray) -> tuple[DeviceArray, ...]:
    """Return arrays that a kernel for real numbers takes: of integers, float64 copies.

    Differences of unsigned integers would wrap around, and small ones meet float32.
    Where one of the arrays holds floats, the kernel converts the others itself.

    Args:
        *arrays: device arrays.

    Example:
        >>> import numpy as np
        >>> (x,) = in_reals(cuda.to_device(np.array([3, 5], np.uint8)))
        >>> x.dtype
        dtype('float64')
    """
    if any(a.dtype.kind == "f" for a in arrays):
        return arrays
    return tuple(copy(a, real_dtype(a.dtype)) for a in arrays)
