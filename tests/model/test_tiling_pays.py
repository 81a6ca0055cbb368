"""The lesson of tiles: on every kind of GPU they beat loads that are only coalesced.

Expected counts are by hand; the range of gains is that of hardware, about 1.3 to 2.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tinytorch_gpu import cuda, profiler
from tinytorch_gpu.cuda import float32

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "examples" / "sgemm")]

from products import coalesced, column_of_results, square_of_results, tiled  # noqa: E402

N = 1024


@cuda.jit
def small_tiles(a, b, c):
    tile_a = cuda.shared.array((16, 16), float32)
    tile_b = cuda.shared.array((16, 16), float32)
    row, col = cuda.threadIdx.y, cuda.threadIdx.x
    y, x = cuda.blockIdx.y * 16 + row, cuda.blockIdx.x * 16 + col
    total = float32(0)
    for first in range(0, a.shape[1], 16):
        tile_a[row, col] = a[y, first + col]
        tile_b[row, col] = b[first + row, x]
        cuda.syncthreads()
        for k in range(16):
            total += tile_a[row, k] * tile_b[k, col]
        cuda.syncthreads()
    c[y, x] = total


@cuda.jit
def padded(tile_sums):
    tile = cuda.shared.array((32, 33), float32)
    i = cuda.threadIdx.x
    for k in range(32):
        tile[i, k] = 1
    cuda.syncthreads()
    total = float32(0)
    for k in range(32):
        total += tile[i, k]
    tile_sums[i] = total


@cuda.jit
def unpadded(tile_sums):
    tile = cuda.shared.array((32, 32), float32)
    i = cuda.threadIdx.x
    for k in range(32):
        tile[i, k] = 1
    cuda.syncthreads()
    total = float32(0)
    for k in range(32):
        total += tile[i, k]
    tile_sums[i] = total


def estimated(kernel, tile, block, gpu, n=N):
    arrays = [profiler.like((n, n))] * 3
    return profiler.estimate(kernel, (n // tile, n // tile), block, arrays, gpu=gpu)


# Simplified: a block of 1024 threads with 37 registers has an SM of the H100 for
# itself, and waits openly for memory that is farther away in clocks than on the others.
@pytest.mark.parametrize(
    ("gpu", "least"),
    [("t4", 1.1), ("v100", 1.1), ("a100", 1.1), ("h100", 1.0), ("rtxa6000", 1.1)],
)
def test_tiles_beat_coalesced_loads(gpu, least):
    before = estimated(coalesced, 32, 1024, gpu).duration_ns
    assert least <= before / estimated(tiled, 32, 1024, gpu).duration_ns <= 2.5
    assert 1.1 <= before / estimated(small_tiles, 16, (16, 16), gpu).duration_ns <= 2.5


def shared_loads(kernel, tile, block):
    counts = estimated(kernel, tile, block, "a100", 128).counts
    loads = [a for a in counts.shared_accesses if a.kind == "load"]
    return {a.array: a.merged / a.requests for a in loads}, loads


@pytest.mark.parametrize(
    ("kernel", "tile", "block", "expected"),
    [
        # tile_a[row, k], k from 0 to 31: three of four; tile_b[k, col] goes by rows
        (tiled, 32, 1024, {"tile_a": 0.75, "tile_b": 0}),
        (small_tiles, 16, (16, 16), {"tile_a": 0.75, "tile_b": 0}),
        # tile_a[row + r, k] with r inside k: all of one k, then the next
        (column_of_results, 64, 512, {"tile_a": 0.75, "tile_b": 0}),
        # and tile_b[k, col + s] with s from 0 to 7
        (square_of_results, 128, 256, {"tile_a": 0.75, "tile_b": 0.75}),
    ],
)
def test_what_is_joined_in_the_products(kernel, tile, block, expected):
    shares, loads = shared_loads(kernel, tile, block)
    assert shares == expected
    for a in loads:  # each load of a place takes as many passes as the others
        assert a.merged_wavefronts * a.requests == a.merged * a.wavefronts


@pytest.mark.parametrize(("kernel", "merged"), [(padded, 0), (unpadded, 24)])
def test_a_column_more_spares_conflicts_and_costs_the_wide_loads(kernel, merged):
    found = profiler.estimate(kernel, 1, 32, [profiler.like(32)], gpu="a100").counts
    (load,) = (a for a in found.shared_accesses if a.kind == "load")
    (store,) = (a for a in found.shared_accesses if a.kind == "store")
    assert (load.requests, load.merged, store.merged) == (32, merged, 0)
    # 32 lanes in one bank: 32 passes of each of 32 loads, or one
    assert load.wavefronts == (32 if kernel is padded else 32 * 32)
    assert load.merged_wavefronts == 32 * merged


def test_loads_of_global_memory_are_not_joined():
    found = estimated(coalesced, 32, 1024, "a100", 128).counts
    assert [a.merged for a in found.global_accesses] == [0] * len(found.global_accesses)


def test_counts_are_the_same_whatever_runs_together():
    def merged(blocks):
        arrays = [profiler.like(shape) for shape in ((128, 32), (32, 128), (128, 128))]
        found = profiler.estimate(tiled, (4, 4), 1024, arrays, blocks=blocks)
        return sum(a.merged for a in found.counts.accesses)

    # 16 blocks of 32 warps, 32 loads of each of which 24 ride
    assert merged(16) == merged(3) == merged(1) == 16 * 32 * 24
