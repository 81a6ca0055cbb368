"""Section 8 of simt-semantics, shared memory and launch checks: a test for each row."""

import contextlib
import io

import numpy as np
import pytest

from tests.semantics.rows import ROWS_IN_ALL, Rows, counts_of, integers
from tinytorch_gpu import cuda, settings
from tinytorch_gpu.cuda import float32, int32, int64
from tinytorch_gpu.errors import (
    KernelWarning,
    LaunchConfigError,
    OutOfBoundsError,
    SharedMemoryLimitError,
    SimGPUError,
)
from tinytorch_gpu.runtime import current_device

row = Rows()


def ints(n):
    return np.zeros(n, np.int64)


@row("one array per call site per block, fresh each block")
def _sites_differ_and_a_loop_keeps_one():
    @cuda.jit(device=True)
    def two(t):
        a, b = cuda.shared.array(4, int64), cuda.shared.array(4, int64)
        a[t], b[t] = t, t + 10
        cuda.syncthreads()
        return a[3 - t] * 100 + b[3 - t]

    @cuda.jit
    def kernel(out):
        i, t = cuda.grid(1), cuda.threadIdx.x
        out[i] = two(t)
        for k in range(2):
            kept = cuda.shared.array(4, int64)
            if k == 0:
                kept[t] = out[i]
        out[i] = kept[t]

    out = ints(8)
    kernel[2, 4](out)
    assert out.tolist() == [313, 212, 111, 10] * 2


@row("static > 48 KiB; dynamic > limit")
def _the_numbers_are_told():
    @cuda.jit
    def static(out):
        tile = cuda.shared.array(12_289, float32)
        tile[cuda.threadIdx.x] = 1
        out[0] = tile[cuda.threadIdx.x]

    @cuda.jit
    def dynamic(out):
        tile = cuda.shared.array(0, float32)
        out[0] = tile.size

    out = ints(1)
    with pytest.raises(SharedMemoryLimitError, match=r"48 KiB|49,?152") as caught:
        static[1, 1](out)
    assert "49,156" in str(caught.value) or "49156" in str(caught.value)
    limit = current_device().spec.shared_bytes_per_block
    with pytest.raises(SharedMemoryLimitError):
        dynamic[1, 1, 0, 300 * 1024](out)
    assert out[0] == 0
    dynamic[1, 1, 0, limit](out)
    assert out[0] == limit // 4


@row("dynamic view larger than the launch's bytes")
def _it_is_out_of_bounds():
    @cuda.jit
    def kernel(out, n):
        t = cuda.threadIdx.x
        words = cuda.shared.array(0, int32)
        pairs = cuda.shared.array(0, int64)
        words[2 * t], words[2 * t + 1] = t + 1, t
        cuda.syncthreads()
        head, rest = pairs[:4], pairs[4:]
        out[t] = (head[t] if t < 4 else rest[t - 4]) if t < n else words[2 * t + 2]

    out = ints(8)
    kernel[1, 8, 0, 64](out, 8)
    assert out.tolist() == [(t << 32) + t + 1 for t in range(8)]
    with pytest.raises(OutOfBoundsError, match="words"):
        kernel[1, 8, 0, 60](out, 8)
    with pytest.raises(OutOfBoundsError, match="words"):
        kernel[1, 8, 0, 64](out, 7)


@row("bank conflicts")
def _they_are_counted_and_never_fail():
    @cuda.jit
    def kernel(out, stride):
        tile = cuda.shared.array(1024, float32)
        t = cuda.threadIdx.x
        tile[t * stride] = t
        out[t] = tile[t * stride]

    for stride, passes in ((1, 1), (2, 2), (32, 32), (31, 1)):
        out = np.zeros(32, np.float32)
        counts = counts_of(lambda out=out, stride=stride: kernel[1, 32](out, stride))
        assert out.tolist() == list(range(32))
        shared = [a for a in counts.accesses if a.space == "shared"]
        assert [a.wavefronts for a in shared] == [passes, passes]


@row("launch with >1024 threads, 0 dims, wrong arg count or type")
def _it_is_refused_before_any_effect():
    @cuda.jit
    def kernel(out, n):
        out[0] = n

    out = ints(1)
    for shape in ((1, 1025), (0, 32), (1, 0), (1, (1, 1, 65)), ((1, 65_536), 1)):
        with pytest.raises(LaunchConfigError):
            kernel[shape](out, 1)
    for arguments in ((out,), (out, 1, 2), (out, "text"), (out, [1])):
        with pytest.raises((SimGPUError, TypeError)):
            kernel[1, 1](*arguments)
    with pytest.raises(TypeError):
        kernel[1.5, 32](out, 1)
    assert out[0] == 0


@row("host arrays")
def _they_are_copied_in_and_back_and_a_fault_leaves_them():
    @cuda.jit
    def kernel(x, out, n):
        t = cuda.threadIdx.x
        out[t] = x[t]
        out[t + n] = 5

    x, out = integers(1, 2), ints(2)
    told = []
    current_device().timeline.listeners.append(told.append)
    kernel[1, 2](x, out, 0)
    current_device().timeline.listeners.remove(told.append)
    copies = [r.direction for r in told if hasattr(r, "direction")]
    assert copies == ["h2d", "h2d", "d2h", "d2h"]  # `x` too, though it is only read
    assert out.tolist() == [5, 5]
    with pytest.raises(OutOfBoundsError):
        kernel[1, 2](x, out, 1)
    assert (x.tolist(), out.tolist()) == ([1, 2], [5, 5])


@row("aliasing: the same array passed twice")
def _it_is_one_memory():
    @cuda.jit
    def kernel(x, y, out):
        t = cuda.threadIdx.x
        x[t] = t + 1
        out[t] = y[t]

    for make in (np.zeros, lambda n: cuda.to_device(np.zeros(n))):
        x, out = make(3), np.zeros(3)
        kernel[1, 3](x, x, out)
        assert out.tolist() == [1, 2, 3]


@row("printing")
def _it_follows_the_order_of_threads():
    @cuda.jit
    def kernel(x):
        i = cuda.grid(1)
        if i != 2:
            print("thread", i, x[i] * 0.5)

    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        kernel[2, 2](integers(1, 2, 3, 4))
    assert shown.getvalue() == "thread 0 0.5\nthread 1 1.0\nthread 3 2.0\n"
    with (
        contextlib.redirect_stdout(io.StringIO()) as shown,
        settings.override(print_threads=True),
    ):
        kernel[2, 2](integers(1, 2, 3, 4))
    assert shown.getvalue().splitlines() == [
        "block (0, 0, 0), thread (0, 0, 0): thread 0 0.5",
        "block (0, 0, 0), thread (1, 0, 0): thread 1 1.0",
        "block (1, 0, 0), thread (1, 0, 0): thread 3 2.0",
    ]


test_the_construct = row.as_test()


def test_a_captured_global_is_frozen_and_its_change_is_told():
    """The row of kernel-languages.md 1.5 on host arrays and scalars."""
    scale = 2

    @cuda.jit
    def kernel(out):
        out[0] = scale

    out = np.zeros(1)
    kernel[1, 1](out)
    scale = 3
    with pytest.warns(KernelWarning, match="`scale` is 3 now; kernel was compiled"):
        kernel[1, 1](out)
    kernel[1, 1](out)  # told once
    assert out[0] == 2


def test_every_row_has_its_test():
    assert len(row.names) == ROWS_IN_ALL[8]
