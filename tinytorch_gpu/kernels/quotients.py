"""Whole quotients and what they leave: floor_divide and remainder, Python's // and %.

The quotient is rounded down, so the remainder has the divisor's sign. Divisor zero:
floats give infinity or NaN, integers 0, as in NumPy. A GPU has no instruction for
either op; both take many steps.
"""
# Kernels are written as students write them, without annotations.
# ruff: noqa: ANN001, ANN202
# mypy: allow-untyped-defs, no-check-untyped-defs

from __future__ import annotations

from typing import TYPE_CHECKING

from tinytorch_gpu import cuda, library
from tinytorch_gpu.kernels.operands import (
    BinaryKernels,
    Operand,
    launch_binary,
    result_dtype,
)
from tinytorch_gpu.library.rules import number_dtype

if TYPE_CHECKING:
    from tinytorch_gpu.memory import DeviceArray

__all__ = ["floor_divide", "remainder"]


@cuda.jit
def floor_divide_kernel(x, y, out):
    """Store x ÷ y, rounded down."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = x[row, col] // y[row, col]


@cuda.jit
def floor_divide_scalar_kernel(x, value, out):
    """Store x ÷ value, rounded down."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = x[row, col] // value


@cuda.jit
def rfloor_divide_scalar_kernel(x, value, out):
    """Store value ÷ x, rounded down."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = value // x[row, col]


@library.impl("tinytorch::floor_divide", "simgpu")
def floor_divide(x: Operand, y: Operand, out: DeviceArray | None = None) -> DeviceArray:
    """Return x ÷ y, rounded down to a whole number.

    Example:
        >>> import numpy as np
        >>> x = cuda.to_device(np.int32([7, -7]))
        >>> floor_divide(x, 2).copy_to_host().tolist()
        [3, -4]
    """
    kernels = BinaryKernels(
        floor_divide_kernel, floor_divide_scalar_kernel, rfloor_divide_scalar_kernel
    )
    dtype = number_dtype(result_dtype(x, y))
    return launch_binary("floor_divide", kernels, x, y, out, dtype)


@cuda.jit
def remainder_kernel(x, y, out):
    """Store what x ÷ y, rounded down, leaves of x."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = x[row, col] % y[row, col]


@cuda.jit
def remainder_scalar_kernel(x, value, out):
    """Store what x ÷ value, rounded down, leaves of x."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = x[row, col] % value


@cuda.jit
def rremainder_scalar_kernel(x, value, out):
    """Store what value ÷ x, rounded down, leaves of value."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = value % x[row, col]


@library.impl("tinytorch::remainder", "simgpu")
def remainder(x: Operand, y: Operand, out: DeviceArray | None = None) -> DeviceArray:
    """Return what x ÷ y, rounded down, leaves of x; it has the sign of y.

    Example:
        >>> import numpy as np
        >>> x = cuda.to_device(np.int32([7, -7]))
        >>> remainder(x, 4).copy_to_host().tolist()
        [3, 1]
    """
    kernels = BinaryKernels(
        remainder_kernel, remainder_scalar_kernel, rremainder_scalar_kernel
    )
    dtype = number_dtype(result_dtype(x, y))
    return launch_binary("remainder", kernels, x, y, out, dtype)
