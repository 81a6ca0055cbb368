"""Whole numbers and signs: floor, ceil, trunc, round and sign of one array.

One thread computes one element. The result has the operand's dtype, as in NumPy; whole
numbers are whole already, so integers are copied.
"""
# Kernels are written as students write them, without annotations.
# ruff: noqa: ANN001, ANN202
# mypy: allow-untyped-defs, no-check-untyped-defs

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu import cuda, library
from tinytorch_gpu.cuda import float32
from tinytorch_gpu.errors import UnsupportedError
from tinytorch_gpu.kernels.copying import copy_kernel
from tinytorch_gpu.kernels.layout import launch_elementwise
from tinytorch_gpu.kernels.operands import (
    launch_unary,
    prepared_out,
    without_overlap,
)

if TYPE_CHECKING:
    from tinytorch_gpu.memory import DeviceArray

__all__ = ["ceil", "floor", "round_half_even", "sign", "trunc"]


@cuda.jit
def floor_kernel(x, out):
    """Store the largest whole number that is not above x."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = math.floor(x[row, col])


@library.impl("tinytorch::floor", "simgpu")
def floor(x: DeviceArray, out: DeviceArray | None = None) -> DeviceArray:
    """Return the largest whole number that is not above x.

    Example:
        >>> floor(cuda.to_device(np.float32([-1.5, 1.5]))).copy_to_host().tolist()
        [-2.0, 1.0]
    """
    return _launch("floor", floor_kernel, x, out)


@cuda.jit
def ceil_kernel(x, out):
    """Store the smallest whole number that is not below x."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = math.ceil(x[row, col])


@library.impl("tinytorch::ceil", "simgpu")
def ceil(x: DeviceArray, out: DeviceArray | None = None) -> DeviceArray:
    """Return the smallest whole number that is not below x.

    Example:
        >>> ceil(cuda.to_device(np.float32([-1.5, 1.5]))).copy_to_host().tolist()
        [-1.0, 2.0]
    """
    return _launch("ceil", ceil_kernel, x, out)


@cuda.jit
def trunc_kernel(x, out):
    """Store the whole part of x."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = math.trunc(x[row, col])


@library.impl("tinytorch::trunc", "simgpu")
def trunc(x: DeviceArray, out: DeviceArray | None = None) -> DeviceArray:
    """Return the whole part of x: the nearest whole number toward zero.

    Example:
        >>> trunc(cuda.to_device(np.float32([-1.5, 1.5]))).copy_to_host().tolist()
        [-1.0, 1.0]
    """
    return _launch("trunc", trunc_kernel, x, out)


@cuda.jit
def round_kernel(x, value, out):
    """Store the nearest whole number, of two the even one; above value all are whole.

    Beside `value` there is no room for a fraction: the addition itself rounds it off.
    """
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        element = x[row, col]
        size = abs(element)
        rounded = math.copysign((size + value) - value, element)
        out[row, col] = rounded if size < value else element


@library.impl("tinytorch::round", "simgpu")
def round_half_even(
    x: DeviceArray, decimals: int = 0, out: DeviceArray | None = None
) -> DeviceArray:
    """Return the nearest whole number; a half goes to the even one.

    Args:
        x: device array.
        decimals: 0.
        out: where the result goes; a new array if None.

    Raises:
        UnsupportedError: `decimals` is not 0.

    Example:
        >>> x = cuda.to_device(np.float32([0.5, 1.5, -2.6]))
        >>> round_half_even(x).copy_to_host().tolist()
        [0.0, 2.0, -3.0]
    """
    if decimals:
        raise _no_decimals(x, decimals)
    if x.dtype.kind != "f":
        return _launch("round", round_kernel, x, out)
    out = prepared_out("round", out, x.shape, x.dtype)
    whole_from: Any = x.dtype.type(2.0 ** np.finfo(x.dtype).nmant)
    return launch_elementwise(round_kernel, (without_overlap(x, out), whole_from), out)


@cuda.jit
def sign_kernel(x, out):
    """Store 1 where x is positive, -1 where it is negative, else 0; NaN stays NaN."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        element = x[row, col]
        above = float32(1.0) if element > float32(0.0) else float32(0.0)
        below = float32(1.0) if element < float32(0.0) else float32(0.0)
        out[row, col] = element if math.isnan(element) else above - below


@library.impl("tinytorch::sign", "simgpu")
def sign(x: DeviceArray, out: DeviceArray | None = None) -> DeviceArray:
    """Return 1 where x is positive, -1 where it is negative, 0 where it is zero.

    Example:
        >>> sign(cuda.to_device(np.float32([-3, 0, 5]))).copy_to_host().tolist()
        [-1.0, 0.0, 1.0]
    """
    return launch_unary("sign", sign_kernel, x, out)


def _launch(
    op: str, kernel: Any, x: DeviceArray, out: DeviceArray | None
) -> DeviceArray:
    """Round floats; copy what is whole already."""
    return launch_unary(op, kernel if x.dtype.kind == "f" else copy_kernel, x, out)


def _no_decimals(x: DeviceArray, decimals: int) -> UnsupportedError:
    scale = f"{10 ** abs(decimals)}"
    to, back = ("*", "/") if decimals > 0 else ("/", "*")
    return UnsupportedError(
        f"round to {decimals} decimals",
        where=f"tinytorch::round, operand {x.dtype.name} {x.shape}",
        why="the kernel rounds to whole numbers",
        fix=f"np.round(x {to} {scale}) {back} {scale}",
    )
