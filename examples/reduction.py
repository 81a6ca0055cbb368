"""Sum a vector on the GPU: one block sum, written four times, each better.

Each block adds BLOCK elements and writes one partial sum; the host adds those. All four
kernels are right. What differs is how warps branch and which banks their lanes meet in:

    simgpu run examples/reduction.py --trace

prints each kernel with its counts beside the lines. On real hardware the same file runs
with `from numba import cuda` as its import line.

Source of the progression: Mark Harris, "Optimizing Parallel Reduction in CUDA".
"""

import numpy as np

from tinytorch_gpu import cuda

BLOCK = 256  # threads of a block, a power of two
WARP = 32
WARPS = BLOCK // WARP
EVERYONE = 0xFFFFFFFF  # all lanes of a warp take part


@cuda.jit
def sum_interleaved(x, partial):
    """V1: neighbours first. Working lanes lie between idle ones: warps diverge."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid, i = cuda.threadIdx.x, cuda.grid(1)
    tile[tid] = x[i] if i < x.size else np.float32(0)
    cuda.syncthreads()
    stride = 1
    while stride < BLOCK:
        if tid % (2 * stride) == 0:
            tile[tid] += tile[tid + stride]
        cuda.syncthreads()
        stride *= 2
    if tid == 0:
        partial[cuda.blockIdx.x] = tile[0]


@cuda.jit
def sum_strided(x, partial):
    """V2: the first threads work. Whole warps, but their elements share banks."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid, i = cuda.threadIdx.x, cuda.grid(1)
    tile[tid] = x[i] if i < x.size else np.float32(0)
    cuda.syncthreads()
    stride = 1
    while stride < BLOCK:
        left = 2 * stride * tid  # was: tid, where tid % (2 * stride) == 0
        if left < BLOCK:
            tile[left] += tile[left + stride]
        cuda.syncthreads()
        stride *= 2
    if tid == 0:
        partial[cuda.blockIdx.x] = tile[0]


@cuda.jit
def sum_sequential(x, partial):
    """V3: halves first. Neighbouring lanes touch neighbouring elements: no conflict."""
    tile = cuda.shared.array(BLOCK, np.float32)
    tid, i = cuda.threadIdx.x, cuda.grid(1)
    tile[tid] = x[i] if i < x.size else np.float32(0)
    cuda.syncthreads()
    stride = BLOCK // 2  # was: 1, and up
    while stride > 0:
        if tid < stride:
            tile[tid] += tile[tid + stride]
        cuda.syncthreads()
        stride //= 2
    if tid == 0:
        partial[cuda.blockIdx.x] = tile[0]


@cuda.jit(device=True)
def warp_sum(value):
    """Add the values of a warp's lanes in registers; lane 0 gets the sum."""
    for step in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(EVERYONE, value, step)
    return value


@cuda.jit
def sum_shuffled(x, partial):
    """V4: lanes read each other's registers; shared memory holds a sum of each warp."""
    sums = cuda.shared.array(WARPS, np.float32)
    tid, i = cuda.threadIdx.x, cuda.grid(1)
    value = warp_sum(x[i] if i < x.size else np.float32(0))
    if tid % WARP == 0:
        sums[tid // WARP] = value
    cuda.syncthreads()
    if tid < WARP:
        value = warp_sum(sums[tid] if tid < WARPS else np.float32(0))
        if tid == 0:
            partial[cuda.blockIdx.x] = value


def main():
    """Sum 100,000 numbers with each kernel and compare with NumPy's float64 sum."""
    x = np.random.default_rng(0).random(100_000, dtype=np.float32)
    expected = x.sum(dtype=np.float64)
    blocks = -(-x.size // BLOCK)
    device_x = cuda.to_device(x)
    for kernel in (sum_interleaved, sum_strided, sum_sequential, sum_shuffled):
        partial = cuda.device_array(blocks, np.float32)
        kernel[blocks, BLOCK](device_x, partial)
        total = partial.copy_to_host().sum(dtype=np.float64)
        assert abs(total - expected) < 1e-5 * expected, kernel.__name__
        print(f"{kernel.__name__:<16} {total:.3f}   NumPy: {expected:.3f}")


if __name__ == "__main__":
    main()
