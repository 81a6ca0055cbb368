"""Warp intrinsics in kernels: numba's names and types, reductions, votes, fences."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import warp
from tinytorch_gpu.errors import BarrierDivergenceError, KernelTypeError

FULL = 0xFFFFFFFF
MASK = np.int64(FULL)
DTYPES = [
    "bool",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "float32",
    "float64",
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "name", ["shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync"]
)
def test_types_of_shuffles(name, dtype):
    infer = getattr(warp, name).infer
    value = np.dtype(dtype).type(1)
    if dtype in {"int32", "int64", "float32", "float64"}:
        assert infer(MASK, value, np.int32(1)).dtype == dtype
    else:
        with pytest.raises(KernelTypeError, match=f"{name} given {dtype} for `value`"):
            infer(MASK, value, np.int32(1))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("name", "result"),
    [("ballot_sync", "int32"), ("all_sync", "bool"), ("any_sync", "bool")],
)
def test_types_of_votes(name, result, dtype):
    infer = getattr(warp, name).infer
    predicate = np.dtype(dtype).type(1)
    if dtype.startswith("float"):
        with pytest.raises(KernelTypeError, match=f"given {dtype} for `predicate`"):
            infer(MASK, predicate)
    else:
        assert infer(MASK, predicate).dtype == result


def test_types_of_matches_and_masks():
    assert warp.match_any_sync.infer(MASK, np.float16(1)).dtype == np.int32
    lanes, agree = warp.match_all_sync.infer(MASK, np.float64(1))
    assert (lanes.dtype, agree.dtype) == (np.int32, np.bool_)
    assert warp.activemask.infer().dtype == np.uint32
    assert warp.lanemask_lt.infer().dtype == np.uint32
    assert warp.syncwarp.infer(MASK) is None


@pytest.mark.parametrize(
    ("intrinsic", "args"),
    [
        (warp.shfl_sync, (np.float64(1), np.int32(1), np.int32(0))),
        (warp.shfl_up_sync, (MASK, np.int32(1), np.float64(1))),
        (warp.eq_sync, (np.bool_(1), np.int32(1))),
        (warp.match_any_sync, (MASK, (np.int32(1),))),
        (warp.syncwarp, (np.float32(1),)),
    ],
)
def test_other_types_are_refused(intrinsic, args):
    with pytest.raises(KernelTypeError):
        intrinsic.infer(*args)


@cuda.jit
def block_sum(x, out):
    partial = cuda.shared.array(32, np.float32)
    tid = cuda.threadIdx.x
    value = x[cuda.grid(1)]
    offset = 16
    while offset > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, offset)
        offset //= 2
    if tid % 32 == 0:
        partial[tid // 32] = value
    cuda.syncthreads()
    if tid == 0:
        total = np.float32(0)
        for w in range(cuda.blockDim.x // 32):
            total += partial[w]
        out[cuda.blockIdx.x] = total


def test_a_block_sum_by_shuffles():
    x = np.arange(512, dtype=np.float32)
    out = np.zeros(4, np.float32)
    block_sum[4, 128](x, out)
    assert out.tolist() == x.reshape(4, 128).sum(axis=1).tolist()


@cuda.jit
def votes(out):
    i = cuda.threadIdx.x
    cuda.syncwarp()
    out[0, i] = cuda.ballot_sync(-1, i % 2)
    out[1, i] = cuda.all_sync(-1, i < 32)
    out[2, i] = cuda.any_sync(-1, i > 31)
    out[3, i] = cuda.eq_sync(-1, i > 31)
    out[4, i] = cuda.match_any_sync(-1, i // 8)
    same, agree = cuda.match_all_sync(-1, 5)
    out[5, i] = same
    out[6, i] = agree
    if i < 4:
        out[7, i] = cuda.activemask()
        cuda.syncwarp(15)
    cuda.threadfence()
    cuda.threadfence_block()
    cuda.threadfence_system()
    cuda.nanosleep(20)
    out[8, i] = cuda.lanemask_lt()


def test_votes_matches_and_masks():
    out = np.zeros((9, 32), np.int64)
    votes[1, 32](out)
    assert out[:4, 0].tolist() == [0xAAAAAAAA - 2**32, 1, 0, 1]
    assert out[4, ::8].tolist() == [0xFF, 0xFF00, 0xFF0000, 0xFF000000 - 2**32]
    assert out[5:7, 9].tolist() == [-1, 1]
    assert out[7, :5].tolist() == [15, 15, 15, 15, 0]
    assert out[8].tolist() == [2**i - 1 for i in range(32)]


@cuda.jit
def positions(x, out):
    """Number the lanes that hold a positive value, without an atomic."""
    i = cuda.threadIdx.x
    taken = cuda.ballot_sync(0xFFFFFFFF, x[i] > 0)
    if x[i] > 0:
        below = taken & cuda.lanemask_lt()
        count = 0
        while below != 0:
            below &= below - 1
            count += 1
        out[i] = count


def test_lanes_number_themselves():
    x = np.where(np.arange(32) % 3 == 0, 1, -1)
    out = np.full(32, -1)
    positions[1, 32](x, out)
    assert out.tolist() == [i // 3 if i % 3 == 0 else -1 for i in range(32)]


@cuda.jit
def some_stay_away(x):
    i = cuda.threadIdx.x
    if i < 8:
        x[i] = cuda.shfl_down_sync(0xFFFFFFFF, x[i], 1)


def test_a_lane_that_stays_away_is_missed_at_the_line():
    x = np.arange(32, dtype=np.int32)
    with pytest.raises(BarrierDivergenceError, match="without lanes 8 to 31") as caught:
        some_stay_away[1, 32](x)
    assert "shfl_down_sync(0xFFFFFFFF, x[i], 1)" in caught.value.where
    assert x.tolist() == list(range(32))
