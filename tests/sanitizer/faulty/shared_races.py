"""Races in shared memory: a barrier, a syncwarp or an atomic is missing."""

from tests.sanitizer.cases import faulty, floats, ints, unwritten, zeros
from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32, int32

WARPWISE = ("implicit_warp_synchrony",)  # the same fault, seen between lanes


@faulty(
    "race",
    launch=(1, 64),
    arguments=(floats(64), unwritten(64)),
    thread=(0, 0, 0),
    array="tile",
    hazard="RAW",
)
@cuda.jit
def reversal_without_barrier(x, out):
    """Missing barrier: a thread reads what a thread of the other warp has written."""
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]  # other
    out[t] = tile[63 - t]  # fault


@faulty(
    "race",
    launch=(2, 128),
    arguments=(floats(256), unwritten(2)),
    array="tile",
    thread=(0, 0, 0),
    also=WARPWISE,
)
@cuda.jit
def tree_reduction_without_barrier_in_loop(x, out):
    """Missing barrier: the steps of a tree reduction are not kept apart."""
    tile = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    tile[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    stride = 64
    while stride > 0:
        if t < stride:
            tile[t] += tile[t + stride]  # fault
        stride //= 2
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]


@faulty(
    "race",
    launch=(1, 128),
    arguments=(floats(128), unwritten(1)),
    array="tile",
    hazard="RAW",
    thread=(0, 0, 0),
)
@cuda.jit
def tree_reduction_without_first_barrier(x, out):
    """Missing barrier: the reduction starts before all have filled the tile."""
    tile = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]  # other
    stride = 64
    while stride > 0:
        if t < stride:
            tile[t] += tile[t + stride]  # fault
        cuda.syncthreads()
        stride //= 2
    if t == 0:
        out[0] = tile[0]


@faulty(
    "race",
    launch=((1, 1), (16, 16)),
    arguments=(floats(16, 64), floats(64, 16), unwritten(16, 16)),
    array="left",
    hazard="WAR",
    thread=(0, 15, 0),
    also=WARPWISE,
)
@cuda.jit
def matmul_rows_without_second_barrier(a, b, c):
    """Missing second barrier: a tile is overwritten while others still read it."""
    left = cuda.shared.array((16, 16), float32)
    column, row = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for k in range(0, 64, 16):
        left[column, row] = a[column, k + row]  # fault
        cuda.syncthreads()
        for j in range(16):
            total += left[row, j] * b[k + j, column]  # other
    c[row, column] = total


@faulty(
    "race",
    launch=((1, 1), (16, 16)),
    arguments=(floats(16, 64), floats(64, 16), unwritten(16, 16)),
    array="right",
    hazard="RAW",
    thread=(0, 0, 0),
    also=WARPWISE,
)
@cuda.jit
def matmul_without_first_barrier(a, b, c):
    """Missing first barrier: the tile is read before the other warps have filled it."""
    right = cuda.shared.array((16, 16), float32)
    column, row = cuda.threadIdx.x, cuda.threadIdx.y
    total = float32(0)
    for k in range(0, 64, 16):
        right[row, column] = b[k + row, column]  # other
        for j in range(16):
            total += a[row, k + j] * right[j, column]  # fault
        cuda.syncthreads()
    c[row, column] = total


@faulty(
    "race",
    launch=(1, 64),
    arguments=(floats(64), unwritten(64)),
    array="sums",
    thread=(31, 0, 0),
    also=WARPWISE,
)
@cuda.jit
def scan_in_place(x, out):
    """In-place scan hazard: a step overwrites sums that others have yet to read."""
    sums = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    sums[t] = x[t]
    cuda.syncthreads()
    offset = 1
    while offset < 64:
        if t >= offset:
            sums[t] = sums[t] + sums[t - offset]  # fault
        cuda.syncthreads()
        offset *= 2
    out[t] = sums[t]


@faulty(
    "race",
    launch=(1, 64),
    arguments=(floats(64), unwritten(64)),
    array="sums",
    thread=(32, 0, 0),
    also=WARPWISE,
)
@cuda.jit
def stale_double_buffer(x, out):
    """Stale double buffer: a half is read before the step that fills it has ended."""
    sums = cuda.shared.array((2, 64), float32)
    t = cuda.threadIdx.x
    sums[0, t] = x[t]
    cuda.syncthreads()
    for k in range(4):
        back, front = k % 2, 1 - k % 2
        left = sums[back, (t + 63) % 64]  # fault
        sums[front, t] = sums[back, t] + left  # other
    out[t] = sums[0, t]


@faulty(
    "race",
    launch=(2, 64),
    arguments=(floats(130), unwritten(128)),
    array="tile",
    hazard="RAW",
    thread=(31, 0, 0),
    also=WARPWISE,
)
@cuda.jit
def halo_without_barrier(x, out):
    """Missing barrier: the stencil reads its neighbours' cells of the tile at once."""
    tile = cuda.shared.array(66, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    tile[t + 1] = x[i + 1]  # other
    if t == 0:
        tile[0] = x[i]
        tile[65] = x[i + 65]
    out[i] = tile[t] + tile[t + 1] + tile[t + 2]  # fault


@faulty(
    "race",
    launch=((2, 2), (16, 16)),
    arguments=(floats(32, 32), unwritten(32, 32)),
    array="tile",
    hazard="RAW",
    thread=(0, 15, 0),
    also=WARPWISE,
)
@cuda.jit
def transpose_without_barrier(x, out):
    """Missing barrier: rows are written and columns are read, with nothing between."""
    tile = cuda.shared.array((16, 17), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    tile[ty, tx] = x[row, column]  # other
    out[cuda.blockIdx.x * 16 + ty, cuda.blockIdx.y * 16 + tx] = tile[tx, ty]  # fault


@faulty(
    "race",
    launch=(1, 64),
    arguments=(ints(64), zeros(4, dtype="int32")),
    array="bins",
    thread=(32, 0, 0),
    also=WARPWISE,
)
@cuda.jit
def shared_histogram_without_atomics(x, out):
    """Missing atomic: threads that count into one bin lose each other's counts."""
    bins = cuda.shared.array(4, int32)
    t = cuda.threadIdx.x
    if t < 4:
        bins[t] = 0
    cuda.syncthreads()
    bins[x[t] % 4] += 1  # fault
    cuda.syncthreads()
    if t < 4:
        out[t] = bins[t]


@faulty(
    "race",
    launch=(1, 64),
    arguments=(floats(64), unwritten(64)),
    array="largest",
    hazard="RAW",
    thread=(32, 0, 0),
    also=WARPWISE,
)
@cuda.jit
def broadcast_without_barrier(x, out):
    """Missing barrier: one thread sets a cell that all others read at once."""
    largest = cuda.shared.array(1, float32)
    t = cuda.threadIdx.x
    if t == 0:
        largest[0] = x[63]  # other
    out[t] = x[t] / largest[0]  # fault


@faulty(
    "implicit_warp_synchrony",
    launch=(1, 32),
    arguments=(floats(32), unwritten(32)),
    array="tile",
    hazard="RAW",
    thread=(31, 0, 0),
)
@cuda.jit
def exchange_without_syncwarp(x, out):
    """Missing syncwarp: neighbours in one warp exchange values through shared memory."""
    tile = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]  # other
    out[t] = tile[t ^ 1]  # fault
