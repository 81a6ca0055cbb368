"""Elementary functions of one array: sin, cos, log1p, expm1 and reciprocal.

One thread computes one element. As in `unary.py`, functions of real numbers turn
integer arrays into float64; `reciprocal` keeps the dtype, as NumPy's does.
"""
# Kernels are written as students write them, without annotations.
# ruff: noqa: ANN001, ANN202
# mypy: allow-untyped-defs, no-check-untyped-defs

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tinytorch_gpu import cuda, library
from tinytorch_gpu.cuda import float32
from tinytorch_gpu.kernels.operands import launch_unary, real_dtype
from tinytorch_gpu.library.rules import number_dtype

if TYPE_CHECKING:
    from tinytorch_gpu.memory import DeviceArray

__all__ = ["cos", "expm1", "log1p", "reciprocal", "sin"]


@cuda.jit
def sin_kernel(x, out):
    """Store the sine of x."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = math.sin(x[row, col])


@library.impl("tinytorch::sin", "simgpu")
def sin(x: DeviceArray, out: DeviceArray | None = None) -> DeviceArray:
    """Return the sine of x, in radians; NaN for infinite x.

    Example:
        >>> import numpy as np
        >>> sin(cuda.to_device(np.float32([0, np.pi / 2]))).copy_to_host().tolist()
        [0.0, 1.0]
    """
    return launch_unary("sin", sin_kernel, x, out, real_dtype(x.dtype))


@cuda.jit
def cos_kernel(x, out):
    """Store the cosine of x."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = math.cos(x[row, col])


@library.impl("tinytorch::cos", "simgpu")
def cos(x: DeviceArray, out: DeviceArray | None = None) -> DeviceArray:
    """Return the cosine of x, in radians; NaN for infinite x.

    Example:
        >>> import numpy as np
        >>> cos(cuda.to_device(np.float32([0, np.pi]))).copy_to_host().tolist()
        [1.0, -1.0]
    """
    return launch_unary("cos", cos_kernel, x, out, real_dtype(x.dtype))


@cuda.jit
def log1p_kernel(x, out):
    """Store the logarithm of 1 + x."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = math.log1p(x[row, col])


@library.impl("tinytorch::log1p", "simgpu")
def log1p(x: DeviceArray, out: DeviceArray | None = None) -> DeviceArray:
    """Return the logarithm of 1 + x, exact for x so small that 1 + x is 1.

    Example:
        >>> import numpy as np
        >>> log1p(cuda.to_device(np.float64([0, 1e-20]))).copy_to_host().tolist()
        [0.0, 1e-20]
    """
    return launch_unary("log1p", log1p_kernel, x, out, real_dtype(x.dtype))


@cuda.jit
def expm1_kernel(x, out):
    """Store exp(x) - 1."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = math.expm1(x[row, col])


@library.impl("tinytorch::expm1", "simgpu")
def expm1(x: DeviceArray, out: DeviceArray | None = None) -> DeviceArray:
    """Return exp(x) - 1, exact for x so small that exp(x) is 1.

    Example:
        >>> import numpy as np
        >>> expm1(cuda.to_device(np.float64([0, 1e-20]))).copy_to_host().tolist()
        [0.0, 1e-20]
    """
    return launch_unary("expm1", expm1_kernel, x, out, real_dtype(x.dtype))


@cuda.jit
def reciprocal_kernel(x, out):
    """Store 1 ÷ x."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = float32(1.0) / x[row, col]


@library.impl("tinytorch::reciprocal", "simgpu")
def reciprocal(x: DeviceArray, out: DeviceArray | None = None) -> DeviceArray:
    """Return 1 ÷ x in the dtype of x: of integers only 1 and -1 leave more than 0.

    Example:
        >>> import numpy as np
        >>> reciprocal(cuda.to_device(np.float32([2, -4]))).copy_to_host().tolist()
        [0.5, -0.25]

    Limits: the integer 0 becomes what a conversion makes of infinity; NumPy leaves that
        open as well.
    """
    return launch_unary("reciprocal", reciprocal_kernel, x, out, number_dtype(x.dtype))
