"""Element-wise kernels of one array and one scalar; the scalar is a kernel argument.

A scalar of the array's dtype keeps the arithmetic in that dtype: `x * 2.0` in a kernel
would be float64, because a Python float is. The host functions of these ops stand in
`threads.py` and `elementwise.py`.

One idea for each kernel: `add` `sub` `mul` `div` `pow` `maximum` `minimum` with the
scalar on the right, and `rsub` `rdiv` `rpow` with the scalar on the left.
"""
# Kernels are written as students write them, without annotations.
# ruff: noqa: ANN001, ANN201
# mypy: allow-untyped-defs, no-check-untyped-defs

from __future__ import annotations

import math

from tinytorch_gpu import cuda

__all__ = [
    "add_scalar_kernel",
    "div_scalar_kernel",
    "maximum_scalar_kernel",
    "minimum_scalar_kernel",
    "mul_scalar_kernel",
    "pow_scalar_kernel",
    "rdiv_scalar_kernel",
    "rpow_scalar_kernel",
    "rsub_scalar_kernel",
    "sub_scalar_kernel",
]


@cuda.jit
def add_scalar_kernel(x, value, out):
    """Store x + value."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = x[row, col] + value


@cuda.jit
def sub_scalar_kernel(x, value, out):
    """Store x - value."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = x[row, col] - value


@cuda.jit
def rsub_scalar_kernel(x, value, out):
    """Store value - x."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = value - x[row, col]


@cuda.jit
def mul_scalar_kernel(x, value, out):
    """Store x × value."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = x[row, col] * value


@cuda.jit
def div_scalar_kernel(x, value, out):
    """Store x ÷ value."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = x[row, col] / value


@cuda.jit
def rdiv_scalar_kernel(x, value, out):
    """Store value ÷ x."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = value / x[row, col]


@cuda.jit
def pow_scalar_kernel(x, value, out):
    """Store x to the power value."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = x[row, col] ** value


@cuda.jit
def rpow_scalar_kernel(x, value, out):
    """Store value to the power x."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = value ** x[row, col]


@cuda.jit
def maximum_scalar_kernel(x, value, out):
    """Store the larger of x and value; NaN wins, as in NumPy."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        element = x[row, col]
        out[row, col] = value if element < value or math.isnan(value) else element


@cuda.jit
def minimum_scalar_kernel(x, value, out):
    """Store the smaller of x and value; NaN wins, as in NumPy."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        element = x[row, col]
        out[row, col] = value if element > value or math.isnan(value) else element
