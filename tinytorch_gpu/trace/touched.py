"""`Touched`: which sectors a launch's first blocks touch, to tell what comes again.

A cache serves what was touched before, so its traffic is the number of *different*
sectors. Finding them takes longer than counting, so only the blocks that run first
together are looked at; what they ask for tells by how much to scale.

A loop over `x[row, k]` tells the same lanes with another shift each time: they are kept
once, with the shifts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tinytorch_gpu.trace.counts import Reuse
from tinytorch_gpu.trace.different import Different, Found, distinct, once
from tinytorch_gpu.trace.places import WARP

if TYPE_CHECKING:
    from tinytorch_gpu.trace.recorder import ActiveMask, RecordedArray

__all__ = ["Asked", "Touched", "Walk"]

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]
SECTOR, LINE = 32, 128


class Asked(NamedTuple):
    """What accesses ask for: warp-wide requests, and the sectors of these."""

    requests: int = 0
    sectors: int = 0


class Touched:
    """Sectors of one allocation that some blocks load, store or add to.

    Args:
        name: how its first access spells it.
        kind: `load`, `store` or `atomic`.
        unit: bytes that move together: a sector or a line.
    """

    def __init__(self, name: str, kind: str, unit: int) -> None:
        self.name, self.kind, self.unit = name, kind, unit
        self._counted: dict[Any, tuple[Asked, Asked, int]] = {}
        self._sectors = Different(unit)
        self._leads: dict[Any, Different] = {}  # by access
        self._step_lines: dict[Any, int] = {}

    def add(self, walk: Walk, site: Any) -> None:
        """Add what one walk of the access at a site has touched."""
        all_units, active = walk.units_of_lanes(self.unit)
        units, blocks = walk.units(all_units, active)
        lines = walk.lines_of_a_block(units, blocks, self.unit)
        self._step_lines[site] = max(lines, self._step_lines.get(site, 0))
        steps = walk.steps(self.unit)
        self._sectors.add(Found(walk.array, walk.blocks, units, blocks, steps))
        leads = self._leads.setdefault(site, Different(self.unit, is_listed=True))
        leads.add(Found(walk.array, walk.blocks, *walk.leads(all_units, active), steps))

    def count(self, site: Any, asked: Asked, first: Asked, nbytes: int) -> None:
        """Tell of an access: what the launch asks, what its first blocks do, reach."""
        self._counted[site] = asked, first, nbytes

    def reuse(self) -> Reuse:
        """Return what was seen, scaled to the launch."""
        counted = self._counted.values()
        sectors = sum(asked.sectors for asked, _, _ in counted)
        first = sum(first.sectors for _, first, _ in counted)
        own = together = sectors  # Simplified: later blocks alone touch nothing twice
        if first:
            scale = sectors / first * (self.unit // SECTOR)
            own, together = (round(scale * n) for n in self._sectors.counts())
        requests = zip((0, 0, 0), *map(self._requests, self._counted), strict=True)
        asked, new_to_block, new_to_all = map(max, requests)
        return Reuse(
            array=self.name,
            kind=self.kind,
            array_bytes=max((nbytes for _, _, nbytes in counted), default=0),
            sectors=sectors,
            block_sectors=min(sectors, own),
            together_sectors=min(sectors, together),
            requests=asked,
            block_requests=new_to_block,
            together_requests=new_to_all,
            step_lines=sum(self._step_lines.values()),
        )

    def _requests(self, site: Any) -> tuple[int, int, int]:
        """Requests of an access, and how many of them come to new sectors."""
        asked, first, _ = self._counted[site]
        if not first.requests:
            return asked.requests, asked.requests, asked.requests
        scale = asked.requests / first.requests
        own, together = (round(scale * n) for n in self._leads[site].counts())
        return asked.requests, min(asked.requests, own), min(asked.requests, together)


class Walk:
    """The same lanes at several shifts: one access, or one loop over it.

    Args:
        flat, mask, array: as they are told to a recorder; known again by identity.
    """

    def __init__(self, flat: Any, mask: ActiveMask, array: RecordedArray) -> None:
        self.flat, self.mask, self.array = flat, mask, array
        self.shifts: list[int] = []

    @property
    def blocks(self) -> int:
        """Blocks of the batch."""
        return self.mask.shape[0]

    def is_of(self, flat: Any, mask: ActiveMask) -> bool:
        """Tell whether these are its lanes."""
        if self.mask is not mask:
            return False
        return self.flat is flat or (np.ndim(flat) == 0 and np.ndim(self.flat) == 0)

    def at(self, flat: Any, shift: int) -> None:
        """Add one access."""
        self.shifts.append(shift if np.ndim(self.flat) else int(flat) + shift)

    def units_of_lanes(self, unit: int) -> tuple[IntArray, BoolArray | None]:
        """Return the unit of each lane at shift 0; which lanes are active, if not all.

        Units count from the start of the allocation, which is aligned to a line. Both
        are (blocks, threads); an axis where all are alike may have length 1.
        """
        lanes = self.mask.lanes
        flat = np.atleast_2d(0 if np.ndim(self.flat) == 0 else self.flat)
        units = _divided(flat, self.array.itemsize, unit)
        if lanes is None:
            return units, None
        shape = np.broadcast_shapes(units.shape, lanes.shape)
        return np.broadcast_to(units, shape), np.broadcast_to(lanes, shape)

    def units(
        self, units: IntArray, active: BoolArray | None
    ) -> tuple[IntArray, IntArray | None]:
        """Return the units of lanes, and the block of each; None if all touch them.

        Neighbouring lanes in the same unit are told once.
        """
        is_new = np.ones(units.shape, np.bool_)
        np.not_equal(units[:, 1:], units[:, :-1], out=is_new[:, 1:])
        if active is not None:
            is_new[:, 1:] |= ~active[:, :-1]
            is_new &= active
        return self._where(units, is_new)

    def leads(
        self, units: IntArray, active: BoolArray | None
    ) -> tuple[IntArray, IntArray | None]:
        """Return the different units of warps' first lanes, as `units` does.

        A request whose first lane wants what was touched before finds the rest, too.
        """
        is_one = units.shape[1] == 1  # for all lanes of a block
        if active is None or is_one:
            found, blocks = self._where(units[:, ::WARP], active)
        else:
            warps = active.reshape(len(active), -1, WARP)
            is_first = active & (np.cumsum(warps, axis=2) == 1).reshape(active.shape)
            found, blocks = self._where(units, is_first)
        return once(found, blocks)

    def _where(
        self, units: IntArray, chosen: BoolArray | None = None
    ) -> tuple[IntArray, IntArray | None]:
        at = np.arange(units.size) if chosen is None else np.flatnonzero(chosen)
        found: IntArray = units.ravel()[at]
        is_common = len(units) == 1 and self.blocks > 1
        return found, None if is_common else at // units.shape[1]

    def steps(self, unit: int) -> IntArray:
        """Return the different shifts, in units."""
        shifts = np.array(self.shifts, np.int64)
        return distinct(_divided(shifts, self.array.itemsize, unit))

    def lines_of_a_block(
        self, units: IntArray, blocks: IntArray | None, unit: int
    ) -> int:
        """Different lines of one block at one shift: of the first that takes part."""
        if blocks is not None and len(blocks):
            units = units[: int(np.searchsorted(blocks, blocks[0], side="right"))]
        return len(distinct(units >> ((LINE // unit).bit_length() - 1)))


def _divided(elements: IntArray, itemsize: int, unit: int) -> IntArray:
    """Return the units that elements begin in."""
    if itemsize & (itemsize - 1) == 0 and itemsize <= unit:
        return elements >> ((unit // itemsize).bit_length() - 1)
    return elements * itemsize // unit
