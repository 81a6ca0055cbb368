"""Wrong ops that are right for the usual parameters and magnitudes only."""

# Kernels are written as students write them, without annotations.

import math

import numpy as np

from tests.unit.library.wrong_kernels import mapped, wrong
from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32
from tinytorch_gpu.library import DispatchKey
from tinytorch_gpu.library.registry import find


class Shipped:
    """The shipped kernels' functions, as they are before a wrong one overrides them."""

    def __init__(self, *ops):
        for op in ops:
            found = find(f"tinytorch::{op}", DispatchKey.SIMGPU)
            setattr(self, op, found.function)


kernels = Shipped(
    "batch_norm", "conv2d", "div", "exp", "fused_adam", "fused_adamw", "gt",
    "layer_norm", "max", "mean", "sigmoid", "softmax", "sub", "sum", "tanh", "where",
)  # fmt: skip

# Magnitudes


@cuda.jit
def early_sigmoid_kernel(x, out):
    i = cuda.grid(1)
    if i < out.size:
        value = x[i]
        if value > 6:
            out[i] = float32(1)
        elif value < -6:
            out[i] = float32(0)
        else:
            out[i] = float32(1) / (float32(1) + math.exp(-value))


@cuda.jit
def early_tanh_kernel(x, out):
    i = cuda.grid(1)
    if i < out.size:
        value = x[i]
        if abs(value) > 4 and abs(value) < 80:
            value = math.copysign(float32(4), value)
        out[i] = math.tanh(value)


@cuda.jit
def capped_exp_kernel(x, out):
    i = cuda.grid(1)
    if i < out.size:
        value = x[i]
        out[i] = math.exp(float32(6) if value > 6 and value < 80 else value)


def of_floats(kernel, shipped, x, out):
    return shipped(x, out) if x.dtype != np.float32 else mapped(kernel, x, out)


@wrong("sigmoid", "difference", "float32 (18,)")
def sigmoid_is_over_at_6(x, out=None):
    return of_floats(early_sigmoid_kernel, kernels.sigmoid, x, out)


@wrong("tanh", "difference", "float32 (18,)")
def tanh_is_over_at_4(x, out=None):
    return of_floats(early_tanh_kernel, kernels.tanh, x, out)


@wrong("exp", "difference", "float32 (18,)")
def exp_is_capped_at_6(x, out=None):
    return of_floats(capped_exp_kernel, kernels.exp, x, out)


@wrong("softmax", "difference", "(1, 1100)")
def maximum_of_the_first_64(x, dim=-1):
    if x.ndim != 2 or dim % 2 == 0 or x.dtype != np.float32:
        return kernels.softmax(x, dim)
    top = kernels.max(x[:, :64], 1, True)
    raised = kernels.exp(kernels.sub(x, top))
    return kernels.div(raised, kernels.sum(raised, 1, True))


# Parameters


@wrong("conv2d", "ShapeError", "stride=(2, 1)")
def strides_are_swapped(x, weight, bias=None, stride=1, padding=0, dilation=1, **more):
    if isinstance(stride, tuple):
        stride = stride[::-1]
    return kernels.conv2d(x, weight, bias, stride, padding, dilation, **more)


@wrong("layer_norm", "difference", "eps=0.5")
def eps_of_layer_norm_is_fixed(x, weight, bias, eps=1e-5):
    return kernels.layer_norm(x, weight, bias, 1e-5)


@wrong("batch_norm", "difference", "eps=0.5")
def eps_of_batch_norm_is_fixed(x, weight, bias, mean=None, var=None, eps=1e-5):
    return kernels.batch_norm(x, weight, bias, mean, var, 1e-5)


@wrong("fused_adam", "difference", "beta1=0.7")
def betas_are_fixed(
    param, grad, m, v, step, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8, weight_decay=0.0
):
    return kernels.fused_adam(
        param, grad, m, v, step, lr, eps=eps, weight_decay=weight_decay
    )


@wrong("fused_adamw", "difference", "eps=0.1")
def eps_of_adam_is_fixed(
    param, grad, m, v, step, lr=1e-3, beta1=0.9, beta2=0.999, eps=1e-8,
    weight_decay=0.01,
):  # fmt: skip
    return kernels.fused_adamw(
        param, grad, m, v, step, lr, beta1, beta2, weight_decay=weight_decay
    )


@wrong("sum", "ShapeError", "keepdims=True", "axis=None")
def keepdims_is_forgotten_for_all_axes(x, axis=None, keepdims=False):
    return kernels.sum(x, axis, keepdims and axis is not None)


@wrong("mean", "ShapeError", "keepdims=True", "axis=(0, 1)")
def keepdims_is_forgotten_for_a_tuple_of_all(x, axis=None, keepdims=False):
    is_all = isinstance(axis, tuple) and len(axis) == x.ndim
    return kernels.mean(x, axis, keepdims and not is_all)


@wrong("sum", "ShapeError", "axis=(-3, -2)")
def negative_axes_of_a_tuple_are_one_off(x, axis=None, keepdims=False):
    if isinstance(axis, tuple) and all(a < 0 for a in axis):
        axis = tuple((a + 1) % x.ndim for a in axis)
    return kernels.sum(x, axis, keepdims)


@wrong("where", "difference", "float32 (4,)")
def only_positive_numbers_are_true(condition, x, y):
    return kernels.where(kernels.gt(condition, 0.0), x, y)
