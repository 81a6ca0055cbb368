"""Warp operations with wrong masks or absent lanes, and loops that never end."""

from tests.sanitizer.cases import faulty, floats, ints, unwritten, zeros
from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import int32

ALL = 0xFFFFFFFF


@faulty(
    "divergent_warp",
    launch=(1, 32),
    arguments=(floats(32), unwritten(32)),
    thread=(16, 0, 0),
)
@cuda.jit
def shuffle_with_absent_lanes(x, out):
    """Absent lanes: the mask names all 32, and only 16 come."""
    t = cuda.threadIdx.x
    value = x[t]
    if t < 16:
        value += cuda.shfl_down_sync(ALL, value, 8)  # fault
    out[t] = value


@faulty(
    "divergent_warp",
    launch=(1, 64),
    arguments=(floats(64), zeros(64, dtype="int32")),
    thread=(0, 0, 0),
)
@cuda.jit
def ballot_under_divergence(x, out):
    """Absent lanes: a vote with the full mask inside the branch that is voted on."""
    t = cuda.threadIdx.x
    if x[t] > 10:
        out[t] = cuda.popc(cuda.ballot_sync(ALL, True))  # fault


@faulty(
    "divergent_warp",
    launch=(2, 32),
    arguments=(floats(50), unwritten(2)),
    block=(1, 0, 0),
    thread=(18, 0, 0),
)
@cuda.jit
def shuffle_inside_the_guard(x, out):
    """Absent lanes: past the end of x, lanes of the last warp skip the reduction."""
    i = cuda.grid(1)
    if i < x.size:
        value = x[i]
        for offset in (16, 8, 4, 2, 1):
            value += cuda.shfl_down_sync(ALL, value, offset)  # fault
        if cuda.laneid == 0:
            out[cuda.blockIdx.x] = value


@faulty(
    "divergent_warp",
    launch=(1, 32),
    arguments=(floats(32), unwritten(32)),
    thread=(31, 0, 0),
)
@cuda.jit
def syncwarp_missed(x, out):
    """Absent lane: the last lane takes the other branch and misses the syncwarp."""
    t = cuda.threadIdx.x
    if t < 31:
        out[t] = x[t]
        cuda.syncwarp()  # fault
    else:
        out[t] = x[0]


@faulty(
    "divergent_warp",
    launch=(1, 32),
    arguments=(ints(32), zeros(32, dtype="int32")),
    thread=(0, 0, 0),
)
@cuda.jit
def vote_in_a_loop_that_lanes_leave(x, out):
    """Absent lanes: lane 0 leaves the loop first, and the others still count on it."""
    t = cuda.threadIdx.x
    for k in range(x[t]):
        if cuda.any_sync(ALL, k > 3):  # fault
            out[t] += 1


@faulty(
    "warp_mask",
    launch=(1, 32),
    arguments=(floats(32), unwritten(32)),
    thread=(16, 0, 0),
)
@cuda.jit
def mask_without_the_caller(x, out):
    """Wrong mask: 16 lanes are named, and all 32 call."""
    t = cuda.threadIdx.x
    out[t] = cuda.shfl_xor_sync(0x0000FFFF, x[t], 1)  # fault


@faulty(
    "warp_mask",
    launch=(1, 32),
    arguments=(ints(32), unwritten(32, dtype="int32")),
    thread=(0, 0, 0),
)
@cuda.jit
def masks_that_differ(x, out):
    """Wrong mask: even and odd lanes bring different masks to one vote."""
    t = cuda.threadIdx.x
    mask = 0xFFFFFFFF if t % 2 == 0 else 0xFFFFFFFE
    out[t] = cuda.ballot_sync(mask, x[t] > 5)  # fault


@faulty(
    "warp_mask",
    launch=(1, 32),
    arguments=(floats(32), zeros(32)),
    thread=(0, 0, 0),
)
@cuda.jit
def shuffle_from_an_unnamed_lane(x, out):
    """Wrong mask: the lower half reads lane 20, which is not in its mask."""
    t = cuda.threadIdx.x
    if t < 16:
        out[t] = cuda.shfl_sync(0x0000FFFF, x[t], 20)  # fault


@faulty(
    "warp_mask",
    launch=(1, 32),
    arguments=(ints(32), zeros(32, dtype="int32")),
    thread=(16, 0, 0),
)
@cuda.jit
def syncwarp_of_the_other_half(x, out):
    """Wrong mask: the upper half waits with the mask of the lower half."""
    t = cuda.threadIdx.x
    if t >= 16:
        out[t] = x[t]
        cuda.syncwarp(0x0000FFFF)  # fault


@faulty(
    "deadlock",
    launch=(1, 32),
    arguments=(floats(32), zeros(1, dtype="int32"), zeros(1)),
    thread=(1, 0, 0),
)
@cuda.jit
def spin_lock_inside_a_warp(x, lock, total):
    """Deadlock: the lane with the lock waits for lanes that wait for the lock."""
    t = cuda.threadIdx.x
    while cuda.atomic.cas(lock, 0, 0, 1) != 0:  # fault
        cuda.nanosleep(10)
    total[0] += x[t]
    cuda.threadfence()
    cuda.atomic.exch(lock, 0, 0)


@faulty(
    "deadlock",
    launch=(2, 32),
    arguments=(zeros(1, dtype="int32"), zeros(2, dtype="int32")),
)
@cuda.jit
def flag_that_nobody_sets(flag, out):
    """Deadlock: all blocks wait for a flag, and no thread is left to set it."""
    while cuda.atomic.add(flag, 0, 0) == 0:  # fault
        cuda.nanosleep(100)
    if cuda.threadIdx.x == 0:
        out[cuda.blockIdx.x] = 1
        cuda.atomic.exch(flag, 0, 1)


@faulty(
    "endless_loop",
    launch=(1, 32),
    arguments=(ints(32), unwritten(32, dtype="int32")),
    changes={"loop_budget": 1000},
    thread=(1, 0, 0),
)
@cuda.jit
def loop_that_steps_over_its_end(x, out):
    """Endless loop: counting down by two, an even number steps over 1."""
    t = cuda.threadIdx.x
    n = x[t]
    while n != 1:  # fault
        n = int32(n - 2)
    out[t] = n


@faulty(
    "endless_loop",
    launch=(1, 32),
    arguments=(ints(32), unwritten(32, dtype="int32")),
    changes={"loop_budget": 1000},
    thread=(0, 0, 0),
)
@cuda.jit
def stride_that_stays_zero(x, out):
    """Endless loop: thread 0 advances by its own number, 0, but counts its tries."""
    t = cuda.threadIdx.x
    i, tries = 0, 0
    while i < 32:  # fault
        i += t
        tries += 1
    out[t] = tries + x[t]
