"""The op embedding: rows of a table by number; backward adds gradients back to them.

The forward step is a gather: a warp's loads coalesce within a row, and which rows is up
to the data. The backward step is a scatter with atomic additions: a number that stands
twice counts twice, and threads that add to one row wait for each other.

A number that is no row fails the kernel's assertion (see `classes`); none counts from
the end, as in PyTorch.
"""

# Kernels are written as students write them, without annotations.
# ruff: noqa: ANN001, ANN202, S101
# mypy: allow-untyped-defs, no-check-untyped-defs

from __future__ import annotations

from typing import TYPE_CHECKING

from tinytorch_gpu import cuda, library
from tinytorch_gpu.errors import ShapeError
from tinytorch_gpu.kernels.classes import checked, is_number_of
from tinytorch_gpu.kernels.copying import fill
from tinytorch_gpu.kernels.rows import launch_flat

if TYPE_CHECKING:
    from tinytorch_gpu.memory import DeviceArray

__all__ = ["embedding", "embedding_backward"]


@cuda.jit(debug=True, opt=False)
def embedding_kernel(weight, indices, out):
    """Store weight[indices[k], col] at out[k, col]; one thread an element."""
    element = cuda.grid(1)
    if element < out.size:
        k = element // out.shape[1]
        col = element % out.shape[1]
        assert is_number_of(indices[k], weight.shape[0])
        out[k, col] = weight[int(indices[k]), col]


@cuda.jit(debug=True, opt=False)
def embedding_backward_kernel(grad, indices, out):
    """Add grad[k, col] to out[indices[k], col]; one thread an element."""
    element = cuda.grid(1)
    if element < grad.size:
        k = element // grad.shape[1]
        col = element % grad.shape[1]
        assert is_number_of(indices[k], out.shape[0])
        cuda.atomic.add(out, (int(indices[k]), col), grad[k, col])


@library.impl("tinytorch::embedding", "simgpu")
def embedding(weight: DeviceArray, indices: DeviceArray) -> DeviceArray:
    """Return the rows of a table that the indices name.

    Args:
        weight: device array (rows, features).
        indices: device array of any shape; integers, or whole numbers as float32.

    Returns:
        Device array (*indices.shape, features).

    Raises:
        ShapeError: the weight is no matrix.
        OutOfBoundsError: an index is no row.

    Example:
        >>> import numpy as np
        >>> weight = cuda.to_device(np.float32([[1, 2], [3, 4]]))
        >>> embedding(weight, cuda.to_device(np.int64([1]))).copy_to_host().tolist()
        [[3.0, 4.0]]
    """
    if weight.ndim != 2:
        raise ShapeError(
            f"embedding: the weight has shape {weight.shape}",
            where=f"tinytorch::embedding, indices {indices.shape}",
            why="a table has one row for each index: (rows, features)",
            fix="pass the weight first: embedding(weight, indices)",
            shape=weight.shape,
        )
    rows, features = weight.shape
    out = cuda.device_array((*indices.shape, features), weight.dtype)
    if out.size:
        arguments = (weight, indices.reshape(-1), out.reshape(-1, features))
        with checked("embedding", indices, rows, "indices", "rows"):
            launch_flat(embedding_kernel, arguments, out.size)
    return out


@library.impl("tinytorch::embedding_backward", "simgpu")
def embedding_backward(
    grad: DeviceArray, indices: DeviceArray, num_embeddings: int
) -> DeviceArray:
    """Return the gradient by the table: each row gets the sum of its gradients.

    Args:
        grad: gradient of the loss by the output, (*indices.shape, features).
        indices: what `embedding` was given.
        num_embeddings: rows of the table.

    Returns:
        Device array (num_embeddings, features).

    Raises:
        ShapeError: grad has not the shape of the output.
        OutOfBoundsError: an index is no row.
    """
    if grad.shape[:-1] != indices.shape or not grad.ndim:
        raise ShapeError(
            f"embedding_backward: grad {grad.shape} for indices {indices.shape}",
            where="tinytorch::embedding_backward",
            why="each index has a row of gradients: (*indices.shape, features)",
            fix="pass the gradient and the indices of one forward step",
            shapes=(grad.shape, indices.shape),
        )
    features = grad.shape[-1]
    out = fill(cuda.device_array((num_embeddings, features), grad.dtype), 0)
    if grad.size:
        arguments = (grad.reshape(-1, features), indices.reshape(-1), out)
        with checked("embedding_backward", indices, num_embeddings, "indices", "rows"):
            launch_flat(embedding_backward_kernel, arguments, grad.size)
    return out
