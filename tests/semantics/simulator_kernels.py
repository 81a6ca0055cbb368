"""Kernels that give the same on our device and on numba's own simulator.

A module of its own, with no import of the project: `PEER` chooses whose `cuda` it is.
Run as a program, it prints each kernel's arrays as JSON.
"""

import importlib
import json
import os
import sys

import numpy as np

cuda = importlib.import_module(os.environ.get("PEER", "numba.cuda"))
int32, int64, float32 = np.int32(0).dtype, np.int64(0).dtype, np.float32(0).dtype


@cuda.jit
def tree_sum(x, out):
    part = cuda.shared.array(32, int32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = x[i] if i < x.size else 0
    cuda.syncthreads()
    width = 16
    while width > 0:
        if t < width:
            part[t] += part[t + width]
        cuda.syncthreads()
        width //= 2
    if t == 0:
        out[cuda.blockIdx.x] = part[0]


@cuda.jit
def histogram(x, out):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(out, x[i] % 8, 1)
        cuda.atomic.max(out, 8, x[i])


@cuda.jit
def sorted_by_each(x, out):
    mine = cuda.local.array(4, int64)
    i = cuda.grid(1)
    if i >= out.size:
        return
    for k in range(4):
        mine[k] = x[(i + k * 3) % x.size]
    for j in range(4):
        for k in range(3 - j):
            if mine[k] > mine[k + 1]:
                mine[k], mine[k + 1] = mine[k + 1], mine[k]
    out[i] = mine[0] + 10 * mine[1] + 100 * mine[2] + 1000 * mine[3]


@cuda.jit(device=True)
def largest(row, first):
    found = row[first]
    for k in range(first + 1, row.size):
        found = max(found, row[k])
    return found


@cuda.jit
def rows(table, out):
    i, j = cuda.grid(2)
    if i < table.shape[0] and j < table.shape[1]:
        row = table[i]
        out[i, j] = largest(row, j) - largest(table[i, :], 0)


@cuda.jit
def counted(x, out):
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    n = cuda.syncthreads_count(int(x[i] > 3))
    every = cuda.syncthreads_and(int(x[i] == x[t]))
    some = cuda.syncthreads_or(int(x[i] == 93))
    out[i] = n * 100 + every * 10 + some + 1000 * t


@cuda.jit
def dynamic(x, out):
    whole = cuda.shared.array(0, float32)
    low, high = whole[:16], whole[16:32]
    t = cuda.threadIdx.x
    low[t], high[15 - t] = x[t], x[t + 16]
    cuda.syncthreads()
    out[t] = low[15 - t] * 2 + high[t]


def numbers(n, dtype="int64"):
    return np.random.default_rng(3).integers(0, 100, n).astype(dtype)


LAUNCHES = {
    "tree_sum": (tree_sum, (3, 32), (numbers(80, "int32"), np.zeros(3, "int64"))),
    "histogram": (histogram, (2, 32), (numbers(50), np.zeros(9, "int64"))),
    "sorted_by_each": (sorted_by_each, (2, 20), (numbers(50), np.zeros(33, "int64"))),
    "rows": (rows, ((2, 1), (3, 4)), (numbers(20).reshape(5, 4), np.zeros((5, 4)))),
    "counted": (counted, (2, 32), (numbers(64), np.zeros(64, "int64"))),
    "dynamic": (dynamic, (1, 16, 0, 128), (numbers(32, "float32"), np.zeros(16))),
}


def run(name):
    """Launch one kernel; return what it left in its last array."""
    kernel, shape, arguments = LAUNCHES[name]
    given = [a.copy() for a in arguments]
    kernel[shape](*given)
    return given[-1].tolist()


if __name__ == "__main__":
    print(json.dumps({name: run(name) for name in sys.argv[1:] or LAUNCHES}))
