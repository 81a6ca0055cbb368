"""Races in shared memory between the steps of an algorithm."""

from tests.sanitizer.cases import faulty, floats, ints, unwritten, zeros
from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32, int32

WARPWISE = ("implicit_warp_synchrony",)  # the same fault, seen between lanes


@faulty(
    "implicit_warp_synchrony",
    launch=(1, 64),
    arguments=(floats(64), unwritten(1)),
    array="tile",
    thread=(0, 0, 0),
)
@cuda.jit
def old_warp_reduction(x, out):
    """Missing syncwarp: the last warp adds up as if its lanes ran in lockstep."""
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    stride = 32
    while stride > 0:
        if t < stride:
            tile[t] += tile[t + stride]  # fault
        stride //= 2
    if t == 0:
        out[0] = tile[0]


@faulty(
    "implicit_warp_synchrony",
    launch=(1, 32),
    arguments=(floats(32), unwritten(32)),
    array="tile",
    hazard="WAR",
    thread=(1, 0, 0),
)
@cuda.jit
def shift_in_one_warp(x, out):
    """Missing syncwarp: each lane overwrites the cell that its neighbour reads."""
    tile = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncwarp()
    if t < 31:
        tile[t] = tile[t + 1]  # fault
    cuda.syncwarp()
    out[t] = tile[t]


@faulty(
    "race",
    launch=(1, 64),
    arguments=(ints(64), unwritten(64, dtype="int32")),
    array="count",
    thread=(0, 0, 0),
    also=WARPWISE,
)
@cuda.jit
def counter_read_beside_atomics(x, out):
    """Missing barrier: a plain read of a cell to which others still add."""
    count = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        count[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(count, 0, x[t])  # other
    out[t] = count[0]  # fault


@faulty(
    "race",
    launch=(1, 64),
    arguments=(ints(64), unwritten(1, dtype="int32")),
    array="count",
    thread=(32, 0, 0),
    also=WARPWISE,
)
@cuda.jit
def counter_zeroed_beside_atomics(x, out):
    """Missing barrier: the cell is zeroed while others may have added to it."""
    count = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        count[0] = 0  # other
    cuda.atomic.add(count, 0, x[t])  # fault
    cuda.syncthreads()
    if t == 0:
        out[0] = count[0]


@faulty(
    "race",
    launch=(1, 64),
    arguments=(floats(64), unwritten(64)),
    array="tile",
    hazard="WAR",
    thread=(63, 0, 0),
)
@cuda.jit
def barrier_only_in_even_iterations(x, out):
    """Missing barrier: only every other step waits before it overwrites the tile."""
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    value = x[t]
    for k in range(4):
        if k % 2 == 0:
            cuda.syncthreads()
        tile[t] = value  # fault
        cuda.syncthreads()
        value = tile[63 - t] + float32(1)  # other
    out[t] = value


@faulty(
    "race",
    launch=(1, 64),
    arguments=(floats(64), unwritten(64)),
    array="tile",
    hazard="WAW",
    thread=(32, 0, 0),
)
@cuda.jit
def two_threads_store_one_cell(x, out):
    """Wrong index: t % 32 sends two warps to one cell, with different values."""
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[t % 32] = x[t]  # fault
    cuda.syncthreads()
    out[t] = tile[t % 32]


@faulty(
    "race",
    launch=(1, 64),
    arguments=(floats(64), zeros(1)),
    array="largest",
    hazard="WAW",
    thread=(31, 0, 0),
)
@cuda.jit
def last_lane_wins(x, out):
    """Missing condition: all threads store their own value into one cell."""
    largest = cuda.shared.array(1, float32)
    t = cuda.threadIdx.x
    largest[0] = x[t]  # fault
    cuda.syncthreads()
    if t == 0:
        out[0] = largest[0]


@faulty(
    "race",
    launch=(1, 128),
    arguments=(floats(128), unwritten(1)),
    array="partial",
    hazard="RAW",
    thread=(0, 0, 0),
)
@cuda.jit
def warp_sums_without_barrier(x, out):
    """Missing barrier: the first thread adds up what the other warps have yet to store."""
    partial = cuda.shared.array(4, float32)
    t = cuda.threadIdx.x
    value = x[t]
    for offset in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, offset)
    if t % 32 == 0:
        partial[t // 32] = value  # other
    if t == 0:
        out[0] = partial[0] + partial[1] + partial[2] + partial[3]  # fault


@faulty(
    "race",
    launch=(1, 64, 0, 512),
    arguments=(floats(64), unwritten(64)),
    hazard="WAW",
    thread=(0, 0, 0),
)
@cuda.jit
def overlapping_dynamic_views(x, out):
    """Overlap: two views of the dynamic shared memory share their last 32 cells."""
    left = cuda.shared.array(0, float32)[:64]
    right = cuda.shared.array(0, float32)[32:96]
    t = cuda.threadIdx.x
    left[t] = x[t]  # other
    right[t] = x[t] * x[t]  # fault
    cuda.syncthreads()
    out[t] = left[t] + right[t]


@faulty(
    "race",
    launch=(1, 64),
    arguments=(floats(64), unwritten(64)),
    array="tile",
    hazard="RAW",
    thread=(32, 0, 0),
)
@cuda.jit
def syncwarp_instead_of_syncthreads(x, out):
    """Wrong barrier: syncwarp keeps one warp together, but the data cross warps."""
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]  # other
    cuda.syncwarp()
    out[t] = tile[t ^ 32]  # fault
