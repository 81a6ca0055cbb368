"""Counts of five matrix products, step by step better, by hand.

Source: siboehm/SGEMM_CUDA, README and kernels 1 to 5; what each access costs is worked
out from the lanes of a warp, beside each kernel.
"""

from __future__ import annotations

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.cost import occupancy
from tinytorch_gpu.cuda import float32

M, N, K = 128, 128, 32
HALF, THREE = np.float32(0.5), np.float32(3.0)


@cuda.jit
def naive(a, b, c):
    row = cuda.blockIdx.x * 32 + cuda.threadIdx.x
    col = cuda.blockIdx.y * 32 + cuda.threadIdx.y
    tmp = float32(0)
    for i in range(a.shape[1]):
        tmp += a[row, i] * b[i, col]
    c[row, col] = HALF * tmp + THREE * c[row, col]


@cuda.jit
def coalesced(a, b, c):
    row = cuda.blockIdx.x * 32 + cuda.threadIdx.x // 32
    col = cuda.blockIdx.y * 32 + cuda.threadIdx.x % 32
    tmp = float32(0)
    for i in range(a.shape[1]):
        tmp += a[row, i] * b[i, col]
    c[row, col] = HALF * tmp + THREE * c[row, col]


@cuda.jit
def tiled(a, b, c):
    tile_a = cuda.shared.array(1024, float32)
    tile_b = cuda.shared.array(1024, float32)
    tid = cuda.threadIdx.x
    row, col = tid // 32, tid % 32
    i, j = cuda.blockIdx.x * 32 + row, cuda.blockIdx.y * 32 + col
    tmp = float32(0)
    for k0 in range(0, a.shape[1], 32):
        tile_a[row * 32 + col] = a[i, k0 + col]
        tile_b[row * 32 + col] = b[k0 + row, j]
        cuda.syncthreads()
        for k in range(32):
            tmp += tile_a[row * 32 + k] * tile_b[k * 32 + col]
        cuda.syncthreads()
    c[i, j] = HALF * tmp + THREE * c[i, j]


@cuda.jit
def one_column(a, b, c):
    tile_a = cuda.shared.array(512, float32)
    tile_b = cuda.shared.array(512, float32)
    sums = cuda.local.array(8, float32)
    tid = cuda.threadIdx.x
    row, col = tid // 64, tid % 64
    i, j = cuda.blockIdx.y * 64, cuda.blockIdx.x * 64
    for r in range(8):
        sums[r] = 0
    for k0 in range(0, a.shape[1], 8):
        tile_a[tid] = a[i + tid // 8, k0 + tid % 8]
        tile_b[tid] = b[k0 + tid // 64, j + tid % 64]
        cuda.syncthreads()
        for k in range(8):
            of_b = tile_b[k * 64 + col]
            for r in range(8):
                sums[r] += tile_a[(row * 8 + r) * 8 + k] * of_b
        cuda.syncthreads()
    for r in range(8):
        y = i + row * 8 + r
        c[y, j + col] = HALF * sums[r] + THREE * c[y, j + col]


@cuda.jit
def eight_by_eight(a, b, c):  # noqa: C901  (the loops of the original)
    tile_a = cuda.shared.array(1024, float32)
    tile_b = cuda.shared.array(1024, float32)
    sums = cuda.local.array((8, 8), float32)
    of_a = cuda.local.array(8, float32)
    of_b = cuda.local.array(8, float32)
    tid = cuda.threadIdx.x
    row, col = tid // 16, tid % 16
    i, j = cuda.blockIdx.y * 128, cuda.blockIdx.x * 128
    for r in range(8):
        for s in range(8):
            sums[r, s] = 0
    for k0 in range(0, a.shape[1], 8):
        for o in range(0, 128, 32):
            tile_a[(tid // 8 + o) * 8 + tid % 8] = a[i + tid // 8 + o, k0 + tid % 8]
        for o in range(0, 8, 2):
            tile_b[(tid // 128 + o) * 128 + tid % 128] = b[
                k0 + tid // 128 + o, j + tid % 128
            ]
        cuda.syncthreads()
        for k in range(8):
            for r in range(8):
                of_a[r] = tile_a[(row * 8 + r) * 8 + k]
            for s in range(8):
                of_b[s] = tile_b[k * 128 + col * 8 + s]
            for r in range(8):
                for s in range(8):
                    sums[r, s] += of_a[r] * of_b[s]
        cuda.syncthreads()
    for r in range(8):
        for s in range(8):
            y, x = i + row * 8 + r, j + col * 8 + s
            c[y, x] = HALF * sums[r, s] + THREE * c[y, x]


WARP_STEPS = M * N // 32 * K  # warps of a thread for each result × steps of k

# Array, kind: requests in all, and for each of them sectors and lines (global) or
# passes (shared).
KERNELS = {
    # A warp is 32 rows of A and of C, 128 bytes apart or more, and one column.
    "naive": (
        (naive, (4, 4), (32, 32)),
        {
            ("a", "load"): (WARP_STEPS, 32, 32),
            ("b", "load"): (WARP_STEPS, 1, 1),
            ("c", "load"): (M * N // 32, 32, 32),
            ("c", "store"): (M * N // 32, 32, 32),
        },
    ),
    # A warp is one row and 32 columns: 128 bytes.
    "coalesced": (
        (coalesced, (4, 4), 1024),
        {
            ("a", "load"): (WARP_STEPS, 1, 1),
            ("b", "load"): (WARP_STEPS, 4, 1),
            ("c", "load"): (M * N // 32, 4, 1),
            ("c", "store"): (M * N // 32, 4, 1),
        },
    ),
    # K is 32: one tile. Each result's thread loads one element of A and one of B.
    # tile_a: one word for the whole warp; tile_b: 32 words in a row.
    "tiled": (
        (tiled, (4, 4), 1024),
        {
            ("a", "load"): (M * N // 32, 4, 1),
            ("b", "load"): (M * N // 32, 4, 1),
            ("tile_a", "store"): (M * N // 32, 0, 1),
            ("tile_b", "store"): (M * N // 32, 0, 1),
            ("tile_a", "load"): (WARP_STEPS, 0, 1),
            ("tile_b", "load"): (WARP_STEPS, 0, 1),
            ("c", "load"): (M * N // 32, 4, 1),
            ("c", "store"): (M * N // 32, 4, 1),
        },
    ),
    # 4 blocks of 16 warps, K ÷ 8 = 4 tiles. A warp loads 8 columns of 4 rows of A, a
    # sector each, and 32 columns of B. tile_a: one word, the warp has one `row`.
    "one column": (
        (one_column, (2, 2), 512),
        {
            ("a", "load"): (4 * 16 * 4, 4, 4),
            ("b", "load"): (4 * 16 * 4, 4, 1),
            ("tile_a", "store"): (4 * 16 * 4, 0, 1),
            ("tile_b", "store"): (4 * 16 * 4, 0, 1),
            ("tile_b", "load"): (WARP_STEPS // 8, 0, 1),
            ("tile_a", "load"): (WARP_STEPS, 0, 1),
            ("c", "load"): (M * N // 32, 4, 1),
            ("c", "store"): (M * N // 32, 4, 1),
        },
    ),
    # 1 block of 8 warps; 4 tiles, each loaded in 4 turns. tile_a: two words 64 apart,
    # of one bank. tile_b: 16 words 8 apart, in 4 banks: 4 in each. C: 2 rows, 16
    # elements 32 bytes apart in each; they span 512 bytes: 4 lines a row.
    "eight by eight": (
        (eight_by_eight, (1, 1), 256),
        {
            ("a", "load"): (8 * 4 * 4, 4, 4),
            ("b", "load"): (8 * 4 * 4, 4, 1),
            ("tile_a", "store"): (8 * 4 * 4, 0, 1),
            ("tile_b", "store"): (8 * 4 * 4, 0, 1),
            ("tile_a", "load"): (8 * K * 8, 0, 2),
            ("tile_b", "load"): (8 * K * 8, 0, 4),
            ("c", "load"): (8 * 64, 32, 8),
            ("c", "store"): (8 * 64, 32, 8),
        },
    ),
}


@pytest.mark.parametrize("name", KERNELS)
def test_every_access_costs_what_it_costs_by_hand(counted, name):
    (kernel, grid, block), expected = KERNELS[name]
    generator = np.random.default_rng(0)
    a, b, c = (
        generator.random(shape, np.float32) for shape in ((M, K), (K, N), (M, N))
    )
    counts = counted("rtxa6000", kernel, grid, block, a, b, c)
    found = {
        (access.array, access.kind): (
            access.requests,
            access.sectors_per_request,
            access.wavefronts_per_request,
        )
        for access in counts.accesses
        if access.space in {"global", "shared"}
    }
    assert found == expected


def test_only_the_last_has_bank_conflicts(counted):
    for name, ((kernel, grid, block), expected) in KERNELS.items():
        arrays = [np.ones(shape, np.float32) for shape in ((M, K), (K, N), (M, N))]
        counts = counted("rtxa6000", kernel, grid, block, *arrays)
        conflicts = {
            (a.array, a.kind): a.bank_conflicts
            for a in counts.accesses
            if a.bank_conflicts
        }
        # A pass more for each load of tile_a, three more for each of tile_b.
        loads = 8 * K * 8
        queued = {("tile_a", "load"): loads, ("tile_b", "load"): 3 * loads}
        assert conflicts == (queued if name == "eight by eight" else {})
        assert set(conflicts) <= set(expected)


@pytest.mark.parametrize("name", KERNELS)
def test_the_products_are_right(name):
    (kernel, grid, block), _ = KERNELS[name]
    generator = np.random.default_rng(1)
    a, b, c = (
        generator.random(shape, np.float32) for shape in ((M, K), (K, N), (M, N))
    )
    expected = 0.5 * (a.astype("f8") @ b) + 3.0 * c
    kernel[grid, block](a, b, c)
    np.testing.assert_allclose(c, expected, rtol=1e-5)


def test_the_tile_of_1024_threads_fills_two_thirds():
    fit = occupancy(
        1024, find_gpu("rtxa6000"), registers_per_thread=37, shared_bytes=8192
    )
    assert (fit.blocks_per_sm, fit.warps_per_sm) == (1, 32)
    assert round(100 * fit.theoretical_occupancy, 1) == 66.7
