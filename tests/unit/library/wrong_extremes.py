"""Wrong kernels that break on extreme numbers only: where they start, what they skip."""

# Kernels are written as students write them, without annotations.

import math

import numpy as np

from tests.unit.library.wrong_axes import launch_rows, reduced_short
from tests.unit.library.wrong_kernels import wrong
from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32
from tinytorch_gpu.kernels import argreduce, matmul, pooling, reduce, softmax

# A maximum that starts at a number


def max_from(start):
    """Return a kernel of row maxima whose accumulator begins with a number."""

    @cuda.jit
    def max_kernel(x, out):
        row = cuda.grid(1)
        if row < x.shape[0]:
            best = float32(start)
            for k in range(x.shape[1]):
                value = x[row, k]
                best = value if value > best or math.isnan(value) else best
            out[row] = best

    return max_kernel


def of_floats(kernel, shipped, x, axis, keepdims):
    """Reduce float32 arrays by a kernel, others by the shipped op."""
    if x.dtype != np.float32:
        return shipped(x, axis, keepdims)
    return reduced_short(x, axis, keepdims, kernel, shipped)


@wrong("max", "difference", "is -100.0, the reference has -inf")
def maximum_starts_at_minus_100(x, axis=None, keepdims=False):
    return of_floats(max_from(-100), reduce.reduce_max, x, axis, keepdims)


@wrong("max", "difference", "e+30, the reference has -inf")
def maximum_starts_at_minus_1e30(x, axis=None, keepdims=False):
    return of_floats(max_from(-1e30), reduce.reduce_max, x, axis, keepdims)


@wrong("max", "difference", "is -3.402823", "the reference has -inf")
def maximum_starts_at_the_lowest_float(x, axis=None, keepdims=False):
    lowest = float(np.finfo(np.float32).min)
    return of_floats(max_from(lowest), reduce.reduce_max, x, axis, keepdims)


@cuda.jit
def min_kernel(x, out):
    row = cuda.grid(1)
    if row < x.shape[0]:
        best = float32(100)
        for k in range(x.shape[1]):
            value = x[row, k]
            best = value if value < best or math.isnan(value) else best
        out[row] = best


@wrong("min", "difference", "is 100.0, the reference has inf")
def minimum_starts_at_100(x, axis=None, keepdims=False):
    return of_floats(min_kernel, reduce.reduce_min, x, axis, keepdims)


@cuda.jit
def argmax_kernel(x, out):
    row = cuda.grid(1)
    if row < x.shape[0]:
        best, place = float32(-1e30), 0
        for k in range(x.shape[1]):
            value = x[row, k]
            if value > best or (math.isnan(value) and not math.isnan(best)):
                best, place = value, k
        out[row] = place


@wrong("argmax", "difference", "is 0, the reference has 1")
def place_of_a_maximum_starts_at_minus_1e30(x, axis=None, keepdims=False):
    return of_floats(argmax_kernel, argreduce.argmax, x, axis, keepdims)


@cuda.jit
def softmax_kernel(x, out):
    row = cuda.grid(1)
    if row < x.shape[0]:
        top = float32(-1e30)
        for k in range(x.shape[1]):
            top = x[row, k] if math.isnan(x[row, k]) or x[row, k] > top else top
        total = float32(0)
        for k in range(x.shape[1]):
            total += math.exp(x[row, k] - top)
        for k in range(x.shape[1]):
            out[row, k] = math.exp(x[row, k] - top) / total


@wrong("softmax", "difference", "is nan, the reference has 0.0")
def softmax_starts_at_minus_1e30(x, dim=-1):
    if x.dtype != np.float32:
        return softmax.softmax(x, dim)
    return launch_rows(softmax_kernel, x, dim)


@cuda.jit
def pool_kernel(x, out):
    i, j, image = cuda.grid(3)
    if image < out.shape[0] and i < out.shape[1] and j < out.shape[2]:
        best = float32(-1e30)
        for k in range(4):
            value = x[image, 2 * i + k // 2, 2 * j + k % 2]
            best = value if value > best or math.isnan(value) else best
        out[image, i, j] = best


@wrong("max_pool2d", "difference", "e+30, the reference has -inf")
def pool_starts_at_minus_1e30(x, kernel_size, **window):
    if kernel_size != 2 or window or x.dtype != np.float32 or not x.size:
        return pooling.max_pool2d(x, kernel_size, **window)
    images, channels, height, width = x.shape
    out = cuda.device_array((images, channels, height // 2, width // 2), x.dtype)
    flat = out.reshape(-1, *out.shape[2:])
    grid = (-(-flat.shape[1] // 8), -(-flat.shape[2] // 8), len(flat))
    pool_kernel[grid, (8, 8, 1)](x.copy().reshape(-1, height, width), flat)
    return out


# Zeros that are skipped


@cuda.jit
def prod_kernel(x, out):
    row = cuda.grid(1)
    if row < x.shape[0]:
        total = float32(1)
        for k in range(x.shape[1]):
            if total != 0:
                total *= x[row, k]
        out[row] = total


@wrong("prod", "difference", "is 0.0, the reference has nan")
def product_ends_at_zero(x, axis=None, keepdims=False):
    return of_floats(prod_kernel, reduce.reduce_prod, x, axis, keepdims)


@cuda.jit
def zeros_of_a_kernel(a, b, out):
    z, row, col = cuda.grid(3)
    if z < out.shape[0] and row < out.shape[1] and col < out.shape[2]:
        total = float32(0)
        for k in range(a.shape[2]):
            if a[z, row, k] != 0:
                total += a[z, row, k] * b[z, k, col]
        out[z, row, col] = total


@cuda.jit
def zeros_of_b_kernel(a, b, out):
    z, row, col = cuda.grid(3)
    if z < out.shape[0] and row < out.shape[1] and col < out.shape[2]:
        total = float32(0)
        for k in range(a.shape[2]):
            if b[z, k, col] != 0:
                total += a[z, row, k] * b[z, k, col]
        out[z, row, col] = total


def product(kernel, a, b):
    """Multiply stacks of matrices, and two matrices as a stack of one."""
    if a.dtype != np.float32 or a.ndim != b.ndim or a.ndim not in {2, 3} or not a.size:
        return matmul.matmul(a, b)
    a3, b3 = (v if v.ndim == 3 else v[None] for v in (a, b))
    out = cuda.device_array((*a3.shape[:2], b3.shape[2]), np.float32)
    grid = (out.shape[0], -(-out.shape[1] // 16), -(-out.shape[2] // 16))
    kernel[grid, (1, 16, 16)](a3, b3, out)
    return out.reshape(*a.shape[:-1], b.shape[-1])


@wrong("matmul", "difference", "float32 (2, 2)", "the reference has nan")
def zeros_of_a_are_skipped(a, b):
    return product(zeros_of_a_kernel, a, b)


@wrong("matmul", "difference", "float32 (2, 2)", "the reference has nan")
def zeros_of_b_are_skipped(a, b):
    return product(zeros_of_b_kernel, a, b)


@wrong("bmm", "difference", "float32 (2, 2, 2)", "the reference has nan")
def zeros_of_a_are_skipped_in_a_stack(a, b):
    return product(zeros_of_a_kernel, a, b)
