"""`CountingRecorder`: exact counts by source line, made while a launch runs.

What is told is reduced at once, so that the recorder's memory does not grow with the
launch: accesses to totals of each place (`accesses.py`), the rest to totals of each
line.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tinytorch_gpu.trace.accesses import AccessTotals
from tinytorch_gpu.trace.counts import LaunchCounts, LineCounts
from tinytorch_gpu.trace.places import WARP
from tinytorch_gpu.trace.recorder import Recorder
from tinytorch_gpu.trace.touched import Touched
from tinytorch_gpu.trace.wide_loads import WideLoads

if TYPE_CHECKING:
    from tinytorch_gpu.trace.accesses import CountRules
    from tinytorch_gpu.trace.recorder import (
        ActiveMask,
        Lanes,
        LaunchStart,
        RecordedArray,
    )
    from tinytorch_gpu.trace.source import Site, SourceLine

__all__ = ["CountingRecorder"]

# Site, kind, and which array: space, address, itemsize. A site can touch several.
Place = tuple[Any, str, str, int, int]
IntArray = npt.NDArray[np.int64]

# Integer operations that a compiler makes of `//` or `%`, of unsigned and of signed
# ones. By a power of two it is a shift or a mask, of signed numbers shift, add, shift.
# By another constant it is the high half of a product, shifted, 4 for `//` and 6 for
# `%`; by a number that is not known a sequence of up to 20.
# Simplified: these are those of CUDA C++. numba rounds down instead of to zero, for 4
# more (18 more by a number that is not known); that is left out, as are its tests for
# negative indices. `x // n` and `x % n` share a quotient on hardware; both are counted.
# Source: PTX of numba-cuda 0.30.4, cc 8.0; CUDA C Programming Guide, "Arithmetic
# Instructions", integer division.
INTEGER_DIVISIONS = {
    "division_by_power": (1, 3),
    "division_by_constant": (5, 5),
    "division": (20, 20),
}


class CountingRecorder(Recorder):
    """Counts requests, sectors, lanes, operations, branches and barriers by line."""

    def __init__(self, rules: CountRules) -> None:
        self._rules = rules
        self._forget()

    def begin(self, launch: LaunchStart) -> None:
        """Start to count a launch."""
        del launch
        self._forget()

    def _forget(self) -> None:
        self._accesses: dict[Place, AccessTotals] = {}
        # Counters of each place and of what happens there, a site and a word.
        self._places: dict[tuple[Site, str], dict[str, int]] = defaultdict(
            lambda: defaultdict(int)
        )
        self._barriers = 0
        self._wide = WideLoads()
        self._touched: dict[tuple[int, str], Touched] = {}  # by allocation and kind
        self._first: int | None = None  # block that the first batch starts with

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
        """Count one arithmetic operation by the dtype of its result; return it."""
        del batch, operand, needed
        counter, times = _work(kind, value)
        place = self._issue(site, mask, kind, times)
        place[counter] += times * mask.count
        if name == "fused":
            place["fused_instructions"] += mask.warps
            if counter != "integer":
                place[f"fused_{counter}"] += mask.count
        elif counter != "integer":
            place[f"{counter}_warps"] += mask.warps
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
        """Count one load, store or atomic."""
        del value, given
        self._issue(site, mask, kind)
        key = (site, kind, array.space, array.address, array.itemsize)
        totals = self._accesses.get(key)
        if totals is None:
            touched = self._touched_of(site, kind, array)
            totals = AccessTotals(site, kind, array, self._rules, touched)
            self._accesses[key] = totals
        rides = array.space == "shared" and self._rides(
            batch, site, kind, array, flat, shift
        )
        totals.add(batch, mask, flat, shift, rides=rides)
        if array.space == "global" and batch.first == self._first_of(batch):
            totals.look(mask, flat, shift)

    def _rides(
        self,
        batch: Lanes,
        site: Site,
        kind: str,
        array: RecordedArray,
        flat: Any,
        shift: Any,
    ) -> bool:
        """Tell whether an access to shared memory is a part of a wider load."""
        if kind == "load":
            return self._wide.rides(site, batch.first, array, flat, int(shift))
        self._wide.part(array.address)
        return False

    def _first_of(self, batch: Lanes) -> int:
        if self._first is None:
            self._first = batch.first
        return self._first

    def _touched_of(self, site: Site, kind: str, array: RecordedArray) -> Touched:
        """Return what collects the sectors of the array's allocation."""
        key = array.address if array.space == "global" else -1, kind
        if key not in self._touched:
            unit = self._rules.unit(kind)
            self._touched[key] = Touched(site.expression, kind, unit)
        return self._touched[key]

    def branch(
        self, batch: Lanes, site: Site, mask: ActiveMask, taken: ActiveMask
    ) -> None:
        """Count one branch decision of each active warp, and the divergent ones."""
        del batch
        place = self._places[site, "branch"]
        place["executions"] += mask.warps
        place["branches"] += mask.warps
        if 0 < taken.count < mask.count:
            place["divergent_branches"] += _divergent_warps(mask, taken)

    def arrive(self, batch: Lanes, site: Site, mask: ActiveMask, kind: str) -> None:
        """Count one barrier: a warp instruction of every warp that arrives."""
        del batch
        self._issue(site, mask, kind)
        self._wide.part()
        self._barriers += mask.warps

    def converge(
        self, batch: Lanes, site: Site, mask: ActiveMask, name: str, members: Any
    ) -> None:
        """Count a warp operation as one integer operation of each lane."""
        # Simplified: an SM issues four integer operations a clock. It does one shuffle
        # ("Arithmetic Instructions", CUDA C++ Programming Guide), and two for 64-bit
        # values: kernels of shuffles may be 4 x to 8 x too cheap.
        del batch, members
        self._issue(site, mask, name)["integer"] += mask.count

    def counts(self) -> LaunchCounts:
        """Return what was counted so far, lines in source order."""
        accesses = [totals.counts() for totals in self._accesses.values()]
        accesses.sort(key=lambda a: (a.line.line, a.kind, a.array))
        reuse = tuple(t.reuse() for key, t in self._touched.items() if key[0] >= 0)
        return LaunchCounts(tuple(accesses), self._lines(), self._barriers, reuse)

    def _lines(self) -> tuple[LineCounts, ...]:
        """Sum the places of each line, in source order."""
        lines: dict[SourceLine, dict[str, int]] = defaultdict(lambda: defaultdict(int))
        for (site, _), place in self._places.items():
            line = lines[site.line]
            most = max(line["executions"], place["executions"])
            for name, count in place.items():
                line[name] += count
            line["executions"] = most
        ordered = sorted(lines.items(), key=lambda item: item[0].line)
        return tuple(LineCounts(line, **_FIELDS | totals) for line, totals in ordered)

    def _issue(
        self, site: Site, mask: ActiveMask, kind: str, times: int = 1
    ) -> dict[str, int]:
        place = self._places[site, kind]
        place["executions"] += mask.warps
        place["instructions"] += times * mask.warps
        place["active_lanes"] += times * mask.count
        return place


_FIELDS = dict.fromkeys(LineCounts.__dataclass_fields__.keys() - {"line"}, 0)


def _work(kind: str, value: Any) -> tuple[str, int]:
    """Name the counter of an operation, and tell how many of these it is.

    Args:
        kind: as for `operation`.
        value: the result; of `divmod` a pair.
    """
    if kind == "special":
        return "special", 1
    dtype = np.result_type(value[0] if isinstance(value, tuple) else value)
    if kind in INTEGER_DIVISIONS:
        is_signed = dtype.kind == "i"
        is_float = dtype.kind == "f"
        of_kind = INTEGER_DIVISIONS[kind]
        return ("special", 1) if is_float else ("integer", of_kind[is_signed])
    if kind == "compare" or dtype.kind != "f":
        return "integer", 1
    return ("fp64" if dtype.itemsize == 8 else "fp32"), 1


def _divergent_warps(mask: ActiveMask, taken: ActiveMask) -> int:
    """Warps in which some active lanes take the branch and some do not."""
    went = _by_warp(taken)
    stayed = went < _by_warp(mask)
    return int(np.count_nonzero(stayed & (went > 0)))


def _by_warp(mask: ActiveMask) -> IntArray:
    """Active lanes of each warp, (warps of all blocks,)."""
    lanes = np.True_ if mask.lanes is None else mask.lanes
    full = np.broadcast_to(lanes, mask.shape).reshape(-1, WARP)
    counts: IntArray = np.count_nonzero(full, axis=1)
    return counts
