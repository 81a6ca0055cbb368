"""Reads of what nothing wrote: one finding a line, counted, and traced on."""

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32


def findings(kernel, launch, *given):
    with simgpu.sanitize(show=False) as report:
        arrays = [a() if callable(a) else cuda.to_device(a) for a in given]
        kernel[launch](*arrays)
    return [f for f in report.findings if f.kind == "uninitialized_read"]


def unwritten(*shape, dtype=np.float32):
    return lambda: cuda.device_array(shape, dtype)


@cuda.jit
def keep(x, out):
    i = cuda.grid(1)
    if i % 3 == 1:
        out[i] = x[i // 5, i % 5]


def test_the_first_lane_and_all_of_its_block_are_told():
    (told,) = findings(keep, (2, 10), unwritten(4, 5), np.zeros(20))
    assert (told.tool, told.level, told.space) == ("initcheck", "error", "global")
    assert told.what == "`x[0, 1]` in global memory is read before anything wrote it"
    assert (told.block, told.index) == ((0, 0, 0), (0, 1))
    assert told.threads == ((1, 0, 0), (4, 0, 0), (7, 0, 0))
    assert told.count == 7  # 1, 4, ..., 19
    assert "7 lanes in all" in told.where
    assert "it reaches `out[1]`, which is nan, and 0.0 with zeros" in told.where


@cuda.jit
def thrown_away(x, out):
    v = x[0]
    out[0] = 3 + 0 * int(v == v)  # noqa: PLR0124


def test_what_reaches_nothing_is_told_so():
    (told,) = findings(thrown_away, (1, 1), unwritten(1), np.zeros(1))
    assert "1 lane in all\nno result differs with zeros" in told.where


@cuda.jit
def as_index(x, out):
    out[0] = out[4 - 4 * (x[0] < 1)]


def test_a_launch_that_stops_with_zeros():
    (told,) = findings(as_index, (1, 1), unwritten(1), np.zeros(5))
    assert told.count == 1

    @cuda.jit
    def far(x, out):
        out[0] = out[9 * (x[0] < 1)]

    (told,) = findings(far, (1, 1), unwritten(1), np.zeros(5))
    assert "with zeros in its place the launch stops" in told.where


@cuda.jit
def in_shared_and_local(out):
    tile = cuda.shared.array(32, float32)
    mine = cuda.local.array(2, float32)
    t = cuda.threadIdx.x
    if t < 30:
        tile[t] = 1
    cuda.syncthreads()
    out[t] = tile[t]
    out[t] += mine[1]


def test_each_memory_has_its_words():
    told = findings(in_shared_and_local, (2, 32), np.zeros(32))
    assert [(f.array, f.space, f.count) for f in told] == [
        ("tile", "shared", 2 * 2),
        ("mine", "local", 2 * 32),
    ]
    assert [f.index for f in told] == [(30,), (1,)]
    assert told[0].threads == ((30, 0, 0), (31, 0, 0))
    assert "syncthreads" in told[0].fix


@cuda.jit
def add(x):
    cuda.atomic.add(x, cuda.grid(1) % 2, 1)


def test_atomics_read_too():
    (told,) = findings(add, (1, 4), unwritten(2))
    assert told.count == 4


@pytest.mark.parametrize("dtype", [np.int8, np.float16, np.float64])
def test_elements_of_any_size(dtype):
    @cuda.jit
    def copy(x, out):
        i = cuda.grid(1)
        out[i] = x[i]

    (told,) = findings(copy, (1, 4), unwritten(4, dtype=dtype), np.zeros(4, dtype))
    assert told.count == 4
