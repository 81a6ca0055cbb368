"""The ops im2col and col2im: images as columns of windows, and back.

One launch each, of the kernels in `conv2d_kernels.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tinytorch_gpu import cuda, library
from tinytorch_gpu.errors import ShapeError
from tinytorch_gpu.kernels.conv2d_kernels import col2im_kernel, im2col_kernel
from tinytorch_gpu.kernels.images import check_images, launch_images
from tinytorch_gpu.kernels.window import Window, window_of

if TYPE_CHECKING:
    from tinytorch_gpu.memory import DeviceArray

__all__ = ["col2im", "columns_of", "im2col"]

Pair = int | tuple[int, ...]


@library.impl("tinytorch::im2col", "simgpu")
def im2col(
    x: DeviceArray,
    kernel_size: Pair,
    stride: Pair = 1,
    padding: Pair = 0,
    dilation: Pair = 1,
) -> DeviceArray:
    """Write every window of every image as a column; PyTorch's `unfold`.

    Args:
        x: device array (N, C, H, W).
        kernel_size: of the window, one number or (y, x).
        stride: elements from one window to the next.
        padding: zeros around the image.
        dilation: elements from one entry of the window to the next.

    Returns:
        Device array (N, C kh kw, H' W').

    Raises:
        ShapeError: x has not four axes, or the window is larger than the image.

    Example:
        >>> import numpy as np
        >>> x = cuda.to_device(np.arange(4, dtype=np.float32).reshape(1, 1, 2, 2))
        >>> im2col(x, (1, 2)).copy_to_host().tolist()
        [[[0.0, 2.0], [1.0, 3.0]]]
    """
    check_images("im2col", x)
    return columns_of(x, window_of("im2col", kernel_size, stride, padding, dilation))


def columns_of(x: DeviceArray, window: Window) -> DeviceArray:
    """Return every window of x as a column, (N, C kh kw, H' W')."""
    rows, columns = window.output("im2col", (x.shape[2], x.shape[3]))
    entries = x.shape[1] * window.size[0] * window.size[1]
    out = cuda.device_array((x.shape[0], entries, rows * columns), x.dtype)
    return launch_images(im2col_kernel, (x, *window, columns), out)


@library.impl("tinytorch::col2im", "simgpu")
def col2im(
    cols: DeviceArray,
    output_size: tuple[int, int],
    kernel_size: Pair,
    stride: Pair = 1,
    padding: Pair = 0,
    dilation: Pair = 1,
) -> DeviceArray:
    """Add every window's elements back to where `im2col` took them; `fold`.

    Args:
        cols: device array (N, C kh kw, H' W').
        output_size: rows and columns of the image, (H, W).
        kernel_size: as in `im2col`.
        stride: as in `im2col`.
        padding: as in `im2col`.
        dilation: as in `im2col`.

    Returns:
        Device array (N, C, H, W).

    Raises:
        ShapeError: the columns are not those of such an image.
    """
    window = window_of("col2im", kernel_size, stride, padding, dilation)
    rows, columns = window.output("col2im", output_size)
    area = window.size[0] * window.size[1]
    if cols.ndim != 3 or cols.shape[2] != rows * columns or cols.shape[1] % area:
        raise ShapeError(
            f"col2im: columns of shape {cols.shape}",
            where=f"tinytorch::col2im, image {output_size}, {window}",
            why=f"there are {rows * columns} windows of {area} elements a channel",
            fix="pass what im2col of the same window and image returns",
            shape=cols.shape,
        )
    shape = (cols.shape[0], cols.shape[1] // area, *output_size)
    out = cuda.device_array(shape, cols.dtype)
    return launch_images(col2im_kernel, (cols, *window, columns), out)
