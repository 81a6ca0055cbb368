"""Global memory that is shared between threads, blocks, launches and streams."""

import numpy as np

from tests.sanitizer.cases import clean, floats, ints, unwritten, zeros
from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32


@clean(launch=(2, 64), arguments=(floats(128),))
@cuda.jit
def increment_in_place(x):
    """Load, add and store of one thread's own element."""
    i = cuda.grid(1)
    x[i] = x[i] + float32(1)


@clean(launch=(2, 64), arguments=(floats(1000), unwritten(1000)))
@cuda.jit
def strided_loop(x, out):
    """A grid-stride loop gives each element to exactly one thread."""
    for i in range(cuda.grid(1), x.size, cuda.gridsize(1)):
        out[i] = x[i] * x[i]


@clean(launch=(2, 64), arguments=(ints(128), zeros(4, dtype="int32")))
@cuda.jit
def all_store_the_same_value(x, found):
    """Stores collide, but every thread stores a 1: at most a note."""
    i = cuda.grid(1)
    if x[i] % 3 == 0:
        found[0] = 1


@clean(launch=(4, 32), arguments=(floats(1), unwritten(128)))
@cuda.jit
def one_element_read_by_all_blocks(x, out):
    """Nobody writes what all blocks read."""
    i = cuda.grid(1)
    out[i] = x[0] * float32(i)


@clean(launch=(4, 32), arguments=(floats(128), unwritten(128)))
@cuda.jit
def permutation_has_no_collisions(x, out):
    """A scatter through 37 i mod 128 hits each element once."""
    i = cuda.grid(1)
    out[i * 37 % 128] = x[i]


@clean(launch=(2, 64), arguments=(floats(128), unwritten(128), unwritten(128)))
@cuda.jit
def block_exchanges_through_global(x, middle, out):
    """A barrier orders global memory, too, within the block."""
    i = cuda.grid(1)
    middle[i] = x[i] * x[i]
    cuda.syncthreads()
    out[i] = middle[cuda.blockIdx.x * 64 + 63 - cuda.threadIdx.x]


@clean(
    launch=(2, 32),
    arguments=(floats(1), zeros(1), zeros(1, dtype="int32"), unwritten(1)),
    changes={"schedule": "lockstep"},  # the other block must be running
)
@cuda.jit
def flag_with_fences(x, data, flag, out):
    """Write, fence, atomic flag; on the other side atomic read, fence, read."""
    if cuda.threadIdx.x == 0 and cuda.blockIdx.x == 0:
        data[0] = x[0]
        cuda.threadfence()
        cuda.atomic.exch(flag, 0, 1)
    if cuda.threadIdx.x == 0 and cuda.blockIdx.x == 1:
        while cuda.atomic.cas(flag, 0, 1, 1) == 0:
            cuda.nanosleep(100)
        cuda.threadfence()
        out[0] = data[0]


@clean(launch=(4, 32), arguments=(floats(128), unwritten(128)))
@cuda.jit
def stencil_out_of_place(x, out):
    """Neighbours are read from one array and results written to another."""
    i = cuda.grid(1)
    if 0 < i < x.size - 1:
        out[i] = x[i - 1] + x[i] + x[i + 1]
    else:
        out[i] = x[i]


@clean(launch=(2, 64), arguments=(floats(257),))
@cuda.jit
def halves_do_not_overlap(x):
    """Read and written are two halves of one array."""
    i = cuda.grid(1)
    x[i] = x[i + 128] + x[256]


@clean(launch=(1, 64), arguments=(floats(64, 4), unwritten(64)))
@cuda.jit
def local_array_of_each_thread(x, out):
    """Every thread has its own four cells, all written before they are read."""
    sorted_row = cuda.local.array(4, float32)
    t = cuda.threadIdx.x
    for k in range(4):
        place = k
        while place > 0 and sorted_row[place - 1] < x[t, k]:
            sorted_row[place] = sorted_row[place - 1]
            place -= 1
        sorted_row[place] = x[t, k]
    out[t] = sorted_row[1]


@cuda.jit
def squared(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] * x[i]


def two_launches_in_order(kernel):
    x, middle = cuda.to_device(floats(64)), cuda.device_array(64, np.float32)
    squared[2, 32](x, middle)
    kernel[2, 32](middle, cuda.device_array(64, np.float32))


@clean(run=two_launches_in_order)
@cuda.jit
def reads_what_another_launch_wrote(x, out):
    """Launches of one stream run one after the other."""
    i = cuda.grid(1)
    out[i] = x[63 - i]


def event_between_streams(kernel):
    x, middle = cuda.to_device(floats(64)), cuda.device_array(64, np.float32)
    first, second, done = cuda.stream(), cuda.stream(), cuda.event()
    squared[2, 32, first](x, middle)
    done.record(first)
    done.wait(second)
    kernel[2, 32, second](middle, cuda.device_array(64, np.float32))


@clean(run=event_between_streams)
@cuda.jit
def reads_after_an_event(x, out):
    """The second stream waits for an event that the first one records."""
    i = cuda.grid(1)
    out[i] = x[63 - i]


def host_waits_between_streams(kernel):
    x, middle = cuda.to_device(floats(64)), cuda.device_array(64, np.float32)
    first, second = cuda.stream(), cuda.stream()
    squared[2, 32, first](x, middle)
    first.synchronize()
    kernel[2, 32, second](middle, cuda.device_array(64, np.float32))


@clean(run=host_waits_between_streams)
@cuda.jit
def reads_after_synchronize(x, out):
    """The host has waited for the first stream before it feeds the second."""
    i = cuda.grid(1)
    out[i] = x[63 - i]


def two_streams_on_two_arrays(kernel):
    for _ in range(2):
        x, out = cuda.to_device(floats(64)), cuda.device_array(64, np.float32)
        kernel[2, 32, cuda.stream()](x, out)


@clean(run=two_streams_on_two_arrays)
@cuda.jit
def streams_with_their_own_arrays(x, out):
    """Streams that share no memory need not wait for each other."""
    i = cuda.grid(1)
    out[i] = x[i] + float32(1)


def readers_on_two_streams(kernel):
    x = cuda.to_device(floats(64))
    for _ in range(2):
        kernel[2, 32, cuda.stream()](x, cuda.device_array(64, np.float32))


@clean(run=readers_on_two_streams)
@cuda.jit
def streams_read_one_array(x, out):
    """Two streams may read the same memory."""
    i = cuda.grid(1)
    out[i] = x[63 - i]


def default_stream_waits(kernel):
    x, middle = cuda.to_device(floats(64)), cuda.device_array(64, np.float32)
    squared[2, 32, cuda.stream()](x, middle)
    kernel[2, 32](middle, cuda.device_array(64, np.float32))


@clean(run=default_stream_waits)
@cuda.jit
def default_stream_after_another(x, out):
    """The default stream waits for all others, and they for it."""
    i = cuda.grid(1)
    out[i] = x[63 - i]


@clean(launch=(2, 32), arguments=(floats(40),))
@cuda.jit
def array_passed_on_to_views(x):
    """Two slices of one array that do not overlap."""
    low, high = x[:20], x[20:]
    i = cuda.grid(1)
    if i < 20:
        low[i] = high[i] + float32(1)
