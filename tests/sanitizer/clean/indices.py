"""Indices that look out of bounds, and memory that looks unwritten."""

import numpy as np

from tests.sanitizer.cases import clean, floats, ints, unwritten, zeros
from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32


@clean(launch=(4, 32), arguments=(floats(100), unwritten(100)))
@cuda.jit
def guarded_last_block(x, out):
    """28 threads of the last block have no element, and touch none."""
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] * float32(2)


@clean(launch=(4, 32), arguments=(floats(100), zeros(128, dtype="int32")))
@cuda.jit
def short_circuit_guard(x, out):
    """`and` reads x[i] only for threads that have one."""
    i = cuda.grid(1)
    if i < x.size and x[i] > 50:
        out[i] = 1


@clean(launch=(4, 32), arguments=(floats(100), unwritten(128)))
@cuda.jit
def ternary_guard(x, out):
    """Only the chosen side of the ternary is read."""
    i = cuda.grid(1)
    out[i] = x[i] if i < x.size else float32(0)


@clean(launch=(4, 32), arguments=(floats(100), unwritten(128)))
@cuda.jit
def early_return_without_barrier(x, out):
    """Threads past the end return, and nobody waits for them."""
    i = cuda.grid(1)
    if i >= x.size:
        return
    out[i] = x[i]


@clean(launch=(1, 32), arguments=(floats(32), unwritten(32)))
@cuda.jit
def literal_negative_index(x, out):
    """x[-1] is written on purpose: the last element."""
    t = cuda.threadIdx.x
    out[t] = x[t] / x[-1]


@clean(launch=(1, 32), arguments=(floats(32, 4), unwritten(32)))
@cuda.jit
def literal_negative_column(table, out):
    """The last two columns, counted from the end."""
    t = cuda.threadIdx.x
    out[t] = table[t, -1] - table[t, -2]


@clean(launch=(1, 32), arguments=(floats(32), unwritten(32)))
@cuda.jit
def left_neighbour_wraps_on_purpose(x, out):
    """The index is brought into range before it is used."""
    t = cuda.threadIdx.x
    out[t] = x[(t - 1) % 32]


@clean(launch=(1, 32), arguments=(floats(32), unwritten(32)))
@cuda.jit
def left_neighbour_clamped(x, out):
    """max() keeps the first thread at element 0."""
    t = cuda.threadIdx.x
    out[t] = x[t] - x[max(t - 1, 0)]


@clean(launch=(1, 32), arguments=(floats(8, 4), unwritten(32)))
@cuda.jit
def flat_index_taken_apart(table, out):
    """t // 4 and t % 4 stay inside both axes."""
    t = cuda.threadIdx.x
    out[t] = table[t // 4, t % 4]


@clean(launch=(1, 32), arguments=(floats(20), np.full(32, 99, np.int32), unwritten(32)))
@cuda.jit
def wild_index_in_masked_lanes(x, index, out):
    """The indices are all wild, and no lane passes the guard to use one."""
    t = cuda.threadIdx.x
    place = index[t]
    out[t] = float32(0)
    if place < x.size:
        out[t] = x[place]


@clean(launch=(1, 32), arguments=(floats(0), floats(0)))
@cuda.jit
def arrays_of_size_zero(x, out):
    """No thread has an element, so none is touched."""
    t = cuda.threadIdx.x
    if t < x.size:
        out[t] = x[t]


@clean(launch=(2, 32), arguments=(floats(64), unwritten(64)))
@cuda.jit
def written_before_it_is_read(x, out):
    """The fresh array is read, but only after this thread has stored there."""
    i = cuda.grid(1)
    out[i] = float32(0)
    for k in range(3):
        out[i] += x[(i + k) % 64]


@clean(launch=(1, 32), arguments=(floats(32), unwritten(32)))
@cuda.jit
def both_branches_assign(x, out):
    """The variable is set on both sides, under opposite conditions."""
    t = cuda.threadIdx.x
    if t < 20:
        value = x[t]
    if t >= 20:
        value = -x[t]
    out[t] = value


@clean(launch=(1, 32), arguments=(floats(32), zeros(32)))
@cuda.jit
def undefined_lanes_are_not_used(x, out):
    """Lanes without a value compute with it, and throw the result away."""
    t = cuda.threadIdx.x
    if t < 16:
        value = x[t]
    doubled = value + value
    if t < 16:
        out[t] = doubled


@clean(launch=(2, 32), arguments=(floats(50), unwritten(2)))
@cuda.jit
def tile_tail_not_read(x, sums):
    """The tail of the tile stays unwritten, and the sum stops before it."""
    tile = cuda.shared.array(32, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if i < x.size:
        tile[t] = x[i]
    cuda.syncthreads()
    if t == 0:
        total = float32(0)
        for k in range(min(32, x.size - i)):
            total += tile[k]
        sums[cuda.blockIdx.x] = total


@clean(launch=(1, 32), arguments=(ints(32), unwritten(32, dtype="int32")))
@cuda.jit
def part_of_a_fresh_array(x, out):
    """Half of the array is never written, and never read either."""
    t = cuda.threadIdx.x
    if t < 16:
        out[t] = x[t]
        out[t] += 1
