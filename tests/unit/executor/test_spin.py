"""A loop at a fixed point is told from one that still gets somewhere."""

import numpy as np
import pytest

from tinytorch_gpu import settings
from tinytorch_gpu.errors import DeadlockError, StepBudgetError
from tinytorch_gpu.executor import Batch
from tinytorch_gpu.executor.barrier import arrive
from tinytorch_gpu.executor.control import WhileLoop
from tinytorch_gpu.trace import Site, SourceLine

SITE = Site(SourceLine("k", "k.py", 7, "while flag[0] == 0:"))
LANES = np.arange(32)[None]


@pytest.fixture
def batch():
    return Batch((1, 1, 1), (32, 1, 1), first=0, count=1)


def spin(batch, variables, condition=lambda _: np.bool_(True), body=lambda _: None):
    """Run a loop for up to 1,000 iterations; return how many there were."""
    with settings.override(loop_budget=1000):
        loop = WhileLoop(batch, batch.entry, SITE)
    for step in range(2000):
        mask = loop.test(condition(step), variables(step))
        if not mask.count:
            return step
        body(step)
        loop.next(mask)
    raise AssertionError


STANDSTILLS = {
    "no variables": lambda _: (),
    "a constant": lambda _: (np.int64(3),),
    "equal arrays": lambda _: (LANES + 1, np.float32(2)),
    "NaN": lambda _: (np.float64("nan"), np.full((1, 32), np.nan)),
    "a tuple": lambda _: ((np.int32(1), LANES * 2), None),
    "progress at the start": lambda step: (np.int64(min(step, 200)),),
}


@pytest.mark.parametrize("variables", STANDSTILLS.values(), ids=STANDSTILLS)
def test_a_standstill_is_a_deadlock(batch, variables):
    with pytest.raises(DeadlockError) as caught:
        spin(batch, variables)
    error = caught.value
    assert error.what == "32 lanes waiting at line 7, and nothing can change"
    assert (error.kernel, error.line, error.lanes_at_fault) == ("k", 7, 32)
    assert "another block" in error.why
    assert "co-residency" in error.why
    assert max(map(len, str(error).splitlines())) <= 91


MOVES = {
    "a counter": lambda step: (np.int64(step),),
    "one lane of many": lambda step: (np.where(LANES == 5, step, 0),),
    "a sign": lambda step: (np.float32(-0.0 if step % 2 else 0.0),),
    "a type": lambda step: ((np.int32, np.int64)[step % 2](1),),
}


@pytest.mark.parametrize("variables", MOVES.values(), ids=MOVES)
def test_what_changes_may_end_one_day(batch, variables):
    assert spin(batch, variables, lambda step: np.bool_(step < 900)) == 900
    with pytest.raises(StepBudgetError):
        spin(batch, variables)


def test_changed_memory_may_let_lanes_out(batch):
    def store(_):
        batch.changes += 1

    with pytest.raises(StepBudgetError):
        spin(batch, lambda _: (), body=store)


def test_a_barrier_lets_others_change_memory(batch):
    def wait(_):
        arrive(batch, batch.entry, SITE, "block")

    with pytest.raises(StepBudgetError):
        spin(batch, lambda _: (), body=wait)


def test_lanes_that_leave_one_by_one_are_progress(batch):
    assert spin(batch, lambda _: (), lambda step: step < 60 + LANES) == 60 + 31


def test_lanes_that_stay_behind_are_counted(batch):
    with pytest.raises(DeadlockError, match="1 lane waiting"):
        spin(batch, lambda _: (), lambda step: (step < 60) | (LANES == 3))
