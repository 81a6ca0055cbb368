"""Two-dimensional convolution, version by version: out = x ⋆ weight (+ bias).

- v1 `conv2d_direct`: one thread for each element of the output; it walks over the
  window of every input channel. Neighbours load neighbours, but each element of the
  image is loaded once for each window position and output channel.
- v2 `im2col` + matrix product: `im2col` writes each window as a column, once; then
  weight (O, C kh kw) times columns (C kh kw, positions) is a matrix product. It pays
  with memory: the columns take kh kw times the image.

Backward, in gather form, so that no two threads write the same element:
`conv2d_backward_input` collects the outputs that an input element went into,
`conv2d_backward_weight` sums over one image (the sum over images is the op `sum`), and
`col2im` is `im2col` backwards.

`size`, `stride`, `padding` and `dilation` are pairs (y, x). Arrays are (N, C, H, W),
weights (O, C, kh, kw). Reference: seven loops of NumPy in float64, in the tests.
"""

# Kernels are written as students write them, without annotations.
# ruff: noqa: ANN001, ANN201
# mypy: allow-untyped-defs, no-check-untyped-defs

from __future__ import annotations

from typing import Any, NamedTuple

from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32

__all__ = [
    "VERSIONS",
    "Version",
    "col2im_kernel",
    "conv2d_backward_input_kernel",
    "conv2d_backward_weight_kernel",
    "conv2d_direct",
    "im2col_kernel",
]


@cuda.jit
def conv2d_direct(x, weight, stride, padding, dilation, out):
    """Store one element of out (N, O, H', W'); x counts places of one output image."""
    stride_y, stride_x = stride
    pad_y, pad_x = padding
    step_y, step_x = dilation
    place, channel, image = cuda.grid(3)
    columns = out.shape[3]
    if (
        place < out.shape[2] * columns
        and channel < out.shape[1]
        and image < out.shape[0]
    ):
        top = place // columns * stride_y - pad_y
        left = place % columns * stride_x - pad_x
        total = float32(0.0)
        for c in range(weight.shape[1]):
            for i in range(weight.shape[2]):
                row = top + i * step_y
                for j in range(weight.shape[3]):
                    col = left + j * step_x
                    if 0 <= row < x.shape[2] and 0 <= col < x.shape[3]:
                        total += x[image, c, row, col] * weight[channel, c, i, j]
        out[image, channel, place // columns, place % columns] = total


@cuda.jit
def im2col_kernel(x, size, stride, padding, dilation, columns, out):
    """Store one element of out (N, C kh kw, H' W'): 0 where a window meets padding.

    `columns` is W', the columns of the output image.
    """
    size_y, size_x = size
    stride_y, stride_x = stride
    pad_y, pad_x = padding
    step_y, step_x = dilation
    place, entry, image = cuda.grid(3)
    if place < out.shape[2] and entry < out.shape[1] and image < out.shape[0]:
        # Changed: a thread no longer sums; it moves one element of one window.
        c = entry // (size_y * size_x)
        i = entry // size_x % size_y
        j = entry % size_x
        row = place // columns * stride_y - pad_y + i * step_y
        col = place % columns * stride_x - pad_x + j * step_x
        value = float32(0.0)
        if 0 <= row < x.shape[2] and 0 <= col < x.shape[3]:
            value = x[image, c, row, col]
        out[image, entry, place] = value


@cuda.jit
def col2im_kernel(cols, size, stride, padding, dilation, columns, out):
    """Store one element of out (N, C, H, W): the sum of its copies in cols.

    `cols` is (N, C kh kw, H' W'), `columns` is W'.
    """
    size_y, size_x = size
    stride_y, stride_x = stride
    pad_y, pad_x = padding
    step_y, step_x = dilation
    place, c, image = cuda.grid(3)
    width = out.shape[3]
    if place < out.shape[2] * width and c < out.shape[1] and image < out.shape[0]:
        rows = cols.shape[2] // columns
        total = float32(0.0)
        for i in range(size_y):
            y = place // width + pad_y - i * step_y
            for j in range(size_x):
                x = place % width + pad_x - j * step_x
                row = y // stride_y
                col = x // stride_x
                if (
                    y == row * stride_y
                    and x == col * stride_x
                    and 0 <= row < rows
                    and 0 <= col < columns
                ):
                    entry = (c * size_y + i) * size_x + j
                    total += cols[image, entry, row * columns + col]
        out[image, c, place // width, place % width] = total


@cuda.jit
def conv2d_backward_input_kernel(grad, weight, stride, padding, dilation, out):
    """Store one element of out (N, C, H, W): the gradient by the input."""
    stride_y, stride_x = stride
    pad_y, pad_x = padding
    step_y, step_x = dilation
    place, c, image = cuda.grid(3)
    width = out.shape[3]
    if place < out.shape[2] * width and c < out.shape[1] and image < out.shape[0]:
        total = float32(0.0)
        for i in range(weight.shape[2]):
            y = place // width + pad_y - i * step_y
            for j in range(weight.shape[3]):
                x = place % width + pad_x - j * step_x
                row = y // stride_y
                col = x // stride_x
                if (
                    y == row * stride_y
                    and x == col * stride_x
                    and 0 <= row < grad.shape[2]
                    and 0 <= col < grad.shape[3]
                ):
                    for channel in range(weight.shape[0]):
                        value = grad[image, channel, row, col]
                        total += value * weight[channel, c, i, j]
        out[image, c, place // width, place % width] = total


@cuda.jit
def conv2d_backward_weight_kernel(grad, x, size, stride, padding, dilation, out):
    """Store one element of out (N, O, C kh kw): one image's share of the gradient."""
    size_y, size_x = size
    stride_y, stride_x = stride
    pad_y, pad_x = padding
    step_y, step_x = dilation
    entry, channel, image = cuda.grid(3)
    if entry < out.shape[2] and channel < out.shape[1] and image < out.shape[0]:
        c = entry // (size_y * size_x)
        i = entry // size_x % size_y * step_y - pad_y
        j = entry % size_x * step_x - pad_x
        total = float32(0.0)
        for row in range(grad.shape[2]):
            y = row * stride_y + i
            for col in range(grad.shape[3]):
                z = col * stride_x + j
                if 0 <= y < x.shape[2] and 0 <= z < x.shape[3]:
                    total += grad[image, channel, row, col] * x[image, c, y, z]
        out[image, channel, entry] = total


class Version(NamedTuple):
    """One version of the forward step, and what it counts.

    The counts are of an image (1, 1, 18, 18) and 8 filters of 3 × 3: an output of 16 ×
    16 places is 8 warps for each filter.

    Args:
        name: as `conv2d(..., version=name)` takes it.
        kernel: what it launches first.
        idea: what it adds to the version before.
        global_loads: warp-wide requests to global memory that load, of that kernel.
    """

    name: str
    kernel: Any
    idea: str
    global_loads: int


# Direct: 8 warps × 8 filters × 9 elements of the window, of image and weight.
# Columns: 8 warps × 9 elements of the window, once, of the image.
VERSIONS = (
    Version("direct", conv2d_direct, "one thread for each element of the output", 1152),
    Version("im2col", im2col_kernel, "windows as columns, then a matrix product", 72),
)
