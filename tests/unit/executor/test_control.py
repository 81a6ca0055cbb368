"""Loops keep a mask and a trip count for each lane."""

import numpy as np
import pytest

from tinytorch_gpu import settings
from tinytorch_gpu.errors import KernelTypeError, StepBudgetError
from tinytorch_gpu.executor import Batch
from tinytorch_gpu.executor.control import RangeLoop, WhileLoop, range_length
from tinytorch_gpu.trace import Site, SourceLine

SITE = Site(SourceLine("k", "k.py", 7, "for k in range(n):"))
THREADS = np.arange(32)[None]


@pytest.fixture
def batch():
    return Batch((1, 1, 1), (32, 1, 1), first=0, count=1)


def trips(batch, *bounds, leave=None):
    """Run a loop; return how often each lane ran, and the sum of its variable."""
    count = np.zeros(32, int)
    total = np.zeros(32, int)
    loop = RangeLoop(batch, batch.entry, SITE, *bounds)
    for mask, k in loop:
        count += mask.full()[0]
        total += np.where(mask.full()[0], np.broadcast_to(k, (1, 32))[0], 0)
        left, stays = mask.split(np.bool_(False) if leave is None else leave(k))
        assert left.count + stays.count == mask.count
        loop.next(stays)
    return count.tolist(), total.tolist(), loop


RANGES = {
    "uniform": (5,),
    "start and stop": (2, 7),
    "step": (0, 10, 3),
    "down": (5, -1, -2),
    "empty": (5, 5),
    "empty down": (0, 5, -1),
    "negative": (-3,),
    "stop by lane": (THREADS,),
    "start by lane": (THREADS, 20),
    "all by lane": (THREADS % 5, THREADS, 1 + THREADS % 3),
    "down by lane": (THREADS, -1, -1 - THREADS % 2),
    "both ways": (10, THREADS, np.where(THREADS > 10, 3, -2)),
}


def typed(bound):
    return bound.astype(np.int64) if isinstance(bound, np.ndarray) else np.int64(bound)


@pytest.mark.parametrize("bounds", RANGES.values(), ids=RANGES)
def test_each_lane_runs_as_often_as_its_range_is_long(batch, bounds):
    count, total, loop = trips(batch, *map(typed, bounds))
    by_lane = [np.broadcast_to(b, (1, 32))[0] for b in bounds]
    ranges = [range(*map(int, lane)) for lane in zip(*by_lane, strict=True)]
    assert count == [len(r) for r in ranges]
    assert total == [sum(r) for r in ranges]
    assert loop.finished.count == 32


def test_lanes_that_leave_do_not_finish(batch):
    count, _, loop = trips(batch, np.int64(5), leave=lambda k: k == THREADS)
    assert count == [1, 2, 3, 4, 5] + [5] * 27
    assert loop.finished.count == 27


def test_the_loop_ends_when_all_lanes_have_left(batch):
    count, _, loop = trips(batch, np.int64(10**9), leave=lambda _: np.bool_(True))
    assert count == [1] * 32
    assert loop.finished.count == 0


def test_skipped_lanes_come_back_with_the_next_iteration(batch):
    loop, seen = RangeLoop(batch, batch.entry, SITE, np.int64(3)), []
    for mask, _ in loop:
        seen.append(mask.count)
        odd, even = mask.split(THREADS % 2 == 1)
        loop.skip(odd)
        loop.next(even)
    assert seen == [32, 32, 32]


def test_a_while_loop_runs_until_its_slowest_lane_is_done(batch):
    loop, k = WhileLoop(batch, batch.entry, SITE), np.zeros((1, 32), np.int64)
    seen = []
    while True:
        mask = loop.test(k < THREADS % 4, (k,))
        if not mask.count:
            break
        seen.append(mask.count)
        k = k + mask.full()
        loop.next(mask)
    assert seen == [24, 16, 8]
    assert loop.finished.count == 32


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_float_bounds_are_refused(batch, dtype):
    with pytest.raises(KernelTypeError) as caught:
        RangeLoop(batch, batch.entry, SITE, dtype(4))
    assert np.dtype(dtype).name in caught.value.why
    assert "line 7" in caught.value.where


@pytest.mark.parametrize("step", [np.int64(0), THREADS - 3])
def test_a_step_of_0_is_refused(batch, step):
    with pytest.raises(KernelTypeError, match="step 0"):
        RangeLoop(batch, batch.entry, SITE, np.int64(0), np.int64(4), step)


def test_a_step_of_0_in_lanes_that_do_not_loop_is_not_looked_at(batch):
    few = batch.entry.split(THREADS < 3)[0]
    loop = RangeLoop(batch, few, SITE, np.int64(0), np.int64(4), THREADS - 3)
    assert loop.mask.count == 3


@pytest.mark.parametrize(
    "bounds", [(100,), (THREADS * 0 + 100,), (0, 200, 2), (100, 0, -1)]
)
def test_a_loop_may_run_as_often_as_the_budget(batch, bounds):
    with settings.override(loop_budget=100):
        assert trips(batch, *map(typed, bounds))[0] == [100] * 32


@pytest.mark.parametrize("bounds", [(101,), (THREADS * 0 + 101,), (0, 202, 2)])
def test_a_loop_that_runs_longer_is_stopped(batch, bounds):
    with settings.override(loop_budget=100), pytest.raises(StepBudgetError) as caught:
        trips(batch, *map(typed, bounds))
    assert (caught.value.kernel, caught.value.line) == ("k", 7)
    assert "100" in caught.value.what
    assert "32 lanes" in caught.value.where


def test_one_lane_that_runs_on_is_told_as_one(batch):
    bounds = np.where(THREADS == 3, 101, 5)
    with settings.override(loop_budget=100), pytest.raises(StepBudgetError) as caught:
        trips(batch, typed(bounds))
    assert "still in the loop: 1 lane, in block" in caught.value.where


@pytest.mark.parametrize(("steps", "is_stopped"), [(100, False), (101, True)])
def test_the_budget_of_a_while_loop(batch, steps, is_stopped):
    loop = WhileLoop(batch, batch.entry, SITE)
    with settings.override(loop_budget=100):
        loop = WhileLoop(batch, batch.entry, SITE)
        try:
            for k in range(steps + 1):
                loop.next(loop.test(np.bool_(k < steps), (np.int64(k),)))
        except StepBudgetError:
            assert is_stopped
        else:
            assert not is_stopped


@pytest.mark.parametrize(
    "bounds",
    [(5,), (-5,), (2, 9), (9, 2), (1, 8, 3), (1, 7, 3), (8, 1, -3), (0, 9, -1)],
)
def test_the_length_of_a_range_is_pythons(batch, bounds):
    typed_bounds = tuple(map(np.int64, bounds))
    length = range_length(batch, batch.entry, SITE, typed_bounds)
    assert (length, length.dtype) == (len(range(*bounds)), np.int64)


def test_the_length_of_a_range_differs_by_lane(batch):
    few = batch.entry.split(THREADS < 3)[0]
    length = range_length(batch, few, SITE, (np.int64(0), np.int64(7), THREADS - 3))
    assert length[0, :3].tolist() == [0, 0, 0]
    assert length[0, 4:7].tolist() == [7, 4, 3]


@pytest.mark.parametrize(
    ("bounds", "problem"),
    [
        ((), "0 bounds"),
        ((3, 9, 2, 7), "4 bounds"),
        ((3, 9, 0), "step 0"),
        ((3.0,), "float bound"),
    ],
)
def test_the_length_of_a_wrong_range_is_refused_as_the_loop_is(batch, bounds, problem):
    typed_bounds = tuple(np.dtype(type(b)).type(b) for b in bounds)
    for refuse in (
        lambda: RangeLoop(batch, batch.entry, SITE, *typed_bounds),
        lambda: range_length(batch, batch.entry, SITE, typed_bounds),
    ):
        with pytest.raises(KernelTypeError, match=problem):
            refuse()
