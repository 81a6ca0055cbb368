"""Estimates from a sample, against the launch itself."""

from __future__ import annotations

import numpy as np
import pytest

from tinytorch_gpu import cuda, profiler
from tinytorch_gpu.cuda import float32
from tinytorch_gpu.errors import KernelTypeError, LaunchConfigError, OutOfBoundsError
from tinytorch_gpu.runtime import current_device, launch


@cuda.jit
def add(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


@cuda.jit
def tiled(a, b, out):
    tile = cuda.shared.array((16, 16), float32)
    col, row = cuda.grid(2)
    total = float32(0)
    for k in range(a.shape[1]):
        tile[cuda.threadIdx.y, cuda.threadIdx.x] = a[row, k]
        cuda.syncthreads()
        total += tile[cuda.threadIdx.y, 0] * b[k, col]
        cuda.syncthreads()
    out[row, col] = total


@cuda.jit
def uneven(out):
    i = cuda.grid(1)
    for _ in range(cuda.blockIdx.x):
        out[i] += 1.0


def test_all_blocks_give_the_counts_and_the_time_of_the_launch():
    x, y, out = (cuda.to_device(np.ones(10_000, np.float32)) for _ in range(3))
    record = launch(add, 40, 256, (x, y, out))
    found = profiler.estimate(add, 40, 256, (x, y, out), blocks=40)
    assert found.counts == record.counts
    assert round(found.duration_ns) == record.duration_ns
    assert (found.time.bound, found.spread) == (record.bound, 0)


def test_a_sample_of_equal_blocks_gives_exact_counts():
    arrays = [np.ones((64, 64), np.float32) for _ in range(3)]
    record = launch(tiled, (4, 4), (16, 16), tuple(map(cuda.to_device, arrays)))
    found = profiler.estimate(tiled, (4, 4), (16, 16), arrays, blocks=2)
    assert found.counts == record.counts
    assert sum(map(len, found.sample)) == 2


def test_nothing_that_blocks_write_stays_and_no_launch_is_recorded():
    x = cuda.to_device(np.zeros(512, np.float32))
    host = np.zeros(512, np.float32)
    before = current_device().timeline.elapsed_ns
    profiler.estimate(uneven, 2, 256, (x,))
    profiler.estimate(uneven, 2, 256, (host,))
    assert current_device().timeline.elapsed_ns == before
    assert not host.any()
    assert not x.copy_to_host().any()


def test_stand_ins_need_no_memory_of_the_device():
    n = 2**30
    arrays = [profiler.like(n)] * 3
    found = profiler.estimate(add, n // 256, 256, arrays, gpu="toy")
    assert found.gpu == "toy GPU"
    assert found.counts.sectors == 3 * n * 4 // 32


def test_blocks_that_differ_show_in_the_spread():
    found = profiler.estimate(uneven, 1000, 32, (profiler.like(32_000),), blocks=8)
    assert found.spread > 0.3
    assert f"{100 * found.spread:.1f} %" in str(found)
    again = profiler.estimate(uneven, 1000, 32, (profiler.like(32_000),), blocks=8)
    assert again == found
    other = profiler.estimate(
        uneven, 1000, 32, (profiler.like(32_000),), blocks=8, seed=1
    )
    assert other.sample != found.sample


def test_text_tells_the_sample_and_how_registers_are_known():
    text = str(profiler.estimate(add, 400, 256, [profiler.like(102_400)] * 3, gpu="t4"))
    assert "add on Tesla T4: modelled" in text
    assert "estimated from 64 of 400 blocks" in text
    assert "registers a thread (estimated)" in text


def test_registers_are_the_given_ones():
    kernel = cuda.jit(max_registers=100)(add.py_func)
    found = profiler.estimate(kernel, 4, 256, [profiler.like(1024)] * 3)
    assert found.registers == 100
    assert "100 registers a thread (given)" in str(found)


@pytest.mark.parametrize(
    ("grid", "block", "options", "error"),
    [
        (1, 2048, {}, LaunchConfigError),
        (1, 32, {"blocks": 0}, LaunchConfigError),
    ],
)
def test_what_a_launch_refuses_an_estimate_refuses(grid, block, options, error):
    with pytest.raises(error):
        profiler.estimate(add, grid, block, [profiler.like(32)] * 3, **options)


def test_a_wrong_number_of_arguments_is_refused():
    with pytest.raises(KernelTypeError):
        profiler.estimate(add, 1, 32, [profiler.like(32)])


def test_a_fault_in_the_sample_is_told():
    with pytest.raises(OutOfBoundsError):
        profiler.estimate(uneven, 100, 32, (profiler.like(32),))
