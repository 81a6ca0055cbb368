"""Pooling: the largest, or the mean, of each window; and the gradients.

One thread computes one element; x counts the places of an image, y its channels, z the
images. The gradient of the mean is in gather form: a thread of the input asks the
windows that cover it. That of the largest is a scatter, with atomic additions.
"""

# Kernels are written as students write them, without annotations.
# ruff: noqa: ANN001, ANN201
# mypy: allow-untyped-defs, no-check-untyped-defs

from __future__ import annotations

import math

from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32

__all__ = [
    "avg_pool2d_backward_kernel",
    "avg_pool2d_kernel",
    "max_pool2d_backward_kernel",
    "max_pool2d_kernel",
]

LOWEST = float32(-math.inf)


@cuda.jit
def max_pool2d_kernel(x, size, stride, padding, dilation, indices, out):
    """Store the largest of a window, and where in the image it stands, row by row."""
    size_y, size_x = size
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
        best = LOWEST
        found = -1
        for i in range(size_y):
            row = top + i * step_y
            for j in range(size_x):
                col = left + j * step_x
                if 0 <= row < x.shape[2] and 0 <= col < x.shape[3]:
                    value = x[image, channel, row, col]
                    # Selects, no branch on data. NaN wins.
                    is_new = found < 0 or best < value or math.isnan(value)
                    best = value if is_new else best
                    found = row * x.shape[3] + col if is_new else found
        out[image, channel, place // columns, place % columns] = best
        indices[image, channel, place // columns, place % columns] = found


@cuda.jit
def max_pool2d_backward_kernel(indices, out, grad):
    """Add each gradient (N, C, places) to the element that was the largest."""
    place, channel, image = cuda.grid(3)
    if place < grad.shape[2] and channel < grad.shape[1] and image < grad.shape[0]:
        found = indices[image, channel, place]
        if found >= 0:
            # Windows may overlap: several gradients meet at one element.
            cuda.atomic.add(out, (image, channel, found), grad[image, channel, place])


@cuda.jit
def avg_pool2d_kernel(x, size, stride, padding, out):
    """Store the sum of a window divided by its area, padding included."""
    size_y, size_x = size
    stride_y, stride_x = stride
    pad_y, pad_x = padding
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
        for row in range(top, top + size_y):
            for col in range(left, left + size_x):
                if 0 <= row < x.shape[2] and 0 <= col < x.shape[3]:
                    total += x[image, channel, row, col]
        mean = total / float32(size_y * size_x)
        out[image, channel, place // columns, place % columns] = mean


@cuda.jit
def avg_pool2d_backward_kernel(grad, size, stride, padding, out):
    """Store the sum of the gradients of the windows that cover an element, / area."""
    size_y, size_x = size
    stride_y, stride_x = stride
    pad_y, pad_x = padding
    place, channel, image = cuda.grid(3)
    width = out.shape[3]
    if place < out.shape[2] * width and channel < out.shape[1] and image < out.shape[0]:
        total = float32(0.0)
        for i in range(size_y):
            y = place // width + pad_y - i
            row = y // stride_y
            for j in range(size_x):
                x = place % width + pad_x - j
                col = x // stride_x
                if (
                    y == row * stride_y
                    and x == col * stride_x
                    and 0 <= row < grad.shape[2]
                    and 0 <= col < grad.shape[3]
                ):
                    total += grad[image, channel, row, col]
        mean = total / float32(size_y * size_x)
        out[image, channel, place // width, place % width] = mean
