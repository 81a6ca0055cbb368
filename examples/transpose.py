"""Transpose a matrix three times: naive, through a tile, through a padded tile.

The naive kernel reads rows and writes columns: each store of a warp touches 32 sectors.
A tile in shared memory turns the elements around on chip, so that loads and stores both
run along rows; one more column keeps the tile's columns out of one bank.

    simgpu run examples/transpose.py --trace

prints each kernel with its counts beside the lines. On real hardware the same file runs
with `from numba import cuda` as its import line.

Source of the progression: Mark Harris, "An Efficient Matrix Transpose in CUDA C/C++".
"""

import numpy as np

from tinytorch_gpu import cuda

TILE = 32  # one warp reads one row of a tile
ROWS = 8  # rows that a block's 256 threads copy at a time
PADDED = TILE + 1


@cuda.jit
def transpose_naive(a, out):
    """V1: coalesced loads; the stores of a warp lie a whole row apart."""
    x = cuda.blockIdx.x * TILE + cuda.threadIdx.x
    y = cuda.blockIdx.y * TILE + cuda.threadIdx.y
    for step in range(0, TILE, ROWS):
        out[x, y + step] = a[y + step, x]


@cuda.jit
def transpose_tile(a, out):
    """V2: both coalesced; reading a column of the tile meets one bank 32 times."""
    tile = cuda.shared.array((TILE, TILE), np.float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.blockIdx.x * TILE + tx, cuda.blockIdx.y * TILE + ty
    for step in range(0, TILE, ROWS):
        tile[ty + step, tx] = a[y + step, x]
    cuda.syncthreads()
    x, y = cuda.blockIdx.y * TILE + tx, cuda.blockIdx.x * TILE + ty
    for step in range(0, TILE, ROWS):
        out[y + step, x] = tile[tx, ty + step]


@cuda.jit
def transpose_padded(a, out):
    """V3: rows of 33 elements put a column of the tile into 32 different banks."""
    tile = cuda.shared.array((TILE, PADDED), np.float32)  # was: (TILE, TILE)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    x, y = cuda.blockIdx.x * TILE + tx, cuda.blockIdx.y * TILE + ty
    for step in range(0, TILE, ROWS):
        tile[ty + step, tx] = a[y + step, x]
    cuda.syncthreads()
    x, y = cuda.blockIdx.y * TILE + tx, cuda.blockIdx.x * TILE + ty
    for step in range(0, TILE, ROWS):
        out[y + step, x] = tile[tx, ty + step]


def main():
    """Transpose a 256 × 128 matrix with each kernel and compare with NumPy."""
    a = np.random.default_rng(0).random((256, 128), dtype=np.float32)
    height, width = a.shape
    grid, block = (width // TILE, height // TILE), (TILE, ROWS)
    device_a = cuda.to_device(a)
    for kernel in (transpose_naive, transpose_tile, transpose_padded):
        out = cuda.device_array((width, height), np.float32)
        kernel[grid, block](device_a, out)
        difference = np.abs(out.copy_to_host() - a.T.astype(np.float64)).max()
        assert difference == 0, kernel.__name__
        print(f"{kernel.__name__:<16} greatest difference from NumPy: {difference}")


if __name__ == "__main__":
    main()
