"""The ops logical_and and logical_or: what is not zero is true, the result is bool.

Both operands are loaded first, then one of them is selected: with Python's `and` the
lanes of a warp whose first operand decides would part from the others.
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

__all__ = ["logical_and", "logical_or"]


@cuda.jit
def logical_and_kernel(x, y, out):
    """Store whether both are true."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        first = x[row, col] != 0
        second = y[row, col] != 0
        out[row, col] = second if first else first


@cuda.jit
def logical_and_scalar_kernel(x, value, out):
    """Store whether both are true."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        first = x[row, col] != 0
        second = value != 0
        out[row, col] = second if first else first


@cuda.jit
def logical_or_kernel(x, y, out):
    """Store whether one is true, or both."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        first = x[row, col] != 0
        second = y[row, col] != 0
        out[row, col] = first if first else second  # noqa: FURB110  (a select)


@cuda.jit
def logical_or_scalar_kernel(x, value, out):
    """Store whether one is true, or both."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        first = x[row, col] != 0
        second = value != 0
        out[row, col] = first if first else second  # noqa: FURB110  (a select)


@library.impl("tinytorch::logical_and", "simgpu")
def logical_and(x: Operand, y: Operand, out: DeviceArray | None = None) -> DeviceArray:
    """Return where both are true, as bool.

    Example:
        >>> import numpy as np
        >>> x = cuda.to_device(np.float32([0, 1, 2]))
        >>> logical_and(x, x).copy_to_host().tolist()
        [False, True, True]
    """
    one_sided = logical_and_scalar_kernel
    kernels = BinaryKernels(logical_and_kernel, one_sided, one_sided)
    return launch_binary("logical_and", kernels, x, y, out, BOOL)


@library.impl("tinytorch::logical_or", "simgpu")
def logical_or(x: Operand, y: Operand, out: DeviceArray | None = None) -> DeviceArray:
    """Return where one is true, or both, as bool.

    Example:
        >>> import numpy as np
        >>> x = cuda.to_device(np.float32([0, 1, 2]))
        >>> logical_or(x, False).copy_to_host().tolist()
        [False, True, True]
    """
    one_sided = logical_or_scalar_kernel
    kernels = BinaryKernels(logical_or_kernel, one_sided, one_sided)
    return launch_binary("logical_or", kernels, x, y, out, BOOL)
