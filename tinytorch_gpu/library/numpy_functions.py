"""NumPy functions on device arrays: which op or view each one is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.errors import MissingKernelError, UnsupportedError
from tinytorch_gpu.library.dispatcher import call
from tinytorch_gpu.library.numpy_einsum import einsum
from tinytorch_gpu.library.numpy_indexing import take
from tinytorch_gpu.library.numpy_joining import JOINING
from tinytorch_gpu.memory import DeviceArray, empty
from tinytorch_gpu.runtime.placement import device_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

__all__ = ["FUNCTIONS"]


def _reduction(op: str) -> Callable[..., Any]:
    """Make np.max and the like: an op with axis and keepdims."""

    def reduce(a: Any, axis: Any = None, out: Any = None, keepdims: Any = False) -> Any:
        result = call(op, a, axis=axis, keepdims=keepdims is True)
        return result if out is None else _stored(out, result)

    return reduce


def _sum_in(op: str) -> Callable[..., Any]:
    """Make np.sum, np.prod and np.mean, which also take the dtype to compute in."""
    reduce = _reduction(op)

    def total(
        a: Any,
        axis: Any = None,
        dtype: Any = None,
        out: Any = None,
        keepdims: Any = False,
    ) -> Any:
        given = a if dtype is None else a.astype(dtype, copy=False)
        return reduce(given, axis, out, keepdims)

    return total


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


def _clip(
    a: Any,
    a_min: Any = None,
    a_max: Any = None,
    out: Any = None,
    *,
    min: Any = None,  # noqa: A002  (NumPy's name)
    max: Any = None,  # noqa: A002
) -> Any:
    """Clip: one op with two numbers; with an array as limit a maximum and a minimum."""
    a_min, a_max = min if a_min is None else a_min, max if a_max is None else a_max
    if not np.ndim(a_min) and not np.ndim(a_max):
        return call("clamp", a, min=a_min, max=a_max, out=out)
    if a_min is not None:
        a = call("maximum", a, a_min)
    if a_max is not None:
        a = call("minimum", a, a_max)
    return a if out is None else _stored(out, a)


def _round(a: Any, *decimals: Any, **options: Any) -> Any:
    return call("round", a, *decimals, **options)


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
    made = empty(device_of(a).allocator, lengths, kind)
    if value is not None:
        call("fill", made, value)
    return made


def _where(condition: Any, *choices: Any) -> Any:
    return call("where", condition, *choices) if choices else _nonzero(condition)


def _nonzero(a: Any) -> tuple[Any, ...]:
    """Return the places of what is not zero, for one axis."""
    if a.ndim != 1:
        raise UnsupportedError(
            f"np.nonzero of an array with {a.ndim} axes",
            where=f"np.nonzero, operand {a.dtype.name} {a.shape}",
            why="the places would have to be taken apart by axis",
            fix="np.flatnonzero(x), or x[mask], or np.where(mask, a, b)",
        )
    return (call("flatnonzero", a),)


def _arg(op: str) -> Callable[..., Any]:
    """Make np.argmax and np.argmin."""

    def place(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
        return call(op, a, axis=axis, keepdims=keepdims)

    return place


def _truth(op: str) -> Callable[..., Any]:
    """Make np.any and np.all: the largest or smallest of what is not zero."""

    def judge(a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
        if not a.size:  # nothing is not zero, and all of nothing is
            count = call("sum", a, axis=axis, keepdims=keepdims)
            return call("ne" if op == "max" else "eq", count, 0)
        return call(op, call("ne", a, 0), axis=axis, keepdims=keepdims)

    return judge


def _cumsum(a: Any, axis: int | None = None) -> Any:
    return call("cumsum", a.reshape(-1) if axis is None else a, dim=axis or 0)


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:  # noqa: A002
    """Root of the sum of squares; other norms have no op."""
    if ord not in {None, 2} or (ord == 2 and axis is None and x.ndim != 1):
        raise UnsupportedError(
            f"np.linalg.norm with ord={ord}",
            where=f"np.linalg.norm, operand {x.dtype.name} {x.shape}",
            why="there is an op for the root of the sum of squares only",
            fix="ord=None, or write it with np.abs, np.sum and np.max",
        )
    squares = call("sum", call("square", x), axis=axis, keepdims=keepdims)
    return call("sqrt", squares)


def _array_equal(a1: Any, a2: Any) -> bool:
    """Compare on the device; one bool comes back."""
    if np.shape(a1) != np.shape(a2):
        return False
    return bool(call("min", call("eq", a1, a2))) if np.size(a1) else True


def _isclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08) -> Any:
    """Compare by |a - b| ≤ atol + rtol |b|; equal infinities are close."""
    size = call("abs", b) if isinstance(b, DeviceArray) else abs(b)
    near = call("le", call("abs", call("sub", a, b)), size * rtol + atol)
    return call("logical_or", near, call("eq", a, b))


def _allclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08) -> bool:
    """Compare on the device; one bool comes back."""
    close = _isclose(a, b, rtol, atol)
    return bool(call("min", close)) if close.size else True


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
    np.sum: _sum_in("sum"),
    np.prod: _sum_in("prod"),
    np.mean: _sum_in("mean"),
    np.max: _reduction("max"),
    np.min: _reduction("min"),
    np.amax: _reduction("max"),
    np.amin: _reduction("min"),
    np.count_nonzero: lambda a, axis=None: call("sum", call("ne", a, 0), axis=axis),
    np.isclose: _isclose,
    np.var: _var,
    np.std: _std,
    np.clip: _clip,
    np.round: _round,
    np.around: _round,
    np.fix: lambda x, out=None: call("trunc", x, out=out),
    np.where: _where,
    np.argmax: _arg("argmax"),
    np.argmin: _arg("argmin"),
    np.any: _truth("max"),
    np.all: _truth("min"),
    np.cumsum: _cumsum,
    np.nonzero: _nonzero,
    np.flatnonzero: lambda a: call("flatnonzero", a),
    np.take: take,
    np.tril: lambda m, k=0: call("tril", m, diagonal=k),
    np.triu: lambda m, k=0: call("triu", m, diagonal=k),
    np.einsum: einsum,
    np.linalg.norm: _norm,
    np.array_equal: _array_equal,
    np.allclose: _allclose,
    np.isneginf: lambda x: call("eq", x, -np.inf),
    np.isposinf: lambda x: call("eq", x, np.inf),
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
    **JOINING,
}
