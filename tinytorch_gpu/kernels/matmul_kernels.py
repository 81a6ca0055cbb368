"""Matrix product, version by version: out = a @ b.

- v1 `matmul_naive`: one thread for each element; it walks along a row of `a` and a
  column of `b`. Every element of `a` is loaded by each thread of its row, every element
  of `b` by each thread of its column.
- v2 `matmul_tiled`: a block loads 16 × 16 tiles of `a` and `b` into shared memory, each
  element once, and its 256 threads read them from there 16 times.
- `matmul_batched`: v1 for a stack of matrices; `blockIdx.z` is the matrix.

Any strides work: a transposed view is read where it lies, and its requests show what
that costs. Reference: NumPy's `a.astype(float64) @ b.astype(float64)`.
"""

# Kernels are written as students write them, without annotations.
# ruff: noqa: ANN001, ANN201
# mypy: allow-untyped-defs, no-check-untyped-defs

from __future__ import annotations

from typing import Any, NamedTuple

from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32

__all__ = [
    "TILE",
    "VERSIONS",
    "Version",
    "matmul_batched",
    "matmul_naive",
    "matmul_tiled",
]

TILE = 16  # 16 × 16 = 256 threads, and 2 KiB of shared memory for two tiles


@cuda.jit
def matmul_naive(a, b, out):
    """Store one element of out (m, n): a row of a (m, k) times a column of b (k, n)."""
    col, row = cuda.grid(2)
    if row < out.shape[0] and col < out.shape[1]:
        total = float32(0.0)
        for k in range(a.shape[1]):
            total += a[row, k] * b[k, col]
        out[row, col] = total


@cuda.jit
def matmul_tiled(a, b, out):
    """Store one element of out (m, n), from tiles of a (m, k) and b (k, n)."""
    tile_a = cuda.shared.array((TILE, TILE), float32)
    tile_b = cuda.shared.array((TILE, TILE), float32)
    tx = cuda.threadIdx.x
    ty = cuda.threadIdx.y
    col, row = cuda.grid(2)
    total = float32(0.0)
    for first in range(0, a.shape[1], TILE):
        # Changed: each thread loads one element of either tile, 0 beyond the edges.
        is_in_a = row < a.shape[0] and first + tx < a.shape[1]
        is_in_b = first + ty < b.shape[0] and col < b.shape[1]
        tile_a[ty, tx] = a[row, first + tx] if is_in_a else float32(0.0)
        tile_b[ty, tx] = b[first + ty, col] if is_in_b else float32(0.0)
        cuda.syncthreads()  # the tiles are complete
        for k in range(TILE):
            total += tile_a[ty, k] * tile_b[k, tx]
        cuda.syncthreads()  # nobody reads the tiles any more
    if row < out.shape[0] and col < out.shape[1]:
        out[row, col] = total


@cuda.jit
def matmul_batched(a, b, out):
    """Store one element of out (batch, m, n): a (batch, m, k) times b (batch, k, n)."""
    col, row, matrix = cuda.grid(3)
    if matrix < out.shape[0] and row < out.shape[1] and col < out.shape[2]:
        total = float32(0.0)
        for k in range(a.shape[2]):
            total += a[matrix, row, k] * b[matrix, k, col]
        out[matrix, row, col] = total


class Version(NamedTuple):
    """One version, and what a 64 × 64 × 64 product of float32 counts, 16 × 16 threads.

    Args:
        kernel: the kernel.
        idea: what it adds to the version before.
        global_loads: warp-wide requests to global memory that load.
        sectors_per_load: sectors for each of them.
    """

    kernel: Any
    idea: str
    global_loads: int
    sectors_per_load: float


# A warp is two rows of 16 threads. Naive: in `a` two addresses, each in its own sector;
# in `b` 16 neighbours, two sectors. Tiled: twice 16 neighbours, four sectors.
VERSIONS = (
    Version(matmul_naive, "one thread for each element", 16_384, 2.0),
    Version(matmul_tiled, "tiles in shared memory, each loaded once", 1_024, 4.0),
)
