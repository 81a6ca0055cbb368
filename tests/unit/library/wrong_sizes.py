"""Wrong kernels that are right on small arrays: grids, tiles and steps with a limit.

What a mistake is not about, for example another dtype, the shipped op does.
"""

# Kernels are written as students write them, without annotations.

import math

import numpy as np

from tests.unit.library.wrong_axes import Launched, launch_rows, reduced, row_sum_kernel
from tests.unit.library.wrong_kernels import (
    THREADS,
    blocks,
    exp_kernel,
    mapped,
    real,
    wrong,
)
from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32, uint16
from tinytorch_gpu.kernels.scan import cumsum
from tinytorch_gpu.kernels.softmax import softmax


@wrong("exp", "unwritten", "(70001,)", "out[4096]", "more than 65,536 elements")
def grid_ends_at_16_blocks(x, out=None):
    return mapped(exp_kernel, x, out, real(x), min(blocks(x.size), 16))


@cuda.jit
def stride_1024_kernel(x, out):
    for i in range(cuda.grid(1), out.size, cuda.gridDim.x * 1024):
        out[i] = x[i] * x[i]


@wrong("square", "unwritten", "(70001,)", "out[16384]")
def grid_stride_is_that_of_1024_threads(x, out=None):
    return mapped(stride_1024_kernel, x, out, grid=64)


@cuda.jit
def four_kernel(x, out):
    first = 4 * cuda.grid(1)
    if first + 3 < out.size:
        for i in range(first, first + 4):
            out[i] = -x[i]


@cuda.jit
def one_kernel(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = -x[i]


@wrong("neg", "unwritten", "(70001,)", "out[70000]", "1 of 70,001 elements differ")
def rest_of_four_is_left_out_of_long_arrays(x, out=None):
    return mapped(four_kernel if x.size > 4096 else one_kernel, x, out)


@cuda.jit
def short_index_kernel(x, out):
    if cuda.grid(1) < out.size:
        i = uint16(cuda.grid(1))
        out[i] = abs(x[i])


@wrong("abs", "unwritten", "(70001,)", "out[65536]")
def index_has_16_bits(x, out=None):
    return mapped(short_index_kernel, x, out)


@cuda.jit
def step_kernel(param, grad, lr, out):
    i = cuda.threadIdx.x
    if i < out.size:
        out[i] = param[i] - lr * grad[i]


@wrong("fused_sgd", "difference", "(70001,)", "out[1024] is", "more than 256")
def one_block_takes_the_step(
    param, grad, buffer=None, lr=0.01, momentum=0.0, weight_decay=0.0
):
    grad = grad + weight_decay * param
    if buffer is not None:
        buffer[...] = grad = momentum * buffer + grad
    flat = param.reshape(-1), grad.reshape(-1)
    step_kernel[1, 1024](*flat, float32(lr), param.reshape(-1))
    return param


# Along axes


@cuda.jit
def partial_sums_kernel(x, out):
    cache = cuda.shared.array(256, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    cache[t] = x[0, i] if i < x.shape[1] else float32(0)
    cuda.syncthreads()
    half = 128
    while half > 0:
        if t < half:
            cache[t] += cache[t + half]
        cuda.syncthreads()
        half //= 2
    if t == 0:
        out[0, cuda.blockIdx.x] = cache[0]


@wrong("sum", "difference", "(70001,)", "more than 65,536 elements")
def one_block_adds_the_partial_sums(x, axis=None, keepdims=False):
    def launch(rows, out):
        if len(rows) != 1 or rows.dtype != np.float32 or not rows.shape[1]:
            row_sum_kernel[blocks(out.size), THREADS](rows, out)
            return
        partial = cuda.device_array((1, blocks(rows.shape[1])), np.float32)
        partial_sums_kernel[partial.size, 256](rows, partial)
        partial_sums_kernel[1, 256](partial, out.reshape(1, 1))

    return reduced(x, axis, keepdims, Launched(launch))


@cuda.jit
def argmax_1024_kernel(x, out):
    row = cuda.grid(1)
    if row < x.shape[0]:
        best = 0
        for k in range(min(x.shape[1], 1024)):
            is_nan = x[row, k] != x[row, k] and x[row, best] == x[row, best]
            if is_nan or x[row, k] > x[row, best]:
                best = k
        out[row] = best


@wrong("argmax", "difference", "(3, 1100)", "the reference has 1099")
def maximum_of_the_first_1024(x, axis=None, keepdims=False):
    return reduced(x, axis, keepdims, argmax_1024_kernel, np.int64)


@cuda.jit
def softmax_block_kernel(x, out):
    cache = cuda.shared.array(1024, float32)
    t = cuda.threadIdx.x
    row = cuda.blockIdx.x
    n = min(x.shape[1], 1024)
    top = x[row, 0]
    for k in range(1, n):
        top = max(top, x[row, k]) if x[row, k] == x[row, k] else x[row, k]
    if t < n:
        cache[t] = math.exp(x[row, t] - top)
    cuda.syncthreads()
    total = float32(0)
    for k in range(n):
        total += cache[k]
    if t < n:
        out[row, t] = cache[t] / total


@cuda.jit
def softmax_thread_kernel(x, out):
    row = cuda.threadIdx.x
    if row < x.shape[0]:
        top = x[row, 0]
        for k in range(1, x.shape[1]):
            top = max(top, x[row, k]) if x[row, k] == x[row, k] else x[row, k]
        total = float32(0)
        for k in range(x.shape[1]):
            total += math.exp(x[row, k] - top)
        for k in range(x.shape[1]):
            out[row, k] = math.exp(x[row, k] - top) / total


class Fixed:
    """Stands for a kernel whose grid and block do not depend on the array."""

    def __init__(self, kernel, grid, block):
        self.kernel = kernel[grid, block]

    def __getitem__(self, _):
        return self.kernel


@wrong("softmax", "difference", "float32 (1, 1100)", "NaN or infinity")
def row_fits_one_block(x, dim=-1):
    if x.dtype != np.float32:
        return softmax(x, dim)

    def launch(rows, out):
        softmax_block_kernel[len(rows), 1024](rows, out)

    return launch_rows(Launched(launch), x, dim)


@wrong("softmax", "unwritten", "out[0, 1024] was never written")
def rows_fit_one_block(x, dim=-1):
    if x.dtype != np.float32:
        return softmax(x, dim)
    return launch_rows(Fixed(softmax_thread_kernel, 1, 1024), x, dim)


@cuda.jit
def matmul_kernel(a, b, out):
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        total = float32(0)
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, col]
        out[row, col] = total


@cuda.jit
def matmul_one_tile_kernel(a, b, out):
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        total = float32(0)
        for k in range(min(64, a.shape[1])):
            total += a[row, k] * b[k, col]
        out[row, col] = total


def products(kernel, grid, a, b):
    """Launch once for each matrix; vectors are matrices of one row or column."""
    left = a.reshape(1, -1) if a.ndim == 1 else a
    right = b.reshape(-1, 1) if b.ndim == 1 else b
    batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
    left = left.broadcast_to((*batch, *left.shape[-2:]))
    right = right.broadcast_to((*batch, *right.shape[-2:]))
    dtype = np.result_type(a.dtype, b.dtype)
    out = cuda.device_array((*batch, left.shape[-2], right.shape[-1]), dtype)
    for n in np.ndindex(batch):
        parts = (v.part(n) if batch else v for v in (left, right, out))
        kernel[grid, (16, 16)](*parts)
    shape = (*batch, *a.shape[-2:-1], *(b.shape[-1:] if b.ndim > 1 else ()))
    return out.reshape(shape)


@wrong("matmul", "unwritten", "(1100, 3)", "out[64, 0] was never written")
def tiles_cover_64_by_64(a, b):
    return products(matmul_kernel, (4, 4), a, b)


@wrong("matmul", "difference", "(2, 140), float32 (140, 5)")
def only_64_products_are_added(a, b):
    return products(matmul_one_tile_kernel, (80, 80), a, b)


@cuda.jit
def scan_kernel(x, out):
    cache = cuda.shared.array(512, float32)
    row = cuda.blockIdx.x
    t = cuda.threadIdx.x
    if t < x.shape[1]:
        cache[t] = x[row, t]
    cuda.syncthreads()
    total = float32(0)
    if t < x.shape[1]:
        for k in range(t + 1):
            total += cache[k]
        out[row, t] = total


@wrong("cumsum", "unwritten", "(4097,)", "out[512] was never written")
def scan_of_one_block(x, dim=0):
    if x.dtype != np.float32:
        return cumsum(x, dim)

    def launch(rows, out):
        scan_kernel[len(rows), 512](rows, out)

    return launch_rows(Launched(launch), x, dim)
