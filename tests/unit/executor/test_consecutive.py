"""Consecutive lanes copy a stretch: the same values, faults and order as lane by lane."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinytorch_gpu import cuda, settings
from tinytorch_gpu.errors import OutOfBoundsError
from tinytorch_gpu.executor import Batch
from tinytorch_gpu.executor.consecutive import first_of_consecutive, window
from tinytorch_gpu.executor.global_memory import global_array

# Negative indices are what some of these tests are about.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*index is negative:tinytorch_gpu.errors.KernelWarning"
)
DTYPES = ["int8", "uint8", "int32", "int64", "uint64"]


def batch_of(blocks, threads=32):
    return Batch((blocks, 1, 1), (threads, 1, 1), first=0, count=blocks)


def is_consecutive(values):
    return all(b == a + 1 for a, b in pairwise(values))


@given(st.data(), st.sampled_from(DTYPES), st.integers(1, 3))
def test_the_first_is_found_only_when_each_lane_is_one_further(data, dtype, blocks):
    limits, count = np.iinfo(dtype), blocks * 32
    ends = st.integers(int(limits.min), int(limits.max))
    start = data.draw(ends)
    index = (np.arange(count) + start % 2**63).astype(dtype)  # wraps, as lanes do
    changes = st.lists(st.tuples(st.integers(0, count - 1), ends), max_size=2)
    for lane, value in data.draw(changes):
        index[lane] = value
    expected = int(index[0]) if is_consecutive(index.tolist()) else None
    found = first_of_consecutive(batch_of(blocks), index.reshape(blocks, 32))
    assert found == expected


def test_the_ends_alone_do_not_decide():
    index = np.arange(32)
    index[[7, 8]] = index[[8, 7]]
    assert first_of_consecutive(batch_of(1), index[None]) is None


def test_what_is_the_same_for_all_blocks_is_not_consecutive():
    assert first_of_consecutive(batch_of(2), np.arange(32)[None]) is None
    assert first_of_consecutive(batch_of(1), np.arange(32)[None]) == 0


def test_another_index_is_looked_at_anew():
    batch = batch_of(1)
    indices = [np.arange(32)[None] + 5, np.arange(32)[None] * 2, np.arange(32)[None]]
    assert [first_of_consecutive(batch, i) for i in indices] == [5, None, 0]


X = np.arange(100, dtype=np.float32)
LANES = np.arange(64).reshape(2, 32)


@pytest.mark.parametrize(
    ("view", "first"),
    [
        (lambda x: x, 0),
        (lambda x: x, 36),
        (lambda x: x[30:], 6),
        (lambda x: x[-64:], 0),
    ],
)
def test_the_window_is_the_memory_itself(view, first):
    array = cuda.to_device(X)
    seen = window(batch_of(2), global_array(view(array)), (LANES + first,))
    assert seen.tolist() == view(X)[first : first + 64].reshape(2, 32).tolist()
    seen[:] = -1
    assert np.count_nonzero(array.copy_to_host() == -1) == 64


@pytest.mark.parametrize(
    ("view", "index"),
    [
        (lambda x: x, LANES + 37),
        (lambda x: x, LANES - 1),
        (lambda x: x[:63], LANES),
        (lambda x: x[::-1], LANES),
        (lambda x: x[::1].reshape(10, 10), LANES),
        (lambda x: x, LANES * 1.0),
        (lambda x: x, np.int64(3)),
    ],
    ids=["beyond", "before", "short", "reversed", "two axes", "float", "scalar"],
)
def test_there_is_no_window(view, index):
    assert window(batch_of(2), global_array(view(cuda.to_device(X))), (index,)) is None


@cuda.jit
def shifted(x, out, n, reads, writes):
    i = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if i < n:
        out[i + writes] = x[i + reads] * 2


VIEWS = {
    "whole": lambda x: x,
    "tail": lambda x: x[3:],
    "stepped": lambda x: x[::2],
    "reversed": lambda x: x[::-1],
}


@given(
    st.integers(0, 300),
    st.integers(-5, 5),
    st.integers(-5, 5),
    st.sampled_from([20, 32, 64, 96]),
    st.sampled_from([32, 64, 256]),
    st.sampled_from(sorted(VIEWS)),
    st.sampled_from(sorted(VIEWS)),
)
def test_stretches_agree_with_single_elements(
    n, reads, writes, threads, lanes, source, target
):
    x, out = np.arange(320.0), np.zeros(320)
    i = np.arange(n)
    seen, told = VIEWS[source](x), VIEWS[target](out)
    i_read, i_write = i + reads, i + writes
    is_inside = all(
        -len(a) <= j.min() and j.max() < len(a)
        for a, j in ((seen, i_read), (told, i_write))
        if n
    )
    dx, d_out = cuda.to_device(x), cuda.to_device(out)
    views = VIEWS[source](dx), VIEWS[target](d_out)
    launch = shifted[-(-300 // threads), threads]
    with settings.override(counters=False, batch_lanes=lanes):
        if is_inside:
            launch(*views, n, reads, writes)
            told[i_write] = seen[i_read] * 2
        else:
            with pytest.raises(OutOfBoundsError):
                launch(*views, n, reads, writes)
    assert d_out.copy_to_host().tolist() == out.tolist()
    assert dx.copy_to_host().tolist() == x.tolist()


@cuda.jit
def keep_old(x, kept):
    i = cuda.grid(1)
    old = x[i]
    x[i] = old + 1
    kept[i] = old


def test_a_loaded_value_does_not_change_with_the_memory():
    x, kept = np.arange(64.0), np.zeros(64)
    with settings.override(counters=False):
        keep_old[2, 32](x, kept)
    assert kept.tolist() == np.arange(64.0).tolist()
    assert x.tolist() == (np.arange(64.0) + 1).tolist()


@cuda.jit
def fill_then_fault(x, out):
    i = cuda.grid(1)
    out[i] = i
    x[i + 1] = i


def test_a_fault_puts_a_filled_stretch_back():
    x, out = cuda.to_device(np.ones(64)), cuda.to_device(np.ones(64))
    with settings.override(counters=False), pytest.raises(OutOfBoundsError):
        fill_then_fault[2, 32](x, out)
    assert x.copy_to_host().tolist() == out.copy_to_host().tolist() == [1] * 64


@cuda.jit
def odd_only(out, value):
    i = cuda.grid(1)
    if i % 2:
        out[i] = value
    else:
        out[i] = cuda.blockIdx.x


def test_a_masked_store_leaves_the_other_lanes():
    out = np.zeros(64, np.int8)
    with settings.override(counters=False):
        odd_only[2, 32](out, 260)  # 260 is 4 in int8
    assert out.tolist() == [0, 4] * 16 + [1, 4] * 16
