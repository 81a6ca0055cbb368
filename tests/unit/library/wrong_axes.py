"""Wrong kernels along axes: strides, broadcasting, softmax and reductions."""

# Kernels are written as students write them, without annotations.

import math
import operator
from functools import reduce

import numpy as np

from tests.unit.library.wrong_kernels import (
    THREADS,
    blocks,
    exp_kernel,
    is_array,
    like,
    real,
    rows_of,
    wrong,
    zero_kernel,
)
from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32
from tinytorch_gpu.kernels.argreduce import argmax
from tinytorch_gpu.kernels.reduce import reduce_sum


@wrong("exp", "difference", "every second", "do not lie side by side")
def strides_are_ignored(x, out=None):
    out = like(x, real(x)) if out is None else out
    told = {**x.__cuda_array_interface__, "strides": None, "shape": (x.size,)}
    flat = cuda.from_cuda_array_interface(told, owner=x)
    exp_kernel[blocks(x.size), THREADS](flat, out.reshape(-1))
    return out


@cuda.jit
def transpose_kernel(x, out):
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        out[i, j] = x[j % x.shape[0], i % x.shape[1]]


@wrong("copy", "difference", "thread (", "block (0, 0, 0)")
def axes_of_the_grid_are_swapped(x, dtype=None, out=None):
    if x.ndim != 2 or dtype is not None or out is not None or not x.size:
        return strange_copy(x, dtype, out)
    out = like(x)
    transpose_kernel[(4, 4), (16, 16)](x, out)
    return out


@cuda.jit
def copy_kernel(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i]


def strange_copy(x, dtype, out):
    out = like(x, dtype) if out is None else out
    flat = x.broadcast_to(out.shape).reshape(-1) if x.is_c_contiguous() else None
    if flat is not None:
        copy_kernel[blocks(out.size), THREADS](flat, out.reshape(-1))
    return out


@cuda.jit
def add_first_kernel(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i % x.size] + y[i % y.size]


@wrong("add", "difference", "(4, 1), float32 (5,)", "thread (1, 0, 0)")
def broadcasting_repeats_the_array(x, y, out=None):
    x, y = (v if is_array(v) else cuda.to_device(np.float32(v)) for v in (x, y))
    shape = np.broadcast_shapes(x.shape, y.shape)
    out = cuda.device_array(shape, np.result_type(x.dtype, y.dtype))
    flat = (v.copy().reshape(-1) for v in (x, y))
    if out.size:
        add_first_kernel[blocks(out.size), THREADS](*flat, out.reshape(-1))
    return out


@cuda.jit
def softmax_kernel(x, out):
    row = cuda.grid(1)
    if row < x.shape[0]:
        top = x[row, 0]
        for k in range(1, x.shape[1]):
            top = max(top, x[row, k]) if x[row, k] == x[row, k] else x[row, k]
        total = float32(0)
        for k in range(x.shape[1]):
            total += math.exp(x[row, k] - top)
        for k in range(x.shape[1]):
            out[row, k] = math.exp(x[row, k] - top) / total


def launch_rows(kernel, x, dim):
    """Move an axis to the end, launch a thread for each row, move it back."""
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    axis = dim % x.ndim
    order = [*(i for i in range(x.ndim) if i != axis), axis]
    moved = x.transpose(tuple(order))
    out = cuda.device_array(moved.shape, real(x))
    if x.size:
        kernel[blocks(x.size), THREADS](rows_of(moved), rows_of_result(out))
    return out.transpose(tuple(map(int, np.argsort(order))))


def rows_of_result(out):
    return out.reshape(-1, out.shape[-1])


@wrong("softmax", "difference", "dim=0")
def softmax_always_takes_the_last_axis(x, dim=-1):
    return launch_rows(softmax_kernel, x, -1)


@cuda.jit
def softmax_naive_kernel(x, out):
    row = cuda.grid(1)
    if row < x.shape[0]:
        total = float32(0)
        for k in range(x.shape[1]):
            total += math.exp(x[row, k])
        for k in range(x.shape[1]):
            out[row, k] = math.exp(x[row, k]) / total


@wrong("softmax", "difference", "out[0, 0] is nan", "exp overflows above 88")
def softmax_does_not_subtract_the_maximum(x, dim=-1):
    return launch_rows(softmax_naive_kernel, x, dim)


@cuda.jit
def sum_kernel(x, out):
    row = cuda.grid(1)
    if row < x.shape[0]:
        total = 0.0
        for k in range(x.shape[1]):
            total += x[row, k]
        out[row] = total


def reduced(x, axis, keepdims, kernel, dtype=None):
    """Reduce over axes: they are moved to the end and joined."""
    axes = (
        range(x.ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    )
    axes = sorted(a % x.ndim for a in axes) if x.ndim else []
    kept = [i for i in range(x.ndim) if i not in axes]
    moved = x.transpose((*kept, *axes)).copy()
    shape = tuple(x.shape[i] for i in kept)
    count = reduce(operator.mul, (x.shape[i] for i in axes), 1)
    dtype = (x.dtype if x.dtype.kind == "f" else np.int64) if dtype is None else dtype
    out = cuda.device_array(shape, dtype)
    rows = moved.reshape(max(out.size, 0), count)
    if out.size:
        kernel[blocks(out.size), THREADS](rows, out.reshape(-1))
    full_shape = tuple(1 if i in axes else n for i, n in enumerate(x.shape))
    return out.reshape(full_shape) if keepdims else out


def reduced_short(x, axis, keepdims, kernel, shipped):
    """Reduce by a kernel, but by the shipped op where a thread's row takes seconds."""
    if x.size > 65_536:
        return shipped(x, axis, keepdims)
    return reduced(x, axis, keepdims, kernel, np.int64 if shipped is argmax else None)


@wrong("sum", "float64_arithmetic", "float64 operations", "float32(0.0)")
def sums_in_float64(x, axis=None, keepdims=False):
    return reduced_short(x, axis, keepdims, sum_kernel, reduce_sum)


@cuda.jit
def sum_own_kernel(x, out):
    row = cuda.grid(1)
    if row < x.shape[0]:
        total = out[0]
        for k in range(x.shape[1]):
            total += x[row, k]
        out[row] = total


@wrong("sum", "uninitialized_read", "`out[0]`")
def starts_from_what_out_holds(x, axis=None, keepdims=False):
    return reduced_short(x, axis, keepdims, sum_own_kernel, reduce_sum)


@cuda.jit
def row_sum_kernel(x, out):
    row = cuda.grid(1)
    if row < x.shape[0]:
        total = float32(0)
        for k in range(x.shape[1]):
            total += x[row, k]
        out[row] = total


@wrong("sum", "ShapeError", "keepdims=True", "(1, 4)")
def keepdims_is_forgotten(x, axis=None, keepdims=False):
    return reduced_short(x, axis, False, row_sum_kernel, reduce_sum)


@cuda.jit
def racing_sum_kernel(x, out):
    row, k = cuda.grid(2)
    if row < x.shape[0] and k < x.shape[1]:
        out[row] += x[row, k]


@wrong("sum", "race", "out")
def additions_race(x, axis=None, keepdims=False):
    def launch(rows, out):
        zero_kernel[blocks(out.size), THREADS](out)
        grid = max(1, -(-rows.shape[0] // 8)), max(1, -(-rows.shape[1] // 32))
        racing_sum_kernel[grid, (8, 32)](rows, out)

    return reduced(x, axis, keepdims, Launched(launch))


class Launched:
    """Stands for a kernel where more than one launch is needed."""

    def __init__(self, launch):
        self.launch = launch

    def __getitem__(self, _):
        return self.launch


@cuda.jit
def no_barrier_kernel(x, out):
    cache = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    row = cuda.blockIdx.x
    total = float32(0)
    for k in range(t, x.shape[1], 64):
        total += x[row, k]
    cache[t] = total
    half = 32
    while half > 0:
        if t < half:
            cache[t] += cache[t + half]
        half //= 2
    if t == 0:
        out[row] = cache[0]


@wrong("sum", "race", "cache")
def barrier_is_missing(x, axis=None, keepdims=False):
    def launch(rows, out):
        no_barrier_kernel[rows.shape[0], 64](rows, out)

    return reduced(x, axis, keepdims, Launched(launch))


@cuda.jit
def last_of_equals_kernel(x, out):
    row = cuda.grid(1)
    if row < x.shape[0]:
        best = 0
        for k in range(x.shape[1]):
            if x[row, k] >= x[row, best]:
                best = k
        out[row] = best


@wrong("argmax", "difference", "out is 2, the reference has 1")
def last_of_equals_wins(x, axis=None, keepdims=False):
    return reduced_short(x, axis, keepdims, last_of_equals_kernel, argmax)
