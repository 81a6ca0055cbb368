"""NumPy functions on device arrays: which op or view each one is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.errors import MissingKernelError
from tinytorch_gpu.library.dispatcher import call
from tinytorch_gpu.memory import DeviceArray, empty
from tinytorch_gpu.runtime import current_device

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

__all__ = ["FUNCTIONS"]


def _reduction(op: str) -> Callable[..., Any]:
    """Make np.sum and the like: an op with axis and keepdims."""

    def reduce(
        a: Any, axis: Any = None, *, out: Any = None, keepdims: Any = False
    ) -> Any:
        result = call(op, a, axis=axis, keepdims=keepdims is True)
        return result if out is None else _stored(out, result)

    return reduce


def _stored(out: Any, result: Any) -> Any:
    out[...] = result
    return out


def _var(a: Any, axis: Any = None, *, keepdims: bool = False, ddof: int = 0) -> Any:
    """Variance: the mean of squared differences, as further ops."""
    centred = a - call("mean", a, axis=axis, keepdims=True)
    mean = call("mean", call("square", centred), axis=axis, keepdims=keepdims)
    if not ddof:
        return mean
    count = a.size / max(1, mean.size)
    return mean * (count / (count - ddof))


def _std(a: Any, axis: Any = None, *, keepdims: bool = False, ddof: int = 0) -> Any:
    return call("sqrt", _var(a, axis, keepdims=keepdims, ddof=ddof))


def _clip(a: Any, a_min: Any = None, a_max: Any = None, out: Any = None) -> Any:
    """Clip: a maximum and a minimum."""
    if a_min is not None:
        a = call("maximum", a, a_min)
    if a_max is not None:
        a = call("minimum", a, a_max)
    return a if out is None else _stored(out, a)


def _like(value: Any) -> Callable[..., DeviceArray]:
    """Make zeros_like and the like: a new device array and a fill."""

    def make(a: Any, dtype: npt.DTypeLike | None = None, shape: Any = None) -> Any:
        return _filled(a, value, dtype, shape)

    return make


def _full_like(
    a: Any,
    fill_value: Any,
    dtype: npt.DTypeLike | None = None,
    shape: Any = None,
) -> DeviceArray:
    return _filled(a, fill_value, dtype, shape)


def _filled(a: Any, value: Any, dtype: npt.DTypeLike | None, shape: Any) -> DeviceArray:
    kind = np.dtype(a.dtype if dtype is None else dtype)
    lengths = a.shape if shape is None else shape
    made = empty(current_device().allocator, lengths, kind)
    if value is not None:
        call("fill", made, value)
    return made


def _where(condition: Any, x: Any, y: Any) -> Any:
    return call("where", condition, x, y)


def _expand_dims(a: Any, axis: Any) -> Any:
    axes = axis if isinstance(axis, tuple) else (axis,)
    ndim = a.ndim + len(axes)
    places = {ax % ndim for ax in axes}
    return a[tuple(None if i in places else slice(None) for i in range(ndim))]


def _squeeze(a: Any, axis: Any = None) -> Any:
    axes = axis if isinstance(axis, tuple) else (axis,)
    drop = {ax % a.ndim for ax in axes if ax is not None}
    kept = (
        n for i, n in enumerate(a.shape) if not (i in drop or (axis is None and n == 1))
    )
    return a.reshape(tuple(kept))


def _reshape(a: Any, shape: Any) -> Any:
    return a.reshape(shape)


def _transpose(a: Any, axes: Any = None) -> Any:
    return a.T if axes is None else a.transpose(axes)


def _dot(a: Any, b: Any) -> Any:
    """Multiply vectors and matrices, or scale; for more axes NumPy's dot is another."""
    if np.ndim(a) > 2 or np.ndim(b) > 2:
        raise MissingKernelError(
            "np.dot of arrays with more than 2 axes has no kernel",
            where=f"np.dot of {np.shape(a)} and {np.shape(b)}",
            why="np.dot and np.matmul differ there",
            fix="write a @ b if you mean a stack of matrices",
        )
    is_scale = np.ndim(a) == 0 or np.ndim(b) == 0
    return call("mul" if is_scale else "matmul", a, b)


def _outer(a: Any, b: Any) -> Any:
    return call("mul", a.reshape(-1, 1), b.reshape(1, -1))


def _copy(a: Any) -> Any:
    return a.copy()


def _size(a: Any, axis: int | None = None) -> int:
    return int(a.size if axis is None else a.shape[axis])


FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.sum: _reduction("sum"),
    np.mean: _reduction("mean"),
    np.max: _reduction("max"),
    np.min: _reduction("min"),
    np.var: _var,
    np.std: _std,
    np.clip: _clip,
    np.where: _where,
    np.zeros_like: _like(0),
    np.ones_like: _like(1),
    np.empty_like: _like(None),
    np.full_like: _full_like,
    np.copy: _copy,
    np.dot: _dot,
    np.outer: _outer,
    np.reshape: _reshape,
    np.transpose: _transpose,
    np.swapaxes: lambda a, axis1, axis2: a.swapaxes(axis1, axis2),
    np.expand_dims: _expand_dims,
    np.squeeze: _squeeze,
    np.ravel: lambda a: a.ravel(),
    np.broadcast_to: lambda array, shape: array.broadcast_to(shape),
    np.shape: lambda a: a.shape,
    np.ndim: lambda a: a.ndim,
    np.size: _size,
}
