"""Barriers in suspicious places that all threads of the block or grid reach."""

from tests.sanitizer.cases import clean, floats, ints, unwritten, zeros
from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32, int32


@clean(launch=(2, 64), arguments=(floats(128), unwritten(128), 1))
@cuda.jit
def barrier_in_a_uniform_if(x, out, reverses):
    """The condition is an argument, so all threads take the same side."""
    tile = cuda.shared.array(64, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    tile[t] = x[i]
    if reverses:
        cuda.syncthreads()
        out[i] = tile[63 - t]
    else:
        out[i] = tile[t]


@clean(launch=(3, 64), arguments=(floats(192), unwritten(192)))
@cuda.jit
def barrier_in_an_if_on_the_block(x, out):
    """Blocks differ in their way, but all threads of a block go the same one."""
    tile = cuda.shared.array(64, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    tile[t] = x[i]
    if cuda.blockIdx.x % 2 == 0:
        cuda.syncthreads()
        out[i] = tile[63 - t]
    else:
        out[i] = tile[t]


@clean(launch=(4, 64), arguments=(floats(128), unwritten(128)))
@cuda.jit
def whole_blocks_return_early(x, out):
    """Blocks past the end return as a whole; nobody waits for them."""
    tile = cuda.shared.array(64, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if cuda.blockIdx.x * cuda.blockDim.x >= x.size:
        return
    tile[t] = x[i]
    cuda.syncthreads()
    out[i] = tile[63 - t]


@clean(launch=(1, 64), arguments=(floats(64), unwritten(64)))
@cuda.jit
def condition_that_is_true_for_all(x, out):
    """The `if` looks divergent, but every thread of this block passes it."""
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    if t < x.size:
        tile[t] = x[t]
        cuda.syncthreads()
        out[t] = tile[63 - t]


@clean(launch=(3, 64), arguments=(ints(3), unwritten(192, dtype="int32")))
@cuda.jit
def trip_count_of_each_block(counts, out):
    """The trip count differs between blocks, not within one."""
    total = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        total[0] = 0
    cuda.syncthreads()
    for _ in range(counts[cuda.blockIdx.x]):
        cuda.atomic.add(total, 0, 1)
        cuda.syncthreads()
    out[cuda.grid(1)] = total[0]


@clean(launch=(1, 64), arguments=(floats(64), unwritten(64)))
@cuda.jit
def barrier_after_a_divergent_branch(x, out):
    """The branch diverges, and the barrier stands where the paths have met."""
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    if t % 2 == 0:
        tile[t] = x[t]
    else:
        tile[t] = -x[t]
    cuda.syncthreads()
    out[t] = tile[t ^ 33]


@clean(launch=(2, 64), arguments=(floats(100), unwritten(100)))
@cuda.jit
def work_is_guarded_not_the_barrier(x, out):
    """Threads past the end store a zero and wait with the others."""
    tile = cuda.shared.array(64, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    tile[t] = x[i] if i < x.size else float32(0)
    cuda.syncthreads()
    if i < x.size:
        out[i] = tile[63 - t]


@cuda.jit(device=True)
def block_total(tile, t):
    stride = 32
    while stride > 0:
        if t < stride:
            tile[t] += tile[t + stride]
        cuda.syncthreads()
        stride //= 2
    return tile[0]


@clean(launch=(2, 64), arguments=(floats(128), unwritten(128)))
@cuda.jit
def barrier_in_a_device_function(x, out):
    """All threads of the block call the function, and so reach its barriers."""
    tile = cuda.shared.array(64, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    tile[t] = x[i]
    cuda.syncthreads()
    out[i] = x[i] / block_total(tile, t)


@clean(launch=(1, 64), arguments=(floats(64), unwritten(64)))
@cuda.jit
def break_that_all_take(x, out):
    """The vote's result is the same for all, so the whole block leaves the loop."""
    t = cuda.threadIdx.x
    bound = float32(0)
    while True:
        if cuda.syncthreads_or(1 if x[t] > bound else 0) == 0:
            break
        bound += float32(16)
    out[t] = bound


@clean(launch=(2, 64), arguments=(ints(128), unwritten(2, dtype="int32")))
@cuda.jit
def counted_by_a_barrier(x, out):
    """syncthreads_count adds up over the block; one thread stores the result."""
    even = cuda.syncthreads_count(1 if x[cuda.grid(1)] % 2 == 0 else 0)
    if cuda.threadIdx.x == 0:
        out[cuda.blockIdx.x] = even


@clean(launch=(2, 64), arguments=(ints(128), unwritten(2, dtype="int32")))
@cuda.jit
def agreed_by_a_barrier(x, out):
    """syncthreads_and orders memory, too: the plain read after it is safe."""
    largest = cuda.shared.array(1, int32)
    i = cuda.grid(1)
    if cuda.threadIdx.x == 0:
        largest[0] = x[i + 63]
    fits = cuda.syncthreads_and(1 if x[i] > 0 else 0)
    if fits and x[i] == largest[0]:
        out[cuda.blockIdx.x] = x[i]


@clean(launch=(4, 64), arguments=(floats(256), unwritten(256)))
@cuda.jit
def ping_pong_with_grid_sync(a, b):
    """grid.sync keeps the steps apart, for all blocks at once."""
    i = cuda.grid(1)
    grid = cuda.cg.this_grid()
    for _ in range(2):
        b[i] = a[i] + a[(i + 100) % 256]
        grid.sync()
        a[i] = b[i] - b[(i + 50) % 256]
        grid.sync()


@clean(
    launch=(4, 32),
    arguments=(ints(128), zeros(128, dtype="int32"), unwritten(128, dtype="int32")),
)
@cuda.jit
def sessions_with_grid_sync(times, starts, sessions):
    """Each pass of the scan reads what all blocks wrote in the pass before."""
    i = cuda.grid(1)
    grid = cuda.cg.this_grid()
    starts[i] = 1 if i > 0 and times[i] - times[i - 1] > 30 else 0
    grid.sync()
    count, offset = starts[i], 1
    while offset < 128:
        left = starts[i - offset] if i >= offset else 0
        grid.sync()
        count += left
        starts[i] = count
        grid.sync()
        offset *= 2
    sessions[i] = count
