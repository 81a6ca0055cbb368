"""Barriers that some threads of the block or grid miss."""

from tests.sanitizer.cases import faulty, floats, ints, unwritten, zeros
from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32


@faulty(
    "divergent_barrier",
    launch=(1, 64),
    arguments=(floats(64), unwritten(64)),
    block=(0, 0, 0),
    thread=(40, 0, 0),
)
@cuda.jit
def barrier_in_divergent_branch(x, out):
    """Divergent branch: only the first 40 threads come to the barrier."""
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    if t < 40:
        tile[t] = x[t]
        cuda.syncthreads()  # fault
        out[t] = tile[39 - t]
    else:
        out[t] = x[t]


@faulty(
    "divergent_barrier",
    launch=(2, 64),
    arguments=(floats(100), unwritten(100)),
    block=(1, 0, 0),
    thread=(36, 0, 0),
)
@cuda.jit
def barrier_inside_the_guard(x, out):
    """Divergent branch: in the last block, threads past the end miss the barrier."""
    tile = cuda.shared.array(64, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if i < x.size:
        tile[t] = x[i]
        cuda.syncthreads()  # fault
        out[i] = tile[t]


@faulty(
    "divergent_barrier",
    launch=(1, 64),
    arguments=(ints(64), unwritten(64, dtype="int32")),
    thread=(0, 0, 0),
)
@cuda.jit
def trip_count_of_each_thread(counts, out):
    """Per-thread trip counts: thread t waits t + 1 times, so nobody waits together."""
    t = cuda.threadIdx.x
    total = 0
    for k in range(counts[t]):
        total += k
        cuda.syncthreads()  # fault
    out[t] = total


@faulty(
    "divergent_barrier",
    launch=(1, 64),
    arguments=(floats(64), unwritten(64)),
    thread=(32, 0, 0),
)
@cuda.jit
def two_barriers_in_two_branches(x, out):
    """Two barriers: each half of the block waits at one of its own."""
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    if t < 32:
        tile[t] = x[t]
        cuda.syncthreads()  # fault
    else:
        tile[t] = -x[t]
        cuda.syncthreads()
    out[t] = tile[63 - t]


@cuda.jit(device=True)
def shared_sum(tile, t):
    stride = 32
    while stride > 0:
        if t < stride:
            tile[t] += tile[t + stride]
        cuda.syncthreads()  # fault
        stride //= 2
    return tile[0]


@faulty(
    "divergent_barrier",
    launch=(1, 64),
    arguments=(floats(64), unwritten(1)),
    parts=(shared_sum,),
    thread=(50, 0, 0),
)
@cuda.jit
def device_function_called_divergently(x, out):
    """Barrier in a device function: only half of the block calls it."""
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    if t < 32:
        out[0] = shared_sum(tile, t)


@faulty(
    "divergent_barrier",
    launch=(2, 32),
    arguments=(floats(64), unwritten(64)),
    block=(0, 0, 0),
    thread=(31, 0, 0),
)
@cuda.jit
def grid_sync_missed(x, out):
    """Grid barrier: one thread of each block skips it and waits at the next one."""
    i = cuda.grid(1)
    grid = cuda.cg.this_grid()
    out[i] = x[i]
    if cuda.threadIdx.x < 31:
        grid.sync()  # fault
    out[i] += float32(1)
    grid.sync()


@faulty(
    "divergent_barrier",
    launch=(1, 64),
    arguments=(floats(64), zeros(64)),
    thread=(9, 0, 0),
)
@cuda.jit
def break_before_the_barrier(x, out):
    """Break: threads that have found their value leave the loop and its barrier."""
    t = cuda.threadIdx.x
    bound = float32(10)
    for _ in range(4):
        if x[t] == bound:
            break
        cuda.syncthreads()  # fault
        bound += float32(10)
    out[t] = bound


@faulty(
    "divergent_barrier",
    launch=(1, 64),
    arguments=(floats(64), zeros(64)),
    thread=(1, 0, 0),
)
@cuda.jit
def continue_past_the_barrier(x, out):
    """Continue: odd threads skip the barrier in odd steps."""
    t = cuda.threadIdx.x
    for k in range(4):
        if t % 2 == 1 and k % 2 == 1:
            continue
        cuda.syncthreads()  # fault
        out[t] += x[t]


@faulty(
    "divergent_barrier",
    launch=((1, 1), (8, 8)),
    arguments=(floats(8, 8), unwritten(8, 8)),
    thread=(0, 0, 0),
)
@cuda.jit
def row_that_does_not_wait(x, out):
    """Divergent branch: the first row of a 2D block waits only at the next barrier."""
    tile = cuda.shared.array((8, 8), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tile[ty, tx] = x[ty, tx]
    if ty > 0:
        cuda.syncthreads()  # fault
    out[ty, tx] = tile[ty, tx]
    cuda.syncthreads()


@faulty(
    "barrier_after_return",
    launch=(2, 64),
    arguments=(floats(100), unwritten(100)),
    block=(1, 0, 0),
    thread=(36, 0, 0),
)
@cuda.jit
def early_return_before_barrier(x, out):
    """Early return: threads past the end are gone when the others wait for the block."""
    tile = cuda.shared.array(64, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if i >= x.size:
        return
    tile[t] = x[i]
    cuda.syncthreads()  # fault
    out[i] = tile[t]


@faulty(
    "barrier_after_return",
    launch=(1, 128),
    arguments=(floats(128), zeros(1)),
    thread=(64, 0, 0),
)
@cuda.jit
def reduction_that_sends_threads_home(x, out):
    """Early return: a reduction's idle threads return before its later barriers."""
    tile = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncthreads()
    if t >= 64:
        return
    tile[t] += tile[t + 64]
    cuda.syncthreads()  # fault
    if t == 0:
        for k in range(64):
            out[0] += tile[k]
