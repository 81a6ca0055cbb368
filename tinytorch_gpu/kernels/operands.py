"""What an op accepts: shapes that broadcast, result dtypes, weak scalars, `out`.

Everything that can be refused is refused here, before memory is allocated or a kernel
is launched. Arrays follow NumPy's result types. Python and NumPy scalars are weak: they
take the array's dtype, and only a float beside integers or bools makes a float32.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tinytorch_gpu import cuda
from tinytorch_gpu.errors import DtypeError, ShapeError
from tinytorch_gpu.kernels.layout import launch_elementwise
from tinytorch_gpu.library.gathering_rules import real_dtype
from tinytorch_gpu.library.rules import promoted
from tinytorch_gpu.memory import DeviceArray, elements_of

__all__ = [
    "BinaryKernels",
    "Operand",
    "common_shape",
    "launch_binary",
    "launch_unary",
    "prepared_out",
    "real_dtype",
    "result_dtype",
    "same_shape",
    "without_overlap",
]

Operand = DeviceArray | np.generic | bool | int | float
Dtype = np.dtype[Any]
BOOL, FLOAT32 = np.dtype(np.bool_), np.dtype(np.float32)
INT64, FLOAT64 = np.dtype(np.int64), np.dtype(np.float64)


class BinaryKernels(NamedTuple):
    """The kernels of one op for its three kinds of operands.

    Args:
        arrays: `kernel(x, y, out)`.
        array_scalar: `kernel(x, value, out)` for `x ∘ value`.
        scalar_array: `kernel(x, value, out)` for `value ∘ x`.
    """

    arrays: Any
    array_scalar: Any
    scalar_array: Any


def launch_binary(
    op: str,
    kernels: BinaryKernels,
    x: Operand,
    y: Operand,
    out: DeviceArray | None,
    dtype: Dtype | None = None,
) -> DeviceArray:
    """Launch an element-wise kernel of two operands, of which one may be a scalar.

    Args:
        op: the op's name, for errors.
        kernels: its kernels.
        x: device array or scalar.
        y: device array or scalar; not both are scalars.
        out: where to write; a new array if None.
        dtype: of the result; `result_dtype(x, y)` if None.

    Returns:
        `out`.

    Raises:
        ShapeError: the shapes do not broadcast, or `out` has another shape.
        DtypeError: `out` cannot hold the result.
    """
    common = result_dtype(x, y)
    shape = common_shape(op, x, y)
    out = prepared_out(op, out, shape, common if dtype is None else dtype)
    operands = [
        without_overlap(o, out) if isinstance(o, DeviceArray) else common.type(o)
        for o in (x, y)
    ]
    if not isinstance(y, DeviceArray):
        return launch_elementwise(kernels.array_scalar, operands, out)
    if not isinstance(x, DeviceArray):
        return launch_elementwise(kernels.scalar_array, operands[::-1], out)
    return launch_elementwise(kernels.arrays, operands, out)


def launch_unary(
    op: str,
    kernel: Any,
    x: DeviceArray,
    out: DeviceArray | None,
    dtype: Dtype | None = None,
) -> DeviceArray:
    """Launch an element-wise kernel of one array.

    Args:
        op: the op's name, for errors.
        kernel: `kernel(x, out)`.
        x: device array.
        out: where to write; a new array if None.
        dtype: of the result; that of `x` if None.

    Returns:
        `out`.

    Raises:
        ShapeError: `out` has another shape.
        DtypeError: `out` cannot hold the result.
    """
    out = prepared_out(op, out, x.shape, x.dtype if dtype is None else dtype)
    return launch_elementwise(kernel, (without_overlap(x, out),), out)


def result_dtype(*operands: Operand) -> Dtype:
    """Return the dtype that an op computes in.

    Args:
        *operands: device arrays and scalars.

    Example:
        >>> import numpy as np
        >>> result_dtype(cuda.device_array(3, np.int32), 0.5)
        dtype('float32')
        >>> result_dtype(cuda.device_array(3, np.float32), np.float64(0.5))
        dtype('float32')
    """
    arrays = [o.dtype for o in operands if isinstance(o, DeviceArray)]
    return promoted(arrays, [o for o in operands if not isinstance(o, DeviceArray)])


def common_shape(op: str, *operands: Operand) -> tuple[int, ...]:
    """Return the shape that the operands broadcast to.

    Raises:
        ShapeError: they do not.

    Example:
        >>> common_shape("add", cuda.device_array((3, 1)), cuda.device_array(4), 2.0)
        (3, 4)
    """
    shapes = [o.shape for o in operands if isinstance(o, DeviceArray)]
    if all(shape == shapes[0] for shape in shapes):
        return shapes[0]
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        raise _not_broadcast(op, shapes) from None


def same_shape(op: str, *operands: DeviceArray) -> None:
    """Check that arrays have one shape.

    Raises:
        ShapeError: they do not.
    """
    shapes = [o.shape for o in operands]
    if any(shape != shapes[0] for shape in shapes):
        named = " and ".join(map(str, shapes))
        raise ShapeError(
            f"{op}: shapes {named} differ",
            where=f"tinytorch::{op}, operands {named}",
            why="the op takes elements at the same place in each operand",
            fix="pass the gradient and the array that belong to one forward step",
            shapes=tuple(shapes),
        )


def _not_broadcast(op: str, shapes: list[tuple[int, ...]]) -> ShapeError:
    named = " and ".join(map(str, shapes))
    width = max(map(len, shapes))
    padded = [(1,) * (width - len(s)) + s for s in shapes]
    columns = [sorted(set(c) - {1}) for c in zip(*padded, strict=True)]
    axis = max(i for i, column in enumerate(columns) if len(column) > 1) - width
    lengths = " and ".join(map(str, columns[axis]))
    return ShapeError(
        f"{op}: shapes {named} do not broadcast",
        where=f"tinytorch::{op}, operands {named}",
        why=f"axis {axis} has lengths {lengths}; counted from the end, lengths are "
        "equal or one of them is 1",
        fix="reshape or transpose one operand, for example x.reshape(-1, 1)",
        shapes=tuple(shapes),
    )


def prepared_out(
    op: str, out: DeviceArray | None, shape: tuple[int, ...], dtype: Dtype
) -> DeviceArray:
    """Return `out` if it fits, or a new array.

    Raises:
        ShapeError: `out` has another shape.
        DtypeError: `out` cannot hold the dtype without losing its kind.
    """
    if out is None:
        return cuda.device_array(shape, dtype)
    if out.shape != shape:
        raise ShapeError(
            f"{op}: the result has shape {shape}, `out` has {out.shape}",
            where=f"tinytorch::{op}, out={out.dtype.name} {out.shape}",
            why="a kernel writes one element of `out` for each element of the result",
            fix=f"out = cuda.device_array({shape}, np.{dtype.name}), or no `out`",
            shapes=(shape, out.shape),
        )
    if not np.can_cast(dtype, out.dtype, "same_kind"):
        raise DtypeError(
            f"{op}: the result is {dtype.name}, `out` is {out.dtype.name}",
            where=f"tinytorch::{op}, out={out.dtype.name} {out.shape}",
            why=f"{dtype.name} stored as {out.dtype.name} would lose its kind",
            fix=f"use an `out` of dtype {dtype.name}, or x.astype(...) afterwards",
            dtype=out.dtype,
        )
    return out


def without_overlap(x: DeviceArray, out: DeviceArray) -> DeviceArray:
    """Return `x`, or a copy if writing `out` would change elements yet to be read.

    The same elements in the same places are safe: each thread reads its own element
    before it writes it.
    """
    if x.buffer is not out.buffer or x is out:
        return x
    a, b = elements_of(x), elements_of(out)
    places = [v.__array_interface__["data"][0] for v in (a, b)]
    is_same = places[0] == places[1] and (a.shape, a.strides) == (b.shape, b.strides)
    return x if is_same or not np.may_share_memory(a, b) else x.copy()
