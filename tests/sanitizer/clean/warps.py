"""Warp operations under divergence, with masks that fit."""

from tests.sanitizer.cases import clean, floats, ints, unwritten
from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32

ALL = 0xFFFFFFFF


@clean(launch=(1, 32), arguments=(floats(32), unwritten(32)))
@cuda.jit
def disjoint_masks_in_two_branches(x, out):
    """Each half of the warp shuffles with a mask that names that half."""
    t = cuda.threadIdx.x
    if t < 16:
        out[t] = cuda.shfl_xor_sync(0x0000FFFF, x[t], 1)
    else:
        out[t] = cuda.shfl_xor_sync(0xFFFF0000, x[t], 8)


@clean(launch=(2, 64), arguments=(floats(128), unwritten(4)))
@cuda.jit
def warp_reduction_by_shuffles(x, out):
    """Registers are exchanged, so no barrier is needed."""
    i = cuda.grid(1)
    value = x[i]
    for offset in (16, 8, 4, 2, 1):
        value += cuda.shfl_down_sync(ALL, value, offset)
    if cuda.laneid == 0:
        out[i // 32] = value


@clean(launch=(1, 64), arguments=(floats(64), unwritten(64)))
@cuda.jit
def warp_exchange_with_syncwarp(x, out):
    """Partners are in one warp, and syncwarp orders their shared memory."""
    tile = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncwarp()
    partner = tile[t ^ 1]
    cuda.syncwarp()
    tile[t] = partner + x[t]
    cuda.syncwarp()
    out[t] = tile[t ^ 16]


@clean(launch=(1, 64), arguments=(floats(64), unwritten(2)))
@cuda.jit
def warp_reduction_with_syncwarp(x, out):
    """The old warp reduction as it should be: read, syncwarp, write, syncwarp."""
    tile = cuda.shared.array(64, float32)
    t, lane = cuda.threadIdx.x, cuda.threadIdx.x % 32
    tile[t] = x[t]
    cuda.syncwarp()
    for offset in (16, 8, 4, 2, 1):
        right = tile[t + offset] if lane < offset else float32(0)
        cuda.syncwarp()
        tile[t] += right
        cuda.syncwarp()
    if lane == 0:
        out[t // 32] = tile[t]


@clean(launch=(1, 32), arguments=(ints(32), unwritten(32, dtype="int32")))
@cuda.jit
def mask_from_a_ballot(x, out):
    """The lanes that pass are voted on first, and the mask names exactly them."""
    t = cuda.threadIdx.x
    mask = cuda.ballot_sync(ALL, x[t] > 10)
    if x[t] > 10:
        out[t] = cuda.popc(cuda.ballot_sync(mask, x[t] % 2 == 0))
    else:
        out[t] = 0


@clean(launch=(2, 32), arguments=(floats(50), unwritten(2)))
@cuda.jit
def guarded_value_unguarded_shuffle(x, out):
    """Lanes past the end bring a zero, and take part."""
    i = cuda.grid(1)
    value = x[i] if i < x.size else float32(0)
    for offset in (16, 8, 4, 2, 1):
        value += cuda.shfl_xor_sync(ALL, value, offset)
    if cuda.laneid == 0:
        out[cuda.blockIdx.x] = value


@clean(launch=(1, 40), arguments=(floats(40), unwritten(40)))
@cuda.jit
def partial_last_warp(x, out):
    """The last warp has 8 threads: those that do not exist are not waited for."""
    t = cuda.threadIdx.x
    value = cuda.shfl_xor_sync(ALL, x[t], 1)
    cuda.syncwarp()
    out[t] = value


@clean(launch=(1, 32), arguments=(ints(32), unwritten(32, dtype="int32")))
@cuda.jit
def lanes_with_equal_keys(x, out):
    """match_any gives each group its mask; each group syncs among itself."""
    t = cuda.threadIdx.x
    peers = cuda.match_any_sync(ALL, x[t] // 4)
    cuda.syncwarp(peers)
    out[t] = cuda.popc(peers)


@clean(launch=(1, 32), arguments=(floats(32), unwritten(32)))
@cuda.jit
def shuffle_down_past_the_end(x, out):
    """The last lanes have nobody above them, and get their own value."""
    t = cuda.threadIdx.x
    out[t] = x[t] - cuda.shfl_down_sync(ALL, x[t], 3)


@clean(launch=(1, 64), arguments=(ints(64), unwritten(64, dtype="int32")))
@cuda.jit
def loop_until_all_lanes_agree(x, out):
    """The vote keeps the whole warp in the loop until its slowest lane is done."""
    t = cuda.threadIdx.x
    value, steps = x[t], 0
    while cuda.any_sync(ALL, value > 1):
        if value > 1:
            value //= 2
            steps += 1
    out[t] = steps


@clean(launch=(1, 64), arguments=(floats(64), unwritten(64)))
@cuda.jit
def branch_on_the_warp(x, out):
    """The condition is the same in a whole warp, so the full mask is right."""
    t = cuda.threadIdx.x
    if t < 32:
        out[t] = cuda.shfl_xor_sync(ALL, x[t], 16)
    else:
        out[t] = x[t]


@clean(launch=(1, 32), arguments=(floats(32), unwritten(32)))
@cuda.jit
def lanes_that_returned_are_not_named(x, out):
    """Half of the warp has returned; the others name only themselves."""
    t = cuda.threadIdx.x
    out[t] = x[t]
    if t >= 16:
        return
    out[t] = cuda.shfl_xor_sync(0x0000FFFF, x[t], 4)
