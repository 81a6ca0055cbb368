"""Cross-entropy of logits and class indices, and its gradient.

The loss of each row is found by one kernel, the mean over rows by the op `mean`. Two
versions each, as in `softmax_kernels.py`: one thread for each row, or one block for
each row, with shared memory, when a row fills a warp.

The target's probability is picked by comparing every k with the target, never by using
the target as an address: requests then do not depend on data. A target that is no class
fails the kernel's assertion (see `classes`), as in PyTorch.
"""

# Kernels are written as students write them, without annotations.
# ruff: noqa: ANN001, ANN202, S101
# mypy: allow-untyped-defs, no-check-untyped-defs

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tinytorch_gpu import cuda, library
from tinytorch_gpu.cuda import float32
from tinytorch_gpu.errors import ShapeError
from tinytorch_gpu.kernels.classes import checked, is_number_of
from tinytorch_gpu.kernels.copying import in_reals
from tinytorch_gpu.kernels.layout import block_of_row, configuration, split_axis
from tinytorch_gpu.kernels.reduce import is_row_wise, reduce_mean

if TYPE_CHECKING:
    from tinytorch_gpu.memory import DeviceArray

__all__ = ["cross_entropy", "cross_entropy_backward"]

THREADS = 256  # most threads of a block, and length of the shared array


@cuda.jit(debug=True, opt=False)
def cross_entropy_threads_kernel(logits, targets, losses):
    """Store log(sum of exp) - the target's logit for each row; one thread a row."""
    row = cuda.grid(1)
    if row < logits.shape[0]:
        assert is_number_of(targets[row], logits.shape[1])
        target = int(targets[row])
        top = logits[row, 0]
        for k in range(1, logits.shape[1]):
            top = max(top, logits[row, k])
        total = float32(0.0)
        picked = float32(math.nan)
        for k in range(logits.shape[1]):
            shifted = logits[row, k] - top
            total += math.exp(shifted)
            picked = shifted if k == target else picked
        losses[row] = math.log(total) - picked


@cuda.jit(debug=True, opt=False)
def cross_entropy_blocks_kernel(logits, targets, losses):
    """Store log(sum of exp) - the target's logit for each row; one block a row."""
    cache = cuda.shared.array(THREADS, float32)
    row = cuda.blockIdx.x
    tid = cuda.threadIdx.x
    n = logits.shape[1]
    assert is_number_of(targets[row], n)
    target = int(targets[row])
    top = logits[row, min(tid, n - 1)]
    for k in range(tid + cuda.blockDim.x, n, cuda.blockDim.x):
        top = max(top, logits[row, k])
    cache[tid] = top
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if tid < half:
            cache[tid] = max(cache[tid], cache[tid + half])
        cuda.syncthreads()
        half //= 2
    top = cache[0]
    cuda.syncthreads()
    total = float32(0.0)
    picked = float32(math.nan)
    for k in range(tid, n, cuda.blockDim.x):
        shifted = logits[row, k] - top
        total += math.exp(shifted)
        picked = shifted if k == target else picked
    cache[tid] = total
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if tid < half:
            cache[tid] += cache[tid + half]
        cuda.syncthreads()
        half //= 2
    total = cache[0]
    cuda.syncthreads()
    cache[tid] = picked  # one thread met the target, the others hold NaN
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if tid < half:
            cache[tid] = max(cache[tid], cache[tid + half])  # max drops NaN
        cuda.syncthreads()
        half //= 2
    if tid == 0:
        losses[row] = math.log(total) - cache[0]


@library.impl("tinytorch::cross_entropy", "simgpu")
def cross_entropy(logits: DeviceArray, targets: DeviceArray) -> DeviceArray:
    """Return the mean over rows of -log(softmax(logits)[target]).

    Args:
        logits: device array (n, classes).
        targets: device array (n,) of class indices; float32 or integers.

    Returns:
        The mean loss, shape (); NaN if there are no rows.

    Raises:
        OutOfBoundsError: a target is no class.
        ShapeError: the shapes are not (n, classes) and (n,).

    Example:
        >>> import numpy as np
        >>> logits = cuda.to_device(np.zeros((2, 4), np.float32))
        >>> targets = cuda.to_device(np.float32([0, 3]))
        >>> round(cross_entropy(logits, targets).item(), 4)    # log 4
        1.3863
    """
    _check_shapes("cross_entropy", logits, targets)
    (logits,) = in_reals(logits)
    rows, classes = logits.shape
    losses = cuda.device_array(rows, logits.dtype)
    if rows:
        with checked("cross_entropy", targets, classes, "targets", "classes"):
            if _is_block_wise(logits):
                threads = block_of_row(classes, THREADS)
                cross_entropy_blocks_kernel[rows, threads](logits, targets, losses)
            else:
                grid, block = configuration(rows)
                cross_entropy_threads_kernel[grid, block](logits, targets, losses)
    return reduce_mean(losses)


@cuda.jit(debug=True, opt=False)
def cross_entropy_backward_threads_kernel(grad, logits, targets, out):
    """Store (softmax - one-hot) × grad / n; one thread a row."""
    row = cuda.grid(1)
    if row < logits.shape[0]:
        assert is_number_of(targets[row], logits.shape[1])
        target = int(targets[row])
        scale = grad[0] / float32(logits.shape[0])
        top = logits[row, 0]
        for k in range(1, logits.shape[1]):
            top = max(top, logits[row, k])
        total = float32(0.0)
        for k in range(logits.shape[1]):
            total += math.exp(logits[row, k] - top)
        for k in range(logits.shape[1]):
            hot = float32(1.0) if k == target else float32(0.0)
            out[row, k] = (math.exp(logits[row, k] - top) / total - hot) * scale


@cuda.jit(debug=True, opt=False)
def cross_entropy_backward_blocks_kernel(grad, logits, targets, out):
    """Store (softmax - one-hot) × grad / n; one block a row."""
    cache = cuda.shared.array(THREADS, float32)
    row = cuda.blockIdx.x
    tid = cuda.threadIdx.x
    n = logits.shape[1]
    assert is_number_of(targets[row], n)
    target = int(targets[row])
    scale = grad[0] / float32(logits.shape[0])
    top = logits[row, min(tid, n - 1)]
    for k in range(tid + cuda.blockDim.x, n, cuda.blockDim.x):
        top = max(top, logits[row, k])
    cache[tid] = top
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if tid < half:
            cache[tid] = max(cache[tid], cache[tid + half])
        cuda.syncthreads()
        half //= 2
    top = cache[0]
    cuda.syncthreads()
    total = float32(0.0)
    for k in range(tid, n, cuda.blockDim.x):
        total += math.exp(logits[row, k] - top)
    cache[tid] = total
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if tid < half:
            cache[tid] += cache[tid + half]
        cuda.syncthreads()
        half //= 2
    for k in range(tid, n, cuda.blockDim.x):
        hot = float32(1.0) if k == target else float32(0.0)
        out[row, k] = (math.exp(logits[row, k] - top) / cache[0] - hot) * scale


@library.impl("tinytorch::cross_entropy_backward", "simgpu")
def cross_entropy_backward(
    grad: DeviceArray, logits: DeviceArray, targets: DeviceArray
) -> DeviceArray:
    """Return the gradient by the logits: (softmax - one-hot) × grad / n.

    Args:
        grad: gradient of the loss, one element.
        logits: device array (n, classes).
        targets: device array (n,) of class indices.

    Raises:
        OutOfBoundsError: a target is no class.
        ShapeError: the shapes are not (n, classes) and (n,), or grad has more elements.
    """
    _check_shapes("cross_entropy_backward", logits, targets)
    if grad.size != 1:
        raise ShapeError(
            f"cross_entropy_backward: grad has shape {grad.shape}",
            where=f"tinytorch::cross_entropy_backward, logits {logits.shape}",
            why="the loss is one number, so its gradient is one number",
            fix="pass the gradient of the mean loss, shape ()",
            shape=grad.shape,
        )
    (logits,) = in_reals(logits)
    rows, classes = logits.shape
    out = cuda.device_array(logits.shape, logits.dtype)
    arguments = (grad.reshape(1), logits, targets, out)
    if not out.size:
        return out
    with checked("cross_entropy_backward", targets, classes, "targets", "classes"):
        if _is_block_wise(logits):
            threads = block_of_row(classes, THREADS)
            cross_entropy_backward_blocks_kernel[rows, threads](*arguments)
        else:
            grid, block = configuration(rows)
            cross_entropy_backward_threads_kernel[grid, block](*arguments)
    return out


def _is_block_wise(logits: DeviceArray) -> bool:
    views = split_axis([logits], (1,))
    return views is not None and is_row_wise(views[0])


def _check_shapes(op: str, logits: DeviceArray, targets: DeviceArray) -> None:
    if logits.ndim == 2 and logits.shape[1] and targets.shape == logits.shape[:1]:
        return
    raise ShapeError(
        f"{op}: logits {logits.shape} and targets {targets.shape}",
        where=f"tinytorch::{op}",
        why="logits are (n, classes), one class at least; targets (n,) class indices",
        fix="logits.reshape(-1, classes) and targets.reshape(-1)",
        shapes=(logits.shape, targets.shape),
    )
