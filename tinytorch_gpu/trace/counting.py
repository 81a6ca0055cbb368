"""`CountingRecorder`: exact counts by source line, made while a launch runs.

What is told is reduced at once, so that the recorder's memory does not grow with the
launch. Which rule turns addresses into sectors or passes is handed in (`CountRules`),
since the rule belongs to the modelled GPU.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from tinytorch_gpu.trace.recorder import Recorder
from tinytorch_gpu.trace.records import AccessCounts, LaunchCounts, LineCounts

if TYPE_CHECKING:
    from tinytorch_gpu.trace.recorder import (
        ActiveMask,
        Lanes,
        LaunchStart,
        RecordedArray,
    )
    from tinytorch_gpu.trace.source import Site, SourceLine

__all__ = ["CountRules", "CountingRecorder"]

# Site, kind, and which array: space, address, itemsize. A site can touch several.
Place = tuple[Any, str, str, int, int]
BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]
WARP = 32
BANK_BYTES = 4  # wider elements are served in halves; Best Practices Guide 10.2.3.1


class CountRules(Protocol):
    """The rules of one GPU that turn addresses into counts."""

    @property
    def sector_bytes(self) -> int:
        """Addresses that all move by a multiple of this cost the same, banks too."""
        ...

    def sectors(self, addresses: IntArray, itemsize: int, active: BoolArray) -> int:
        """Sectors of all requests; addresses and active are (requests, 32)."""
        ...

    def passes(self, addresses: IntArray, itemsize: int, active: BoolArray) -> int:
        """Passes over the shared-memory banks, for all requests."""
        ...


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
        self._accesses: dict[Place, list[int]] = {}
        self._arrays: dict[Place, RecordedArray] = {}
        # What an access cost, by how far into a sector its addresses are shifted.
        self._costs: dict[Place, tuple[Any, Any, dict[int, int]]] = {}
        self._lines: dict[SourceLine, dict[str, int]] = defaultdict(
            lambda: defaultdict(int)
        )
        self._barriers = 0

    def operation(
        self,
        batch: Lanes,
        site: Site,
        mask: ActiveMask,
        kind: str,
        value: Any,
        name: str = "",
        operand: Any = None,
    ) -> Any:
        """Count one arithmetic operation by the dtype of its result; return it."""
        del batch, name, operand
        line = self._issue(site, mask)
        line[_counter(kind, value)] += mask.count
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
        del batch, value, given
        self._issue(site, mask)
        key = (site, kind, array.space, array.address, array.itemsize)
        totals = self._accesses.setdefault(key, [0, 0, 0])
        self._arrays[key] = array
        totals[0] += mask.warps
        totals[1] += self._known_cost(key, mask, flat, shift)
        totals[2] += mask.count

    def branch(
        self, batch: Lanes, site: Site, mask: ActiveMask, taken: ActiveMask
    ) -> None:
        """Count one branch decision of each active warp, and the divergent ones."""
        del batch
        line = self._lines[site.line]
        line["branches"] += mask.warps
        if 0 < taken.count < mask.count:
            line["divergent_branches"] += _divergent_warps(mask, taken)

    def arrive(self, batch: Lanes, site: Site, mask: ActiveMask, kind: str) -> None:
        """Count one barrier: a warp instruction of every warp that arrives."""
        del batch, kind
        self._issue(site, mask)
        self._barriers += mask.warps

    def converge(
        self, batch: Lanes, site: Site, mask: ActiveMask, name: str, members: Any
    ) -> None:
        """Count a warp operation as one integer operation of each lane."""
        # Simplified: an SM issues four integer operations a clock. It does one shuffle
        # ("Arithmetic Instructions", CUDA C++ Programming Guide), and two for 64-bit
        # values: kernels of shuffles may be 4 x to 8 x too cheap.
        del batch, name, members
        self._issue(site, mask)["integer"] += mask.count

    def counts(self) -> LaunchCounts:
        """Return what was counted so far, lines in source order."""
        accesses = [self._access_counts(key) for key in self._accesses]
        accesses.sort(key=lambda a: (a.line.line, a.kind, a.array))
        lines = sorted(self._lines.items(), key=lambda item: item[0].line)
        return LaunchCounts(
            tuple(accesses),
            tuple(_line_counts(*item) for item in lines),
            self._barriers,
        )

    def _issue(self, site: Site, mask: ActiveMask) -> dict[str, int]:
        line = self._lines[site.line]
        line["instructions"] += mask.warps
        line["active_lanes"] += mask.count
        return line

    def _known_cost(self, key: Place, mask: ActiveMask, flat: Any, shift: Any) -> int:
        """Cost of an access, found once for the same lanes and place in a sector."""
        array = self._arrays[key]
        known = self._costs.get(key)
        if known is None or known[0] is not flat or known[1] is not mask:
            known = self._costs[key] = (flat, mask, {})
        into_sector = int(shift) * array.itemsize % self._rules.sector_bytes
        if into_sector not in known[2]:
            known[2][into_sector] = self._cost(array, mask, flat + shift)
        return known[2][into_sector]

    def _cost(self, array: RecordedArray, mask: ActiveMask, flat: Any) -> int:
        """Sectors (global) or passes (shared) of one access by a batch."""
        # Simplified: local arrays are taken to be in registers and constant ones in
        # their cache. A local array that is indexed at run time moves 4 sectors for
        # each request on hardware; a constant read takes a pass for each distinct word.
        if array.space in ("local", "constant"):
            return 0
        is_uniform = np.ndim(flat) == 0 or flat.shape[-1] == 1
        is_split = array.space == "shared" and array.itemsize > BANK_BYTES
        if is_uniform and not is_split:
            return mask.warps  # one address for each warp: one sector, or one pass
        flat = np.atleast_2d(flat)
        blocks, threads = mask.shape
        lanes = mask.lanes
        is_same_for_blocks = flat.shape[0] == 1 and (lanes is None or len(lanes) == 1)
        rows = 1 if is_same_for_blocks else blocks
        shape = (rows, threads)
        active = np.ones(shape, np.bool_) if lanes is None else lanes
        addresses = np.broadcast_to(flat, shape) * array.itemsize + array.address
        count = self._rules.passes if array.space == "shared" else self._rules.sectors
        total = count(
            addresses.reshape(-1, WARP),
            array.itemsize,
            np.broadcast_to(active, shape).reshape(-1, WARP),
        )
        return total * (blocks // rows)

    def _access_counts(self, key: Place) -> AccessCounts:
        site, kind = key[:2]
        requests, sectors, lanes = self._accesses[key]
        array = self._arrays[key]
        return AccessCounts(
            line=site.line,
            array=site.expression,
            space=array.space,
            kind=kind,
            requests=requests,
            sectors=sectors,
            active_lanes=lanes,
            bytes_requested=lanes * array.itemsize,
            array_bytes=array.nbytes,
            dtype=array.element_dtype.name,
        )


def _counter(kind: str, value: Any) -> str:
    """Name the counter of an operation: special, integer, fp64 or fp32."""
    if kind == "special":
        return "special"
    dtype = np.result_type(value)
    if kind == "compare" or dtype.kind != "f":
        return "integer"
    return "fp64" if dtype.itemsize == 8 else "fp32"


def _line_counts(line: SourceLine, totals: dict[str, int]) -> LineCounts:
    names = LineCounts.__dataclass_fields__.keys() - {"line"}
    return LineCounts(line=line, **{name: totals.get(name, 0) for name in names})


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
