"""A barrier opens when every live thread of the block has come, judged block by block."""

import numpy as np
import pytest

from tinytorch_gpu import cuda, settings
from tinytorch_gpu.cuda import int32
from tinytorch_gpu.errors import BarrierDivergenceError, KernelWarning
from tinytorch_gpu.settings import SCHEDULES


@cuda.jit
def half_of_block_2(x):
    t = cuda.threadIdx.x
    if cuda.blockIdx.x != 2 or t < 20:
        cuda.syncthreads()
    x[cuda.grid(1)] = 1


@cuda.jit
def uniform_branch(x, flag):
    if flag:
        cuda.syncthreads()
    x[cuda.grid(1)] = 1


@cuda.jit
def one_block_only(x):
    if cuda.blockIdx.x == 1:
        cuda.syncthreads()
    x[cuda.grid(1)] = 1


@cuda.jit
def condition_that_all_threads_meet(x):
    if cuda.threadIdx.x < 1000:
        cuda.syncthreads()
    x[cuda.grid(1)] = 1


@cuda.jit
def after_an_early_return(x):
    i = cuda.grid(1)
    if i >= x.size:
        return
    cuda.syncthreads()
    x[i] = 1


@cuda.jit
def loop_of_each_block(x):
    for _ in range(cuda.blockIdx.x):
        cuda.syncthreads()
    x[cuda.grid(1)] = 1


@cuda.jit
def loop_of_each_thread(x):
    for _ in range(cuda.threadIdx.x // 32):
        cuda.syncthreads()


@cuda.jit
def two_barriers_in_two_branches(x):
    if cuda.threadIdx.x % 2:
        cuda.syncthreads()
    else:
        cuda.syncthreads()


LEGAL = (
    uniform_branch,
    one_block_only,
    condition_that_all_threads_meet,
    after_an_early_return,
    loop_of_each_block,
)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("lanes", [64, 16_384])
@pytest.mark.parametrize("kernel", LEGAL)
@pytest.mark.parametrize("block", [40, 64])
def test_a_barrier_that_whole_blocks_reach_is_legal(kernel, block, lanes, schedule):
    x = np.zeros(4 * block, np.int32)
    more = (True,) if kernel is uniform_branch else ()
    with settings.override(batch_lanes=lanes, schedule=schedule):
        kernel[4, block](x, *more)
    assert (x == 1).all()


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_threads_that_have_returned_are_not_waited_for(schedule):
    x = np.zeros(100, np.int32)
    with settings.override(schedule=schedule), pytest.warns(KernelWarning) as told:
        after_an_early_return[3, 64](x)
    assert (x == 1).all()
    (warning,) = [entry.message for entry in told]
    assert warning.what == (
        "28 of the block's 64 threads returned before syncthreads()"
    )
    assert "block (1, 0, 0), threads (36, 0, 0) to (63, 0, 0)" in warning.where
    assert (warning.kernel, warning.returned) == ("after_an_early_return", 28)
    assert told[0].filename == __file__
    assert max(map(len, str(warning).splitlines())) <= 91


def test_the_warning_can_be_an_error_and_then_nothing_has_happened():
    x = np.zeros(100, np.int32)
    with pytest.raises(KernelWarning):  # pytest turns warnings into errors
        after_an_early_return[2, 64](x)
    assert not x.any()


@cuda.jit
def many_barriers_after_an_early_return(x):
    i = cuda.grid(1)
    if i >= x.size:
        return
    for _ in range(5):
        cuda.syncthreads()


def test_a_line_warns_once_in_a_launch():
    with pytest.warns(KernelWarning) as told:
        many_barriers_after_an_early_return[4, 64](np.zeros(100, np.int32))
    assert len(told) == 1


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("lanes", [64, 16_384])
def test_the_block_and_its_missing_threads_are_named(lanes, schedule):
    x = np.zeros(4 * 64, np.int32)
    with (
        settings.override(batch_lanes=lanes, schedule=schedule),
        pytest.raises(BarrierDivergenceError) as caught,
    ):
        half_of_block_2[4, 64](x)
    error = caught.value
    assert (error.arrived, error.expected) == (20, 64)
    assert len(error.threads) == 44
    assert "20 of the block's 64" in error.what
    assert "block (2, 0, 0)" in error.where
    assert "threads (20, 0, 0) to (63, 0, 0)" in error.where
    assert "cuda.syncthreads()" in error.where
    # Warp by warp, the second warp has run to its end: it cannot tell what it skipped.
    who = "they" if schedule == "lockstep" else "12 of them"
    told = f"{who} did not take `if cuda.blockIdx.x != 2 or t < 20:`"
    assert told in error.where
    assert error.elsewhere == error.line - 1
    assert "may hang" in error.why
    assert error.kernel == "half_of_block_2"
    assert not x.any()


def test_block_and_threads_are_told_as_coordinates():
    with pytest.raises(BarrierDivergenceError) as caught:
        half_of_block_2[4, (32, 2)](np.zeros(128, np.int32))
    assert caught.value.block == (2, 0, 0)
    assert (caught.value.threads[0], caught.value.threads[-1]) == (
        (20, 0, 0),
        (31, 1, 0),
    )


@pytest.mark.parametrize("schedule", SCHEDULES)
def test_threads_that_have_left_the_loop_are_missed(schedule):
    with settings.override(schedule=schedule), pytest.raises(BarrierDivergenceError):
        loop_of_each_thread[1, 64](np.zeros(64, np.int32))


@cuda.jit
def two_barriers_for_two_warps(x):
    if cuda.threadIdx.x < 32:
        cuda.syncthreads()
    else:
        cuda.syncthreads()


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize(
    "kernel", [two_barriers_in_two_branches, two_barriers_for_two_warps]
)
def test_two_barriers_are_not_one(kernel, schedule):
    with (
        settings.override(schedule=schedule),
        pytest.raises(BarrierDivergenceError) as caught,
    ):
        kernel[1, 64](np.zeros(64, np.int32))
    error = caught.value
    assert (error.arrived, error.expected) == (32, 64)
    assert abs(error.line - error.elsewhere) == 2
    assert f"they wait at line {error.elsewhere}:    cuda.sync" in error.where
    assert "may appear to work" in error.why
    assert max(map(len, str(error).splitlines())) <= 91


@cuda.jit
def exchange(x):
    part = cuda.shared.array(128, int32)
    t = cuda.threadIdx.x
    part[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    x[cuda.grid(1)] = part[cuda.blockDim.x - 1 - t]


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("block", [1, 31, 32, 33, 100, 128])
def test_values_are_exchanged_across_warps(block, schedule):
    x = np.arange(3 * block, dtype=np.int32)
    with settings.override(schedule=schedule):
        exchange[3, block](x)
    expected = np.arange(3 * block).reshape(3, block)[:, ::-1].ravel()
    assert x.tolist() == expected.tolist()
