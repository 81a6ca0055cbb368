"""Estimates from a sample, against the launch itself."""

from __future__ import annotations

import numpy as np
import pytest

from tinytorch_gpu import cuda, profiler
from tinytorch_gpu.cuda import float32
from tinytorch_gpu.errors import (
    KernelTypeError,
    LaunchConfigError,
    OutOfBoundsError,
    SharedMemoryLimitError,
)
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
    arrays = [profiler.like(n) for _ in range(3)]
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


def test_an_array_given_three_times_is_one_array():
    """x + x -> x moves half of the bytes of x + y -> out: a load and a store."""
    x = np.ones(2**16, np.float32)
    device = cuda.to_device(x)
    record = launch(add, 256, 256, (device, device, device))
    for one in (x, profiler.like(2**16)):
        found = profiler.estimate(add, 256, 256, (one, one, one), blocks=256)
        assert found.counts == record.counts
        assert round(found.duration_ns) == record.duration_ns
    three = profiler.estimate(add, 256, 256, [profiler.like(2**16) for _ in "xyz"])
    assert three.duration_ns > record.duration_ns


@cuda.jit
def first_block_only(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2


def test_a_guard_that_few_blocks_pass_is_told_and_does_not_mislead():
    """Block 0 of 10,000 works: it stands for itself alone."""
    x = profiler.like(32)
    found = profiler.estimate(first_block_only, 10_000, 32, (x,), blocks=20)
    assert found.counts.sectors == 4 + 4
    code = first_block_only.py_func.__code__
    assert [line.line for line in found.partial_lines] == [code.co_firstlineno + 4]
    assert f"only some of the places ran line {code.co_firstlineno + 4}" in str(found)
    assert "all did the same" not in str(found)


def test_a_ragged_last_block_is_counted_once():
    arrays = [cuda.to_device(np.ones(100_001, np.float32)) for _ in range(3)]
    record = launch(add, 391, 256, arrays)
    found = profiler.estimate(add, 391, 256, arrays, blocks=10)
    assert found.counts == record.counts
    assert 0 < found.spread < 0.1


def test_text_tells_what_is_not_known():
    def told(blocks):
        arrays = [profiler.like(32 * 100) for _ in range(3)]
        return str(profiler.estimate(add, 100, 32, arrays, blocks=blocks))

    assert "counted: all of 100 blocks ran" in told(100)
    assert "from 1 of 100 blocks: how the others differ is not known" in told(1)
    assert "from 8 of 100 blocks at 5 places, which all did the same" in told(8)


@cuda.jit
def meeting(x):
    cuda.cg.this_grid().sync()
    x[cuda.grid(1)] = 1


@pytest.mark.parametrize(
    ("grid", "block", "options", "error"),
    [
        (1, 2048, {}, LaunchConfigError),
        (1, 32, {"blocks": 0}, LaunchConfigError),
        (1, 32, {"blocks": 1.5}, LaunchConfigError),
        (1, 32, {"blocks": "a"}, LaunchConfigError),
        (1, 32, {"blocks": True}, LaunchConfigError),
        *[(1, 32, {"seed": s}, LaunchConfigError) for s in ("a", -1, 1.5, None, True)],
        (1, 32, {"dynamic_shared_bytes": -4}, LaunchConfigError),
        (1, 32, {"dynamic_shared_bytes": 1.5}, LaunchConfigError),
        (1, 32, {"dynamic_shared_bytes": 2**20}, SharedMemoryLimitError),
        (1.5, 32, {}, KernelTypeError),
    ],
)
def test_what_a_launch_refuses_an_estimate_refuses(grid, block, options, error):
    with pytest.raises(error) as caught:
        profiler.estimate(add, grid, block, [profiler.like(32)] * 3, **options)
    assert all((caught.value.where, caught.value.why, caught.value.fix))


def test_a_cooperative_grid_that_does_not_fit_is_refused():
    """A T4 holds 4 blocks of 256 threads on each of 40 SMs."""
    x = profiler.like(256 * 161)
    profiler.estimate(meeting, 160, 256, (x,), blocks=160, gpu="t4")
    with pytest.raises(LaunchConfigError, match="161"):
        profiler.estimate(meeting, 161, 256, (x,), gpu="t4")


def _plain(x):
    return x


@pytest.mark.parametrize("kernel", [_plain, add[1, 32], 3, None, "add"])
def test_what_is_no_kernel_is_refused(kernel):
    with pytest.raises(KernelTypeError, match="is no kernel") as caught:
        profiler.estimate(kernel, 1, 32, (profiler.like(32),))
    assert all((caught.value.where, caught.value.why, caught.value.fix))


def test_arguments_that_are_no_tuple_are_refused():
    with pytest.raises(KernelTypeError, match="ndarray"):
        profiler.estimate(add, 1, 32, np.ones(3, np.float32))


def test_a_wrong_number_of_arguments_is_refused():
    with pytest.raises(KernelTypeError):
        profiler.estimate(add, 1, 32, [profiler.like(32)])


def test_a_fault_in_the_sample_is_told():
    with pytest.raises(OutOfBoundsError):
        profiler.estimate(uneven, 100, 32, (profiler.like(32),))
