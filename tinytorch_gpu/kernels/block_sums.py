"""Sums and maxima over a block, as device functions: every thread gets the result.

Half of the threads add the other half's values to theirs, with a barrier after each
halving. `cache` is a shared array with one element for each thread; the block has a
power of two of threads.
"""

# Kernels are written as students write them, without annotations.
# ruff: noqa: ANN001, ANN201
# mypy: allow-untyped-defs, no-check-untyped-defs

from __future__ import annotations

from tinytorch_gpu import cuda

__all__ = ["block_max", "block_sum"]


@cuda.jit(device=True)
def block_sum(cache, value):
    """Return the sum of every thread's value."""
    tid = cuda.threadIdx.x
    cache[tid] = value
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if tid < half:
            cache[tid] += cache[tid + half]
        cuda.syncthreads()
        half //= 2
    total = cache[0]
    cuda.syncthreads()  # everyone has read it before the cache is used again
    return total


@cuda.jit(device=True)
def block_max(cache, value):
    """Return the largest of every thread's value."""
    tid = cuda.threadIdx.x
    cache[tid] = value
    cuda.syncthreads()
    half = cuda.blockDim.x // 2
    while half > 0:
        if tid < half:
            cache[tid] = max(cache[tid], cache[tid + half])
        cuda.syncthreads()
        half //= 2
    top = cache[0]
    cuda.syncthreads()
    return top
