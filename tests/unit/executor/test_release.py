"""What barriers give, and who is missed at them: lane programs written by hand."""

import numpy as np
import pytest

from tinytorch_gpu import settings
from tinytorch_gpu.errors import BarrierDivergenceError, KernelWarning
from tinytorch_gpu.executor.barrier import arrive
from tinytorch_gpu.settings import SCHEDULES

THREADS, BLOCKS = 80, 3  # three warps, the last one of 16 threads


@pytest.fixture(params=SCHEDULES, autouse=True)
def schedule(request):
    with settings.override(schedule=request.param, schedule_seed=3):
        yield request.param


def lanes_of(batch):
    return np.arange(batch.shape[1])[None]


def blocks_of(batch):
    return np.arange(batch.first, batch.first + batch.shape[0])[:, None]


def results(run_lanes, site, kind, predicate):
    """Let all lanes vote; return what each (block, thread) was given."""
    given = np.full((BLOCKS, 96), -1)

    def program(batch, mask):
        value = predicate(blocks_of(batch), lanes_of(batch))
        result = yield arrive(batch, mask, site, kind, value)
        assert result.dtype == np.int32
        rows = slice(batch.first, batch.first + batch.shape[0])
        given[rows][mask.full()] = np.broadcast_to(result, batch.shape)[mask.full()]

    run_lanes(program, BLOCKS, THREADS)
    assert (given[:, THREADS:] == -1).all()
    return given[:, :THREADS]


VOTES = [
    ("count", lambda b, t: t < 40 + b, [40, 41, 42]),
    ("count", lambda b, t: np.int64(-7), [80, 80, 80]),  # non-zero is true
    ("count", lambda b, t: t - t, [0, 0, 0]),
    ("count", lambda b, t: np.float32(0.5) * (t == 79), [1, 1, 1]),
    ("and", lambda b, t: t < 80 - b, [1, 0, 0]),
    ("and", lambda b, t: np.bool_(True), [1, 1, 1]),
    ("or", lambda b, t: (t == 70) & (b == 2), [0, 0, 1]),
    ("or", lambda b, t: t > 79, [0, 0, 0]),  # the padding has no vote
]


@pytest.mark.parametrize(("kind", "predicate", "expected"), VOTES)
def test_votes_of_a_block(run_lanes, site_at, kind, predicate, expected):
    given = results(run_lanes, site_at(1), kind, predicate)
    assert (given == np.array(expected)[:, None]).all()


@pytest.mark.parametrize(("kind", "expected"), [("count", 30), ("and", 1), ("or", 1)])
def test_threads_that_returned_have_no_vote(run_lanes, site_at, kind, expected):
    seen = []

    def program(batch, mask):
        gone, mask = mask.split(lanes_of(batch) >= 30)
        batch.frame(mask, is_kernel=True).leave(gone)
        if mask.count:
            seen.append((yield arrive(batch, mask, site_at(1), kind, np.int64(1))))

    with pytest.warns(KernelWarning, match="50 of the block's 80 threads returned"):
        run_lanes(program, 1, THREADS)
    assert [value.tolist() for value in seen] == [[[expected]]]


def test_lanes_that_return_go_to_the_grid_barrier_unmissed(run_lanes, site_at):
    done = []

    def program(batch, mask):
        gone, mask = mask.split((lanes_of(batch) >= 30) | (blocks_of(batch) == 1))
        batch.frame(mask, is_kernel=True).leave(gone)
        if mask.count:
            yield arrive(batch, mask, site_at(1), "grid")
            done.append(mask.count)

    run_lanes(program, BLOCKS, THREADS)
    assert sum(done) == 60


def test_lanes_that_are_elsewhere_are_missed_at_the_grid_barrier(run_lanes, site_at):
    def program(batch, mask):
        few = mask.split(lanes_of(batch) % 32 < 8)[0]
        yield arrive(batch, few, site_at(1, "g.sync()"), "grid")
        yield arrive(batch, mask, site_at(2), "block")

    with pytest.raises(BarrierDivergenceError, match="reached by 24 of the") as caught:
        run_lanes(program, 1, THREADS)
    assert caught.value.what.startswith("grid.sync()")
    assert caught.value.elsewhere is None  # those that came are at line 2, too


def test_two_grid_barriers_are_not_one(run_lanes, site_at):
    def program(batch, mask):
        zero, rest = mask.split(blocks_of(batch) == 0)
        for lanes, line in ((zero, 1), (rest, 2)):
            if lanes.count:
                yield arrive(batch, lanes, site_at(line, "g.sync()"), "grid")

    with pytest.raises(BarrierDivergenceError) as caught:
        run_lanes(program, BLOCKS, THREADS)
    assert "every live thread of the grid" in caught.value.why
    assert {caught.value.line, caught.value.elsewhere} == {1, 2}


def test_a_block_at_two_kinds_of_barrier(run_lanes, site_at):
    block, grid = site_at(1), site_at(2, "g.sync()")

    def program(batch, mask):
        low, high = mask.split(lanes_of(batch) < 64)
        for lanes, site, kind in ((low, block, "block"), (high, grid, "grid")):
            if lanes.count:
                yield arrive(batch, lanes, site, kind)

    with pytest.raises(BarrierDivergenceError) as caught:
        run_lanes(program, 1, THREADS)
    assert {caught.value.line, caught.value.elsewhere} == {1, 2}
    assert caught.value.arrived in (16, 64)


def test_one_line_reached_by_two_calls_is_two_barriers(run_lanes, site_at):
    site = site_at(1)

    def program(batch, mask):
        for call, lanes in enumerate(mask.split(lanes_of(batch) < 32)):
            batch.call_path = (call,)
            if lanes.count:
                yield arrive(batch, lanes, site, "block")

    with pytest.raises(BarrierDivergenceError):
        run_lanes(program, 1, THREADS)


def test_lanes_that_run_into_an_error_while_being_looked_for(run_lanes, site_at):
    def program(batch, mask):
        yield arrive(batch, mask.split(lanes_of(batch) % 2)[0], site_at(1), "block")
        raise ZeroDivisionError

    with pytest.raises(BarrierDivergenceError) as caught:
        run_lanes(program, 1, THREADS)
    assert (caught.value.arrived, caught.value.elsewhere) == (40, None)
