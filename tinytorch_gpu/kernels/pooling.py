"""The ops max_pool2d and avg_pool2d, and their gradients, on images (N, C, H, W).

`max_pool2d_with_indices` also returns where each largest element stands, as PyTorch
does; its gradient needs nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tinytorch_gpu import cuda, library
from tinytorch_gpu.errors import ShapeError
from tinytorch_gpu.kernels import pooling_kernels as kernels
from tinytorch_gpu.kernels.copying import fill
from tinytorch_gpu.kernels.images import check_images, launch_images
from tinytorch_gpu.kernels.operands import INT64, same_shape
from tinytorch_gpu.kernels.window import Window, window_of

if TYPE_CHECKING:
    from tinytorch_gpu.memory import DeviceArray

__all__ = [
    "avg_pool2d",
    "avg_pool2d_backward",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool2d_with_indices_backward",
]

Pair = int | tuple[int, ...]


@library.impl("tinytorch::max_pool2d", "simgpu")
def max_pool2d(
    x: DeviceArray,
    kernel_size: Pair,
    stride: Pair | None = None,
    padding: Pair = 0,
    dilation: Pair = 1,
) -> DeviceArray:
    """Return the largest element of each window.

    Args:
        x: device array (N, C, H, W).
        kernel_size: rows and columns of the window, one number or (y, x).
        stride: from one window to the next; `kernel_size` if None.
        padding: on each side, at most half the window; padding never wins.
        dilation: from one element of the window to the next.

    Returns:
        Device array (N, C, H', W').

    Raises:
        ShapeError: x has not four axes, or the window does not fit.

    Example:
        >>> import numpy as np
        >>> x = cuda.to_device(np.arange(16, dtype=np.float32).reshape(1, 1, 4, 4))
        >>> max_pool2d(x, 2).copy_to_host().tolist()
        [[[[5.0, 7.0], [13.0, 15.0]]]]
    """
    return max_pool2d_with_indices(x, kernel_size, stride, padding, dilation)[0]


@library.impl("tinytorch::max_pool2d_with_indices", "simgpu")
def max_pool2d_with_indices(
    x: DeviceArray,
    kernel_size: Pair,
    stride: Pair | None = None,
    padding: Pair = 0,
    dilation: Pair = 1,
) -> tuple[DeviceArray, DeviceArray]:
    """Return the largest element of each window, and where it stands.

    Args:
        x: device array (N, C, H, W).
        kernel_size: as in `max_pool2d`.
        stride: as in `max_pool2d`.
        padding: as in `max_pool2d`.
        dilation: as in `max_pool2d`.

    Returns:
        Device arrays (N, C, H', W'): the elements, and int64 places row W + column.

    Raises:
        ShapeError: x has not four axes, or the window does not fit.
    """
    op = "max_pool2d"
    window = _checked_window(
        op, x, window_of(op, kernel_size, stride, padding, dilation)
    )
    shape = (*x.shape[:2], *window.output(op, (x.shape[2], x.shape[3])))
    out = cuda.device_array(shape, x.dtype)
    indices = cuda.device_array(shape, INT64)
    launch_images(kernels.max_pool2d_kernel, (x, *window, indices), out)
    return out, indices


@library.impl("tinytorch::max_pool2d_with_indices_backward", "simgpu")
def max_pool2d_with_indices_backward(
    grad: DeviceArray, indices: DeviceArray, input_shape: tuple[int, ...]
) -> DeviceArray:
    """Return the gradient by x: each window's gradient goes to its largest element.

    Args:
        grad: gradient of the loss by the output, (N, C, H', W').
        indices: what `max_pool2d_with_indices` returned.
        input_shape: that of x, (N, C, H, W).

    Returns:
        Device array of `input_shape`.

    Raises:
        ShapeError: the shapes do not fit.
    """
    op = "max_pool2d_with_indices_backward"
    same_shape(op, grad, indices)
    _check_input_shape(op, grad, input_shape)
    out = fill(cuda.device_array(input_shape, grad.dtype), 0)
    if grad.size:
        views = [a.reshape(*a.shape[:2], -1) for a in (indices, out, grad)]
        launch_images(kernels.max_pool2d_backward_kernel, tuple(views[:2]), views[2])
    return out


@library.impl("tinytorch::avg_pool2d", "simgpu")
def avg_pool2d(
    x: DeviceArray, kernel_size: Pair, stride: Pair | None = None, padding: Pair = 0
) -> DeviceArray:
    """Return the mean of each window; zeros of the padding count.

    Args:
        x: device array (N, C, H, W).
        kernel_size: rows and columns of the window, one number or (y, x).
        stride: from one window to the next; `kernel_size` if None.
        padding: zeros on each side, at most half the window.

    Returns:
        Device array (N, C, H', W').

    Raises:
        ShapeError: x has not four axes, or the window does not fit.

    Example:
        >>> import numpy as np
        >>> x = cuda.to_device(np.float32([[[[1, 3], [5, 7]]]]))
        >>> avg_pool2d(x, 2).item()
        4.0
    """
    op = "avg_pool2d"
    window = _checked_window(op, x, window_of(op, kernel_size, stride, padding))
    shape = (*x.shape[:2], *window.output(op, (x.shape[2], x.shape[3])))
    out = cuda.device_array(shape, x.dtype)
    return launch_images(kernels.avg_pool2d_kernel, (x, *window[:3]), out)


@library.impl("tinytorch::avg_pool2d_backward", "simgpu")
def avg_pool2d_backward(
    grad: DeviceArray,
    input_shape: tuple[int, ...],
    kernel_size: Pair,
    stride: Pair | None = None,
    padding: Pair = 0,
) -> DeviceArray:
    """Return the gradient by x: each window shares its gradient out evenly.

    Args:
        grad: gradient of the loss by the output, (N, C, H', W').
        input_shape: that of x, (N, C, H, W).
        kernel_size: as in `avg_pool2d`.
        stride: as in `avg_pool2d`.
        padding: as in `avg_pool2d`.

    Returns:
        Device array of `input_shape`.

    Raises:
        ShapeError: the shapes do not fit.
    """
    op = "avg_pool2d_backward"
    _check_input_shape(op, grad, input_shape)
    window = window_of(op, kernel_size, stride, padding)
    out = cuda.device_array(input_shape, grad.dtype)
    return launch_images(kernels.avg_pool2d_backward_kernel, (grad, *window[:3]), out)


def _checked_window(op: str, x: DeviceArray, window: Window) -> Window:
    """Refuse padding that a whole window could lie in: its largest would be nothing."""
    check_images(op, x)
    if any(2 * p > k for p, k in zip(window.padding, window.size, strict=True)):
        raise ShapeError(
            f"{op}: padding {window.padding} with a window of {window.size}",
            where=f"tinytorch::{op}, x {x.shape}",
            why="a window must reach the image: padding is at most half its size",
            fix="pad less, or take a larger window",
            shape=x.shape,
        )
    return window


def _check_input_shape(op: str, grad: DeviceArray, shape: tuple[int, ...]) -> None:
    check_images(op, grad)
    if len(shape) != 4 or tuple(shape[:2]) != grad.shape[:2]:
        raise ShapeError(
            f"{op}: grad {grad.shape} for an input of shape {shape}",
            where=f"tinytorch::{op}",
            why="input and output have the same batch and channels",
            fix="pass x.shape of the forward step",
            shapes=(grad.shape, tuple(shape)),
        )
