"""`FullRecorder`: keeps every step of a launch, or of chosen blocks and warps.

Arrays that are told are kept as they are: nothing changes them afterwards, and one that
is told twice, as the index of a loop, is kept once. Past the budget nothing more is
kept, but all steps are still counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.trace.chosen_lanes import ChosenLanes
from tinytorch_gpu.trace.launch_trace import LaunchTrace
from tinytorch_gpu.trace.recorder import Recorder
from tinytorch_gpu.trace.selection import EVERYTHING, Selection
from tinytorch_gpu.trace.steps import Step
from tinytorch_gpu.trace.traced_arrays import TracedArrays

if TYPE_CHECKING:
    from tinytorch_gpu.trace.counts import LaunchCounts
    from tinytorch_gpu.trace.recorder import (
        ActiveMask,
        Lanes,
        LaunchStart,
        RecordedArray,
    )
    from tinytorch_gpu.trace.source import Site

__all__ = ["FullRecorder"]

STEP_BYTES = 256  # of a step without its columns


class FullRecorder(Recorder):
    """Keeps the steps of each launch; `traces` holds a `LaunchTrace` for each.

    Args:
        budget_bytes: greatest size of what is kept of one launch.
        selection: which blocks and warps are kept.
        operations: keep arithmetic too.
    """

    def __init__(
        self,
        budget_bytes: int,
        selection: Selection = EVERYTHING,
        *,
        operations: bool = False,
    ) -> None:
        self.traces: list[LaunchTrace] = []
        self.wants_operations = operations
        self._budget = budget_bytes
        self._selection = selection
        self._launch: LaunchStart | None = None

    def begin(self, launch: LaunchStart) -> None:
        """Start to keep a launch; forget what a failed run of it told."""
        self._launch = launch
        self._arrays = TracedArrays(launch.arguments)
        self._blocks = self._selection.block_numbers(launch.grid)
        self._steps: list[Step] = []
        self._seen = 0
        self._bytes = 0
        self._is_full = False
        self._ids: set[int] = set()  # of the arrays kept: they stay alive in steps
        self._chosen: ChosenLanes | None = None
        self._columns: dict[Any, tuple[Any, Any, Any]] = {}

    def end(self, counts: LaunchCounts | None, error: BaseException | None) -> None:
        """Make the launch's trace of what was kept."""
        launch = self._launch
        if launch is None:
            return  # it was stopped before it began
        what = getattr(error, "what", error)
        self.traces.append(
            LaunchTrace(
                kernel=launch.kernel,
                grid=launch.grid,
                block=launch.block,
                arrays=self._arrays.all,
                steps=tuple(self._steps),
                counts=counts,
                seen=self._seen,
                budget_bytes=self._budget,
                blocks=None if self._blocks is None else tuple(self._blocks.tolist()),
                warps=self._selection.warps,
                error="" if error is None else f"{type(error).__name__}: {what}",
            )
        )
        self._launch = None
        del self._arrays, self._chosen, self._columns, self._steps

    def operation(
        self,
        batch: Lanes,
        site: Site,
        mask: ActiveMask,
        kind: str,
        value: Any,
        name: str = "",
        operand: Any = None,
        needed: ActiveMask | None = None,
    ) -> Any:
        """Keep an operation with its result, and return that."""
        del operand, needed
        self._keep(batch, site, mask, "operation", name=name or kind, value=value)
        return value

    def access(
        self,
        batch: Lanes,
        site: Site,
        mask: ActiveMask,
        kind: str,
        array: RecordedArray,
        flat: Any,
        shift: Any = 0,
        value: Any = None,
        given: Any = None,
    ) -> None:
        """Keep a load, store or atomic with its elements and values."""
        del given
        self._keep(
            batch,
            site,
            mask,
            kind,
            array=self._arrays.of(batch, site, array),
            flat=flat,
            shift=int(shift),
            value=value,
        )

    def branch(
        self, batch: Lanes, site: Site, mask: ActiveMask, taken: ActiveMask
    ) -> None:
        """Keep a branch and who takes it."""
        self._keep(batch, site, mask, "branch", taken=taken)

    def arrive(self, batch: Lanes, site: Site, mask: ActiveMask, kind: str) -> None:
        """Keep who comes to a barrier."""
        self._keep(batch, site, mask, "barrier", name=kind)

    def converge(
        self, batch: Lanes, site: Site, mask: ActiveMask, name: str, members: Any
    ) -> None:
        """Keep a warp operation."""
        if np.ndim(members):
            blocks, threads = batch.shape
            shape = (blocks * threads // 32, 32)
            members = np.broadcast_to(members, shape).reshape(batch.shape)
        self._keep(batch, site, mask, "warp", name=name, members=members)

    def fence(self, batch: Lanes, site: Site, mask: ActiveMask, name: str) -> None:
        """Keep a memory fence."""
        self._keep(batch, site, mask, "fence", name=name)

    def _keep(
        self,
        batch: Lanes,
        site: Site,
        mask: ActiveMask,
        kind: str,
        *,
        taken: ActiveMask | None = None,
        flat: Any = None,
        value: Any = None,
        members: Any = None,
        **facts: Any,
    ) -> None:
        """Count a step of the chosen lanes; keep it while the budget lasts."""
        if self._chosen is None or self._chosen.shared is not batch.shared:
            self._chosen = ChosenLanes(batch, self._selection, self._blocks)
        chosen = self._chosen
        if chosen.is_empty or not mask.count:
            return
        lanes = chosen.bits(mask)
        if lanes is not None and not lanes.any():
            return
        self._seen += 1
        if self._is_full:
            return
        step = Step(
            number=self._seen - 1,
            kind=kind,
            line=site.line,
            expression=site.expression,
            where=chosen.where,
            lanes=lanes,
            flat=self._column((site, "flat"), flat),
            value=chosen.of(value),
            taken=None if taken is None else chosen.bits(taken),
            members=chosen.of(members),
            **facts,
        )
        self._take(step)

    def _column(self, key: Any, column: Any) -> Any:
        """Return the chosen lanes of a column; in a loop it often is the same."""
        known = self._columns.get(key)
        if known is None or known[0] is not column or known[1] is not self._chosen:
            found = self._chosen.of(column) if self._chosen else column
            known = self._columns[key] = (column, self._chosen, found)
        return known[2]

    def _take(self, step: Step) -> None:
        """Add a step unless it is beyond the budget."""
        columns = (
            *(step.where.blocks, step.where.threads, step.lanes, step.taken),
            *(step.flat, step.value, step.members),
        )
        arrays = {id(c): c for c in columns if isinstance(c, np.ndarray)}
        new = {key: array for key, array in arrays.items() if key not in self._ids}
        size = STEP_BYTES + sum(array.nbytes for array in new.values())
        if self._bytes + size > self._budget:
            self._is_full = True
            return
        self._bytes += size
        self._ids.update(new)
        self._steps.append(step)
