"""Element-wise ops of two arrays, or of one array and one scalar, and `where`.

Ops: sub, mul, div, maximum, minimum, pow, where; `add` stands in `threads.py`. One
thread computes one element; the first array's strides decide whether a warp's requests
coalesce. Every op has the same form: a kernel, then the host function that allocates
`out`, launches, and returns it.
"""
# Kernels are written as students write them, without annotations.
# ruff: noqa: ANN001, ANN202
# mypy: allow-untyped-defs, no-check-untyped-defs

from __future__ import annotations

import math

from tinytorch_gpu import cuda, library
from tinytorch_gpu.kernels import scalar
from tinytorch_gpu.kernels.layout import launch_elementwise
from tinytorch_gpu.kernels.operands import (
    FLOAT32,
    FLOAT64,
    BinaryKernels,
    Operand,
    common_shape,
    launch_binary,
    prepared_out,
    result_dtype,
)
from tinytorch_gpu.kernels.unary import square
from tinytorch_gpu.memory import DeviceArray

__all__ = ["div", "maximum", "minimum", "mul", "power", "sub", "where"]


@cuda.jit
def sub_kernel(x, y, out):
    """Store x - y."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = x[row, col] - y[row, col]


@library.impl("tinytorch::sub", "simgpu")
def sub(x: Operand, y: Operand, out: DeviceArray | None = None) -> DeviceArray:
    """Return x - y, element by element.

    Example:
        >>> import numpy as np
        >>> sub(2.0, cuda.to_device(np.ones(3, np.float32))).copy_to_host().tolist()
        [1.0, 1.0, 1.0]
    """
    kernels = BinaryKernels(
        sub_kernel, scalar.sub_scalar_kernel, scalar.rsub_scalar_kernel
    )
    return launch_binary("sub", kernels, x, y, out)


@cuda.jit
def mul_kernel(x, y, out):
    """Store x × y."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = x[row, col] * y[row, col]


@library.impl("tinytorch::mul", "simgpu")
def mul(x: Operand, y: Operand, out: DeviceArray | None = None) -> DeviceArray:
    """Return x × y, element by element.

    Example:
        >>> import numpy as np
        >>> x = cuda.to_device(np.arange(3, dtype=np.float32))
        >>> mul(x, x).copy_to_host().tolist()
        [0.0, 1.0, 4.0]
    """
    kernels = BinaryKernels(
        mul_kernel, scalar.mul_scalar_kernel, scalar.mul_scalar_kernel
    )
    return launch_binary("mul", kernels, x, y, out)


@cuda.jit
def div_kernel(x, y, out):
    """Store x ÷ y; integers give float64."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = x[row, col] / y[row, col]


@library.impl("tinytorch::div", "simgpu")
def div(x: Operand, y: Operand, out: DeviceArray | None = None) -> DeviceArray:
    """Return x ÷ y: float64 for two integer arrays, float32 for one and a scalar.

    Example:
        >>> import numpy as np
        >>> x = cuda.to_device(np.float32([1, 2, 4]))
        >>> div(1, x).copy_to_host().tolist()
        [1.0, 0.5, 0.25]
    """
    kernels = BinaryKernels(
        div_kernel, scalar.div_scalar_kernel, scalar.rdiv_scalar_kernel
    )
    dtype = result_dtype(x, y)
    if dtype.kind != "f":
        is_pair = isinstance(x, DeviceArray) and isinstance(y, DeviceArray)
        dtype = FLOAT64 if is_pair else FLOAT32
    return launch_binary("div", kernels, x, y, out, dtype)


@cuda.jit
def maximum_kernel(x, y, out):
    """Store the larger of x and y; NaN wins, as in NumPy."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        a = x[row, col]
        b = y[row, col]
        # max(a, b) would drop a NaN: PTX's max returns the operand that is a number.
        out[row, col] = b if a < b or math.isnan(b) else a


@library.impl("tinytorch::maximum", "simgpu")
def maximum(x: Operand, y: Operand, out: DeviceArray | None = None) -> DeviceArray:
    """Return the larger of x and y, element by element.

    Example:
        >>> import numpy as np
        >>> x = cuda.to_device(np.float32([-1, 2]))
        >>> maximum(0, x).copy_to_host().tolist()
        [0.0, 2.0]
    """
    right = scalar.maximum_scalar_kernel
    return launch_binary(
        "maximum", BinaryKernels(maximum_kernel, right, right), x, y, out
    )


@cuda.jit
def minimum_kernel(x, y, out):
    """Store the smaller of x and y; NaN wins, as in NumPy."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        a = x[row, col]
        b = y[row, col]
        out[row, col] = b if a > b or math.isnan(b) else a


@library.impl("tinytorch::minimum", "simgpu")
def minimum(x: Operand, y: Operand, out: DeviceArray | None = None) -> DeviceArray:
    """Return the smaller of x and y, element by element.

    Example:
        >>> import numpy as np
        >>> x = cuda.to_device(np.float32([-1, 2]))
        >>> minimum(x, 1).copy_to_host().tolist()
        [-1.0, 1.0]
    """
    right = scalar.minimum_scalar_kernel
    return launch_binary(
        "minimum", BinaryKernels(minimum_kernel, right, right), x, y, out
    )


@cuda.jit
def pow_kernel(x, y, out):
    """Store x to the power y."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = x[row, col] ** y[row, col]


@library.impl("tinytorch::pow", "simgpu")
def power(x: Operand, y: Operand, out: DeviceArray | None = None) -> DeviceArray:
    """Return x to the power y; the exponent 2 is one multiplication.

    Example:
        >>> import numpy as np
        >>> power(cuda.to_device(np.float32([1, 2, 3])), 2).copy_to_host().tolist()
        [1.0, 4.0, 9.0]
    """
    is_square = not isinstance(y, DeviceArray) and y == 2
    if is_square and isinstance(x, DeviceArray) and result_dtype(x, y) == x.dtype:
        return square(x, out)
    kernels = BinaryKernels(
        pow_kernel, scalar.pow_scalar_kernel, scalar.rpow_scalar_kernel
    )
    return launch_binary("pow", kernels, x, y, out)


@cuda.jit
def where_kernel(condition, x, y, out):
    """Store x where the condition is true, else y."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        # Both are loaded first: a select instead of a branch, so no warp diverges.
        a = x[row, col]
        b = y[row, col]
        out[row, col] = a if condition[row, col] else b


@cuda.jit
def where_array_scalar_kernel(condition, x, value, out):
    """Store x where the condition is true, else value."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        a = x[row, col]
        out[row, col] = a if condition[row, col] else value


@cuda.jit
def where_scalar_array_kernel(condition, value, y, out):
    """Store value where the condition is true, else y."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        b = y[row, col]
        out[row, col] = value if condition[row, col] else b


@cuda.jit
def where_scalars_kernel(condition, value, other, out):
    """Store value where the condition is true, else other."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = value if condition[row, col] else other


@library.impl("tinytorch::where", "simgpu")
def where(condition: DeviceArray, x: Operand, y: Operand) -> DeviceArray:
    """Return x where the condition is true, else y; a new array.

    Args:
        condition: device array; non-zero is true.
        x: device array or scalar.
        y: device array or scalar.

    Raises:
        ShapeError: the shapes do not broadcast.

    Example:
        >>> import numpy as np
        >>> mask = cuda.to_device(np.array([True, False]))
        >>> where(mask, 1.0, 0.0).copy_to_host().tolist()
        [1.0, 0.0]
    """
    dtype = result_dtype(x, y)
    out = prepared_out("where", None, common_shape("where", condition, x, y), dtype)
    is_array = (isinstance(x, DeviceArray), isinstance(y, DeviceArray))
    kernel = {
        (True, True): where_kernel,
        (True, False): where_array_scalar_kernel,
        (False, True): where_scalar_array_kernel,
        (False, False): where_scalars_kernel,
    }[is_array]
    sides = (o if isinstance(o, DeviceArray) else dtype.type(o) for o in (x, y))
    return launch_elementwise(kernel, (condition, *sides), out)
