"""`cuda.atomic` in kernels: numba's names, element types and old values."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.cuda.atomic import atomic
from tinytorch_gpu.errors import KernelSyntaxError, KernelTypeError, OutOfBoundsError
from tinytorch_gpu.executor.kernel_array import KernelArray

NUMBERS = {"int32", "int64", "uint32", "uint64", "float32", "float64"}
INTEGERS = {"int32", "int64", "uint32", "uint64"}
UNSIGNED = {"uint32", "uint64"}
DTYPES = sorted(NUMBERS | {"int8", "uint8", "int16", "uint16", "float16", "bool"})
TAKES = {
    **dict.fromkeys(["add", "sub", "max", "min", "nanmax", "nanmin"], NUMBERS),
    **dict.fromkeys(["and_", "or_", "xor", "exch", "cas"], INTEGERS),
    **dict.fromkeys(["inc", "dec"], UNSIGNED),
}


def dummy(dtype, ndim=1):
    return KernelArray(np.ones(1, dtype), np.int64(0), (1,) * ndim, (1,) * ndim)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", sorted(TAKES))
def test_element_types(name, dtype):
    infer = getattr(atomic, name).infer
    operands = [np.int64(1)] * (2 if name == "cas" else 1)
    if dtype in TAKES[name]:
        assert infer(dummy(dtype), np.int64(0), *operands).dtype == dtype
    else:
        with pytest.raises(KernelTypeError, match=f"atomic.{name} given an array of"):
            infer(dummy(dtype), np.int64(0), *operands)


def test_compare_and_swap_takes_one_axis_of_integers():
    infer = atomic.compare_and_swap.infer
    assert infer(dummy("int64"), np.int64(0), np.int64(1)).dtype == np.int64
    with pytest.raises(KernelTypeError, match="array of float32"):
        infer(dummy("float32"), np.int64(0), np.int64(1))
    with pytest.raises(KernelTypeError, match="1 of 2 indices"):
        infer(dummy("int32", 2), np.int64(0), np.int64(1))


def test_their_result_depends_on_what_memory_holds():
    assert all(getattr(atomic, name).touches_memory for name in TAKES)
    assert atomic.compare_and_swap.touches_memory


def test_an_index_for_each_axis():
    infer = atomic.add.infer
    assert infer(dummy("int32", 2), (np.int64(0), np.int64(0)), np.int64(1)) == 0
    with pytest.raises(KernelTypeError, match="1 of 2 indices"):
        infer(dummy("int32", 2), np.int64(0), np.int64(1))
    with pytest.raises(KernelTypeError, match="a int32"):
        infer(np.int32(1), np.int64(0), np.int64(1))
    with pytest.raises(KernelTypeError, match="no number"):
        infer(dummy("int32"), np.int64(0), dummy("int32"))


def test_the_host_cannot_call_them():
    with pytest.raises(KernelSyntaxError, match=r"cuda\.atomic\.add called outside"):
        cuda.atomic.add(np.zeros(1), 0, 1)


@cuda.jit
def histogram(x, bins, total):
    i = cuda.grid(1)
    if i < x.size:
        cuda.atomic.add(bins, x[i], 1)
        cuda.atomic.add(total, 0, float(x[i]))


def test_a_histogram():
    x = np.random.default_rng(1).integers(0, 16, 5000).astype(np.int32)
    bins, total = np.zeros(16, np.int32), np.zeros(1, np.float64)
    histogram[20, 256](x, bins, total)
    assert bins.tolist() == np.bincount(x, minlength=16).tolist()
    assert total[0] == x.sum()


@cuda.jit
def compact(x, out, count):
    i = cuda.grid(1)
    if i < x.size and x[i] > 0:
        place = cuda.atomic.add(count, 0, 1)
        out[place] = x[i]


def test_old_values_give_each_lane_its_own_place():
    x = np.int32([3, -1, 4, 0, 5, 9, -2])
    out, count = np.zeros(7, np.int32), np.zeros(1, np.int32)
    compact[1, 32](x, out, count)
    assert count[0] == 4
    assert out.tolist() == [3, 4, 5, 9, 0, 0, 0]


@cuda.jit
def in_shared(x, out):
    counts = cuda.shared.array(4, np.int32)
    tid = cuda.threadIdx.x
    if tid < 4:
        counts[tid] = 0
    cuda.syncthreads()
    cuda.atomic.add(counts, x[cuda.grid(1)], 1)
    cuda.syncthreads()
    if tid < 4:
        cuda.atomic.add(out, (cuda.blockIdx.x, tid), counts[tid])


def test_shared_counters_and_two_axes():
    x = np.tile(np.int32([0, 1, 1, 3]), 32)
    out = np.zeros((2, 4), np.int32)
    in_shared[2, 64](x, out)
    assert out.tolist() == [[16, 32, 0, 16]] * 2


@cuda.jit
def last_block(done, winner):
    if cuda.threadIdx.x == 0:
        cuda.threadfence()
        if cuda.atomic.inc(done, 0, cuda.gridDim.x - 1) == cuda.gridDim.x - 1:
            winner[0] = cuda.blockIdx.x


def test_the_last_block_is_found_and_the_counter_is_ready_again():
    done, winner = np.zeros(1, np.uint32), np.zeros(1, np.int32)
    last_block[5, 32](done, winner)
    assert (done[0], winner[0]) == (0, 4)


@cuda.jit
def first_wins(flag, out):
    i = cuda.grid(1)
    out[i] = cuda.atomic.cas(flag, 0, -1, i)
    cuda.atomic.compare_and_swap(out[3:], 0, 77)


def test_cas_has_one_winner():
    flag, out = np.full(1, -1, np.int64), np.zeros(32, np.int64)
    first_wins[1, 32](flag, out)
    assert flag[0] == 0
    assert out.tolist() == [-1, 0, 0, 77, *[0] * 28]


@cuda.jit
def beyond(out):
    cuda.atomic.max(out, cuda.grid(1), 1)


def test_out_of_bounds_names_the_array():
    out = np.zeros(20, np.float32)
    with pytest.raises(OutOfBoundsError, match="store to past the end of `out`"):
        beyond[1, 32](out)
    assert out.tolist() == [0] * 20


@cuda.jit
def of_bytes(out):
    cuda.atomic.add(out, 0, 1)


def test_a_type_the_compiler_does_not_take_is_refused_at_the_line():
    with pytest.raises(KernelTypeError, match="given an array of uint8") as caught:
        of_bytes[1, 32](np.zeros(1, np.uint8))
    assert "cuda.atomic.add(out, 0, 1)" in caught.value.where
