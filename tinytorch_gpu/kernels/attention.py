"""The op scaled_dot_product_attention, fused and decomposed, and its gradients.

- "decomposed": five ops (product, scale, mask, softmax, product), each of which stores
  its result and loads the one before.
- "fused": one launch of `attention_kernels.attention_fused`, for float32.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tinytorch_gpu import cuda, library
from tinytorch_gpu.errors import ShapeError, UnsupportedError
from tinytorch_gpu.kernels.attention_kernels import KEYS, THREADS, attention_fused
from tinytorch_gpu.kernels.copying import fill
from tinytorch_gpu.kernels.elementwise import mul, where
from tinytorch_gpu.kernels.layout import block_of_row
from tinytorch_gpu.kernels.matmul import matmul
from tinytorch_gpu.kernels.operands import BOOL, FLOAT32
from tinytorch_gpu.kernels.softmax import softmax, softmax_backward

if TYPE_CHECKING:
    from tinytorch_gpu.memory import DeviceArray

__all__ = [
    "VERSIONS",
    "scaled_dot_product_attention",
    "scaled_dot_product_attention_backward",
]


Shape = tuple[int, ...]


class Version(NamedTuple):
    """One version.

    Args:
        name: as `scaled_dot_product_attention(..., version=name)` takes it.
        idea: what it does to global memory.
    """

    name: str
    idea: str


VERSIONS = (
    Version("decomposed", "five ops; scores go to memory and back four times"),
    Version("fused", "one kernel; the scores of a query stay in shared memory"),
)


@library.impl("tinytorch::scaled_dot_product_attention", "simgpu")
def scaled_dot_product_attention(
    q: DeviceArray,
    k: DeviceArray,
    v: DeviceArray,
    mask: DeviceArray | None = None,
    scale: float | None = None,
    version: str = "fused",
) -> DeviceArray:
    """Return softmax(q kᵀ scale) v: each query's mean of v, weighted by its keys.

    Args:
        q: device array (..., Lq, d).
        k: device array (..., Lk, d).
        v: device array (..., Lk, dv).
        mask: broadcasts to (..., Lq, Lk); a query looks at a key where it is not zero.
            A query without any key gets zeros.
        scale: 1 / √d if None.
        version: "fused" (float32, up to 1,024 keys; decomposed beyond) or "decomposed".

    Returns:
        Device array (..., Lq, dv).

    Raises:
        ShapeError: the shapes do not fit.
        UnsupportedError: there is no such version.

    Example:
        >>> import numpy as np
        >>> q, k = (cuda.to_device(np.zeros((2, 4), np.float32)) for _ in range(2))
        >>> v = cuda.to_device(np.float32([[2], [4]]))
        >>> scaled_dot_product_attention(q, k, v).copy_to_host().tolist()
        [[3.0], [3.0]]
    """
    _check_shapes("scaled_dot_product_attention", q, k, v, mask)
    if version not in {known.name for known in VERSIONS}:
        raise UnsupportedError(
            f"scaled_dot_product_attention has no version {version!r}",
            where="tinytorch::scaled_dot_product_attention",
            why=f"there are {', '.join(repr(known.name) for known in VERSIONS)}",
            fix='version="fused"',
        )
    number = _scale(q, scale)
    is_single = q.dtype == k.dtype == v.dtype == FLOAT32
    if version == "fused" and is_single and 0 < k.shape[-2] <= KEYS:
        return _fused(q, k, v, mask, number)
    return matmul(_weights(q, k, mask, number), v)


def _fused(
    q: DeviceArray, k: DeviceArray, v: DeviceArray, mask: DeviceArray | None, scale: Any
) -> DeviceArray:
    batch = np.broadcast_shapes(q.shape[:-2], k.shape[:-2], v.shape[:-2])
    out = cuda.device_array((*batch, q.shape[-2], v.shape[-1]), q.dtype)
    if not out.size:
        return out
    if mask is None:
        mask = fill(cuda.device_array(1, BOOL), value=True)
    seen = mask.broadcast_to((*batch, q.shape[-2], k.shape[-2]))
    stacks = (_stack(a.broadcast_to((*batch, *a.shape[-2:]))) for a in (q, k, v, seen))
    threads = block_of_row(4 * max(k.shape[-2], v.shape[-1]), THREADS)
    blocks = out.size // out.shape[-1]
    attention_fused[blocks, threads](*stacks, scale, _stack(out))
    return out


def _weights(
    q: DeviceArray, k: DeviceArray, mask: DeviceArray | None, scale: Any
) -> DeviceArray:
    """Return softmax(q kᵀ scale), with 0 where the mask is."""
    scores = mul(matmul(q, k.swapaxes(-1, -2)), scale)
    if mask is None:
        return softmax(scores)
    seen = mask.broadcast_to(scores.shape)
    weights = softmax(where(seen, scores, -math.inf))
    return where(seen, weights, 0.0)  # a row without keys is NaN before


@library.impl("tinytorch::scaled_dot_product_attention_backward", "simgpu")
def scaled_dot_product_attention_backward(
    grad: DeviceArray,
    q: DeviceArray,
    k: DeviceArray,
    v: DeviceArray,
    mask: DeviceArray | None = None,
    scale: float | None = None,
) -> tuple[DeviceArray, DeviceArray, DeviceArray]:
    """Return the gradients by q, k and v, from the weights computed again.

    Args:
        grad: gradient of the loss by the output, (..., Lq, dv).
        q: what the forward step was given, (..., Lq, d).
        k: what the forward step was given, (..., Lk, d), with the batch axes of q.
        v: what the forward step was given, (..., Lk, dv), with the batch axes of q.
        mask: what the forward step was given.
        scale: what the forward step was given.

    Returns:
        Device arrays of the shapes of q, k and v.

    Raises:
        ShapeError: the shapes do not fit, or batch axes would have to be summed.
    """
    op = "scaled_dot_product_attention_backward"
    _check_shapes(op, q, k, v, mask)
    if grad.shape != (*q.shape[:-1], v.shape[-1]) or not (
        q.shape[:-2] == k.shape[:-2] == v.shape[:-2]
    ):
        raise ShapeError(
            f"{op}: grad {grad.shape}, q {q.shape}, k {k.shape}, v {v.shape}",
            where=f"tinytorch::{op}",
            why="grad has the output's shape (..., Lq, dv), and all have one batch",
            fix="broadcast q, k and v to the same batch axes before the forward step",
            shapes=(grad.shape, q.shape, k.shape, v.shape),
        )
    number = _scale(q, scale)
    weights = _weights(q, k, mask, number)
    by_weights = matmul(grad, v.swapaxes(-1, -2))
    by_scores = mul(softmax_backward(by_weights, weights), number)
    by_q = matmul(by_scores, k)
    by_k = matmul(by_scores.swapaxes(-1, -2), q)
    return by_q, by_k, matmul(weights.swapaxes(-1, -2), grad)


def _scale(q: DeviceArray, scale: float | None) -> Any:
    number = 1 / math.sqrt(max(1, q.shape[-1])) if scale is None else scale
    return q.dtype.type(number)


def _stack(x: DeviceArray) -> DeviceArray:
    return x.reshape(-1, *x.shape[-2:])


def _check_shapes(
    op: str, q: DeviceArray, k: DeviceArray, v: DeviceArray, mask: DeviceArray | None
) -> None:
    arrays = (q, k, v) if mask is None else (q, k, v, mask)
    shapes = tuple(array.shape for array in arrays)
    if not _fit(*shapes):
        named = zip(("q", "k", "v", "mask"), shapes, strict=False)
        raise ShapeError(
            f"{op}: {', '.join(f'{name} {shape}' for name, shape in named)}",
            where=f"tinytorch::{op}",
            why="q is (..., Lq, d), k is (..., Lk, d), each key has a row of v, the\n"
            "axes before broadcast, and so does the mask to (..., Lq, Lk)",
            fix="put heads before the last two axes: x.transpose(0, 2, 1, 3)",
            shapes=shapes,
        )


def _fit(q: Shape, k: Shape, v: Shape, mask: Shape = ()) -> bool:
    if min(len(q), len(k), len(v)) < 2 or q[-1] != k[-1] or k[-2] != v[-2]:
        return False
    try:
        scores = (*np.broadcast_shapes(q[:-2], k[:-2], v[:-2]), q[-2], k[-2])
        return np.broadcast_shapes(mask, scores) == scores
    except ValueError:
        return False
