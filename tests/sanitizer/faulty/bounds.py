"""Indices outside an array, outside its memory, or wrapped round to its end."""

from tests.sanitizer.cases import faulty, floats, ints, unwritten, zeros
from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32, int32


@faulty(
    "out_of_bounds",
    launch=(4, 32),
    arguments=(floats(100), unwritten(128)),
    array="x",
    space="global",
    block=(3, 0, 0),
    thread=(4, 0, 0),
)
@cuda.jit
def missing_guard(x, out):
    """Missing guard: the last block has more threads than there are elements."""
    i = cuda.grid(1)
    out[i] = x[i] * float32(2)  # fault


@faulty(
    "out_of_bounds",
    launch=(4, 32),
    arguments=(floats(100), unwritten(100)),
    array="out",
    block=(3, 0, 0),
    thread=(4, 0, 0),
)
@cuda.jit
def guard_off_by_one(x, out):
    """Guard off by one: `<=` lets the thread with i == n through."""
    i = cuda.grid(1)
    if i <= x.size:
        out[i] = float32(i)  # fault


@faulty(
    "out_of_bounds",
    launch=(2, 32),
    arguments=(floats(64), unwritten(64)),
    array="x",
    block=(1, 0, 0),
    thread=(31, 0, 0),
)
@cuda.jit
def halo_off_by_one(x, out):
    """Halo off by one: the last element has no right neighbour."""
    i = cuda.grid(1)
    if 0 < i < x.size:
        out[i] = x[i - 1] + x[i + 1]  # fault


@faulty(
    "out_of_bounds",
    launch=(1, 4),
    arguments=(floats(8, 4), unwritten(4)),
    array="table",
    thread=(0, 0, 0),
)
@cuda.jit
def row_and_column_swapped(table, out):
    """Axis: [0, 4] of an (8, 4) array lies inside the memory, but outside the row."""
    t = cuda.threadIdx.x
    out[t] = table[t, t + 4]  # fault


@faulty(
    "out_of_bounds",
    launch=(1, 64),
    arguments=(floats(64), unwritten(64)),
    array="tile",
    space="shared",
    thread=(32, 0, 0),
)
@cuda.jit
def tile_smaller_than_block(x, out):
    """Past the shared array: the tile has 32 cells, the block has 64 threads."""
    tile = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]  # fault
    cuda.syncthreads()
    out[t] = tile[t]


@faulty(
    "out_of_bounds",
    launch=(1, 64, 0, 128),
    arguments=(floats(64), unwritten(64)),
    array="tile",
    space="shared",
    thread=(32, 0, 0),
)
@cuda.jit
def dynamic_shared_memory_too_small(x, out):
    """Past the dynamic shared memory: 128 bytes hold 32 floats, and 64 are stored."""
    tile = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]  # fault
    cuda.syncthreads()
    out[t] = tile[t]


@faulty(
    "out_of_bounds",
    launch=(1, 32),
    arguments=(unwritten(32, dtype="int32"),),
    array="digits",
    space="local",
    thread=(16, 0, 0),
)
@cuda.jit
def local_array_too_small(out):
    """Past the local array: numbers from 16 on have more than four binary digits."""
    digits = cuda.local.array(4, int32)
    value, count = cuda.threadIdx.x, 0
    while value > 0:
        digits[count] = value % 2  # fault
        value //= 2
        count += 1
    out[cuda.threadIdx.x] = digits[count - 1] if count > 0 else 0


@faulty(
    "out_of_bounds",
    launch=(2, 32),
    arguments=(ints(64), zeros(60, dtype="int32")),
    array="bins",
    block=(1, 0, 0),
    thread=(28, 0, 0),
)
@cuda.jit
def bin_outside_the_histogram(x, bins):
    """Atomic out of bounds: the largest values have no bin."""
    i = cuda.grid(1)
    cuda.atomic.add(bins, x[i] - 1, 1)  # fault


@faulty(
    "out_of_bounds",
    launch=(1, 32),
    arguments=(floats(8), unwritten(32)),
    array="x",
    thread=(0, 0, 0),
)
@cuda.jit
def negative_past_the_beginning(x, out):
    """Below -n: an index is wrapped once, so -9 of 8 elements is outside."""
    t = cuda.threadIdx.x
    out[t] = x[t - 40]  # fault


@faulty(
    "out_of_bounds",
    launch=(1, 32),
    arguments=(floats(20), ints(32), unwritten(32)),
    array="x",
    thread=(19, 0, 0),
)
@cuda.jit
def gather_with_index_from_data(x, index, out):
    """Index from data: index[19] is 20, one past the end of x."""
    t = cuda.threadIdx.x
    out[t] = x[index[t]]  # fault


@faulty(
    "out_of_bounds",
    launch=((2, 2), (16, 16)),
    arguments=(floats(32, 30), unwritten(30, 32)),
    array="x",
    block=(1, 0, 0),
    thread=(14, 0, 0),
)
@cuda.jit
def transpose_guarded_by_the_wrong_axis(x, out):
    """Wrong guard: the column is compared with the number of rows."""
    column, row = cuda.grid(2)
    if column < x.shape[0] and row < x.shape[0]:
        value = x[row, column]  # fault
        out[column, row] = value


@faulty(
    "negative_index",
    launch=(2, 32),
    arguments=(floats(64), unwritten(64)),
    array="x",
    block=(0, 0, 0),
    thread=(0, 0, 0),
)
@cuda.jit
def left_neighbour_of_the_first(x, out):
    """Negative index: x[i - 1] is the last element for the first thread."""
    i = cuda.grid(1)
    out[i] = x[i] - x[i - 1]  # fault


@faulty(
    "negative_index",
    launch=((1, 1), (8, 8)),
    arguments=(floats(8, 8), unwritten(8, 8)),
    array="image",
    thread=(0, 3, 0),
)
@cuda.jit
def blur_without_left_border(image, out):
    """Negative index: column -1 of the stencil wraps to the right border."""
    column, row = cuda.grid(2)
    if column < 7:
        total = image[row, column - 1] + image[row, column + 1]  # fault
        out[row, column] = total / float32(2)


@faulty(
    "negative_index",
    launch=(1, 32),
    arguments=(floats(32), unwritten(32)),
    array="tile",
    space="shared",
    thread=(1, 0, 0),
)
@cuda.jit
def scan_step_without_guard(x, out):
    """Negative index: the first two lanes add cells from the tile's end."""
    tile = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    out[t] = tile[t] + tile[t - 2]  # fault


@faulty(
    "negative_index",
    launch=(1, 32),
    arguments=(ints(32), zeros(40, dtype="int32")),
    array="bins",
    thread=(0, 0, 0),
)
@cuda.jit
def atomic_below_the_first_bin(x, bins):
    """Negative index: values below the histogram's range count in its last bins."""
    t = cuda.threadIdx.x
    cuda.atomic.add(bins, x[t] - 5, 1)  # fault


def after_close(kernel):
    x = cuda.to_device(floats(32))
    cuda.close()
    kernel[1, 32](x)


@faulty("use_after_free", run=after_close)
@cuda.jit
def array_of_a_closed_context(x):
    """Use after free: the context was closed, and the array's memory with it."""
    t = cuda.threadIdx.x
    x[t] = x[t] + float32(1)
