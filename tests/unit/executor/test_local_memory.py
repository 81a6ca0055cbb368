"""Local arrays: one for each thread, poisoned once, rows and views of them."""

import tracemalloc

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.errors import DtypeError, KernelTypeError, OutOfBoundsError
from tinytorch_gpu.executor import Batch
from tinytorch_gpu.executor.indexing import load, store
from tinytorch_gpu.executor.local_memory import local_array
from tinytorch_gpu.trace import Site, SourceLine

# Negative indices are what some of these tests are about.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*index is negative:tinytorch_gpu.errors.KernelWarning"
)
F4, I4 = np.dtype("float32"), np.dtype("int32")
SITE = Site(SourceLine("k", "lesson.py", 3, "t = cuda.local.array(4, f4)"), "t")
ELSEWHERE = Site(SourceLine("k", "lesson.py", 4, "u = cuda.local.array(4, f4)"), "u")
T = np.arange(32)[None]
B = np.array([[0], [1]])
LANE = B * 100 + T


@pytest.fixture
def batch():
    return Batch((2, 1, 1), (32, 1, 1), first=0, count=2)


def read(batch, array, index):
    return np.broadcast_to(load(batch, batch.entry, array, index, SITE), (2, 32))


def test_fresh_contents_are_poison(batch):
    assert np.isnan(read(batch, local_array(batch, SITE, (4,), F4), np.int64(2))).all()
    integers = local_array(batch, ELSEWHERE, (4,), I4)
    assert (read(batch, integers, T % 4) == 2**31 - 1).all()


@pytest.mark.parametrize("index", [np.int64(2), np.int64(-2), T * 0 + 2, B * 0 + 2])
def test_each_thread_has_its_own_element(batch, index):
    array = local_array(batch, SITE, (4,), I4)
    store(batch, batch.entry, array, index, LANE, SITE)
    assert (read(batch, array, np.int64(2)) == LANE).all()
    assert (read(batch, array, T * 0 + 2) == LANE).all()
    assert (read(batch, array, np.int64(1)) == 2**31 - 1).all()


def test_threads_index_apart(batch):
    array = local_array(batch, SITE, (4,), I4)
    for k in range(4):
        store(batch, batch.entry, array, np.int64(k), LANE * 10 + k, SITE)
    mine = (T + B) % 4
    assert (read(batch, array, mine) == LANE * 10 + mine).all()
    store(batch, batch.entry, array, mine, np.int64(-1), SITE)
    for k in range(4):
        expected = np.where(mine == k, -1, LANE * 10 + k)
        assert (read(batch, array, np.int64(k)) == expected).all()


@pytest.mark.parametrize("index", [np.int64(1), (T + B) % 4])
def test_only_active_threads_write(batch, index):
    array = local_array(batch, SITE, (4,), I4)
    for k in range(4):
        store(batch, batch.entry, array, np.int64(k), np.int64(0), SITE)
    some, _ = batch.entry.split((T % 3 == 0) & (B == 1))
    store(batch, some, array, index, LANE, SITE)
    expected = np.where((T % 3 == 0) & (B == 1), LANE, 0)
    assert (read(batch, array, index) == expected).all()


def test_what_was_read_does_not_change_with_a_later_store(batch):
    array = local_array(batch, SITE, (2,), I4)
    store(batch, batch.entry, array, np.int64(0), np.int64(7), SITE)
    before = read(batch, array, np.int64(0))
    store(batch, batch.entry, array, np.int64(0), np.int64(8), SITE)
    assert (before == 7).all()


def test_a_call_site_in_a_loop_keeps_what_was_written(batch):
    store(
        batch,
        batch.entry,
        local_array(batch, SITE, (2,), I4),
        np.int64(0),
        np.int64(5),
        SITE,
    )
    again = local_array(batch, SITE, (2,), I4)
    assert (read(batch, again, np.int64(0)) == 5).all()
    assert (read(batch, again, np.int64(1)) == 2**31 - 1).all()


def test_call_sites_and_call_paths_have_arrays_of_their_own(batch):
    first = local_array(batch, SITE, (2,), I4)
    assert local_array(batch, ELSEWHERE, (2,), I4) is not first
    batch.call_path = (ELSEWHERE,)
    assert local_array(batch, SITE, (2,), I4) is not first
    batch.call_path = ()
    assert local_array(batch, SITE, (2,), I4) is first


def test_rows_and_columns(batch):
    array = local_array(batch, SITE, (2, 3), I4)
    for i, j in np.ndindex(2, 3):
        store(
            batch,
            batch.entry,
            array,
            (np.int64(i), np.int64(j)),
            LANE + 10 * i + j,
            SITE,
        )
    row = load(batch, batch.entry, array, T % 2, SITE)
    assert (read(batch, row, np.int64(-1)) == LANE + 10 * (T % 2) + 2).all()
    column = load(batch, batch.entry, array, (slice(None), np.int64(1)), SITE)
    assert (read(batch, column, np.int64(1)) == LANE + 11).all()


def test_an_index_outside_is_told(batch):
    array = local_array(batch, SITE, (4,), F4)
    with pytest.raises(OutOfBoundsError) as caught:
        read(batch, array, T // 4)
    assert caught.value.index == (4, 7)
    assert caught.value.lanes_at_fault == 32


@pytest.mark.parametrize("shape", [(0,), (4, 0), (2**17 + 1,), (-1,)])
def test_sizes_that_no_thread_has_are_refused(batch, shape):
    with pytest.raises(KernelTypeError, match="local array"):
        local_array(batch, SITE, shape, F4)


def test_a_dtype_that_memory_does_not_hold_is_refused(batch):
    with pytest.raises(DtypeError):
        local_array(batch, SITE, (4,), np.dtype("complex64"))


@cuda.jit
def with_a_large_array(out):
    own = cuda.local.array(8192, "float64")
    i = cuda.grid(1)
    own[i % 8192] = i
    out[i] = own[i % 8192]


def test_large_local_arrays_are_held_for_some_lanes_at_a_time():
    out = cuda.to_device(np.zeros(8192))
    tracemalloc.start()
    try:
        with_a_large_array[32, 256](out)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert (out.copy_to_host() == np.arange(8192)).all()
    assert peak < 3 * 2**26  # all lanes at once would take 2**29 bytes
