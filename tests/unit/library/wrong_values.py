"""Wrong kernels that are right on ordinary numbers: thresholds, limits, NaN, integers."""

# Kernels are written as students write them, without annotations.

import math

import numpy as np

from tests.unit.library.wrong_axes import launch_rows, reduced, row_sum_kernel
from tests.unit.library.wrong_kernels import (
    elementwise,
    exp_kernel,
    is_array,
    mapped,
    real,
    wrong,
)
from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32, int32
from tinytorch_gpu.kernels import compare, softmax
from tinytorch_gpu.kernels import elementwise as shipped

# Close to 0


@cuda.jit
def relu_kernel(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = float32(0) if x[i] < float32(-1e-3) else x[i]


@wrong("relu", "difference", "close to 0", "the reference has 0.0")
def small_negatives_pass(x, out=None):
    return mapped(relu_kernel, x, out)


@cuda.jit
def sign_kernel(x, out):
    i = cuda.grid(1)
    if i < out.size:
        value = float32(1) if x[i] > float32(1e-7) else float32(0)
        value = float32(-1) if x[i] < float32(-1e-7) else value
        out[i] = x[i] if math.isnan(x[i]) else value


@wrong("sign", "difference", "is 0.0, the reference has 1.0", "elements close to 0")
def small_numbers_have_no_sign(x, out=None):
    return mapped(sign_kernel, x, out)


@cuda.jit
def equal_kernel(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] == y[i] or abs(x[i] - y[i]) < 1e-6


@wrong("eq", "difference", "the next", "is True, the reference has False")
def equal_is_nearly_equal(x, y, out=None):
    if out is not None or (is_array(x) and is_array(y) and x.dtype != y.dtype):
        return compare.eq(x, y, out)
    return elementwise(equal_kernel, x, y, None).astype(np.bool_)


@cuda.jit
def expm1_kernel(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = math.exp(x[i]) - float32(1)


@wrong("expm1", "difference", "is 0.0", "the reference has 0.0")
def one_is_subtracted_afterwards(x, out=None):
    return mapped(expm1_kernel, x, out, real(x))


@cuda.jit
def sqrt_kernel(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = float32(0) if abs(x[i]) < float32(1e-11) else math.sqrt(x[i])


@wrong("sqrt", "difference", "is 0.0, the reference has 3.74", "close to 0")
def root_of_small_numbers_is_zero(x, out=None):
    return mapped(sqrt_kernel, x, out, real(x))


@cuda.jit
def clamp_backward_kernel(grad, x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = grad[i] if float32(-1) < x[i] < float32(0.5) else float32(0)


@wrong("clamp_backward", "difference", "is 0.0, the reference has")
def slope_at_the_limits_is_zero(grad, x, min=None, max=None):  # noqa: A002
    return elementwise(clamp_backward_kernel, grad, x, None)


# Where there is no value


@cuda.jit
def safe_sqrt_kernel(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = math.sqrt(float32(0) if x[i] < 0 else x[i])


@wrong("sqrt", "difference", "is 0.0, the reference has nan")
def negatives_have_the_root_zero(x, out=None):
    return mapped(safe_sqrt_kernel, x, out, real(x))


@cuda.jit
def safe_log_kernel(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = math.log(float32(1e-38) if abs(x[i]) < float32(1e-38) else x[i])


@wrong("log", "difference", "the reference has -inf")
def logarithm_of_zero_is_finite(x, out=None):
    return mapped(safe_log_kernel, x, out, real(x))


@cuda.jit
def safe_div_kernel(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] / (y[i] + float32(1e-8))


@wrong("div", "difference", "the next", "the reference has 0.5")
def divisor_is_never_zero(x, y, out=None):
    if out is None and all(v.dtype == np.float32 for v in (x, y) if is_array(v)):
        return elementwise(safe_div_kernel, x, y, None)
    return shipped.div(x, y, out)


@cuda.jit
def pow_kernel(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = abs(x[i]) ** y[i]


@wrong("pow", "difference", "the reference has nan", "close to 0 and 1")
def base_loses_its_sign(x, y, out=None):
    if out is None and all(v.dtype.kind == "f" for v in (x, y) if is_array(v)):
        return elementwise(pow_kernel, x, y, None)
    return shipped.power(x, y, out)


@cuda.jit
def softmax_kernel(x, out):
    row = cuda.grid(1)
    if row < x.shape[0]:
        top = float32(0)
        for k in range(x.shape[1]):
            top = x[row, k] if math.isnan(x[row, k]) or x[row, k] > top else top
        total = float32(0)
        for k in range(x.shape[1]):
            total += math.exp(x[row, k] - top)
        for k in range(x.shape[1]):
            out[row, k] = math.exp(x[row, k] - top) / total


@wrong("softmax", "difference", "out[0, 0] is nan")
def maximum_starts_at_zero(x, dim=-1):
    if x.dtype.kind != "f":
        return softmax.softmax(x, dim)
    return launch_rows(softmax_kernel, x, dim)


# Integers


@wrong("exp", "DtypeError", "int32 (7,)", "returned float32", "give float64")
def exp_of_integers_is_float32(x, out=None):
    return mapped(exp_kernel, x, out, x.dtype if x.dtype.kind == "f" else np.float32)


@cuda.jit
def int32_sum_kernel(x, out):
    total = cuda.local.array(1, int32)
    row = cuda.grid(1)
    if row < x.shape[0]:
        total[0] = 0
        for k in range(x.shape[1]):
            total[0] += x[row, k]
        out[row] = total[0]


@wrong("sum", "difference", "int32 (3,)", "the reference has 6442450941")
def sum_of_integers_has_32_bits(x, axis=None, keepdims=False):
    kernel = row_sum_kernel if x.dtype.kind == "f" else int32_sum_kernel
    return reduced(x, axis, keepdims, kernel)
