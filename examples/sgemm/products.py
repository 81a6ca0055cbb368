"""Six matrix products, each better than the one before: c = 0.5 · a @ b + 3 · c.

A warp is 32 threads that go together, and what it wants of memory at one time decides
what a product costs. The steps, each with what it changes:

1. `naive`: a thread for each element; neighbours in a warp walk along 32 rows of `a`.
2. `coalesced`: neighbours share a row of `a` and want 32 elements of `b` in a row.
3. `tiled`: a block loads 32 × 32 tiles into shared memory, each element once.
4. `column_of_results`: a thread computes 8 rows of a column; what it loads of `b` it
   uses eight times.
5. `square_of_results`: a thread computes 8 × 8 elements from 8 + 8 loads.
6. `wide_loads`: as 5, with `a` turned in its tile, so that a thread's eight loads of
   either tile lie side by side.

Every length is a multiple of the tile, 128 at most. On real hardware the same file runs
with `from numba import cuda, float32` as its import line. CUDA C++ would say `float4`
in 6; the dialect has no such type. A compiler for hardware makes one load of four that
lie side by side in shared memory, and so does the model of time; counts of requests are
those of the source.

Source of the progression: Simon Boehm, "How to Optimize a CUDA Matmul Kernel for
cuBLAS-like Performance"; the kernels are written anew.
"""

from __future__ import annotations

import numpy as np

from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32

HALF, THREE = np.float32(0.5), np.float32(3.0)


@cuda.jit
def naive(a, b, c):
    """1: threadIdx.x counts rows, so that a warp wants 32 rows of `a` at a time."""
    row = cuda.blockIdx.x * 32 + cuda.threadIdx.x
    col = cuda.blockIdx.y * 32 + cuda.threadIdx.y
    total = float32(0)
    for k in range(a.shape[1]):
        total += a[row, k] * b[k, col]
    c[row, col] = HALF * total + THREE * c[row, col]


@cuda.jit
def coalesced(a, b, c):
    """2: a warp is one row and 32 columns."""
    row = cuda.blockIdx.x * 32 + cuda.threadIdx.x // 32
    col = cuda.blockIdx.y * 32 + cuda.threadIdx.x % 32
    total = float32(0)
    for k in range(a.shape[1]):
        total += a[row, k] * b[k, col]
    c[row, col] = HALF * total + THREE * c[row, col]


@cuda.jit(max_registers=37)
def tiled(a, b, c):
    """3: each element of `a` and `b` is loaded once for 32 threads of the block."""
    tile_a = cuda.shared.array((32, 32), float32)
    tile_b = cuda.shared.array((32, 32), float32)
    row, col = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32
    y, x = cuda.blockIdx.x * 32 + row, cuda.blockIdx.y * 32 + col
    total = float32(0)
    for first in range(0, a.shape[1], 32):
        tile_a[row, col] = a[y, first + col]
        tile_b[row, col] = b[first + row, x]
        cuda.syncthreads()
        for k in range(32):
            total += tile_a[row, k] * tile_b[k, col]
        cuda.syncthreads()
    c[y, x] = HALF * total + THREE * c[y, x]


@cuda.jit
def column_of_results(a, b, c):
    """4: tiles of 64 × 8 and 8 × 64; a thread computes 8 rows of one column."""
    tile_a = cuda.shared.array((64, 8), float32)
    tile_b = cuda.shared.array((8, 64), float32)
    totals = cuda.local.array(8, float32)
    thread = cuda.threadIdx.x
    row, col = thread // 64 * 8, thread % 64
    y, x = cuda.blockIdx.y * 64, cuda.blockIdx.x * 64
    for r in range(8):
        totals[r] = 0
    for first in range(0, a.shape[1], 8):
        tile_a[thread // 8, thread % 8] = a[y + thread // 8, first + thread % 8]
        tile_b[thread // 64, col] = b[first + thread // 64, x + col]
        cuda.syncthreads()
        for k in range(8):
            of_b = tile_b[k, col]
            for r in range(8):
                totals[r] += tile_a[row + r, k] * of_b
        cuda.syncthreads()
    for r in range(8):
        i, j = y + row + r, x + col
        c[i, j] = HALF * totals[r] + THREE * c[i, j]


@cuda.jit
def square_of_results(a, b, c):  # noqa: C901  (its loops)
    """5: tiles of 128 × 8 and 8 × 128; a thread computes 8 × 8 elements."""
    tile_a = cuda.shared.array((128, 8), float32)
    tile_b = cuda.shared.array((8, 128), float32)
    totals = cuda.local.array((8, 8), float32)
    of_b = cuda.local.array(8, float32)
    thread = cuda.threadIdx.x
    row, col = thread // 16 * 8, thread % 16 * 8
    y, x = cuda.blockIdx.y * 128, cuda.blockIdx.x * 128
    for r in range(8):
        for s in range(8):
            totals[r, s] = 0
    for first in range(0, a.shape[1], 8):
        for turn in range(4):
            i, j = turn * 32 + thread // 8, thread % 8
            tile_a[i, j] = a[y + i, first + j]
            i, j = turn * 2 + thread // 128, thread % 128
            tile_b[i, j] = b[first + i, x + j]
        cuda.syncthreads()
        for k in range(8):
            for s in range(8):
                of_b[s] = tile_b[k, col + s]
            for r in range(8):
                of_a = tile_a[row + r, k]
                for s in range(8):
                    totals[r, s] += of_a * of_b[s]
        cuda.syncthreads()
    for r in range(8):
        for s in range(8):
            i, j = y + row + r, x + col + s
            c[i, j] = HALF * totals[r, s] + THREE * c[i, j]


@cuda.jit
def wide_loads(a, b, c):  # noqa: C901  (its loops)
    """6: as 5, with `a` turned in its tile: rows of `a` are columns there."""
    tile_a = cuda.shared.array((8, 128), float32)
    tile_b = cuda.shared.array((8, 128), float32)
    totals = cuda.local.array((8, 8), float32)
    of_b = cuda.local.array(8, float32)
    thread = cuda.threadIdx.x
    row, col = thread // 16 * 8, thread % 16 * 8
    y, x = cuda.blockIdx.y * 128, cuda.blockIdx.x * 128
    for r in range(8):
        for s in range(8):
            totals[r, s] = 0
    for first in range(0, a.shape[1], 8):
        for turn in range(4):
            i, j = thread // 2, thread % 2 * 4 + turn  # four neighbours: one float4
            tile_a[j, i] = a[y + i, first + j]
            i, j = thread // 32, thread % 32 * 4 + turn
            tile_b[i, j] = b[first + i, x + j]
        cuda.syncthreads()
        for k in range(8):
            for s in range(8):
                of_b[s] = tile_b[k, col + s]
            for r in range(8):
                of_a = tile_a[k, row + r]
                for s in range(8):
                    totals[r, s] += of_a * of_b[s]
        cuda.syncthreads()
    for r in range(8):
        for s in range(8):
            i, j = y + row + r, x + col + s
            c[i, j] = HALF * totals[r, s] + THREE * c[i, j]


# Name, kernel, side of the square of results that a block computes, its threads.
STEPS = (
    ("naive", naive, 32, (32, 32)),
    ("coalesced", coalesced, 32, 1024),
    ("tiled", tiled, 32, 1024),
    ("column_of_results", column_of_results, 64, 512),
    ("square_of_results", square_of_results, 128, 256),
    ("wide_loads", wide_loads, 128, 256),
)
