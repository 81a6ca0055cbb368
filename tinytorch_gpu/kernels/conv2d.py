"""The ops conv2d and conv2d_backward: shapes, and which kernels run.

Comes in: images (N, C, H, W) and weights (O, C, kh, kw) of any strides. The versions
stand in `conv2d_kernels.py`; the matrix product is the default.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu import cuda, library
from tinytorch_gpu.errors import ShapeError, UnsupportedError
from tinytorch_gpu.kernels import conv2d_kernels as kernels
from tinytorch_gpu.kernels.copying import in_reals
from tinytorch_gpu.kernels.im2col import columns_of
from tinytorch_gpu.kernels.images import check_images, launch_images
from tinytorch_gpu.kernels.matmul import matmul
from tinytorch_gpu.kernels.operands import real_dtype
from tinytorch_gpu.kernels.reduce import reduce_sum
from tinytorch_gpu.kernels.threads import add
from tinytorch_gpu.kernels.window import Window, window_of

if TYPE_CHECKING:
    from tinytorch_gpu.memory import DeviceArray

__all__ = ["conv2d", "conv2d_backward"]

Pair = int | tuple[int, ...]


@library.impl("tinytorch::conv2d", "simgpu")
def conv2d(
    x: DeviceArray,
    weight: DeviceArray,
    bias: DeviceArray | None = None,
    stride: Pair = 1,
    padding: Pair = 0,
    dilation: Pair = 1,
    version: str = "im2col",
) -> DeviceArray:
    """Slide every weight over every image and sum the products.

    Args:
        x: device array (N, C, H, W).
        weight: device array (O, C, kh, kw).
        bias: device array (O,), or None.
        stride: elements from one window to the next, one number or (y, x).
        padding: zeros around the image, one number or (y, x).
        dilation: elements from one entry of the window to the next.
        version: "im2col" (a matrix product), or "direct".

    Returns:
        Device array (N, O, H', W').

    Raises:
        ShapeError: the shapes do not fit, or the window is larger than the image.
        UnsupportedError: there is no such version.

    Example:
        >>> import numpy as np
        >>> x = cuda.to_device(np.ones((1, 1, 3, 3), np.float32))
        >>> weight = cuda.to_device(np.ones((1, 1, 2, 2), np.float32))
        >>> conv2d(x, weight).copy_to_host().tolist()
        [[[[4.0, 4.0], [4.0, 4.0]]]]
    """
    _check_shapes("conv2d", x, weight)
    x, weight = in_reals(x, weight)
    window = window_of("conv2d", weight.shape[2:], stride, padding, dilation)
    rows, columns = window.output("conv2d", (x.shape[2], x.shape[3]))
    shape = (x.shape[0], weight.shape[0], rows, columns)
    if version == "im2col":
        flat = _flat(weight, 1)
        out = matmul(flat, columns_of(x, window)).reshape(shape)
    elif version == "direct":
        out = cuda.device_array(shape, _dtype(x, weight))
        launch_images(kernels.conv2d_direct, (x, weight, *window[1:]), out)
    else:
        raise _no_version(version)
    return out if bias is None else add(out, bias.reshape(-1, 1, 1), out)


@library.impl("tinytorch::conv2d_backward", "simgpu")
def conv2d_backward(
    grad: DeviceArray,
    x: DeviceArray,
    weight: DeviceArray,
    stride: Pair = 1,
    padding: Pair = 0,
    dilation: Pair = 1,
    version: str = "im2col",
) -> tuple[DeviceArray, DeviceArray, DeviceArray]:
    """Return the gradients by x, weight and bias.

    Args:
        grad: gradient of the loss by the output, (N, O, H', W').
        x: what `conv2d` was given, (N, C, H, W).
        weight: what `conv2d` was given, (O, C, kh, kw).
        stride: as in `conv2d`.
        padding: as in `conv2d`.
        dilation: as in `conv2d`.
        version: as in `conv2d`.

    Returns:
        Device arrays of the shapes of x, of weight, and (O,).

    Raises:
        ShapeError: the shapes do not fit.
        UnsupportedError: there is no such version.
    """
    op = "conv2d_backward"
    _check_shapes(op, x, weight)
    window = window_of(op, weight.shape[2:], stride, padding, dilation)
    places = window.output(op, (x.shape[2], x.shape[3]))
    expected = (x.shape[0], weight.shape[0], *places)
    if grad.shape != expected:
        raise ShapeError(
            f"{op}: grad has shape {grad.shape}, the output has {expected}",
            where=f"tinytorch::{op}, x {x.shape}, weight {weight.shape}",
            why="each element of the output has one gradient",
            fix="pass the stride, padding and dilation of the forward step",
            shapes=(grad.shape, expected),
        )
    if version not in {"direct", "im2col"}:
        raise _no_version(version)
    gradients = _through_columns if version == "im2col" else _direct
    by_x, shares = gradients(grad, x, weight, window)
    by_weight = reduce_sum(shares, 0).reshape(weight.shape)
    return by_x, by_weight, reduce_sum(grad, (0, 2, 3))


def _direct(
    grad: DeviceArray, x: DeviceArray, weight: DeviceArray, window: Window
) -> tuple[DeviceArray, DeviceArray]:
    """Return the gradient by x, and each image's share of that by weight."""
    dtype = _dtype(x, weight)
    by_x = cuda.device_array(x.shape, dtype)
    launch_images(
        kernels.conv2d_backward_input_kernel, (grad, weight, *window[1:]), by_x
    )
    entries = math.prod(weight.shape[1:])
    shares = cuda.device_array((x.shape[0], weight.shape[0], entries), dtype)
    launch_images(kernels.conv2d_backward_weight_kernel, (grad, x, *window), shares)
    return by_x, shares


def _through_columns(
    grad: DeviceArray, x: DeviceArray, weight: DeviceArray, window: Window
) -> tuple[DeviceArray, DeviceArray]:
    """The same by matrix products: of each image's gradient, and of the weight."""
    flat_grad = _flat(grad, 2)  # (N, O, places)
    flat_weight = _flat(weight, 1)  # (O, entries)
    cols = columns_of(x, window)  # (N, entries, places)
    shares = matmul(flat_grad, cols.transpose(0, 2, 1))
    by_cols = matmul(flat_weight.T, flat_grad)
    by_x = cuda.device_array(x.shape, by_cols.dtype)
    launch_images(kernels.col2im_kernel, (by_cols, *window, grad.shape[3]), by_x)
    return by_x, shares


def _flat(x: DeviceArray, kept: int) -> DeviceArray:
    """View the axes after the first ones as one."""
    return x.reshape(*x.shape[:kept], math.prod(x.shape[kept:]))


def _check_shapes(op: str, x: DeviceArray, weight: DeviceArray) -> None:
    check_images(op, x)
    check_images(op, weight)
    if x.shape[1] != weight.shape[1]:
        raise ShapeError(
            f"{op}: x {x.shape} and weight {weight.shape}",
            where=f"tinytorch::{op}",
            why=f"x has {x.shape[1]} channels, the weight takes {weight.shape[1]}",
            fix="x is (N, C, H, W), weight is (O, C, kh, kw), with the same C",
            shapes=(x.shape, weight.shape),
        )


def _dtype(x: DeviceArray, weight: DeviceArray) -> np.dtype[Any]:
    return real_dtype(np.result_type(x.dtype, weight.dtype))


def _no_version(version: str) -> UnsupportedError:
    known = ", ".join(repr(v.name) for v in kernels.VERSIONS)
    return UnsupportedError(
        f"conv2d has no version {version!r}",
        where="tinytorch::conv2d",
        why=f"there are {known}",
        fix='version="im2col"',
    )
