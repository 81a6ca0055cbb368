"""Orders of warps and blocks change what a kernel without a barrier computes, only."""

import weakref

import numpy as np
import pytest

from tinytorch_gpu import cuda, settings
from tinytorch_gpu.cuda import int32
from tinytorch_gpu.errors import OutOfBoundsError
from tinytorch_gpu.executor.barrier import arrive
from tinytorch_gpu.executor.schedule import Order
from tinytorch_gpu.runtime import launch, use_gpu
from tinytorch_gpu.settings import SCHEDULES, Settings

SINGLE = [name for name in SCHEDULES if name != "lockstep"]  # warp by warp


def in_order(name, seed=0):
    return settings.override(schedule=name, schedule_seed=seed)


def test_each_order_by_hand():
    things = list("abcd")
    assert Order(Settings()).of(things) == things
    assert Order(Settings(schedule="warps")).of(things) == things
    assert Order(Settings(schedule="reversed")).of(things) == list("dcba")


def test_shuffled_draws_anew_and_the_seed_decides():
    def draws(seed):
        order = Order(Settings(schedule="shuffled", schedule_seed=seed))
        return [order.of(range(8)) for _ in range(3)]

    first, second, third = draws(1)
    assert sorted(first) == sorted(second) == list(range(8))
    assert first != second != third
    assert draws(1) == [first, second, third] != draws(2)


def test_only_shuffled_draws():
    with_random = [name for name in SCHEDULES if Order(Settings(schedule=name)).random]
    assert with_random == ["shuffled"]


# Who runs when, in a program of two intervals that notes its lanes.


def noting(log, site):
    def program(batch, mask):
        for interval in (1, 2):
            warp = int(np.flatnonzero(mask.full()[0])[0]) // 32
            log.append((interval, batch.first, warp, mask.count))
            if interval == 1:
                yield arrive(batch, mask, site, "block")

    return program


def test_lockstep_runs_all_blocks_at_once(run_lanes, site_at):
    log = []
    run_lanes(noting(log, site_at(1)), 3, 96)
    assert log == [(1, 0, 0, 3 * 96), (2, 0, 0, 3 * 96)]


def test_warps_run_one_after_another_up_to_the_barrier(run_lanes, site_at):
    log = []
    with in_order("warps"):
        run_lanes(noting(log, site_at(1)), 2, 80)
    lanes = [32, 32, 16]
    assert log == [
        (interval, block, warp, lanes[warp])
        for block in range(2)
        for interval in (1, 2)
        for warp in range(3)
    ]


def test_reversed_runs_the_last_block_and_warp_first(run_lanes, site_at):
    log = []
    with in_order("reversed"):
        run_lanes(noting(log, site_at(1)), 2, 64)
    assert [entry[:3] for entry in log] == [
        (interval, block, warp)
        for block in (1, 0)
        for interval in (1, 2)
        for warp in (1, 0)
    ]


def test_shuffled_draws_an_order_for_each_interval(run_lanes, site_at):
    log = []
    with in_order("shuffled"):
        run_lanes(noting(log, site_at(1)), 1, 1024)
    first, second = [[w for i, _, w, _ in log if i == step] for step in (1, 2)]
    assert sorted(first) == sorted(second) == list(range(32))
    assert first != second
    assert [i for i, *_ in log] == [1] * 32 + [2] * 32


# A missing barrier shows.


@cuda.jit
def turn_round_without_a_barrier(x):
    part = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    part[t] = x[t]
    x[t] = part[63 - t]


@cuda.jit
def turn_round(x):
    part = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    part[t] = x[t]
    cuda.syncthreads()
    x[t] = part[63 - t]


@pytest.mark.parametrize(
    ("name", "wrong"), [("warps", slice(32)), ("reversed", slice(32, 64))]
)
def test_the_first_warp_sees_nothing_of_the_second(name, wrong):
    x = np.arange(64, dtype=np.int32)
    with in_order(name):
        turn_round_without_a_barrier[1, 64](x)
    is_wrong = x != np.arange(63, -1, -1)
    assert is_wrong[wrong].all()
    assert is_wrong.sum() == 32


@pytest.mark.parametrize("name", SCHEDULES)
def test_with_its_barrier_the_kernel_is_right_in_every_order(name):
    x = np.arange(64, dtype=np.int32)
    with in_order(name):
        turn_round[1, 64](x)
    assert x.tolist() == list(range(63, -1, -1))


@cuda.jit
def block_sums(x, out):
    part = cuda.shared.array(128, int32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    part[t] = x[i] if i < x.size else 0
    cuda.syncthreads()
    step = 64
    while step > 0:
        if t < step:
            part[t] += part[t + step]
        cuda.syncthreads()
        step //= 2
    if t == 0:
        out[cuda.blockIdx.x] = part[0]


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_reduction_is_right_in_every_order(name, seed):
    x, out = np.arange(500, dtype=np.int32), np.zeros(4, np.int32)
    with in_order(name, seed):
        block_sums[4, 128](x, out)
    assert out.tolist() == [x[i : i + 128].sum() for i in range(0, 512, 128)]


@cuda.jit
def last_block(out):
    out[0] = cuda.blockIdx.x


def test_the_block_that_runs_last_wins():
    def winner(name, seed=0):
        out = np.zeros(1, np.int32)
        with in_order(name, seed):
            last_block[50, 32](out)
        return int(out[0])

    assert [winner(name) for name in SCHEDULES[:3]] == [49, 49, 0]
    assert len({winner("shuffled", seed) for seed in range(5)}) > 1


# What else must be the same in every order.


@pytest.mark.parametrize("name", SINGLE)
def test_counts_are_the_same_in_every_order(name):
    use_gpu("t4").replays.clear()

    def counts():
        x, out = cuda.to_device(np.arange(500, dtype=np.int32)), cuda.device_array(4)
        return launch(block_sums, 4, 100, (x, out)).counts

    with settings.override(replay=False):
        expected = counts()
        with in_order(name):
            assert counts() == expected
    assert expected.barriers == 4 * 4 * 8  # blocks, warps, and 1 + log2(128) barriers


@cuda.jit
def past_the_end(x):
    i = cuda.grid(1)
    x[i] = i


@pytest.mark.parametrize("name", SINGLE)
def test_a_fault_names_threads_of_the_block(name):
    x = np.full(300, 7, np.int32)
    with in_order(name), pytest.raises(OutOfBoundsError) as caught:
        past_the_end[3, 128](x)
    error = caught.value
    assert error.block == (2, 0, 0)
    assert set(error.threads) <= {(t, 0, 0) for t in range(44, 128)}
    assert (x == 7).all()


# Grid barriers.


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize("lanes", [64, 16_384])
def test_a_grid_barrier_waits_for_all_blocks(name, lanes, run_lanes, site_at):
    cells, seen, site = np.zeros(5, int), np.zeros((3, 5), int), site_at(1, "g.sync()")

    def program(batch, mask):
        blocks = slice(batch.first, batch.first + batch.shape[0])
        for step in range(3):
            cells[blocks] = 10 * step + np.arange(5)[blocks]
            yield arrive(batch, mask, site, "grid")
            seen[step, blocks] = cells[4 - np.arange(5)[blocks]]
            yield arrive(batch, mask, site, "grid")

    with in_order(name), settings.override(batch_lanes=lanes):
        run_lanes(program, 5, 64)
    assert seen.tolist() == [[10 * s + 4 - b for b in range(5)] for s in range(3)]


@pytest.mark.parametrize("name", SCHEDULES)
def test_block_barriers_work_between_grid_barriers(name, run_lanes, site_at):
    log, block, grid = [], site_at(1), site_at(2)

    def program(batch, mask):
        for step, site, kind in (
            (1, block, "block"),
            (2, grid, "grid"),
            (3, block, ""),
        ):
            log.append((step, batch.first))
            yield arrive(batch, mask, site, kind or "block")
        log.append((4, batch.first))

    with in_order(name), settings.override(batch_lanes=64):
        run_lanes(program, 3, 64)
    steps = [step for step, _ in log]
    assert max(i for i, s in enumerate(steps) if s <= 2) < min(
        i for i, s in enumerate(steps) if s >= 3
    )
    assert {block for step, block in log if step == 4} == {0, 1, 2}


@pytest.mark.parametrize("name", SCHEDULES)
@pytest.mark.parametrize(("kind", "most"), [("block", 2), ("grid", 6)])
def test_only_a_grid_barrier_keeps_all_batches(name, kind, most, run_lanes, site_at):
    alive, peak, site = weakref.WeakSet(), [], site_at(1)

    def program(batch, mask):
        alive.add(batch)
        peak.append(len(alive))
        yield arrive(batch, mask, site, kind)

    with in_order(name), settings.override(batch_lanes=32):
        run_lanes(program, 6, 32)
    assert max(peak) <= most
    assert max(peak) == 6 or kind == "block"
