"""Element-wise ops of one array.

Ops: exp, log, sqrt, abs, square, relu, sigmoid, tanh, gelu, logical_not, isnan,
isfinite; `neg` stands in `threads.py`, the rest in `rounding.py` and `elementary.py`.
One thread computes one element. Functions of real numbers turn integer arrays into
float64, as NumPy does.
"""
# Kernels are written as students write them, without annotations.
# ruff: noqa: ANN001, ANN202
# mypy: allow-untyped-defs, no-check-untyped-defs

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tinytorch_gpu import cuda, library
from tinytorch_gpu.cuda import float32
from tinytorch_gpu.kernels.operands import BOOL, launch_unary, real_dtype

if TYPE_CHECKING:
    from tinytorch_gpu.memory import DeviceArray

__all__ = [
    "GELU_SLOPE",
    "absolute",
    "exp",
    "gelu",
    "isfinite",
    "isnan",
    "log",
    "logical_not",
    "relu",
    "sigmoid",
    "sqrt",
    "square",
    "tanh",
]

MINUS_INF = float32(-math.inf)
GELU_SLOPE = float32(1.702)  # Hendrycks and Gimpel, "Gaussian Error Linear Units", 2016


@cuda.jit
def exp_kernel(x, out):
    """Store e to the power x."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = math.exp(x[row, col])


@library.impl("tinytorch::exp", "simgpu")
def exp(x: DeviceArray, out: DeviceArray | None = None) -> DeviceArray:
    """Return e to the power x."""
    return launch_unary("exp", exp_kernel, x, out, real_dtype(x.dtype))


@cuda.jit
def log_kernel(x, out):
    """Store the natural logarithm of x."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = math.log(x[row, col])


@library.impl("tinytorch::log", "simgpu")
def log(x: DeviceArray, out: DeviceArray | None = None) -> DeviceArray:
    """Return the natural logarithm of x; -inf for 0, NaN below."""
    return launch_unary("log", log_kernel, x, out, real_dtype(x.dtype))


@cuda.jit
def sqrt_kernel(x, out):
    """Store the square root of x."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = math.sqrt(x[row, col])


@library.impl("tinytorch::sqrt", "simgpu")
def sqrt(x: DeviceArray, out: DeviceArray | None = None) -> DeviceArray:
    """Return the square root of x.

    Example:
        >>> import numpy as np
        >>> sqrt(cuda.to_device(np.float32([4, 9]))).copy_to_host().tolist()
        [2.0, 3.0]
    """
    return launch_unary("sqrt", sqrt_kernel, x, out, real_dtype(x.dtype))


@cuda.jit
def abs_kernel(x, out):
    """Store the absolute value of x."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = abs(x[row, col])


@library.impl("tinytorch::abs", "simgpu")
def absolute(x: DeviceArray, out: DeviceArray | None = None) -> DeviceArray:
    """Return the absolute value of x."""
    return launch_unary("abs", abs_kernel, x, out)


@cuda.jit
def square_kernel(x, out):
    """Store x × x."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        element = x[row, col]
        out[row, col] = element * element


@library.impl("tinytorch::square", "simgpu")
def square(x: DeviceArray, out: DeviceArray | None = None) -> DeviceArray:
    """Return x × x."""
    return launch_unary("square", square_kernel, x, out)


@cuda.jit
def relu_kernel(x, out):
    """Store x where it is positive, else 0; NaN stays NaN."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        element = x[row, col]
        # max(element, 0) would drop a NaN: PTX returns the operand that is a number.
        out[row, col] = float32(0.0) if element < float32(0.0) else element  # noqa: FURB136


@library.impl("tinytorch::relu", "simgpu")
def relu(x: DeviceArray, out: DeviceArray | None = None) -> DeviceArray:
    """Return x where it is positive, else 0.

    Example:
        >>> import numpy as np
        >>> relu(cuda.to_device(np.float32([-2, 3]))).copy_to_host().tolist()
        [0.0, 3.0]
    """
    return launch_unary("relu", relu_kernel, x, out)


@cuda.jit
def sigmoid_kernel(x, out):
    """Store 1 / (1 + exp(-x))."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        # For very negative x, exp(-x) is inf and 1 / inf is 0: right without a branch.
        out[row, col] = float32(1.0) / (float32(1.0) + math.exp(-x[row, col]))


@library.impl("tinytorch::sigmoid", "simgpu")
def sigmoid(x: DeviceArray, out: DeviceArray | None = None) -> DeviceArray:
    """Return 1 / (1 + exp(-x)).

    Example:
        >>> import numpy as np
        >>> sigmoid(cuda.to_device(np.float32([-200, 0]))).copy_to_host().tolist()
        [0.0, 0.5]
    """
    return launch_unary("sigmoid", sigmoid_kernel, x, out, real_dtype(x.dtype))


@cuda.jit
def tanh_kernel(x, out):
    """Store the hyperbolic tangent of x."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = math.tanh(x[row, col])


@library.impl("tinytorch::tanh", "simgpu")
def tanh(x: DeviceArray, out: DeviceArray | None = None) -> DeviceArray:
    """Return the hyperbolic tangent of x."""
    return launch_unary("tanh", tanh_kernel, x, out, real_dtype(x.dtype))


@cuda.jit
def gelu_kernel(x, out):
    """Store x × sigmoid(1.702 x), and 0 for -inf."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        element = x[row, col]
        result = element / (float32(1.0) + math.exp(-GELU_SLOPE * element))
        out[row, col] = float32(0.0) if element == MINUS_INF else result


@cuda.jit
def gelu_of_finite_kernel(x, out):
    """Store x × sigmoid(1.702 x); NaN for -inf, which is -inf × 0."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        element = x[row, col]
        out[row, col] = element / (float32(1.0) + math.exp(-GELU_SLOPE * element))


@library.impl("tinytorch::gelu", "simgpu")
def gelu(
    x: DeviceArray, out: DeviceArray | None = None, at_minus_inf: float = 0.0
) -> DeviceArray:
    """Return x × sigmoid(1.702 x), TinyTorch's GELU.

    Args:
        x: device array; integers give float64.
        out: where the result goes; a new array if None.
        at_minus_inf: what there is for -inf: 0, the limit, or NaN as in TinyTorch's
            first releases.

    Limits: the slope 1.702 is a float32, for float64 arrays too.
    """
    kernel = gelu_of_finite_kernel if math.isnan(at_minus_inf) else gelu_kernel
    return launch_unary("gelu", kernel, x, out, real_dtype(x.dtype))


@cuda.jit
def logical_not_kernel(x, out):
    """Store whether x is zero."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = not x[row, col]


@library.impl("tinytorch::logical_not", "simgpu")
def logical_not(x: DeviceArray, out: DeviceArray | None = None) -> DeviceArray:
    """Return where x is zero, as bool."""
    return launch_unary("logical_not", logical_not_kernel, x, out, BOOL)


@cuda.jit
def isnan_kernel(x, out):
    """Store whether x is NaN."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = math.isnan(x[row, col])


@library.impl("tinytorch::isnan", "simgpu")
def isnan(x: DeviceArray, out: DeviceArray | None = None) -> DeviceArray:
    """Return where x is NaN, as bool."""
    return launch_unary("isnan", isnan_kernel, x, out, BOOL)


@cuda.jit
def isfinite_kernel(x, out):
    """Store whether x is neither NaN nor infinite."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = math.isfinite(x[row, col])


@library.impl("tinytorch::isfinite", "simgpu")
def isfinite(x: DeviceArray, out: DeviceArray | None = None) -> DeviceArray:
    """Return where x is neither NaN nor infinite, as bool."""
    return launch_unary("isfinite", isfinite_kernel, x, out, BOOL)
