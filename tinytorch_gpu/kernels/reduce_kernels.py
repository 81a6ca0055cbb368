"""Kernels that reduce one axis: sums, products, maxima and minima, two versions each.

- `..._columns`: one thread for each result; it walks along the axis alone. Threads of a
  warp stand side by side, so its loads coalesce when the *other* axis is contiguous.
- `..._rows`: one block for each result; its threads walk side by side along the axis,
  then halve their partial results in shared memory, a barrier between the steps. Loads
  coalesce when the reduced axis itself is contiguous. For float32 only, because the
  dtype of a shared array is a compile-time constant.

Both write `parts` partial results for each result, so that a long axis can be spread
over more threads; a second launch reduces the parts. `reduce.py` chooses.
"""
# Kernels are written as students write them, without annotations.
# ruff: noqa: ANN001, ANN201
# mypy: allow-untyped-defs, no-check-untyped-defs

from __future__ import annotations

import math

from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32

__all__ = [
    "THREADS",
    "max_columns_kernel",
    "max_rows_kernel",
    "min_columns_kernel",
    "min_rows_kernel",
    "prod_columns_kernel",
    "prod_rows_kernel",
    "sum_columns_kernel",
    "sum_rows_kernel",
]

THREADS = 256  # most threads of a block, and length of the shared array


@cuda.jit
def sum_columns_kernel(x, scale, out):
    """Sum x (outer, n, inner) over n, times scale, into out (outer, parts, inner)."""
    col, part, row = cuda.grid(3)
    parts = out.shape[1]
    if row < out.shape[0] and part < parts and col < out.shape[2]:
        total = x[row, part, col]
        for k in range(part + parts, x.shape[1], parts):
            total += x[row, k, col]
        out[row, part, col] = total * scale


@cuda.jit
def sum_rows_kernel(x, scale, out):
    """Sum x (rows, n) over n, times scale, into out (rows, parts)."""
    cache = cuda.shared.array(THREADS, float32)
    row = cuda.blockIdx.x
    tid = cuda.threadIdx.x
    first = cuda.blockIdx.y * cuda.blockDim.x + tid
    total = float32(0.0)
    for k in range(first, x.shape[1], cuda.blockDim.x * cuda.gridDim.y):
        total += x[row, k]
    cache[tid] = total
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if tid < half:
            cache[tid] += cache[tid + half]
        cuda.syncthreads()
        half //= 2
    if tid == 0:
        out[row, cuda.blockIdx.y] = cache[0] * scale


@cuda.jit
def prod_columns_kernel(x, out):
    """Multiply x (outer, n, inner) over n, into out (outer, parts, inner)."""
    col, part, row = cuda.grid(3)
    parts = out.shape[1]
    if row < out.shape[0] and part < parts and col < out.shape[2]:
        total = x[row, part, col]
        for k in range(part + parts, x.shape[1], parts):
            total *= x[row, k, col]
        out[row, part, col] = total


@cuda.jit
def prod_rows_kernel(x, out):
    """Multiply x (rows, n) over n, into out (rows, parts)."""
    cache = cuda.shared.array(THREADS, float32)
    row = cuda.blockIdx.x
    tid = cuda.threadIdx.x
    first = cuda.blockIdx.y * cuda.blockDim.x + tid
    total = float32(1.0)
    for k in range(first, x.shape[1], cuda.blockDim.x * cuda.gridDim.y):
        total *= x[row, k]
    cache[tid] = total
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if tid < half:
            cache[tid] *= cache[tid + half]
        cuda.syncthreads()
        half //= 2
    if tid == 0:
        out[row, cuda.blockIdx.y] = cache[0]


@cuda.jit
def max_columns_kernel(x, out):
    """Find the largest of x (outer, n, inner) along n, in (outer, parts, inner)."""
    col, part, row = cuda.grid(3)
    parts = out.shape[1]
    if row < out.shape[0] and part < parts and col < out.shape[2]:
        best = x[row, part, col]
        for k in range(part + parts, x.shape[1], parts):
            value = x[row, k, col]
            best = value if best < value or math.isnan(value) else best  # NaN wins
        out[row, part, col] = best


@cuda.jit
def max_rows_kernel(x, out):
    """Find the largest of x (rows, n) along n, in (rows, parts)."""
    cache = cuda.shared.array(THREADS, float32)
    row = cuda.blockIdx.x
    tid = cuda.threadIdx.x
    first = cuda.blockIdx.y * cuda.blockDim.x + tid
    stride = cuda.blockDim.x * cuda.gridDim.y
    best = x[row, min(first, x.shape[1] - 1)]
    for k in range(first + stride, x.shape[1], stride):
        value = x[row, k]
        best = value if best < value or math.isnan(value) else best
    cache[tid] = best
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if tid < half:
            value = cache[tid + half]
            best = value if best < value or math.isnan(value) else best
            cache[tid] = best
        cuda.syncthreads()
        half //= 2
    if tid == 0:
        out[row, cuda.blockIdx.y] = cache[0]


@cuda.jit
def min_columns_kernel(x, out):
    """Find the smallest of x (outer, n, inner) along n, in (outer, parts, inner)."""
    col, part, row = cuda.grid(3)
    parts = out.shape[1]
    if row < out.shape[0] and part < parts and col < out.shape[2]:
        best = x[row, part, col]
        for k in range(part + parts, x.shape[1], parts):
            value = x[row, k, col]
            best = value if best > value or math.isnan(value) else best
        out[row, part, col] = best


@cuda.jit
def min_rows_kernel(x, out):
    """Find the smallest of x (rows, n) along n, in (rows, parts)."""
    cache = cuda.shared.array(THREADS, float32)
    row = cuda.blockIdx.x
    tid = cuda.threadIdx.x
    first = cuda.blockIdx.y * cuda.blockDim.x + tid
    stride = cuda.blockDim.x * cuda.gridDim.y
    best = x[row, min(first, x.shape[1] - 1)]
    for k in range(first + stride, x.shape[1], stride):
        value = x[row, k]
        best = value if best > value or math.isnan(value) else best
    cache[tid] = best
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if tid < half:
            value = cache[tid + half]
            best = value if best > value or math.isnan(value) else best
            cache[tid] = best
        cuda.syncthreads()
        half //= 2
    if tid == 0:
        out[row, cuda.blockIdx.y] = cache[0]
