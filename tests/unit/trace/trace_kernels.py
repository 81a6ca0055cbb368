"""Kernels that the tests of traces launch."""

import numpy as np

import tinytorch_gpu as simgpu
from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32


@cuda.jit
def reverse(x, out):  # each block turns its 64 elements round
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    tile[t] = x[i]
    cuda.syncthreads()
    if t < 40:
        out[i] = tile[63 - t]


@cuda.jit(device=True)
def put(target, place, value):
    target[place] = value


@cuda.jit
def mixed(m, counts):
    """Views, local memory, atomics, warp operations and loops that lanes leave."""
    own = cuda.local.array((2, 2), float32)
    t = cuda.threadIdx.x
    row = m[1]
    for k in range(t % 3):
        own[1, k] = row[k]
    s = cuda.shfl_sync(0xFFFFFFFF, t, 5)
    cuda.threadfence_block()
    if t >= 30:
        cuda.atomic.add(counts, 0, s)
    else:
        put(m[0], t % 2, 7)


def trace_reverse(count=3, **options):
    x = np.arange(64 * count, dtype=np.float32)
    with simgpu.tracing(**options) as traces:
        reverse[count, 64](x, np.zeros_like(x))
    return traces[0]


def trace_mixed(**options):
    m = cuda.to_device(np.arange(6, dtype=np.float32).reshape(3, 2))
    with simgpu.tracing(**options) as traces:
        mixed[2, 32](m.T, np.zeros(1, np.int64))
    return traces[0]
