"""Kernels whose threads meet, and calls that no generated kernel makes.

`CASES` pairs each with a launch: kernel, grid, block, arguments, dynamic shared bytes.
"""

import math

import numpy as np

from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32, int32, int64

N = 96


@cuda.jit
def prefix_of_warps(x, out):
    i = cuda.grid(1)
    value = x[i]
    delta = 1
    while delta < 32:
        other = cuda.shfl_up_sync(0xFFFFFFFF, value, delta)
        if cuda.laneid >= delta:
            value = int32(value + other)
        delta *= 2
    cuda.syncwarp()
    out[i] = value


@cuda.jit
def halves_of_a_warp(x, out):
    i = cuda.grid(1)
    if cuda.laneid < 16:
        out[i] = cuda.shfl_xor_sync(0x0000FFFF, x[i], 5)
    else:
        out[i] = cuda.ballot_sync(0xFFFF0000, x[i] > 0)
    out[i] += cuda.match_any_sync(0xFFFFFFFF, int32(x[i] % 4)) * 3
    out[i] += cuda.lanemask_lt()


@cuda.jit
def grid_barriers(x, out):
    i = cuda.grid(1)
    grid = cuda.cg.this_grid()
    total = x[i]
    for step in range(3):
        out[i] = total
        grid.sync()
        total += out[(i + 37 * (step + 1)) % out.size]
        grid.sync()
    out[i] = total


@cuda.jit
def carved_shared_memory(x, out):
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    longs = cuda.shared.array(0, int64)
    words = cuda.shared.array(0, int32)
    low, high = words[:32], words[63:31:-1]
    low[t], high[t] = x[i], x[i] * 2
    cuda.syncthreads()
    out[i] = longs[t] % 1000 + words[(t * 5) % 64]


@cuda.jit(device=True)
def collatz(n, steps):
    if n <= 1:
        return steps
    if n % 2:
        return collatz(3 * n + 1, steps + 1)
    return collatz(n // 2, steps + 1)


@cuda.jit(device=True)
def weighted(a, b=2, c=3):
    return a + 10 * b + 100 * c


@cuda.jit
def calls(x, out):
    i = cuda.grid(1)
    out[i] = collatz(abs(x[i]), 0)
    out[i] += weighted(x[i], c=1) + weighted(1, b=x[i]) + weighted(c=i, a=2)
    for k, value in enumerate(x[i % 8 : 40 : 9]):
        out[i] += k * value
    for a, b in zip((1, 2, i), (x[i], x[0], x[1])):  # noqa: B905  (kernels have no strict)
        out[i] += a * b


@cuda.jit
def functions(y, out):
    i = cuda.grid(1)
    value = y[i]
    out[i] = round(value) + int(value * 3) + math.floor(value) + math.ceil(-value)
    out[i] += math.sqrt(abs(value)) + cuda.fma(value, value, float32(-0.1))
    out[i] += cuda.cbrt(value) + round(value, 1) + math.copysign(2.0, value)
    out[i] += float(i) ** 2 + value**2 + pow(i % 5, 3) + math.fmod(value, 1.5)


@cuda.jit
def slices(table, out):
    i = cuda.grid(1)
    if i < table.shape[0]:
        column, part = table[:, 1], table[1:-1, ::2]
        out[i] = column[i] * 100 + part[i % part.shape[0], -1] + part.size
        backwards = table[i, ::-1]
        for k in range(len(backwards)):
            out[i] = out[i] * 2 + backwards[k]


def _numbers(dtype=np.int32):
    return np.random.default_rng(5).integers(-9, 30, N).astype(dtype)


def _case(kernel, *inputs, shared_bytes=0):
    return kernel, 3, 32, (*inputs, np.zeros(N, np.float64)), shared_bytes


CASES = (
    (prefix_of_warps, 3, 32, (_numbers(), np.zeros(N, np.int64)), 0),
    (halves_of_a_warp, 3, 32, (_numbers(), np.zeros(N, np.int64)), 0),
    (grid_barriers, 3, 32, (_numbers(np.int64), np.zeros(N, np.int64)), 0),
    (carved_shared_memory, 3, 32, (_numbers(), np.zeros(N, np.int64)), 256),
    (calls, 3, 32, (_numbers(), np.zeros(N, np.int64)), 0),
    _case(functions, np.random.default_rng(6).normal(0, 9, N).astype(np.float32)),
    _case(slices, np.arange(21.0).reshape(7, 3)),
)
