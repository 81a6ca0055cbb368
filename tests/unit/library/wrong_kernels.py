"""Wrong kernels as learners write them, each with the words that `check` finds.

A host function has the name of its mistake. `WRONG` holds op, function, the kind of the
finding, and words of its text. Those along axes stand in `wrong_axes.py`.
"""

# Kernels are written as students write them, without annotations.

import math

import numpy as np

from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32
from tinytorch_gpu.kernels.unary import tanh
from tinytorch_gpu.memory import DeviceArray

WRONG = []
THREADS = 256


def wrong(op, kind, *words):
    """Put a function into the table."""

    def put(function):
        WRONG.append((f"tinytorch::{op}", function, kind, words))
        return function

    return put


def is_array(value):
    return isinstance(value, DeviceArray)


def blocks(count):
    """Return how many blocks hold so many threads, at least one."""
    return max(1, -(-count // THREADS))


def like(x, dtype=None):
    return cuda.device_array(x.shape, x.dtype if dtype is None else dtype)


def mapped(kernel, x, out, dtype=None, grid=None):
    """Launch a kernel for the elements of x, side by side; 256 threads a block."""
    made = like(x, dtype)
    kernel[grid or blocks(x.size), THREADS](x.copy().reshape(-1), made.reshape(-1))
    return made if out is None else fill_in(out, made)


def real(x):
    return np.dtype(x.dtype if x.dtype.kind == "f" else np.float64)


def rows_of(x):
    """Return an array as a matrix of its last axis, contiguous."""
    return x.copy().reshape(-1, x.shape[-1] if x.ndim else 1)


@cuda.jit
def zero_kernel(out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = 0


# Guards, grids and indices


@cuda.jit
def guard_one_short_kernel(x, out):
    i = cuda.grid(1)
    if i < out.size - 1:
        out[i] = x[i] * x[i]


@wrong("square", "unwritten", "out[0] was never written")
def off_by_one_guard(x, out=None):
    out = like(x) if out is None else out
    guard_one_short_kernel[blocks(x.size), THREADS](x.reshape(-1), out.reshape(-1))
    return out


@cuda.jit
def guard_one_long_kernel(x, out):
    i = cuda.grid(1)
    if i <= out.size:
        out[i] = x[i] * x[i]


@wrong("square", "out_of_bounds", "`x`", "guard")
def guard_lets_one_too_many(x, out=None):
    out = like(x) if out is None else out
    guard_one_long_kernel[blocks(x.size), THREADS](x.reshape(-1), out.reshape(-1))
    return out


@cuda.jit
def exp_kernel(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = math.exp(x[i])


@wrong("exp", "unwritten", "never written", "(300,)")
def tail_of_the_last_block_is_left_out(x, out=None):
    out = like(x, real(x)) if out is None else out
    threads = THREADS if x.size > THREADS else max(1, x.size)
    exp_kernel[max(1, x.size // threads), threads](x.reshape(-1), out.reshape(-1))
    return out


@wrong("exp", "LaunchConfigError", "(0,)")
def an_empty_array_gets_an_empty_grid(x, out=None):
    out = like(x, real(x)) if out is None else out
    exp_kernel[-(-x.size // THREADS), THREADS](x.reshape(-1), out.reshape(-1))
    return out


@cuda.jit
def block_forgotten_kernel(x, out):
    i = cuda.threadIdx.x
    if i < out.size:
        out[i] = -x[i]


@wrong("neg", "unwritten", "(300,)", "out[256]")
def every_block_does_the_first_elements(x, out=None):
    out = like(x) if out is None else out
    block_forgotten_kernel[blocks(x.size), THREADS](x.reshape(-1), out.reshape(-1))
    return out


# What is computed


@cuda.jit
def max_kernel(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = max(x[i], y[i])


def elementwise(kernel, x, y, out):
    """Launch a kernel of two arrays that were broadcast and copied."""
    arrays = [v for v in (x, y) if is_array(v)]
    shape = np.broadcast_shapes(*(a.shape for a in arrays))
    dtype = np.result_type(*(a.dtype for a in arrays))
    flat = []
    for value in (x, y):
        if is_array(value):
            flat.append(value.broadcast_to(shape).copy().reshape(-1))
        else:
            flat.append(cuda.to_device(np.full(shape, value, dtype)).reshape(-1))
    made = cuda.device_array(shape, dtype)
    if made.size:
        kernel[blocks(made.size), THREADS](*flat, made.reshape(-1))
    return made if out is None else fill_in(out, made)


@wrong("maximum", "difference", "the reference has nan", "NaN or infinite elements")
def max_drops_nan(x, y, out=None):
    return elementwise(max_kernel, x, y, out)


@cuda.jit
def sub_kernel(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] - y[i]


@wrong("sub", "difference", "input: 1.5, float32 (7,)")
def a_scalar_on_the_left_is_subtracted(x, y, out=None):
    if not is_array(x):
        x, y = y, x
    return elementwise(sub_kernel, x, y, out)


@cuda.jit
def single_tanh_kernel(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = math.tanh(float32(x[i]))


@wrong("tanh", "difference", "a float64 array")
def float64_is_computed_in_float32(x, out=None):
    if x.dtype.kind != "f":
        return tanh(x, out)
    return mapped(single_tanh_kernel, x, out)


@cuda.jit
def matmul_short_kernel(a, b, out):
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        total = float32(0)
        for k in range(a.shape[1] // 4 * 4):
            total += a[row, k] * b[k, col]
        out[row, col] = total


@wrong("bmm", "difference", "thread (0, 0, 0)", "line ")
def sum_over_k_leaves_a_rest_out(a, b):
    out = cuda.device_array((len(a), a.shape[1], b.shape[2]), np.float32)
    for n in range(len(a)):
        matmul_short_kernel[(8, 8), (16, 16)](a.part(n), b.part(n), out.part(n))
    return out


@cuda.jit
def relu_backward_kernel(grad, x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = grad[i] if x[i] >= 0 else float32(0)


@wrong("relu_backward", "difference", "the reference has 0.0")
def slope_at_zero_is_one(grad, x):
    return elementwise(relu_backward_kernel, grad, x, None)


@cuda.jit
def dropout_kernel(x, mask, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] * mask[i]


@wrong("dropout", "difference", "out[")
def kept_elements_are_not_scaled(x, mask, p=0.5):
    out = like(x)
    flat = x.reshape(-1), mask.broadcast_to(x.shape).astype(x.dtype).reshape(-1)
    dropout_kernel[blocks(x.size), THREADS](*flat, out.reshape(-1))
    return out


# Operands and results


@cuda.jit
def relu_in_place_kernel(x, out):
    i = cuda.grid(1)
    if i < out.size:
        x[i] = max(x[i], 0)
        out[i] = x[i]


@wrong("relu", "changed_input", "operand 0[", "is 0.0 after the op", "thread (")
def input_is_changed(x, out=None):
    out = like(x) if out is None else out
    relu_in_place_kernel[blocks(x.size), THREADS](x.reshape(-1), out.reshape(-1))
    return out


@cuda.jit
def sqrt_kernel(x, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = math.sqrt(x[i])


@wrong("sqrt", "changed_input", "operand 0")
def input_is_the_result(x, out=None):
    sqrt_kernel[blocks(x.size), THREADS](x.reshape(-1), x.reshape(-1))
    return x


@wrong("sqrt", "out_ignored", "another array than the given `out`")
def out_is_ignored(x, out=None):
    made = like(x, real(x))
    sqrt_kernel[blocks(x.size), THREADS](x.reshape(-1), made.reshape(-1))
    return made


@wrong("sqrt", "DtypeError", "returned float64", "give float32")
def result_is_float64(x, out=None):
    made = like(x, np.float64)
    sqrt_kernel[blocks(x.size), THREADS](x.reshape(-1), made.reshape(-1))
    return made


@wrong("sqrt", "ShapeError", "returned shape (", "the operands give shape")
def result_is_flat(x, out=None):
    made = cuda.device_array(x.size, real(x))
    sqrt_kernel[blocks(x.size), THREADS](x.reshape(-1), made)
    return made


@wrong("sqrt", "KernelTypeError", "returned nothing", "return out")
def nothing_is_returned(x, out=None):
    made = like(x, real(x)) if out is None else out
    sqrt_kernel[blocks(x.size), THREADS](x.reshape(-1), made.reshape(-1))


@wrong("sigmoid", "host_computation", "copied to the host")
def numpy_computes_it(x, out=None):
    host = np.ascontiguousarray(x.copy_to_host()).astype(np.float64)
    with np.errstate(over="ignore"):
        values = (1 / (1 + np.exp(-host))).astype(real(x))
    return cuda.to_device(values) if out is None else fill_in(out, values)


def fill_in(out, values):
    out[...] = values
    return out


@wrong("fused_sgd", "difference", "operand 2", "0.9")
def momentum_is_not_kept(
    param, grad, buffer=None, lr=0.01, momentum=0.0, weight_decay=0.0
):
    slope = grad + weight_decay * param
    if buffer is not None:
        slope = momentum * buffer + slope
    param[...] = param - lr * slope
    return param


@wrong("cross_entropy", "ShapeError", "returned shape (1,)", "give shape ()")
def loss_has_an_axis(logits, targets):
    out = cuda.device_array(1, real(logits))
    zero_kernel[1, 1](out)
    return out
