"""Hypothesis strategies for the source of random kernels, and arguments for them.

Every kernel ends, stays in bounds and has no race: loops are short, indices are taken
`% n`, and a thread writes its own elements only, or by atomics whose order does not
matter. There are two families: in ragged kernels threads return early, in kernels of
whole warps all threads meet at barriers and warp operations.
"""

import random

import numpy as np
from hypothesis import strategies as st

from tests.semantics.random_groups import Groups
from tests.semantics.random_statements import TOTALS, Statements

HEAD = '''\
"""A random kernel, written by tests/semantics/random_kernels.py."""
import math

from tests.semantics.random_functions import both, pick, scaled, total_of
from tinytorch_gpu import cuda
from tinytorch_gpu import float16
from tinytorch_gpu.cuda import float32, float64, int8, int16, int32, int64
from tinytorch_gpu.cuda import uint8, uint16, uint32


@cuda.jit
def kernel(x, y, z, table, bytes_, shorts, words, halves,
           ints, singles, doubles, totals, tickets, sums, s):
    i = cuda.grid(1)
    n = x.size
'''
RAGGED = """\
    if i >= n:
        return
"""
WHOLE = """\
    t = cuda.threadIdx.x
    tile_i = cuda.shared.array(64, int64)
    tile_f = cuda.shared.array(64, float32)
    tile_d = cuda.shared.array(64, float64)
    cells = cuda.shared.array(8, int64)
"""
VARIABLES = """\
    a0, a1, a2 = 1, int64(x[i]), s
    f0, f1 = float32(1.5), y[i]
    d0, d1 = 0.25, z[i]
    k0 = k1 = k2 = 0
    w0 = w1 = w2 = 0
    mine = cuda.local.array(4, int64)
    for k in range(4):
        mine[k] = k - 1
    row = table[i]
    tail = x[s:]
    every_other = x[::-2]
"""
RESULTS = """\
    ints[i] += a0 + 3 * a1 + 5 * a2 + k0 + 7 * k1 + 11 * k2 + w0 + w1 * w2
    ints[i] += mine[0] + mine[1] * 3 + mine[2] * 5 + mine[3] * 7
    singles[i] += f0 - f1
    doubles[i] += d0 * 3 + d1
"""


def ragged_source(number):
    """Write the source of a module with one kernel, `kernel`, of 2 x 40 threads."""
    writer = Statements(number, may_return=True)
    for _ in range(number(2, 6)):
        writer.statement(3)
    return HEAD + RAGGED + VARIABLES + _lines(writer) + RESULTS


def whole_source(number):
    """Write the source of a kernel of 2 x 64 threads with operations of groups."""
    writer = Groups(number)
    for _ in range(number(2, 5)):
        writer.group()
        writer.statement(2)
    return HEAD + WHOLE + VARIABLES + _lines(writer) + RESULTS


def _lines(writer):
    return "".join(line + "\n" for line in writer.lines)


# Drawn as a seed, programs differ; choice by choice, a third of them would be repeats.
SEEDS = st.integers(0, 2**64 - 1)


def ragged_sources():
    """Draw the source of a kernel whose threads may return early."""
    return SEEDS.map(lambda seed: ragged_source(random.Random(seed).randint))


def whole_sources():
    """Draw the source of a kernel whose threads meet."""
    return SEEDS.map(lambda seed: whole_source(random.Random(seed).randint))


def arguments(n):
    """Make the arguments of such a kernel for `n` elements."""
    rng = np.random.default_rng(0)
    floats = lambda scale, dtype, *shape: rng.normal(0, scale, shape or n).astype(dtype)  # noqa: E731
    inputs = (
        rng.integers(-6, 9, n).astype(np.int32),
        floats(4, np.float32),
        floats(1e3, np.float64),
        floats(4, np.float32, n, 3),
        rng.integers(-128, 128, n).astype(np.int8),
        rng.integers(0, 2**16, n).astype(np.uint16),
        rng.integers(0, 9, n).astype(np.uint32),
        floats(2, np.float16),
    )
    outputs = np.zeros(n, np.int64), np.zeros(n, np.float32), np.zeros(n)
    of_all = np.zeros(len(TOTALS), np.int64), np.zeros(8, np.int64), np.zeros(8)
    return *inputs, *outputs, *of_all, 3
