"""The two kernels of `cuda.reduce`, made for one function and one dtype.

`whole_blocks_kernel` takes a multiple of 128 elements and gives a partial result for
each block; `rest_kernel` takes fewer, one for each thread of a single block. Both
combine the lanes of a warp in halves, then the warps.

Source: numba.cuda 0.30.4, `Reduce` (order of combination).
"""
# Kernels are written as students write them, without annotations.
# ruff: noqa: ANN001, ANN202
# mypy: allow-untyped-defs, no-check-untyped-defs

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tinytorch_gpu.cuda.intrinsics import (
    blockDim,
    blockIdx,
    grid,
    gridsize,
    syncthreads,
    threadIdx,
)
from tinytorch_gpu.cuda.jit import jit
from tinytorch_gpu.cuda.memory_spaces import shared
from tinytorch_gpu.trace.places import WARP

if TYPE_CHECKING:
    import numpy as np

    from tinytorch_gpu.cuda.jit import Kernel

__all__ = ["BLOCK", "rest_kernel", "whole_blocks_kernel"]

BLOCK = 4 * WARP


def whole_blocks_kernel(combine: Any, dtype: np.dtype[Any]) -> Kernel:
    """Make the kernel that reduces whole blocks of 128 threads.

    Args:
        combine: device function of two values.
        dtype: of the elements.

    Returns:
        A kernel of x (128 k,), partials (blocks,), init and has_init.
    """

    @jit
    def reduce_whole_blocks(x, partials, init, has_init):
        cells = shared.array(BLOCK, dtype)
        t = threadIdx.x
        value = x[grid(1)]
        for i in range(grid(1) + gridsize(1), x.size, gridsize(1)):
            value = combine(value, x[i])
        cells[t] = value
        width = WARP // 2
        while width > 0:
            syncthreads()
            if t % WARP < width:
                cells[t] = combine(cells[t], cells[t + width])
            width //= 2
        syncthreads()
        if t < 2 * WARP and t % WARP == 0:
            cells[t] = combine(cells[t], cells[t + 2 * WARP])
        syncthreads()
        if t == 0:
            partials[blockIdx.x] = combine(cells[0], cells[WARP])
            if has_init and blockIdx.x == 0:
                partials[0] = combine(partials[0], init)

    kernel: Kernel = reduce_whole_blocks
    return kernel


def rest_kernel(combine: Any, dtype: np.dtype[Any]) -> Kernel:
    """Make the kernel that reduces up to 128 elements with one block.

    Args:
        combine: device function of two values.
        dtype: of the elements.

    Returns:
        A kernel of x (n,), partials (1 or more,), init and has_init; n threads.
    """

    @jit
    def reduce_rest(x, partials, init, has_init):
        cells = shared.array(BLOCK, dtype)
        t = threadIdx.x
        cells[t] = x[t]
        in_halves = (t // WARP + 1) * WARP < x.size  # the last warp goes one by one
        width = WARP // 2
        while width > 0:
            syncthreads()
            if in_halves and t % WARP < width:
                cells[t] = combine(cells[t], cells[t + width])
            width //= 2
        if not in_halves and t % WARP == 0:
            for i in range(t + 1, x.size):
                cells[t] = combine(cells[t], cells[i])
        syncthreads()
        if t == 0:
            total = cells[0]
            for first in range(WARP, blockDim.x, WARP):
                total = combine(total, cells[first])
            partials[0] = total
            if has_init:
                partials[0] = combine(partials[0], init)

    kernel: Kernel = reduce_rest
    return kernel
