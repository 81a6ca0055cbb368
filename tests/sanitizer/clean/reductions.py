"""Reductions, scans and histograms whose threads meet in the right places."""

from tests.sanitizer.cases import clean, floats, ints, unwritten, zeros
from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32, int32

ALL = 0xFFFFFFFF


@clean(launch=(2, 128), arguments=(floats(256), unwritten(2)))
@cuda.jit
def tree_reduction(x, out):
    """A barrier after each step of the tree, reached by idle threads as well."""
    tile = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    tile[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    stride = 64
    while stride > 0:
        if t < stride:
            tile[t] += tile[t + stride]
        cuda.syncthreads()
        stride //= 2
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]


@clean(launch=(2, 64), arguments=(floats(128), unwritten(2)))
@cuda.jit
def interleaved_reduction(x, out):
    """Divergent and slow, but every step is behind a barrier."""
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    stride = 1
    while stride < 64:
        if t % (2 * stride) == 0:
            tile[t] += tile[t + stride]
        cuda.syncthreads()
        stride *= 2
    if t == 0:
        out[cuda.blockIdx.x] = tile[0]


@clean(launch=(1, 64), arguments=(floats(64), unwritten(64)))
@cuda.jit
def hillis_steele_scan(x, out):
    """Two halves that swap: a step reads one and writes the other."""
    sums = cuda.shared.array((2, 64), float32)
    t = cuda.threadIdx.x
    sums[0, t] = x[t]
    cuda.syncthreads()
    source, offset = 0, 1
    while offset < 64:
        target = 1 - source
        left = sums[source, t - offset] if t >= offset else float32(0)
        sums[target, t] = sums[source, t] + left
        cuda.syncthreads()
        source = target
        offset *= 2
    out[t] = sums[source, t]


@clean(launch=(1, 64), arguments=(floats(64), unwritten(64)))
@cuda.jit
def scan_in_place_with_two_barriers(x, out):
    """In place, but all have read before anybody writes."""
    sums = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    sums[t] = x[t]
    cuda.syncthreads()
    offset = 1
    while offset < 64:
        left = sums[t - offset] if t >= offset else float32(0)
        cuda.syncthreads()
        sums[t] += left
        cuda.syncthreads()
        offset *= 2
    out[t] = sums[t]


@clean(launch=(1, 32), arguments=(floats(64), unwritten(64)))
@cuda.jit
def blelloch_scan(x, out):
    """Up and down a tree; partners of a step never share a cell with others."""
    tree = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tree[2 * t], tree[2 * t + 1] = x[2 * t], x[2 * t + 1]
    offset, count = 1, 32
    while count > 0:
        cuda.syncthreads()
        if t < count:
            left, right = offset * (2 * t + 1) - 1, offset * (2 * t + 2) - 1
            tree[right] += tree[left]
        offset, count = offset * 2, count // 2
    if t == 0:
        tree[63] = float32(0)
    offset, count = 32, 1
    while count < 64:
        cuda.syncthreads()
        if t < count:
            left, right = offset * (2 * t + 1) - 1, offset * (2 * t + 2) - 1
            kept = tree[left]
            tree[left] = tree[right]
            tree[right] += kept
        offset, count = offset // 2, count * 2
    cuda.syncthreads()
    out[2 * t], out[2 * t + 1] = tree[2 * t], tree[2 * t + 1]


@clean(launch=(1, 128), arguments=(floats(128), unwritten(1)))
@cuda.jit
def one_slot_for_each_warp(x, out):
    """The first lane of each warp stores its sum; a barrier, then one thread adds."""
    partial = cuda.shared.array(4, float32)
    t = cuda.threadIdx.x
    value = x[t]
    for offset in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(ALL, value, offset)
    if t % 32 == 0:
        partial[t // 32] = value
    cuda.syncthreads()
    if t == 0:
        out[0] = partial[0] + partial[1] + partial[2] + partial[3]


@clean(launch=(4, 64), arguments=(ints(256), zeros(8, dtype="int32")))
@cuda.jit
def histogram_with_atomics(x, bins):
    """Threads meet in one bin, and the atomic adds take turns."""
    cuda.atomic.add(bins, x[cuda.grid(1)] % 8, 1)


@clean(launch=(4, 64), arguments=(ints(256), zeros(8, dtype="int32")))
@cuda.jit
def private_histograms(x, bins):
    """Zeroed, barrier, counted with atomics, barrier, added up with atomics."""
    local = cuda.shared.array(8, int32)
    t = cuda.threadIdx.x
    if t < 8:
        local[t] = 0
    cuda.syncthreads()
    cuda.atomic.add(local, x[cuda.grid(1)] % 8, 1)
    cuda.syncthreads()
    if t < 8:
        cuda.atomic.add(bins, t, local[t])


@clean(launch=(2, 64), arguments=(ints(128), unwritten(128, dtype="int32")))
@cuda.jit
def atomic_maximum_then_read(x, out):
    """The plain reads of the maximum come after a barrier."""
    largest = cuda.shared.array(1, int32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    if t == 0:
        largest[0] = 0
    cuda.syncthreads()
    cuda.atomic.max(largest, 0, x[i])
    cuda.syncthreads()
    out[i] = largest[0] - x[i]


@clean(
    launch=(4, 64),
    arguments=(
        ints(256),
        unwritten(4, dtype="i4"),
        zeros(1, dtype="i4"),
        zeros(1, dtype="i4"),
    ),
)
@cuda.jit
def last_block_adds_up(x, partial, done, out):
    """Store, fence, count; the block that counts last reads what all have stored."""
    is_last = cuda.shared.array(1, int32)
    total = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        total[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(total, 0, x[cuda.grid(1)])
    cuda.syncthreads()
    if t == 0:
        partial[cuda.blockIdx.x] = total[0]
        cuda.threadfence()
        is_last[0] = 1 if cuda.atomic.add(done, 0, 1) == cuda.gridDim.x - 1 else 0
        cuda.threadfence()
    cuda.syncthreads()
    if is_last[0] == 1 and t < 4:
        cuda.atomic.add(out, 0, partial[t])


@clean(
    launch=(3, 32),
    arguments=(zeros(1, dtype="int32"), zeros(1, dtype="int32")),
    changes={"schedule": "warps"},
)
@cuda.jit
def lock_of_one_thread_a_block(lock, total):
    """One thread of each block takes the lock, works behind fences, and gives it back."""
    if cuda.threadIdx.x == 0:
        while cuda.atomic.cas(lock, 0, 0, 1) != 0:
            cuda.nanosleep(100)
        cuda.threadfence()
        total[0] += 1
        cuda.threadfence()
        cuda.atomic.exch(lock, 0, 0)


@clean(launch=(2, 64), arguments=(ints(128), zeros(2, dtype="int32")))
@cuda.jit
def slots_from_an_atomic_counter(x, out):
    """The old value of an atomic add is a different one for each thread."""
    order = cuda.shared.array(64, int32)
    count = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        count[0] = 0
    cuda.syncthreads()
    slot = cuda.atomic.add(count, 0, 1)
    order[slot] = x[cuda.grid(1)]
    cuda.syncthreads()
    cuda.atomic.add(out, cuda.blockIdx.x, order[63 - t])
