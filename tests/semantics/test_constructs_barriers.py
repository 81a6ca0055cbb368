"""Section 5 of simt-semantics, barriers: a test for each row."""

import warnings
from pathlib import Path

import numpy as np
import pytest

from tests.semantics.rows import ROWS_IN_ALL, Rows, counts_of, integers
from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import int64
from tinytorch_gpu.errors import BarrierDivergenceError, KernelWarning, WarpMaskError

row = Rows()


def ints(n):
    return np.zeros(n, np.int64)


def line_number(kernel, text):
    """Return the number of the kernel's source line with this text."""
    code = kernel.py_func.__code__
    lines = Path(code.co_filename).read_text().split("\n")
    first = code.co_firstlineno
    return next(n for n in range(first, len(lines)) if lines[n - 1].strip() == text)


@row("`syncthreads` reached by some lanes of the block, others alive elsewhere")
def _the_missing_threads_are_named():
    @cuda.jit
    def kernel(out):
        t = cuda.threadIdx.x
        if t < 40:
            cuda.syncthreads()
        out[t] = 1

    out = ints(64)
    with pytest.raises(BarrierDivergenceError, match="40 of the block's 64") as caught:
        kernel[2, 64](out)
    error = caught.value
    assert (error.arrived, error.expected, error.block) == (40, 64, (0, 0, 0))
    assert error.threads == tuple((t, 0, 0) for t in range(40, 64))
    assert error.line == line_number(kernel, "cuda.syncthreads()")
    assert error.elsewhere == line_number(kernel, "if t < 40:")
    assert f"they did not take `if t < 40:` (line {error.elsewhere})" in str(error)
    assert not out.any()


@row("two different `syncthreads` in two branches")
def _both_lines_are_named():
    @cuda.jit
    def kernel(out):
        t = cuda.threadIdx.x
        if t < 40:
            out[t] = 1
            cuda.syncthreads()
        else:
            cuda.syncthreads()
            out[t] = 2

    with pytest.raises(BarrierDivergenceError, match="may appear to work") as caught:
        kernel[1, 64](ints(64))
    first = line_number(kernel, "cuda.syncthreads()")
    assert {caught.value.line, caught.value.elsewhere} == {first, first + 2}


@row("barrier in a loop with a per-thread trip count")
def _it_faults_when_the_first_lane_has_left():
    @cuda.jit
    def kernel(out, n):
        t = cuda.threadIdx.x
        for k in range(2 + (t >= n)):
            out[t] = k
            cuda.syncthreads()
        out[t] += 10

    out = ints(64)
    kernel[1, 64](out, 64)
    assert out.tolist() == [11] * 64
    with pytest.raises(BarrierDivergenceError) as caught:
        kernel[1, 64](out, 50)
    assert (caught.value.arrived, caught.value.expected) == (14, 64)
    loop = line_number(kernel, "for k in range(2 + (t >= n)):")
    assert caught.value.elsewhere == loop
    assert f"they left `for k in range(2 + (t >= n)):` (line {loop}) before" in str(
        caught.value
    )


@row("threads that already **exited** (`if i >= n: return` before a barrier)")
def _published_code_runs_to_the_end_with_a_warning():
    @cuda.jit
    def kernel(x, out):
        tile = cuda.shared.array(64, int64)
        t = cuda.threadIdx.x
        if t >= x.size:
            return
        tile[t] = x[t]
        cuda.syncthreads()
        out[t] = tile[x.size - 1 - t]

    out = ints(50)
    with pytest.warns(KernelWarning, match="14 of the block's 64 threads"):
        kernel[1, 64](np.arange(50), out)
    assert out.tolist() == list(range(49, -1, -1))


@row("conditional that is uniform over the block")
def _lanes_decide_not_syntax():
    @cuda.jit
    def kernel(out, size):
        t = cuda.threadIdx.x
        if t < size:
            cuda.syncthreads()
            out[cuda.grid(1)] = 1
        if cuda.blockIdx.x == 1:
            cuda.syncthreads()
            out[cuda.grid(1)] += 1

    out = ints(128)
    kernel[2, 64](out, 64)
    assert out.tolist() == [1] * 64 + [2] * 64


@row("`grid.sync()` not reached by all live threads")
def _the_others_must_have_ended():
    @cuda.jit
    def others_end(out):
        grid = cuda.cg.this_grid()
        if cuda.blockIdx.x == 0:
            out[cuda.threadIdx.x] = 5
            grid.sync()
            out[cuda.threadIdx.x] += out[32]
        else:
            out[32] = 7

    @cuda.jit
    def one_block_parts(out):
        grid = cuda.cg.this_grid()
        if cuda.threadIdx.x < 5:
            grid.sync()
        else:
            cuda.syncthreads()

    out = ints(33)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", KernelWarning)
        others_end[3, 32](out)
    assert out.tolist() == [12] * 32 + [7]
    with pytest.raises(BarrierDivergenceError):
        one_block_parts[1, 32](out)


@row("`syncwarp(mask)` by a lane not in its own mask, or masks that differ")
def _the_mask_is_wrong():
    @cuda.jit
    def kernel(out, all_lanes, second):
        t = cuda.threadIdx.x
        cuda.syncwarp(all_lanes if t < 16 else second)
        out[t] = 1

    for masks in ((0xFFFF, 0xFFFF), (0xFFFFFFFF, 0xFFFF0001)):
        with pytest.raises(WarpMaskError):
            kernel[1, 32](ints(32), *masks)
    out = ints(32)
    kernel[1, 32](out, 0xFFFF, 0xFFFF0000)
    assert out.all()


@row("`shfl/vote/match` where a lane named in the mask does not execute the call")
def _the_missing_lanes_are_listed_and_disjoint_masks_are_legal():
    @cuda.jit
    def missing(out):
        t = cuda.threadIdx.x
        if t < 30:
            out[t] = cuda.shfl_sync(0xFFFFFFFF, t, 0)

    @cuda.jit
    def two_sites(out):
        t = cuda.threadIdx.x
        if t < 16:
            out[t] = cuda.shfl_sync(0x0000FFFF, t, 3)
        else:
            out[t] = cuda.shfl_sync(0xFFFF0000, t, 20)

    with pytest.raises(BarrierDivergenceError, match="30") as caught:
        missing[1, 32](ints(32))
    assert caught.value.lanes == (30, 31)
    out = ints(32)
    two_sites[1, 32](out)
    assert out.tolist() == [3] * 16 + [20] * 16


@row("`shfl` reading from an inactive or unnamed lane")
def _it_is_a_fault():
    @cuda.jit
    def kernel(out, source):
        t = cuda.threadIdx.x
        if t < 16:
            out[t] = cuda.shfl_sync(0xFFFF, t, source)

    out = ints(32)
    kernel[1, 32](out, 15)
    assert out.tolist() == [15] * 16 + [0] * 16
    with pytest.raises(WarpMaskError):
        kernel[1, 32](out, 16)


@row("implicit warp synchrony (old reductions without `syncwarp`)")
def _lockstep_gives_the_value_that_old_hardware_gave():
    @cuda.jit
    def kernel(x, out):
        tile = cuda.shared.array(64, int64)
        t = cuda.threadIdx.x
        tile[t] = x[t]
        tile[t + 32] = 0
        for step in (16, 8, 4, 2, 1):
            tile[t] += tile[t + step]
        if t == 0:
            out[0] = tile[0]

    out = ints(1)
    kernel[1, 32](np.arange(32), out)
    assert out[0] == 31 * 32 // 2


@row("sync inside a device function")
def _it_counts_as_the_callers():
    @cuda.jit(device=True)
    def swapped(tile, t, value):
        tile[t] = value
        cuda.syncthreads()
        other = tile[63 - t]
        cuda.syncthreads()
        return other

    @cuda.jit
    def kernel(out, n):
        tile = cuda.shared.array(64, int64)
        t = cuda.threadIdx.x
        v = swapped(tile, t, t)
        if t < n:
            out[t] = swapped(tile, t, v + 100)

    out = integers(*range(64))
    counts = counts_of(lambda: kernel[1, 64](out, 64))
    assert out.tolist() == [100 + t for t in range(64)]
    assert counts.barriers == 4 * 2  # each barrier, for each of the two warps
    with pytest.raises(BarrierDivergenceError) as caught:
        kernel[1, 64](out, 63)
    assert caught.value.line == line_number(swapped, "cuda.syncthreads()")


test_the_construct = row.as_test()


def test_every_row_has_its_test():
    assert len(row.names) == ROWS_IN_ALL[5]
