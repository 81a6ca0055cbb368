"""Races in global memory: between threads of a block, between blocks, between streams."""

from tests.sanitizer.cases import faulty, floats, ints, unwritten, zeros
from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32

WARPWISE = ("implicit_warp_synchrony",)  # the same fault, seen between lanes


@faulty(
    "race",
    launch=(4, 64),
    arguments=(ints(256), zeros(8, dtype="int32")),
    array="bins",
    space="global",
    thread=(32, 0, 0),
    also=WARPWISE,
)
@cuda.jit
def histogram_without_atomics(x, bins):
    """Missing atomic: equal values count into one bin and lose each other's counts."""
    i = cuda.grid(1)
    bins[x[i] % 8] += 1  # fault


@faulty(
    "race",
    launch=(2, 64),
    arguments=(floats(128), zeros(1)),
    array="out",
    block=(1, 0, 0),
    thread=(0, 0, 0),
)
@cuda.jit
def block_sums_added_without_atomic(x, out):
    """Missing atomic: the blocks' sums overwrite each other in out[0]."""
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    stride = 32
    while stride > 0:
        if t < stride:
            tile[t] += tile[t + stride]
        cuda.syncthreads()
        stride //= 2
    if t == 0:
        out[0] += tile[0]  # fault


@faulty(
    "race",
    launch=(4, 64),
    arguments=(floats(256), zeros(4), unwritten(4)),
    array="sums",
    thread=(0, 0, 0),
)
@cuda.jit
def neighbour_block_is_read(x, sums, out):
    """Race between blocks: a block reads what another one writes in the same launch."""
    block, t = cuda.blockIdx.x, cuda.threadIdx.x
    cuda.atomic.add(sums, block, x[cuda.grid(1)])  # other
    cuda.syncthreads()
    if t == 0:
        out[block] = sums[(block + 1) % 4]  # fault


@faulty(
    "race",
    launch=(2, 32),
    arguments=(floats(1), zeros(1), zeros(1, dtype="int32"), zeros(1)),
    array="data",
    hazard="RAW",
    block=(1, 0, 0),
    thread=(0, 0, 0),
)
@cuda.jit
def flag_without_threadfence(x, data, flag, out):
    """Missing threadfence: the flag may be seen before the data that it announces."""
    if cuda.threadIdx.x == 0:
        if cuda.blockIdx.x == 0:
            data[0] = x[0]  # other
            cuda.atomic.exch(flag, 0, 1)
        else:
            while cuda.atomic.add(flag, 0, 0) == 0:
                cuda.nanosleep(100)
            out[0] = data[0]  # fault


@faulty(
    "race",
    launch=(4, 64),
    arguments=(floats(256), zeros(256)),
    thread=(0, 0, 0),
)
@cuda.jit
def ping_pong_without_grid_sync(a, b):
    """Missing grid.sync: the way back starts while other blocks are still on the way."""
    i = cuda.grid(1)
    b[i] = a[i] + a[(i + 64) % 256]  # other
    a[i] = b[i] + b[(i + 64) % 256]  # fault


@faulty(
    "race",
    launch=(4, 64),
    arguments=(floats(256),),
    array="x",
    thread=(63, 0, 0),
    also=WARPWISE,
)
@cuda.jit
def stencil_in_place(x):
    """In-place hazard: a cell is overwritten that the next thread has yet to read."""
    i = cuda.grid(1)
    if 0 < i < x.size:
        x[i] = x[i] - x[i - 1]  # fault


@faulty(
    "race",
    launch=(4, 64),
    arguments=(floats(256), ints(256), zeros(100)),
    array="out",
    hazard="WAW",
    thread=(40, 0, 0),
)
@cuda.jit
def scatter_with_colliding_indices(x, index, out):
    """Colliding indices: several threads store different values into one element."""
    i = cuda.grid(1)
    out[index[i] % 100] = x[i]  # fault


@faulty(
    "race",
    launch=(2, 64),
    arguments=(floats(128), zeros(128), unwritten(128)),
    array="squares",
    space="global",
    hazard="RAW",
    thread=(0, 0, 0),
)
@cuda.jit
def exchange_through_global_memory(x, squares, out):
    """Missing barrier: the threads of a block exchange values through global memory."""
    i = cuda.grid(1)
    partner = cuda.blockIdx.x * 64 + 63 - cuda.threadIdx.x
    squares[i] = x[i] * x[i]  # other
    out[i] = squares[partner]  # fault


@faulty(
    "race",
    launch=(2, 64),
    arguments=(floats(128), zeros(128), zeros(1, dtype="int32")),
    array="count",
    hazard="RAW",
    thread=(0, 0, 0),
    also=WARPWISE,
)
@cuda.jit
def counter_read_plainly(x, out, count):
    """Plain read: another thread may count on between this one's add and its read."""
    i = cuda.grid(1)
    if x[i] > 0:
        cuda.atomic.add(count, 0, 1)  # other
        out[count[0] % 128] = x[i]  # fault


@faulty(
    "race",
    launch=(2, 64),
    arguments=(floats(124), zeros(124)),
    array="out",
    hazard="WAW",
    block=(1, 0, 0),
    thread=(0, 0, 0),
)
@cuda.jit
def overlapping_blocks(x, out):
    """Overlap: blocks are 60 elements apart but write 64, so 4 are written twice."""
    i = cuda.blockIdx.x * 60 + cuda.threadIdx.x
    out[i] = x[i] * float32(cuda.blockIdx.x + 1)  # fault


@cuda.jit
def doubled(x, out):
    i = cuda.grid(1)
    out[i] = x[i] * float32(2)  # other


def two_streams_without_event(kernel):
    x, middle = cuda.to_device(floats(64)), cuda.to_device(zeros(64))
    out = cuda.device_array(64, float32)
    first, second = cuda.stream(), cuda.stream()
    doubled[1, 64, first](x, middle)
    kernel[1, 64, second](middle, out)


@faulty(
    "race",
    run=two_streams_without_event,
    parts=(doubled,),
    hazard="RAW",
    thread=(0, 0, 0),
)
@cuda.jit
def read_on_another_stream(x, out):
    """Missing event: a kernel on a second stream reads what the first one writes."""
    i = cuda.grid(1)
    out[i] = x[i] + float32(1)  # fault


def two_writers_on_streams(kernel):
    x, out = cuda.to_device(floats(64)), cuda.to_device(zeros(64))
    for factor in (2, 3):
        kernel[1, 64, cuda.stream()](x, out, factor)


@faulty(
    "race",
    run=two_writers_on_streams,
    array="out",
    hazard="WAW",
    thread=(0, 0, 0),
)
@cuda.jit
def written_on_two_streams(x, out, factor):
    """Missing event: two streams write one array, and nobody knows which comes last."""
    i = cuda.grid(1)
    out[i] = x[i] * float32(factor)  # fault


@faulty(
    "race",
    launch=((2, 2), (8, 8)),
    arguments=(floats(16, 16),),
    array="x",
    thread=(0, 7, 0),
    also=WARPWISE,
)
@cuda.jit
def transpose_in_place(x):
    """In-place hazard: both threads of a pair store, and one reads the other's store."""
    column, row = cuda.grid(2)
    value = x[row, column]  # other
    x[column, row] = value  # fault


@faulty(
    "order_dependence",
    launch=(4, 32),
    arguments=(zeros(1, dtype="int32"), zeros(4, dtype="int32")),
    options={"schedule": "shuffled", "seeds": 8},
)
@cuda.jit
def places_by_order_of_arrival(count, out):
    """Order of blocks: who counts first gets the first place, and nobody knows who."""
    if cuda.threadIdx.x == 0:
        out[cuda.atomic.add(count, 0, 1)] = cuda.blockIdx.x
