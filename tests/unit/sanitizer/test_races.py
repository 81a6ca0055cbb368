"""What is a race and what is not, kernel by kernel, with the facts of each."""

import numpy as np

from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import float32, int8, int32
from tinytorch_gpu.runtime.watching import watching
from tinytorch_gpu.sanitizer import MemoryChecker
from tinytorch_gpu.sanitizer.touching import Memories


def found(kernel, launch, *arrays):
    """Launch a kernel on arrays; return races as (kind, hazard, lines apart)."""
    checker = MemoryChecker(Memories())
    with watching(checker):
        kernel[launch](*map(cuda.to_device, arrays))
    first = kernel.py_func.__code__.co_firstlineno
    return [
        (f.kind, f.hazard, f.line.line - first, f.other.line.line - first)
        if f.other
        else (f.kind, f.array, f.line.line - first, f.count)
        for f in checker.findings()
    ]


def zeros(n, dtype=np.float32):
    return np.zeros(n, dtype)


@cuda.jit
def bytes_of_words(out):
    words = cuda.shared.array(0, int32)
    octets = cuda.shared.array(0, int8)
    t = cuda.threadIdx.x
    words[t] = t
    cuda.syncthreads()
    v = octets[t * 4]
    octets[t * 4 + 1] = v
    cuda.syncthreads()
    out[t] = words[t]


def test_views_of_other_types_share_their_history():
    assert found(bytes_of_words, (1, 64, 0, 256), zeros(64)) == []


@cuda.jit
def neighbour_bytes(out):
    words = cuda.shared.array(0, int32)
    octets = cuda.shared.array(0, int8)
    t = cuda.threadIdx.x
    octets[t] = t
    cuda.syncthreads()
    octets[t] = t + 1
    if t < 16:
        out[t] = words[t]


def test_a_word_is_read_while_its_bytes_are_written():
    # Threads 0 to 15 read what threads up to 63, of the second warp, write.
    races = found(neighbour_bytes, (1, 64, 0, 64), zeros(16))
    assert races == [("race", "RAW", 9, 7)]


@cuda.jit
def half_written(out):
    words = cuda.shared.array(0, int32)
    octets = cuda.shared.array(0, int8)
    t = cuda.threadIdx.x
    octets[t * 4 + 1] = t
    out[t] = words[t]


def test_lanes_that_read_what_nothing_wrote_are_counted_once():
    told = found(half_written, (1, 32, 0, 128), zeros(32))
    assert told == [("uninitialized_read", "words", 6, 32)]


@cuda.jit
def reads_of_two_kinds(x, out):
    words = cuda.shared.array(0, int32)
    octets = cuda.shared.array(0, int8)
    t = cuda.threadIdx.x
    words[t] = x[t]
    cuda.syncthreads()
    v = words[63 - t]
    cuda.syncthreads()
    v += octets[t]
    cuda.syncthreads()
    words[t] = v
    out[t] = v


def test_reads_before_a_finer_view_stay_in_order():
    arrays = zeros(64, np.int32), zeros(64)
    assert found(reads_of_two_kinds, (1, 64, 0, 256), *arrays) == []


@cuda.jit
def lines_of_two_arrays(a, b):
    i = cuda.threadIdx.x
    for _ in range(2):
        a[i] = b[63 - i]
        b[i] = a[63 - i]


def test_two_arrays_on_the_same_lines_are_two_findings():
    checker = MemoryChecker(Memories())
    with watching(checker):
        lines_of_two_arrays[1, 64](*map(cuda.to_device, [zeros(64)] * 2))
    assert sorted({f.array for f in checker.findings()}) == ["a", "b"]


@cuda.jit
def fence_and_flag(x, flag, out):
    if cuda.grid(1) == 0:
        x[0] = 3
        cuda.threadfence()
        cuda.atomic.exch(flag, 0, 1)
    if cuda.grid(1) == 64 and cuda.atomic.cas(flag, 0, 1, 1) == 1:
        out[0] = x[0]


def test_a_flag_behind_a_fence_orders():
    arrays = zeros(1), zeros(1, np.int32), zeros(1)
    assert found(fence_and_flag, (2, 64), *arrays) == []


@cuda.jit
def local_gap(out):
    mine = cuda.local.array(3, float32)
    mine[0] = 1
    mine[cuda.threadIdx.x % 2 + 1] = 2
    out[cuda.threadIdx.x] = mine[2]


def test_local_elements_are_each_lanes_own():
    told = found(local_gap, (1, 10), zeros(10))
    assert told == [("uninitialized_read", "mine", 5, 5)]


def test_two_launches_are_in_order_and_two_streams_are_not():
    checker = MemoryChecker(Memories())
    x = cuda.to_device(zeros(64))

    @cuda.jit
    def write(x, value):
        x[cuda.grid(1)] = value

    with watching(checker):
        write[2, 32](x, 1)
        write[2, 32](x, 2)
        assert checker.findings() == []
        write[2, 32, cuda.stream()](x, 3)
        assert checker.findings() == []  # streams wait for the default one
        write[2, 32, cuda.stream()](x, 4)
        (race,) = checker.findings()
    assert (race.kind, race.hazard, race.count) == ("race", "WAW", 64)
    assert "different streams" in race.why
    assert race.other.value == 3
