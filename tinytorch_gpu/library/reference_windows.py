"""References of ops with windows: convolution and pooling, in NumPy in float64."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.library.cases import (
    SUMMED,
    Case,
    Given,
    OpFacts,
    case,
    real,
    whole,
)
from tinytorch_gpu.library.gathering_rules import pair_of, windows

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["WINDOWS"]


def _im2col(
    x: Any,
    kernel_size: Any,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    fill: float = 0.0,
) -> Any:
    """Return the windows as columns, (N, C kh kw, H' W')."""
    (kh, kw), (sy, sx), (dy, dx) = map(pair_of, (kernel_size, stride, dilation))
    sides = [(0, 0), (0, 0), *((p, p) for p in pair_of(padding))]
    rows, columns = windows(x.shape[2:], kernel_size, stride, padding, dilation)
    x = np.pad(x, sides, constant_values=fill)
    parts = [
        x[:, :, i * dy :: sy, j * dx :: sx][:, :, :rows, :columns]
        for i in range(kh)
        for j in range(kw)
    ]
    stacked = np.stack(parts, axis=2)  # (N, C, kh kw, H', W')
    return stacked.reshape(x.shape[0], x.shape[1] * kh * kw, rows * columns)


def _col2im(
    cols: Any, output_size: Any, kernel_size: Any, *_: Any, **window: Any
) -> Any:
    """Add back by the places that `_im2col` takes: those of a picture of places."""
    height, width = output_size
    places = np.arange(1.0, height * width + 1).reshape(1, 1, height, width)
    taken = _im2col(places, kernel_size, **window)[0].astype(int)  # 0 is padding
    area = taken.shape[0]
    by_channel = cols.reshape(len(cols), cols.shape[1] // area, area, cols.shape[2])
    out = np.zeros((*by_channel.shape[:2], height * width + 1), cols.dtype)
    for image, channel in np.ndindex(by_channel.shape[:2]):
        np.add.at(out[image, channel], taken, by_channel[image, channel])
    return out[:, :, 1:].reshape(*by_channel.shape[:2], height, width)


def _conv2d(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    version: str = "",
) -> Any:
    del version
    cols = _im2col(x, weight.shape[2:], stride, padding, dilation)
    out = weight.reshape(len(weight), -1) @ cols
    size = windows(x.shape[2:], weight.shape[2:], stride, padding, dilation)
    out = out.reshape(len(x), len(weight), *size)
    return out if bias is None else out + bias.reshape(-1, 1, 1)


def _conv2d_backward(
    grad: Any, x: Any, weight: Any, version: str = "", **w: Any
) -> Any:
    del version
    flat = grad.reshape(*grad.shape[:2], np.prod(grad.shape[2:]))
    cols = _im2col(x, weight.shape[2:], **w)
    by_weight = np.einsum("nop,nkp->ok", flat, cols).reshape(weight.shape)
    by_cols = np.einsum("ok,nop->nkp", weight.reshape(len(weight), -1), flat)
    by_x = _col2im(by_cols, x.shape[2:], weight.shape[2:], **w)
    return by_x, by_weight, grad.sum((0, 2, 3))


def _images() -> Iterator[tuple[Any, Any, dict[str, Any]]]:
    """Yield images, weights, and how the window moves."""
    yield real((1, 1, 3, 3)), real((1, 1, 2, 2), seed=1), {}
    yield real((2, 3, 7, 6)), real((4, 3, 3, 2), seed=1), {}
    yield real((2, 3, 7, 6)), real((4, 3, 3, 2), seed=1), {"padding": (1, 0)}
    moving = {"stride": 2, "padding": 1, "dilation": (1, 2)}
    yield real((1, 2, 9, 8)), real((2, 2, 3, 3), seed=1), moving
    yield real((1, 2, 8, 9)), real((2, 2, 3, 2), seed=1), {"stride": (2, 1)}
    yield real((0, 1, 4, 4)), real((2, 1, 3, 3), seed=1), {}
    yield whole((1, 1, 24, 27)), whole((2, 1, 2, 2)), {}
    yield whole((1, 67, 2, 3)), whole((65, 67, 1, 1)), {}
    yield real((1, 1, 5, 5), "float64"), real((1, 1, 2, 2), "float64", seed=1), {}
    yield np.arange(9).reshape(1, 1, 3, 3), np.arange(4).reshape(1, 1, 2, 2), {}


def _conv2d_cases() -> Iterator[Case]:
    for x, weight, window in _images():
        yield case(x, weight, real((len(weight),), x.dtype.name, seed=2), **window)
        yield case(x, weight, version="direct", **window)
    moved = Given(
        real((1, 6, 5, 2)), lambda a: a.transpose((0, 3, 1, 2)), "channels last"
    )
    yield Case((moved, Given(real((3, 2, 2, 2), seed=1))))


def _conv2d_backward_cases() -> Iterator[Case]:
    for x, weight, window in _images():
        shape = _conv2d(x, weight, **window).shape
        dtype = x.dtype.name if x.dtype.kind == "f" else "float64"
        yield case(real(shape, dtype, seed=3), x, weight, **window)


def _im2col_cases() -> Iterator[Case]:
    for x, weight, window in _images():
        yield case(x, kernel_size=weight.shape[2:], **window)


def _col2im_cases() -> Iterator[Case]:
    for x, weight, window in _images():
        size = weight.shape[2:]
        cols = real(_im2col(x, size, **window).shape, x.dtype.name, seed=1)
        yield case(cols, output_size=x.shape[2:], kernel_size=size, **window)


def _pool_windows(*, dilated: bool = False) -> Iterator[tuple[Any, dict[str, Any]]]:
    yield real((1, 1, 2, 2)), {"kernel_size": 2}
    yield real((2, 3, 7, 8)), {"kernel_size": 3, "stride": 1, "padding": 1}
    yield real((2, 3, 7, 8)), {"kernel_size": (2, 3), "stride": 2}
    yield real((0, 2, 4, 4)), {"kernel_size": 2}
    yield whole((1, 3, 40, 41)), {"kernel_size": 2}
    yield whole((1100, 1, 2, 2)), {"kernel_size": 2}
    below = real((1, 1, 4, 4), low=-3, high=-1)  # no maximum starts at 0
    yield below, {"kernel_size": 3, "stride": 1, "padding": 1}
    yield np.ones((1, 1, 4, 4), np.float32), {"kernel_size": 2, "stride": 1}
    yield real((1, 1, 5, 5), "float64"), {"kernel_size": 2}
    if dilated:
        yield real((1, 1, 6, 6)), {"kernel_size": 3, "stride": 1, "dilation": 2}


def _pool_cases(*, dilated: bool = False) -> Iterator[Case]:
    for x, window in _pool_windows(dilated=dilated):
        yield case(x, **window)
    moved = Given(
        real((1, 4, 6, 2)), lambda a: a.transpose((0, 3, 1, 2)), "channels last"
    )
    yield Case((moved,), {"kernel_size": 2})


def _max_pool_cases(*, dilated: bool = False) -> Iterator[Case]:
    yield from _pool_cases(dilated=dilated)
    below = -1e38 * real((1, 1, 4, 4), low=1, high=3)
    below[..., :2, :2] = -np.inf  # no maximum starts at a number
    yield case(below, kernel_size=2)


def _pooled(x: Any, window: dict[str, Any], fill: float) -> Any:
    """Return the windows, (N, C, kh kw, H', W')."""
    size, padding = window["kernel_size"], window.get("padding", 0)
    step, spread = window.get("stride", size), window.get("dilation", 1)
    cols = _im2col(x, size, step, padding, spread, fill)
    fitting = windows(x.shape[2:], size, step, padding, spread)
    return cols.reshape(*x.shape[:2], np.prod(pair_of(size)), *fitting)


def _max_pool2d(x: Any, **window: Any) -> Any:
    return _pooled(x, window, -np.inf).max(2)


def _max_pool2d_with_indices(x: Any, **window: Any) -> Any:
    places = np.broadcast_to(
        np.arange(np.prod(x.shape[2:])).reshape(x.shape[2:]), x.shape
    )
    values = _pooled(x, window, -np.inf)
    chosen = values.argmax(2, keepdims=True)
    where = np.take_along_axis(_pooled(places.astype(float), window, -1), chosen, 2)
    return values.max(2), where[:, :, 0].astype(np.int64)


def _max_backward_cases() -> Iterator[Case]:
    for x, window in _pool_windows():
        out, places = _max_pool2d_with_indices(x, **window)
        grad = real(out.shape, x.dtype.name, seed=1)
        yield case(grad, places, input_shape=x.shape)


def _max_backward(grad: Any, indices: Any, input_shape: Any) -> Any:
    out = np.zeros((*input_shape[:2], np.prod(input_shape[2:])))
    for image, channel in np.ndindex(*input_shape[:2]):
        np.add.at(out[image, channel], indices[image, channel], grad[image, channel])
    return out.reshape(input_shape)


def _avg_backward_cases() -> Iterator[Case]:
    for x, window in _pool_windows():
        shape = _pooled(x, window, 0).mean(2).shape
        grad = real(shape, x.dtype.name, seed=1)
        yield case(grad, input_shape=x.shape, **window)


def _avg_backward(grad: Any, input_shape: Any, kernel_size: Any, **window: Any) -> Any:
    area = np.prod(pair_of(kernel_size))
    step = window.get("stride") or kernel_size
    flat = grad.reshape(*grad.shape[:2], 1, np.prod(grad.shape[2:]))
    shared = np.repeat(flat / area, area, axis=2)
    cols = shared.reshape(len(grad), grad.shape[1] * area, shared.shape[-1])
    padding = window.get("padding", 0)
    return _col2im(cols, input_shape[2:], kernel_size, stride=step, padding=padding)


WINDOWS: dict[str, OpFacts] = {
    "conv2d": OpFacts(_conv2d, _conv2d_cases, slack=SUMMED),
    "conv2d_backward": OpFacts(_conv2d_backward, _conv2d_backward_cases, slack=SUMMED),
    "im2col": OpFacts(_im2col, _im2col_cases),
    "col2im": OpFacts(_col2im, _col2im_cases, slack=SUMMED),
    "max_pool2d": OpFacts(_max_pool2d, partial(_max_pool_cases, dilated=True)),
    "max_pool2d_with_indices": OpFacts(_max_pool2d_with_indices, _max_pool_cases),
    "max_pool2d_with_indices_backward": OpFacts(_max_backward, _max_backward_cases),
    "avg_pool2d": OpFacts(
        lambda x, **window: _pooled(x, window, 0).mean(2), _pool_cases
    ),
    "avg_pool2d_backward": OpFacts(_avg_backward, _avg_backward_cases),
}
