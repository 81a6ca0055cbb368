"""The op logaddexp: the logarithm of exp(x) + exp(y), without overflow.

The larger operand is taken out of the sum, so that no exponential exceeds 1.
"""
# Kernels are written as students write them, without annotations.
# ruff: noqa: ANN001, ANN202
# mypy: allow-untyped-defs, no-check-untyped-defs

from __future__ import annotations

import math

from tinytorch_gpu import cuda, library
from tinytorch_gpu.cuda import float32
from tinytorch_gpu.kernels.operands import (
    FLOAT32,
    FLOAT64,
    BinaryKernels,
    Operand,
    launch_binary,
    result_dtype,
)
from tinytorch_gpu.memory import DeviceArray

__all__ = ["logaddexp"]


@cuda.jit(device=True)
def log_of_sum(a, b):
    """Return log(exp(a) + exp(b))."""
    # Not max and min: they would drop a NaN.
    larger = a if a > b else b  # noqa: FURB136
    smaller = b if a > b else a  # noqa: FURB136
    # inf - inf would be NaN; equal operands are 0 apart, the infinite ones too.
    apart = float32(0.0) if a == b else larger - smaller
    return larger + math.log1p(math.exp(-apart))


@cuda.jit
def logaddexp_kernel(x, y, out):
    """Store log(exp(x) + exp(y))."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = log_of_sum(x[row, col], y[row, col])


@cuda.jit
def logaddexp_scalar_kernel(x, value, out):
    """Store log(exp(x) + exp(value))."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = log_of_sum(x[row, col], value)


@library.impl("tinytorch::logaddexp", "simgpu")
def logaddexp(x: Operand, y: Operand, out: DeviceArray | None = None) -> DeviceArray:
    """Return log(exp(x) + exp(y)); of integers as `div` gives them.

    Example:
        >>> import numpy as np
        >>> x = cuda.to_device(np.float32([1000, -np.inf]))
        >>> logaddexp(x, 0.0).copy_to_host().tolist()
        [1000.0, 0.0]
    """
    one_sided = logaddexp_scalar_kernel
    kernels = BinaryKernels(logaddexp_kernel, one_sided, one_sided)
    dtype = result_dtype(x, y)
    if dtype.kind != "f":
        is_pair = isinstance(x, DeviceArray) and isinstance(y, DeviceArray)
        dtype = FLOAT64 if is_pair else FLOAT32
    return launch_binary("logaddexp", kernels, x, y, out, dtype)
