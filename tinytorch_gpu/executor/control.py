"""Loops of a lane program: each lane has its own trip count, `break` and `continue`.

`RangeLoop` serves `for k in range(...)`, `WhileLoop` serves `while`. Both hold the mask
of lanes still in the loop; the program hands back the lanes that reached the end of the
body (`next`) and those that left (`leave`) or skipped (`skip`).
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu import settings
from tinytorch_gpu.errors import KernelTypeError, StepBudgetError
from tinytorch_gpu.executor.arithmetic import truth
from tinytorch_gpu.executor.faults import place_facts, place_of
from tinytorch_gpu.executor.lanes import require_defined
from tinytorch_gpu.executor.spin import SpinCheck

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tinytorch_gpu.executor.lanes import Batch
    from tinytorch_gpu.executor.mask import Mask
    from tinytorch_gpu.trace import Site

__all__ = ["RangeLoop", "WhileLoop", "range_length"]


class _Loop:
    """What both loops share: the mask, and lanes that break or continue."""

    def __init__(self, batch: Batch, mask: Mask, site: Site) -> None:
        self._batch = batch
        self._site = site
        self._skipped = mask.none()
        self.mask = mask
        self.finished = mask.none()

    def skip(self, mask: Mask) -> None:
        """Let lanes `continue`: they come back with the next iteration."""
        self._skipped = self._skipped.plus(mask)

    def next(self, mask: Mask) -> None:
        """End an iteration; `mask` holds the lanes that reached its end."""
        self.mask = mask.plus(self._skipped)
        self._skipped = mask.none()

    def _test(self, condition: Any) -> Mask:
        """Keep the lanes whose condition is true; the others have finished."""
        staying, done = self._batch.branch(self.mask, condition, self._site)
        self.finished = self.finished.plus(done)
        return staying

    def _count(self, staying: Mask) -> None:
        """Count a test whose outcome is the same for all lanes."""
        if self._batch.recorder is not None:
            self._batch.recorder.branch(self._batch, self._site, self.mask, staying)

    def _budget_spent(self, budget: int) -> StepBudgetError:
        line = self._site.line
        row, threads, text = place_of(self._batch, self.mask.full())
        lanes = f"{self.mask.count} lane{'s'[: self.mask.count > 1]}"
        return StepBudgetError(
            f"a loop of {line.kernel} has run {budget:,} times and goes on",
            where=f"{line}\nstill in the loop: {lanes}, in {text}",
            why=f"Settings.loop_budget allows {budget:,} iterations; a GPU would hang",
            fix="check what ends the loop, or raise settings.override(loop_budget=...)",
            kind="endless_loop",
            lanes_at_fault=self.mask.count,
            **place_facts(self._batch, line, row, threads),
        )


class WhileLoop(_Loop):
    """`while condition:`; the program tests, runs the body, and calls `next`."""

    def __init__(self, batch: Batch, mask: Mask, site: Site) -> None:
        super().__init__(batch, mask, site)
        self._budget = settings.current().loop_budget
        self._steps = 0
        self._spin = SpinCheck(batch, site)

    def test(self, condition: Any, variables: tuple[Any, ...]) -> Mask:
        """Return the lanes that run the body once more.

        Args:
            condition: the loop's condition, a lane value.
            variables: values of the variables that the loop assigns.

        Raises:
            DeadlockError: an iteration changed nothing, so that none ever will.
            StepBudgetError: the loop ran longer than the budget.
        """
        staying = self._test(truth(condition))
        self._steps += 1
        if staying.count:
            if self._steps > self._budget:
                raise self._budget_spent(self._budget)
            self._spin.look(self._steps, staying, variables)
        return staying


class RangeLoop(_Loop):
    """`for k in range(...)`: iterate over (mask, k).

    Bounds are evaluated once. Uniform bounds keep `k` a scalar and the mask whole;
    per-lane bounds run until the slowest lane is done.
    """

    def __init__(self, batch: Batch, mask: Mask, site: Site, *bounds: Any) -> None:
        super().__init__(batch, mask, site)
        self._start, self._stop, self._step = _range_bounds(bounds, mask, site)

    def __iter__(self) -> Iterator[tuple[Mask, Any]]:
        """Yield the lanes that run each iteration, and their loop variable.

        Raises:
            StepBudgetError: the loop ran longer than the budget.
        """
        bounds = (self._start, self._stop, self._step)
        if all(np.ndim(b) == 0 for b in bounds):
            yield from self._uniform()
        else:
            yield from self._per_lane()

    def _uniform(self) -> Iterator[tuple[Mask, Any]]:
        budget = settings.current().loop_budget
        steps = range(int(self._start), int(self._stop), int(self._step))
        for done, k in enumerate(map(np.int64, steps)):
            if not self.mask.count:
                return
            if done == budget:
                raise self._budget_spent(budget)
            self._count(self.mask)
            yield self.mask, k
        self._count(self.mask.none())
        self.finished = self.mask

    def _per_lane(self) -> Iterator[tuple[Mask, Any]]:
        budget = settings.current().loop_budget
        k = self._start
        for done in itertools.count():
            going_up = (self._step > 0) & (k < self._stop)
            self.mask = self._test(going_up | ((self._step < 0) & (k > self._stop)))
            if not self.mask.count:
                return
            if done == budget:
                raise self._budget_spent(budget)
            yield self.mask, k
            k = k + self._step


def range_length(_batch: Batch, mask: Mask, site: Site, bounds: tuple[Any, ...]) -> Any:
    """Return how many values `range(*bounds)` has; scalar or lanes, int64.

    Args:
        mask: the lanes that ask.
        site: where it stands.
        bounds: integers, scalars or lanes: stop, or start, stop[, step].

    Raises:
        KernelTypeError: too few or too many bounds, a float, or a step of 0.

    Example:
        >>> from tinytorch_gpu.executor.mask import Mask
        >>> bounds = (np.int64(1), np.int64(8), np.int64(3))       # 1, 4, 7
        >>> int(range_length(None, Mask(None, (1, 32)), None, bounds))
        3
    """
    start, stop, step = _range_bounds(bounds, mask, site)
    span = np.where(step > 0, stop - start, start - stop)
    # An inactive lane may have a step of 0.
    return np.maximum((span + abs(step) - 1) // np.maximum(abs(step), 1), 0)[()]


def _range_bounds(
    bounds: tuple[Any, ...], mask: Mask, site: Site
) -> tuple[Any, Any, Any]:
    """Return start, stop, step as int64."""
    zero, one = np.int64(0), np.int64(1)
    if not 1 <= len(bounds) <= 3:
        raise KernelTypeError(
            f"range() with {len(bounds)} bounds",
            where=str(site.line),
            why="range takes 1, 2 or 3: stop, or start, stop, step",
            fix="range(n)",
        )
    parts = (zero, *bounds, one) if len(bounds) == 1 else (*bounds, one)[:3]
    for part in parts:
        require_defined(part)
        if np.result_type(part).kind == "f":
            raise KernelTypeError(
                "range() with a float bound",
                where=str(site.line),
                why=f"the bound is {np.result_type(part)}; range takes integers",
                fix="use // instead of /, or int(x)",
            )
    start, stop, step = (part.astype(np.int64) for part in parts)
    if np.any((step == 0) & mask.full()):
        raise KernelTypeError(
            "range() with step 0",
            where=str(site.line),
            why="a step of 0 never arrives at the stop",
            fix="use a step of 1 or more, or -1 or less",
        )
    return start, stop, step
