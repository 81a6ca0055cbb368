"""Wrong functions that keep, share or forget memory: between calls, and beside `out`."""

# Kernels are written as students write them, without annotations.

from tests.unit.library.wrong_kernels import (
    THREADS,
    blocks,
    exp_kernel,
    like,
    mapped,
    real,
    wrong,
    zero_kernel,
)
from tinytorch_gpu import cuda
from tinytorch_gpu.kernels.copying import copy, fill
from tinytorch_gpu.kernels.layer_norm import layer_norm_backward

by_shape, by_id, outputs, done = KEPT = {}, {}, {}, {}


# Results that are kept


@wrong("exp", "stale", "in a second call", "other values")
def result_is_kept_by_shape(x, out=None):
    key = x.shape, x.dtype
    if out is not None:
        return mapped(exp_kernel, x, out, real(x))
    if key not in by_shape:
        by_shape[key] = mapped(exp_kernel, x, None, real(x))
    return by_shape[key].copy()


@wrong("exp", "stale", "in a second call", "id() is an old one")
def result_is_kept_by_id(x, out=None):
    if out is not None:
        return mapped(exp_kernel, x, out, real(x))
    if id(x) not in by_id:
        by_id[id(x)] = x, mapped(exp_kernel, x, None, real(x))
    return by_id[id(x)][1].copy()


@wrong("exp", "overwritten", "of one call was", "a new array")
def every_call_gives_the_same_array(x, out=None):
    if out is None:
        out = outputs.setdefault((x.shape, x.dtype), like(x, real(x)))
    return mapped(exp_kernel, x, out, real(x))


@wrong("fill", "stale", "in a second call", "the reference has 2.5")
def what_was_filled_is_not_filled_again(out, value):
    if id(out) not in done:
        done[id(out)] = fill(out, value)
    return out


# Strides


@wrong("exp", "difference", "backwards", "the reference has")
def steps_backwards_go_forwards(x, out=None):
    if any(step < 0 for step in x.strides):
        ends = zip(x.shape, x.strides, strict=True)
        first = x.address + sum((n - 1) * step for n, step in ends if step < 0)
        told = {**x.__cuda_array_interface__, "data": (first, False)}
        told["strides"] = tuple(map(abs, x.strides))
        x = cuda.from_cuda_array_interface(told, owner=x)
    return mapped(exp_kernel, x, out, real(x))


@wrong("exp", "difference", "axes moved", "(2, 2, 4, 3)")
def strides_of_four_axes_are_ignored(x, out=None):
    if x.ndim > 3:
        told = {**x.__cuda_array_interface__, "strides": None}
        x = cuda.from_cuda_array_interface(told, owner=x)
    return mapped(exp_kernel, x, out, real(x))


# Memory of others


@wrong("copy", "aliased_result", "lies in the memory of operand 0", "a new array")
def the_copy_is_the_array(x, dtype=None, out=None):
    if dtype is not None or out is not None:
        return copy(x, dtype, out)
    zero_kernel[1, THREADS](cuda.device_array(THREADS, x.dtype))
    return x


@wrong("exp", "written_beside", "between the elements", "every second", "has gaps")
def gaps_of_out_are_written(x, out=None):
    out = like(x, real(x)) if out is None else out
    told = {**out.__cuda_array_interface__, "strides": None, "shape": (out.size,)}
    flat = cuda.from_cuda_array_interface(told, owner=out)
    exp_kernel[blocks(x.size), THREADS](x.copy().reshape(-1), flat)
    return out


@wrong("exp", "difference", "out=operand 0", "out[0, 0] is 1.0")
def out_is_cleared_before_x_is_read(x, out=None):
    if out is not None:
        out[...] = 0
    return mapped(exp_kernel, x, out, real(x))


@wrong("layer_norm_backward", "missing_result", "results: 1, the reference has 3")
def gradients_of_weight_and_bias_are_forgotten(grad, x, weight, eps=1e-5):
    return layer_norm_backward(grad, x, weight, eps)[0], None, None
