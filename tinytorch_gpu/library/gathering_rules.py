"""Shape and dtype of what ops with windows and with indices give; see `rules.py`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["GATHERING_RULES", "pair_of", "real_dtype", "windows"]

INT64, FLOAT64 = np.dtype(np.int64), np.dtype(np.float64)


def real_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of a function of real numbers: of integers float64, as NumPy.

    Args:
        dtype: the operand's.

    Example:
        >>> real_dtype(np.dtype(np.float32)), real_dtype(INT64)
        (dtype('float32'), dtype('float64'))
    """
    return dtype if dtype.kind == "f" else FLOAT64


def pair_of(value: Any) -> tuple[int, int]:
    """Return the numbers for rows and columns; one number stands for both.

    Example:
        >>> pair_of(3), pair_of([1, 2])
        ((3, 3), (1, 2))
    """
    return (value, value) if isinstance(value, int) else tuple(value)


def windows(
    image: Sequence[int], size: Any, stride: Any, padding: Any, dilation: Any = 1
) -> tuple[int, ...]:
    """Return how many windows fit in rows and columns.

    Args:
        image: rows and columns.
        size: of the window; this and the others are one number, or one for each axis.
        stride: from a window to the next.
        padding: rows and columns around the image, on each side.
        dilation: from an element of a window to the next.

    Example:
        >>> windows((7, 6), (3, 2), stride=1, padding=(1, 0))
        (7, 5)
    """
    parts = (pair_of(part) for part in (size, stride, padding, dilation))
    return tuple(
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, s, p, d in zip(image, *parts, strict=True)
    )


def _conv2d(
    x: Any,
    weight: Any,
    bias: Any = None,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    version: str = "",
) -> Any:
    del bias, version
    size = windows(x.shape[2:], weight.shape[2:], stride, padding, dilation)
    dtype = real_dtype(np.result_type(x.dtype, weight.dtype))
    return x.new_empty((x.shape[0], weight.shape[0], *size), dtype)


def _conv2d_backward(grad: Any, x: Any, weight: Any, *_: Any, **__: Any) -> Any:
    dtype = real_dtype(np.result_type(x.dtype, weight.dtype))
    bias = grad.new_empty(weight.shape[:1], grad.dtype)
    return x.new_empty(x.shape, dtype), weight.new_empty(weight.shape, dtype), bias


def _im2col(
    x: Any, kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1
) -> Any:
    fitting = windows(x.shape[2:], kernel_size, stride, padding, dilation)
    entries = x.shape[1] * math.prod(pair_of(kernel_size))
    return x.new_empty((x.shape[0], entries, math.prod(fitting)))


def _col2im(cols: Any, output_size: Any, kernel_size: Any, *_: Any, **__: Any) -> Any:
    channels = cols.shape[1] // math.prod(pair_of(kernel_size))
    return cols.new_empty((cols.shape[0], channels, *output_size))


def _pooled(
    x: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1
) -> Any:
    step = kernel_size if stride is None else stride
    fitting = windows(x.shape[2:], kernel_size, step, padding, dilation)
    return x.new_empty((*x.shape[:2], *fitting))


def _pooled_with_places(*operands: Any, **parameters: Any) -> Any:
    out = _pooled(*operands, **parameters)
    return out, out.new_empty(out.shape, INT64)


def _unpooled(grad: Any, *given: Any, input_shape: Any = None, **_: Any) -> Any:
    shapes = [value for value in (input_shape, *given) if isinstance(value, tuple)]
    return grad.new_empty(shapes[0])


def _embedding(weight: Any, indices: Any) -> Any:
    return weight.new_empty((*indices.shape, weight.shape[-1]))


def _embedding_backward(grad: Any, indices: Any, num_embeddings: int) -> Any:
    del indices
    return grad.new_empty((num_embeddings, grad.shape[-1]))


def _index_select(x: Any, dim: int, index: Any) -> Any:
    axis = dim % x.ndim
    return x.new_empty((*x.shape[:axis], *index.shape, *x.shape[axis + 1 :]))


def _gather(x: Any, dim: int, index: Any) -> Any:
    del dim
    return x.new_empty(index.shape)


def _index(x: Any, indices: Any) -> Any:
    # Zeros of the same shapes, of which NumPy only looks at the strides: no memory.
    empty = np.broadcast_to(np.zeros((), np.int8), x.shape)
    key = tuple(
        slice(None) if i is None else np.zeros(i.shape, np.intp) for i in indices
    )
    return x.new_empty(empty[key].shape)


GATHERING_RULES: dict[str, Any] = {
    "conv2d": _conv2d,
    "conv2d_backward": _conv2d_backward,
    "im2col": _im2col,
    "col2im": _col2im,
    "max_pool2d": _pooled,
    "max_pool2d_with_indices": _pooled_with_places,
    "max_pool2d_with_indices_backward": _unpooled,
    "avg_pool2d": _pooled,
    "avg_pool2d_backward": _unpooled,
    "embedding": _embedding,
    "embedding_backward": _embedding_backward,
    "index_select": _index_select,
    "gather": _gather,
    "index": _index,
}
