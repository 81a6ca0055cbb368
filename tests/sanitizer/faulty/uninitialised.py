"""Reads of memory or variables that nothing has written."""

import numpy as np

from tests.sanitizer.cases import faulty, floats, ints, unwritten, zeros
from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32


@faulty(
    "uninitialized_read",
    launch=(2, 32),
    arguments=(unwritten(64), unwritten(64)),
    array="x",
    space="global",
    thread=(0, 0, 0),
)
@cuda.jit
def device_array_never_written(x, out):
    """Forgotten copy: device_array reserves memory, and holds nothing yet."""
    i = cuda.grid(1)
    out[i] = x[i] + float32(1)  # fault


@faulty(
    "uninitialized_read",
    launch=(2, 32),
    arguments=(floats(50), unwritten(2)),
    array="tile",
    space="shared",
    block=(1, 0, 0),
    thread=(0, 0, 0),
)
@cuda.jit
def tile_tail_not_written(x, sums):
    """Tile tail: past the end of x nothing is stored, yet all 32 cells are added up."""
    tile = cuda.shared.array(32, float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if i < x.size:
        tile[t] = x[i]
    cuda.syncthreads()
    if t == 0:
        total = float32(0)
        for k in range(32):
            total += tile[k]  # fault
        sums[cuda.blockIdx.x] = total


@faulty(
    "uninitialized_read",
    launch=(1, 32),
    arguments=(floats(32), unwritten(32)),
    array="window",
    space="local",
    thread=(0, 0, 0),
)
@cuda.jit
def local_array_partly_written(x, out):
    """Local array: the first threads have fewer than four numbers for their window."""
    window = cuda.local.array(4, float32)
    t = cuda.threadIdx.x
    for k in range(4):
        if t - k >= 0:
            window[k] = x[t - k]
    out[t] = window[0] + window[1] + window[2] + window[3]  # fault


@faulty(
    "uninitialized_read",
    launch=(1, 32, 0, 256),
    arguments=(floats(32), unwritten(32)),
    array="right",
    space="shared",
    thread=(0, 0, 0),
)
@cuda.jit
def second_half_of_dynamic_shared(x, out):
    """Dynamic shared memory: only the first of its two halves is filled."""
    left = cuda.shared.array(0, float32)[:32]
    right = cuda.shared.array(0, float32)[32:]
    t = cuda.threadIdx.x
    left[t] = x[t]
    cuda.syncthreads()
    out[t] = left[t] + right[t]  # fault


@faulty(
    "uninitialized_read",
    launch=(2, 32),
    arguments=(floats(64), unwritten(64)),
    array="out",
    thread=(0, 0, 0),
)
@cuda.jit
def accumulator_on_fresh_memory(x, out):
    """Accumulator: out[i] += reads the old value, and there is none."""
    i = cuda.grid(1)
    out[i] += x[i]  # fault


@faulty(
    "uninitialized_read",
    launch=(2, 32),
    arguments=(ints(64), unwritten(1, dtype="int32")),
    array="count",
    thread=(0, 0, 0),
)
@cuda.jit
def atomic_on_fresh_memory(x, count):
    """Accumulator: an atomic add, too, needs a start value."""
    i = cuda.grid(1)
    cuda.atomic.add(count, 0, x[i])  # fault


@faulty(
    "uninitialized_read",
    launch=((1, 1), (16, 16)),
    arguments=(floats(16, 16), unwritten(16, 16)),
    array="tile",
    thread=(0, 15, 0),
)
@cuda.jit
def padding_column_read(x, out):
    """Padding: the seventeenth column keeps banks apart, and is never filled."""
    tile = cuda.shared.array((16, 17), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tile[ty, tx] = x[ty, tx]
    cuda.syncthreads()
    out[ty, tx] = tile[tx, ty + 1]  # fault


@cuda.jit
def first_half(x, out):
    i = cuda.grid(1)
    if i < x.size // 2:
        out[i] = x[i] * float32(2)


def two_launches(kernel):
    x, middle = cuda.to_device(floats(64)), cuda.device_array(64, np.float32)
    first_half[2, 32](x, middle)
    kernel[2, 32](middle, cuda.device_array(64, np.float32))


@faulty(
    "uninitialized_read",
    run=two_launches,
    array="x",
    block=(1, 0, 0),
    thread=(0, 0, 0),
)
@cuda.jit
def second_launch_reads_all(x, out):
    """Two launches: the first one writes half of what the second one reads."""
    i = cuda.grid(1)
    out[i] = x[i] + float32(1)  # fault


@faulty(
    "uninitialized_read",
    launch=(2, 64),
    arguments=(floats(128), unwritten(2)),
    array="tile",
    space="shared",
    block=(1, 0, 0),
    thread=(0, 0, 0),
)
@cuda.jit
def shared_memory_of_another_block(x, out):
    """Wrong belief: what the first block stored in shared memory is not there later."""
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    if cuda.blockIdx.x == 0:
        tile[t] = x[t]
    cuda.syncthreads()
    if t == 0:
        out[cuda.blockIdx.x] = tile[63]  # fault


@faulty(
    "undefined_variable",
    launch=(1, 32),
    arguments=(floats(32), zeros(32)),
    thread=(20, 0, 0),
)
@cuda.jit
def assigned_in_one_branch(x, out):
    """Undefined variable: threads from 20 on store a value that they never set."""
    t = cuda.threadIdx.x
    if t < 20:
        value = x[t]
    out[t] = value  # fault


@faulty(
    "undefined_variable",
    launch=(1, 32),
    arguments=(ints(32), zeros(32, dtype="int32")),
    thread=(1, 0, 0),
    also=("out_of_bounds",),
)
@cuda.jit
def undefined_address(x, out):
    """Undefined variable: threads that found no place store at an address of chance."""
    t = cuda.threadIdx.x
    if x[t] % 2 == 1:
        place = t // 2
    out[place] = x[t]  # fault


@faulty(
    "undefined_variable",
    launch=(1, 32),
    arguments=(floats(32), zeros(32)),
    thread=(0, 0, 0),
)
@cuda.jit
def undefined_branch(x, out):
    """Undefined variable: the first thread has no left neighbour to compare with."""
    t = cuda.threadIdx.x
    if t > 0:
        grows = x[t] > x[t - 1]
    if grows:  # fault
        out[t] = x[t]


@faulty(
    "undefined_variable",
    launch=(1, 32),
    arguments=(floats(32), zeros(32)),
    thread=(0, 0, 0),
)
@cuda.jit
def loop_without_a_trip(x, out):
    """Undefined variable: thread 0 runs the loop no time, so `last` is never set."""
    t = cuda.threadIdx.x
    for k in range(t):
        last = x[k]
    out[t] = last  # fault


@faulty(
    "undefined_variable",
    launch=(1, 32),
    arguments=(floats(32), zeros(32)),
    thread=(31, 0, 0),
)
@cuda.jit
def carried_through_arithmetic(x, out):
    """Undefined variable: it passes through two expressions before it is stored."""
    t = cuda.threadIdx.x
    if t < 31:
        right = x[t + 1]
    middle = (x[t] + right) / float32(2)
    scaled = middle * float32(10)
    out[t] = scaled  # fault
