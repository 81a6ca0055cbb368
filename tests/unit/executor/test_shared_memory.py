"""Shared arrays: one for each block and call site, fresh, poisoned, within the limit."""

import numpy as np
import pytest

from tinytorch_gpu import cuda, settings
from tinytorch_gpu.cuda import float32, int32
from tinytorch_gpu.errors import (
    KernelTypeError,
    OutOfBoundsError,
    SharedMemoryLimitError,
)
from tinytorch_gpu.executor import Batch
from tinytorch_gpu.executor.indexing import load, store
from tinytorch_gpu.executor.shared_memory import shared_array, shared_bytes
from tinytorch_gpu.trace import Site, SourceLine

F4, F8, I4 = np.dtype("float32"), np.dtype("float64"), np.dtype("int32")
U1 = np.dtype("uint8")
SIZE = 16
SHAPE = (4, 8)


def test_the_bytes_of_all_arrays_are_summed():
    assert (
        shared_bytes([((16, 16), F4), ((3,), F8), ((), F4)], 48 * 1024) == 1024 + 24 + 4
    )
    assert shared_bytes([], 0) == 0


def test_exactly_the_limit_is_allowed():
    assert shared_bytes([((12_288,), F4)], 48 * 1024) == 48 * 1024


def test_more_is_refused_with_both_numbers():
    with pytest.raises(SharedMemoryLimitError) as caught:
        shared_bytes([((12_288,), F4), ((1,), F4)], 48 * 1024)
    assert (caught.value.requested_bytes, caught.value.limit_bytes) == (49_156, 49_152)
    assert "49156" in caught.value.what.replace(",", "")


@cuda.jit
def blocks_are_apart(out):
    part = cuda.shared.array(SIZE, int32)
    t = cuda.threadIdx.x
    part[t] = cuda.blockIdx.x * 100 + t
    cuda.syncthreads()
    out[cuda.grid(1)] = part[SIZE - 1 - t]


@pytest.mark.parametrize("lanes", [32, 64, 16_384])
def test_each_block_has_its_own(lanes):
    out = np.zeros(5 * SIZE, np.int32)
    with settings.override(batch_lanes=lanes):
        blocks_are_apart[5, SIZE](out)
    assert out.reshape(5, SIZE)[:, ::-1].tolist() == [
        [b * 100 + t for t in range(SIZE)] for b in range(5)
    ]


@cuda.jit
def two_on_one_line(out):
    a, b = cuda.shared.array(SIZE, int32), cuda.shared.array(SIZE, int32)
    t = cuda.threadIdx.x
    a[t] = 1
    b[t] = 2
    out[t] = a[t] * 10 + b[t]


def test_two_arrays_on_one_line_do_not_alias():
    out = np.zeros(SIZE, np.int32)
    two_on_one_line[1, SIZE](out)
    assert (out == 12).all()


@cuda.jit
def unwritten(floats, integers):
    a = cuda.shared.array(shape=SHAPE, dtype=float32)
    b = cuda.shared.array(shape=(4, 8), dtype=np.int16)
    i, j = cuda.grid(2)
    floats[i, j] = a[i, j]
    integers[i, j] = b[i, j]


def test_fresh_contents_are_poison_at_every_launch():
    for _ in range(2):
        floats, integers = np.zeros(SHAPE, np.float32), np.zeros(SHAPE, np.int64)
        unwritten[1, SHAPE](floats, integers)
        assert np.isnan(floats).all()
        assert (integers == 2**15 - 1).all()


@cuda.jit
def once_in_a_loop(out):
    t = cuda.threadIdx.x
    for k in range(3):
        part = cuda.shared.array(32, int32)
        if k == 0:
            part[t] = 0
        part[t] += k + 1
    out[t] = part[t]


def test_a_call_site_in_a_loop_is_one_array():
    out = np.zeros(32, np.int32)
    once_in_a_loop[1, 32](out)
    assert (out == 6).all()


@cuda.jit
def matrix(out):
    part = cuda.shared.array((3, 5), float32)
    i, j = cuda.threadIdx.x, cuda.threadIdx.y
    part[i, j] = i * 10 + j
    cuda.syncthreads()
    row = part[2 - i]
    out[i, j] = row[4 - j] + part[-1, -1] * 100 + part[0][0]


def test_rows_and_negative_indices():
    out = np.zeros((3, 5), np.int64)
    matrix[1, (3, 5)](out)
    i, j = np.ogrid[:3, :5]
    assert (out == (2 - i) * 10 + 4 - j + 2400).all()


def test_an_index_outside_names_the_shared_array():
    with pytest.raises(OutOfBoundsError) as caught:
        blocks_are_apart[1, SIZE + 1](np.zeros(SIZE + 1, np.int32))
    assert (caught.value.argument, caught.value.shape) == ("part", (SIZE,))
    assert caught.value.threads == ((SIZE, 0, 0),)


@cuda.jit
def store_converts(out):
    part = cuda.shared.array(4, np.uint8)
    part[0] = 300
    part[1] = -2.7
    out[0] = part[0]
    out[1] = part[1]


def test_a_store_converts_as_global_memory_does():
    out = np.zeros(2, np.int64)
    store_converts[1, 1](out)
    assert out.tolist() == [44, 0]


SITE = Site(SourceLine("k", "lesson.py", 3, "s = cuda.shared.array(0, f4)"), "s")
ELSEWHERE = Site(SourceLine("k", "lesson.py", 4, "t = cuda.shared.array(0, i4)"), "t")
T, B = np.arange(32)[None], np.array([[0], [1]])


def dynamic_batch(nbytes):
    return Batch((2, 1, 1), (32, 1, 1), first=0, count=2, dynamic_shared_bytes=nbytes)


@pytest.mark.parametrize(("dtype", "length"), [(U1, 100), (F4, 25), (F8, 12)])
def test_dynamic_memory_holds_as_many_elements_as_its_bytes(dtype, length):
    array = shared_array(dynamic_batch(100), SITE, (0,), dtype)
    assert (array.lengths, array.size) == ((length,), length)


def test_dynamic_memory_is_poison_in_every_block():
    batch = dynamic_batch(100)
    array = shared_array(batch, SITE, (0,), F4)
    assert np.isnan(load(batch, batch.entry, array, T % 25, SITE)).all()


def test_dynamic_arrays_lie_over_the_same_bytes():
    batch = dynamic_batch(128)
    floats = shared_array(batch, SITE, (0,), F4)
    words = shared_array(batch, ELSEWHERE, (0,), I4)
    store(batch, batch.entry, floats, T, T * 0.5 + B, SITE)
    bits = np.float32(T * 0.5 + B).view(np.int32)
    assert (load(batch, batch.entry, words, T, SITE) == bits).all()
    store(batch, batch.entry, words, np.int64(3), np.int64(0x40490FDB), SITE)
    pi = load(batch, batch.entry, floats, np.int64(3), SITE)
    assert (pi == np.float32(np.pi)).all()
    assert floats.address == words.address


def test_parts_are_carved_out_of_dynamic_memory():
    batch = dynamic_batch(64)
    whole = shared_array(batch, SITE, (0,), I4)
    low = load(batch, batch.entry, whole, slice(np.int64(0), np.int64(8)), SITE)
    high = load(batch, batch.entry, whole, slice(None, np.int64(7), np.int64(-1)), SITE)
    store(batch, batch.entry, low, T % 8, T % 8 + 100 * B, SITE)
    store(batch, batch.entry, high, T % 8, -(T % 8) - 100 * B, SITE)
    for k in range(8):
        assert (load(batch, batch.entry, whole, np.int64(k), SITE) == k + 100 * B).all()
        last = load(batch, batch.entry, whole, np.int64(15 - k), SITE)
        assert (last == -k - 100 * B).all()


def test_an_index_beyond_the_launchs_bytes_is_told():
    batch = dynamic_batch(100)
    array = shared_array(batch, SITE, (0,), F4)
    with pytest.raises(OutOfBoundsError) as caught:
        load(batch, batch.entry, array, T, SITE)
    assert (caught.value.shape, caught.value.index) == ((25,), (25, 31))


def test_a_launch_without_dynamic_bytes_has_an_empty_array():
    batch = dynamic_batch(0)
    array = shared_array(batch, SITE, (0,), F4)
    assert array.size == 0
    with pytest.raises(OutOfBoundsError):
        load(batch, batch.entry, array, np.int64(0), SITE)


def test_dynamic_memory_has_one_axis():
    with pytest.raises(KernelTypeError, match="dynamic"):
        shared_array(dynamic_batch(64), SITE, (0, 4), F4)


def test_static_and_dynamic_arrays_are_apart():
    batch = dynamic_batch(16)
    static = shared_array(batch, SITE, (4,), I4)
    dynamic = shared_array(batch, ELSEWHERE, (0,), I4)
    store(batch, batch.entry, static, T % 4, np.int64(1), SITE)
    store(batch, batch.entry, dynamic, T % 4, np.int64(2), SITE)
    assert (load(batch, batch.entry, static, T % 4, SITE) == 1).all()
    assert batch.shared_bytes == 16


def test_call_paths_have_arrays_of_their_own():
    batch = dynamic_batch(0)
    first = shared_array(batch, SITE, (4,), I4)
    batch.call_path = (ELSEWHERE,)
    second = shared_array(batch, SITE, (4,), I4)
    assert second is not first
    assert (first.address, second.address) == (0, 16)
    assert shared_array(batch, SITE, (4,), I4) is second


def test_elements_are_aligned():
    batch = dynamic_batch(0)
    shared_array(batch, SITE, (3,), U1)
    assert shared_array(batch, ELSEWHERE, (2,), F8).address == 8
    assert batch.shared_bytes == 24
    assert shared_bytes([((3,), U1), ((2,), F8)], 48 * 1024) == 24


def test_dynamic_bytes_count_against_the_limit():
    assert shared_bytes([((0,), F4), ((8,), F4)], 96, dynamic=64) == 96
    with pytest.raises(SharedMemoryLimitError, match="32 static and 65 dynamic"):
        shared_bytes([((0,), F4), ((8,), F4)], 96, dynamic=65)


def test_each_block_has_cells_of_its_own():
    batch = Batch((3, 1, 1), (32, 1, 1), first=0, count=3)
    array = shared_array(batch, SITE, (4,), I4)
    assert array.cells(np.int64(2)).tolist() == [[2], [6], [10]]
    assert array.cells(np.array([[0, 3]])).tolist() == [[0, 3], [4, 7], [8, 11]]
