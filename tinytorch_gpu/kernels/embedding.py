"""The op embedding: rows of a table by number; backward adds gradients back to them.

The forward step is a gather: a warp's loads coalesce within a row, and which rows is up
to the data. The backward step is a scatter with atomic additions: a number that stands
twice counts twice, and threads that add to one row wait for each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tinytorch_gpu import cuda, library
from tinytorch_gpu.errors import ShapeError
from tinytorch_gpu.kernels.copying import fill
from tinytorch_gpu.kernels.gather import index_select
from tinytorch_gpu.kernels.indexing_kernels import index_add_kernel
from tinytorch_gpu.kernels.rows import launch_flat

if TYPE_CHECKING:
    from tinytorch_gpu.memory import DeviceArray

__all__ = ["embedding", "embedding_backward"]


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
    return index_select(weight, 0, indices)


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
        values = grad.reshape(1, -1, features)
        arguments = (indices.reshape(-1), values, out.reshape(1, *out.shape))
        launch_flat(index_add_kernel, arguments, grad.size)
    return out
