"""Element-wise comparisons: gt, ge, lt, le, eq, ne; the result is bool.

One kernel for two arrays and one for an array and a scalar. A scalar on the left is the
mirrored comparison: `2 > x` is `x < 2`.
"""
# Kernels are written as students write them, without annotations.
# ruff: noqa: ANN001, ANN202
# mypy: allow-untyped-defs, no-check-untyped-defs

from __future__ import annotations

from typing import TYPE_CHECKING

from tinytorch_gpu import cuda, library
from tinytorch_gpu.kernels.operands import BOOL, BinaryKernels, Operand, launch_binary

if TYPE_CHECKING:
    from tinytorch_gpu.memory import DeviceArray

__all__ = ["eq", "ge", "gt", "le", "lt", "ne"]


@cuda.jit
def gt_kernel(x, y, out):
    """Store x > y."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = x[row, col] > y[row, col]


@cuda.jit
def gt_scalar_kernel(x, value, out):
    """Store x > value."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = x[row, col] > value


@cuda.jit
def ge_kernel(x, y, out):
    """Store x >= y."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = x[row, col] >= y[row, col]


@cuda.jit
def ge_scalar_kernel(x, value, out):
    """Store x >= value."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = x[row, col] >= value


@cuda.jit
def lt_kernel(x, y, out):
    """Store x < y."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = x[row, col] < y[row, col]


@cuda.jit
def lt_scalar_kernel(x, value, out):
    """Store x < value."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = x[row, col] < value


@cuda.jit
def le_kernel(x, y, out):
    """Store x <= y."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = x[row, col] <= y[row, col]


@cuda.jit
def le_scalar_kernel(x, value, out):
    """Store x <= value."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = x[row, col] <= value


@cuda.jit
def eq_kernel(x, y, out):
    """Store x == y."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = x[row, col] == y[row, col]


@cuda.jit
def eq_scalar_kernel(x, value, out):
    """Store x == value."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = x[row, col] == value


@cuda.jit
def ne_kernel(x, y, out):
    """Store x != y."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = x[row, col] != y[row, col]


@cuda.jit
def ne_scalar_kernel(x, value, out):
    """Store x != value."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = x[row, col] != value


@library.impl("tinytorch::gt", "simgpu")
def gt(x: Operand, y: Operand, out: DeviceArray | None = None) -> DeviceArray:
    """Return where x is greater than y, as bool.

    Example:
        >>> import numpy as np
        >>> x = cuda.to_device(np.float32([1, 2, 3]))
        >>> gt(x, 2).copy_to_host().tolist()
        [False, False, True]
    """
    kernels = BinaryKernels(gt_kernel, gt_scalar_kernel, lt_scalar_kernel)
    return launch_binary("gt", kernels, x, y, out, BOOL)


@library.impl("tinytorch::ge", "simgpu")
def ge(x: Operand, y: Operand, out: DeviceArray | None = None) -> DeviceArray:
    """Return where x is at least y, as bool.

    Example:
        >>> import numpy as np
        >>> x = cuda.to_device(np.float32([1, 2, 3]))
        >>> ge(x, 2).copy_to_host().tolist()
        [False, True, True]
    """
    kernels = BinaryKernels(ge_kernel, ge_scalar_kernel, le_scalar_kernel)
    return launch_binary("ge", kernels, x, y, out, BOOL)


@library.impl("tinytorch::lt", "simgpu")
def lt(x: Operand, y: Operand, out: DeviceArray | None = None) -> DeviceArray:
    """Return where x is less than y, as bool.

    Example:
        >>> import numpy as np
        >>> x = cuda.to_device(np.float32([1, 2, 3]))
        >>> lt(x, 2).copy_to_host().tolist()
        [True, False, False]
    """
    kernels = BinaryKernels(lt_kernel, lt_scalar_kernel, gt_scalar_kernel)
    return launch_binary("lt", kernels, x, y, out, BOOL)


@library.impl("tinytorch::le", "simgpu")
def le(x: Operand, y: Operand, out: DeviceArray | None = None) -> DeviceArray:
    """Return where x is at most y, as bool.

    Example:
        >>> import numpy as np
        >>> x = cuda.to_device(np.float32([1, 2, 3]))
        >>> le(x, 2).copy_to_host().tolist()
        [True, True, False]
    """
    kernels = BinaryKernels(le_kernel, le_scalar_kernel, ge_scalar_kernel)
    return launch_binary("le", kernels, x, y, out, BOOL)


@library.impl("tinytorch::eq", "simgpu")
def eq(x: Operand, y: Operand, out: DeviceArray | None = None) -> DeviceArray:
    """Return where x is equal to y, as bool.

    Example:
        >>> import numpy as np
        >>> x = cuda.to_device(np.float32([1, 2, 3]))
        >>> eq(x, 2).copy_to_host().tolist()
        [False, True, False]
    """
    kernels = BinaryKernels(eq_kernel, eq_scalar_kernel, eq_scalar_kernel)
    return launch_binary("eq", kernels, x, y, out, BOOL)


@library.impl("tinytorch::ne", "simgpu")
def ne(x: Operand, y: Operand, out: DeviceArray | None = None) -> DeviceArray:
    """Return where x is not equal to y, as bool.

    Example:
        >>> import numpy as np
        >>> x = cuda.to_device(np.float32([1, 2, 3]))
        >>> ne(x, 2).copy_to_host().tolist()
        [True, False, True]
    """
    kernels = BinaryKernels(ne_kernel, ne_scalar_kernel, ne_scalar_kernel)
    return launch_binary("ne", kernels, x, y, out, BOOL)
