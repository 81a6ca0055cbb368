"""The op clamp and its gradient: what lies outside two limits is moved to the limit."""

# Kernels are written as students write them, without annotations.
# ruff: noqa: ANN001, ANN202
# mypy: allow-untyped-defs, no-check-untyped-defs

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu import cuda, library
from tinytorch_gpu.cuda import float32
from tinytorch_gpu.kernels.layout import launch_elementwise
from tinytorch_gpu.kernels.operands import (
    prepared_out,
    result_dtype,
    same_shape,
    without_overlap,
)

if TYPE_CHECKING:
    from tinytorch_gpu.memory import DeviceArray

__all__ = ["clamp", "clamp_backward"]


@cuda.jit
def clamp_kernel(x, low, high, out):
    """Store x, or the limit that it is beyond; NaN stays NaN."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        # min(max(...)) would drop a NaN: PTX returns the operand that is a number.
        value = x[row, col]
        raised = low if value < low else value  # noqa: FURB136
        out[row, col] = high if raised > high else raised  # noqa: FURB136


@library.impl("tinytorch::clamp", "simgpu")
def clamp(
    x: DeviceArray,
    min: float | None = None,  # noqa: A002  (PyTorch's name)
    max: float | None = None,  # noqa: A002
    out: DeviceArray | None = None,
) -> DeviceArray:
    """Return x with what is below `min` or above `max` moved there.

    Args:
        x: device array.
        min: lower limit; none if None.
        max: upper limit; none if None. It wins if it is below `min`.
        out: where to write; a new array if None.

    Raises:
        ShapeError: `out` has another shape.
        DtypeError: `out` cannot hold the result.

    Example:
        >>> import numpy as np
        >>> x = cuda.to_device(np.float32([-5, 0.5, 5]))
        >>> clamp(x, 0, 1).copy_to_host().tolist()
        [0.0, 0.5, 1.0]
    """
    dtype = result_dtype(x, *(limit for limit in (min, max) if limit is not None))
    out = prepared_out("clamp", out, x.shape, dtype)
    limits = _limits(dtype, min, max)
    return launch_elementwise(clamp_kernel, (without_overlap(x, out), *limits), out)


@cuda.jit
def clamp_backward_kernel(grad, x, low, high, out):
    """Store grad where x lies within the limits, else 0."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        value = x[row, col]
        slope = grad[row, col]  # loaded before the choice: a select, no branch
        slope = slope if value >= low else float32(0.0)
        out[row, col] = slope if value <= high else float32(0.0)


@library.impl("tinytorch::clamp_backward", "simgpu")
def clamp_backward(
    grad: DeviceArray,
    x: DeviceArray,
    min: float | None = None,  # noqa: A002  (PyTorch's name)
    max: float | None = None,  # noqa: A002
) -> DeviceArray:
    """Return grad where x lies within the limits, both included, else 0.

    Args:
        grad: gradient of the loss by the output.
        x: what `clamp` was given.
        min: what `clamp` was given.
        max: what `clamp` was given.

    Raises:
        ShapeError: the shapes differ.
    """
    same_shape("clamp_backward", grad, x)
    out = cuda.device_array(grad.shape, grad.dtype)
    limits = _limits(x.dtype, min, max)
    return launch_elementwise(clamp_backward_kernel, (grad, x, *limits), out)


def _limits(dtype: np.dtype[Any], low: Any, high: Any) -> tuple[Any, Any]:
    """Return both limits in the dtype; the farthest it has where one is missing."""
    if dtype.kind == "f":
        ends: tuple[Any, Any] = (-np.inf, np.inf)
    elif dtype.kind == "b":
        ends = (False, True)
    else:
        ends = (np.iinfo(dtype).min, np.iinfo(dtype).max)
    given = zip((low, high), ends, strict=True)
    first, last = (dtype.type(end if limit is None else limit) for limit, end in given)
    return first, last
