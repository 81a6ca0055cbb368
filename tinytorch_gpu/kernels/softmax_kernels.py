"""Kernels of softmax and log-softmax, two versions each.

- `..._columns`: one thread for each slice along n, three passes over it: maximum, sum,
  result. Loads coalesce when the *other* axis is contiguous, and a slice shorter than a
  warp would leave a block's threads idle anyway.
- `..._rows`: one block for each row; its threads walk side by side along n, so loads
  coalesce when n is contiguous, and find maximum and sum together in shared memory.
  For float32 only, because the dtype of a shared array is a compile-time constant.

The maximum is subtracted before `exp`, so that no exponential overflows. Where all are
-inf there is none to subtract: softmax then gives `0 / blank`, 0 or NaN.
"""

# Kernels are written as students write them, without annotations.
# ruff: noqa: ANN001, ANN201, ANN202
# mypy: allow-untyped-defs, no-check-untyped-defs, allow-untyped-calls

from __future__ import annotations

import math

from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32

__all__ = [
    "THREADS",
    "log_softmax_columns_kernel",
    "log_softmax_rows_kernel",
    "softmax_columns_kernel",
    "softmax_columns_or_nan_kernel",
    "softmax_rows_kernel",
    "softmax_rows_or_nan_kernel",
]

THREADS = 256  # most threads of a block, and length of the shared array
MINUS_INF = float32(-math.inf)


def _softmax_columns(blank):
    """Make a kernel; `blank` stands for the sum where all x are -inf."""

    @cuda.jit
    def softmax_columns_kernel(x, out):
        """Store exp(x) divided by its sum over n, for x and out (outer, n, inner)."""
        col, row = cuda.grid(2)
        if row < x.shape[0] and col < x.shape[2]:
            top = x[row, 0, col]
            for k in range(1, x.shape[1]):
                top = max(top, x[row, k, col])
            is_blank = top == MINUS_INF
            top = float32(0.0) if is_blank else top
            total = blank if is_blank else float32(0.0)
            for k in range(x.shape[1]):
                total += math.exp(x[row, k, col] - top)
            for k in range(x.shape[1]):
                out[row, k, col] = math.exp(x[row, k, col] - top) / total

    return softmax_columns_kernel


def _softmax_rows(blank):
    """Make a kernel; `blank` stands for the sum where all x are -inf."""

    @cuda.jit
    def softmax_rows_kernel(x, out):
        """Store exp(x) divided by its sum over n, for x and out (rows, n)."""
        cache = cuda.shared.array(THREADS, float32)
        row = cuda.blockIdx.x
        tid = cuda.threadIdx.x
        n = x.shape[1]
        top = x[row, min(tid, n - 1)]
        for k in range(tid + cuda.blockDim.x, n, cuda.blockDim.x):
            top = max(top, x[row, k])
        cache[tid] = top
        cuda.syncthreads()
        half = cuda.blockDim.x // 2
        while half > 0:
            if tid < half:
                cache[tid] = max(cache[tid], cache[tid + half])
            cuda.syncthreads()
            half //= 2
        top = cache[0]
        cuda.syncthreads()  # everyone has read the maximum before sums replace it
        is_blank = top == MINUS_INF
        top = float32(0.0) if is_blank else top
        total = blank if is_blank else float32(0.0)
        for k in range(tid, n, cuda.blockDim.x):
            total += math.exp(x[row, k] - top)
        cache[tid] = total
        cuda.syncthreads()
        half = cuda.blockDim.x // 2
        while half > 0:
            if tid < half:
                cache[tid] += cache[tid + half]
            cuda.syncthreads()
            half //= 2
        for k in range(tid, n, cuda.blockDim.x):
            out[row, k] = math.exp(x[row, k] - top) / cache[0]

    return softmax_rows_kernel


softmax_columns_kernel = _softmax_columns(float32(1.0))  # 0 / 1 where all x are -inf
softmax_rows_kernel = _softmax_rows(float32(1.0))
softmax_columns_or_nan_kernel = _softmax_columns(float32(math.nan))
softmax_rows_or_nan_kernel = _softmax_rows(float32(math.nan))


@cuda.jit
def log_softmax_columns_kernel(x, out):
    """Store x minus the logarithm of the sum of exp(x) over n of (outer, n, inner)."""
    col, row = cuda.grid(2)
    if row < x.shape[0] and col < x.shape[2]:
        top = x[row, 0, col]
        for k in range(1, x.shape[1]):
            top = max(top, x[row, k, col])
        total = float32(0.0)
        for k in range(x.shape[1]):
            total += math.exp(x[row, k, col] - top)
        log_total = math.log(total)
        for k in range(x.shape[1]):
            out[row, k, col] = x[row, k, col] - top - log_total


@cuda.jit
def log_softmax_rows_kernel(x, out):
    """Store x minus the logarithm of the sum of exp(x) over n of (rows, n)."""
    cache = cuda.shared.array(THREADS, float32)
    row = cuda.blockIdx.x
    tid = cuda.threadIdx.x
    n = x.shape[1]
    top = x[row, min(tid, n - 1)]
    for k in range(tid + cuda.blockDim.x, n, cuda.blockDim.x):
        top = max(top, x[row, k])
    cache[tid] = top
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if tid < half:
            cache[tid] = max(cache[tid], cache[tid + half])
        cuda.syncthreads()
        half //= 2
    top = cache[0]
    cuda.syncthreads()
    total = float32(0.0)
    for k in range(tid, n, cuda.blockDim.x):
        total += math.exp(x[row, k] - top)
    cache[tid] = total
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if tid < half:
            cache[tid] += cache[tid + half]
        cuda.syncthreads()
        half //= 2
    log_total = math.log(cache[0])
    for k in range(tid, n, cuda.blockDim.x):
        out[row, k] = x[row, k] - top - log_total
