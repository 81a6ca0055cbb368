"""Tiles in shared memory with the barriers that they need, and no more."""

from tests.sanitizer.cases import clean, floats, ints, unwritten
from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32, int32


@clean(
    launch=((2, 2), (16, 16)),
    arguments=(floats(32, 48), floats(48, 32), unwritten(32, 32)),
)
@cuda.jit
def tiled_matmul(a, b, c):
    """Two barriers a tile: after it is filled, and after it is read."""
    left = cuda.shared.array((16, 16), float32)
    right = cuda.shared.array((16, 16), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = float32(0)
    for k in range(0, 48, 16):
        left[ty, tx] = a[row, k + tx]
        right[ty, tx] = b[k + ty, column]
        cuda.syncthreads()
        for j in range(16):
            total += left[ty, j] * right[j, tx]
        cuda.syncthreads()
    c[row, column] = total


@clean(
    launch=((3, 3), (16, 16)),
    arguments=(floats(40, 40), floats(40, 40), unwritten(40, 40)),
)
@cuda.jit
def tiled_matmul_with_tails(a, b, c):
    """Past the edges the tiles are filled with zeros, so that no cell stays empty."""
    left = cuda.shared.array((16, 16), float32)
    right = cuda.shared.array((16, 16), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    total = float32(0)
    for k in range(0, 40, 16):
        left[ty, tx] = a[row, k + tx] if row < 40 and k + tx < 40 else float32(0)
        right[ty, tx] = b[k + ty, column] if k + ty < 40 and column < 40 else float32(0)
        cuda.syncthreads()
        for j in range(16):
            total += left[ty, j] * right[j, tx]
        cuda.syncthreads()
    if row < 40 and column < 40:
        c[row, column] = total


@clean(launch=((2, 2), (16, 16)), arguments=(floats(32, 32), unwritten(32, 32)))
@cuda.jit
def transpose_with_padded_tile(x, out):
    """The seventeenth column only keeps banks apart; nobody reads it."""
    tile = cuda.shared.array((16, 17), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.grid(2)
    tile[ty, tx] = x[row, column]
    cuda.syncthreads()
    out[cuda.blockIdx.x * 16 + ty, cuda.blockIdx.y * 16 + tx] = tile[tx, ty]


@clean(launch=((2, 2), (16, 4)), arguments=(floats(32, 32), unwritten(32, 32)))
@cuda.jit
def transpose_of_four_rows_a_thread(x, out):
    """Each thread moves four cells: the tile is filled by a loop before the barrier."""
    tile = cuda.shared.array((16, 17), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    column, row = cuda.blockIdx.x * 16, cuda.blockIdx.y * 16
    for j in range(0, 16, 4):
        tile[ty + j, tx] = x[row + ty + j, column + tx]
    cuda.syncthreads()
    for j in range(0, 16, 4):
        out[column + ty + j, row + tx] = tile[tx, ty + j]


@clean(launch=(2, 64), arguments=(floats(130), unwritten(128)))
@cuda.jit
def stencil_with_halo(x, out):
    """The first thread loads both halo cells, and all wait for it."""
    tile = cuda.shared.array(66, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    tile[t + 1] = x[i + 1]
    if t == 0:
        tile[0] = x[i]
        tile[65] = x[i + 65]
    cuda.syncthreads()
    out[i] = tile[t] + tile[t + 1] + tile[t + 2]


@clean(launch=(1, 64), arguments=(floats(64, 8), unwritten(64)))
@cuda.jit
def double_buffer_with_one_barrier(x, out):
    """One barrier a step is enough: the next step fills the other half."""
    halves = cuda.shared.array((2, 64), float32)
    t = cuda.threadIdx.x
    total = float32(0)
    for k in range(8):
        halves[k % 2, t] = x[t, k]
        cuda.syncthreads()
        total += halves[k % 2, 63 - t]
    out[t] = total


@clean(launch=(1, 64), arguments=(floats(64, 6), unwritten(64)))
@cuda.jit
def triple_buffer_fills_ahead(x, out):
    """Three parts: the next one is filled while the present one is read."""
    parts = cuda.shared.array((3, 64), float32)
    t = cuda.threadIdx.x
    total = float32(0)
    parts[0, t] = x[t, 0]
    for k in range(6):
        if k < 5:
            parts[(k + 1) % 3, t] = x[t, k + 1]
        cuda.syncthreads()
        total += parts[k % 3, (t + 40) % 64]
    out[t] = total


@clean(launch=(2, 64), arguments=(floats(128), unwritten(128)))
@cuda.jit
def own_cells_need_no_barrier(x, out):
    """Each thread reads only the cell that it has written itself."""
    tile = cuda.shared.array(64, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    tile[t] = x[i]
    tile[t] = tile[t] * tile[t]
    out[i] = tile[t]


@clean(launch=(2, 64), arguments=(floats(128), unwritten(128)))
@cuda.jit
def one_cell_read_by_all(x, out):
    """Many readers of one cell do not race."""
    first = cuda.shared.array(1, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if t == 0:
        first[0] = x[i]
    cuda.syncthreads()
    out[i] = x[i] - first[0]


@clean(launch=(1, 64, 0, 512), arguments=(floats(64), unwritten(64)))
@cuda.jit
def dynamic_shared_memory_in_two(x, out):
    """Two views of the dynamic shared memory that share no cell."""
    left = cuda.shared.array(0, float32)[:64]
    right = cuda.shared.array(0, float32)[64:]
    t = cuda.threadIdx.x
    left[t] = x[t]
    right[t] = x[t] * x[t]
    cuda.syncthreads()
    out[t] = left[63 - t] + right[t ^ 32]


@clean(launch=(1, 32, 0, 256), arguments=(floats(32), unwritten(32)))
@cuda.jit
def dynamic_shared_memory_of_two_types(x, out):
    """The first 128 bytes hold floats, the next ones integers."""
    values = cuda.shared.array(0, float32)[:32]
    keys = cuda.shared.array(0, int32)[32:]
    t = cuda.threadIdx.x
    values[t] = x[t]
    keys[t] = 31 - t
    cuda.syncthreads()
    out[t] = values[keys[t]]


@clean(launch=(2, (4, 4, 4)), arguments=(floats(2, 4, 4, 4), unwritten(2, 4, 4, 4)))
@cuda.jit
def block_of_three_dimensions(x, out):
    """A 3D block turns its cube round; two warps take part."""
    cube = cuda.shared.array((4, 4, 4), float32)
    i, j, k = cuda.threadIdx.x, cuda.threadIdx.y, cuda.threadIdx.z
    block = cuda.blockIdx.x
    cube[k, j, i] = x[block, k, j, i]
    cuda.syncthreads()
    out[block, k, j, i] = cube[i, j, k]


@clean(launch=((1, 1), (8, 8)), arguments=(floats(10, 10), unwritten(8, 8)))
@cuda.jit
def cooperative_load_in_2d(image, out):
    """64 threads fill 100 cells: each strides through the tile by its linear number."""
    tile = cuda.shared.array((10, 10), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    for n in range(ty * 8 + tx, 100, 64):
        tile[n // 10, n % 10] = image[n // 10, n % 10]
    cuda.syncthreads()
    total = tile[ty, tx + 1] + tile[ty + 2, tx + 1]
    out[ty, tx] = total + tile[ty + 1, tx] + tile[ty + 1, tx + 2]


@clean(launch=(1, 64), arguments=(ints(4), unwritten(64, dtype="int32")))
@cuda.jit
def table_filled_by_a_few_threads(x, out):
    """Four threads fill what all read after the barrier."""
    table = cuda.shared.array(4, int32)
    t = cuda.threadIdx.x
    if t < 4:
        table[t] = x[t] * x[t]
    cuda.syncthreads()
    out[t] = table[t % 4]


@clean(launch=(1, 64), arguments=(floats(64), unwritten(64)))
@cuda.jit
def tile_used_twice(x, out):
    """A tile serves two purposes, with a barrier between them."""
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    mirrored = tile[63 - t]
    cuda.syncthreads()
    tile[t] = mirrored * float32(2)
    cuda.syncthreads()
    out[t] = tile[(t + 1) % 64]
