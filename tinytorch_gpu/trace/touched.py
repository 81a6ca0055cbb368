"""`Touched`: which sectors a launch's first blocks touch, to tell what comes again.

A cache serves what was touched before, so its traffic is the number of *different*
sectors. Finding them takes longer than counting, so only the blocks that run first
together are looked at; what they ask for tells by how much to scale.

A loop over `x[row, k]` tells the same lanes with another shift each time: they are kept
once, with the shifts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from tinytorch_gpu.trace.counts import Reuse

if TYPE_CHECKING:
    from tinytorch_gpu.trace.recorder import ActiveMask, RecordedArray

__all__ = ["Touched", "Walk"]

IntArray = npt.NDArray[np.int64]
First = tuple["Walk", IntArray, IntArray | None, IntArray]  # and what it has touched
SECTOR, LINE = 32, 128
BLOCK = 40  # bits for the sector in a key; the block stands above them
MOST = 1 << 21  # sectors that one walk or one list may hold; 16 MB
MOST_MARKS = 1 << 24  # a byte for each sector and block: 16 MB


class Touched:
    """Sectors of one allocation that some blocks load, store or add to.

    Args:
        name: how its first access spells it.
        kind: `load`, `store` or `atomic`.
        unit: bytes that move together: a sector or a line.
    """

    def __init__(self, name: str, kind: str, unit: int) -> None:
        self.name, self.kind, self.unit = name, kind, unit
        self._counted: dict[Any, tuple[int, int, int]] = {}
        self._first: First | None = None
        self._kept: _Marks | _Keys | None = None
        self._uncounted = self._uncounted_together = 0
        self._step_lines: dict[Any, int] = {}

    def add(self, walk: Walk, site: Any) -> None:
        """Add what one walk of the access at a site has touched."""
        units, blocks = walk.units(self.unit)
        lines = walk.lines_of_a_block(units, blocks, self.unit)
        self._step_lines[site] = max(lines, self._step_lines.get(site, 0))
        steps = walk.steps(self.unit)
        if len(units) * len(steps) > MOST:
            # Simplified: a walk of millions of sectors is taken to touch none twice.
            count = len(units) * len(steps)
            self._uncounted += count * (walk.blocks if blocks is None else 1)
            self._uncounted_together += count
            return
        if self._first is None:
            self._first = walk, units, blocks, steps
        else:
            self._keep(self._first, is_single=False).add(units, blocks, steps)

    def _keep(self, first: First, *, is_single: bool) -> _Marks | _Keys:
        """Return what keeps the sectors, with those of the first walk in it.

        A single walk is mostly in order already, and cheaper to list than to mark.
        """
        if self._kept is None:
            walk, units, blocks, steps = first
            is_listed = is_single and len(steps) == 1
            self._kept = _keeper(walk, self.unit, is_listed=is_listed)
            self._kept.add(units, blocks, steps)
        return self._kept

    def count(self, site: Any, sectors: int, asked: int, nbytes: int) -> None:
        """Tell of an access: sectors of the launch and of the first blocks, reach."""
        self._counted[site] = (sectors, asked, nbytes)

    def reuse(self) -> Reuse:
        """Return what was seen, scaled to the launch."""
        of_blocks, of_all = (0, 0)
        if self._first is not None:
            of_blocks, of_all = self._keep(self._first, is_single=True).counts()
        of_blocks += self._uncounted
        of_all += self._uncounted_together
        counted = list(zip(*self._counted.values(), strict=True)) or [(0,), (0,), (0,)]
        sectors, asked, nbytes = sum(counted[0]), sum(counted[1]), max(counted[2])
        scale = sectors / max(1, asked) * (self.unit // SECTOR)
        return Reuse(
            array=self.name,
            kind=self.kind,
            array_bytes=nbytes,
            sectors=sectors,
            block_sectors=min(sectors, round(scale * of_blocks)),
            together_sectors=min(sectors, round(scale * of_all)),
            step_lines=sum(self._step_lines.values()),
        )


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

    def units(self, unit: int) -> tuple[IntArray, IntArray | None]:
        """Return the units at shift 0, and the block of each; None if all touch them.

        Units count from the start of the allocation, which is aligned to a line.
        Neighbouring lanes in the same unit are told once.
        """
        lanes = self.mask.lanes
        flat = np.atleast_2d(0 if np.ndim(self.flat) == 0 else self.flat)
        units = _divided(flat, self.array.itemsize, unit)
        if lanes is not None:
            shape = np.broadcast_shapes(units.shape, lanes.shape)
            units = np.broadcast_to(units, shape)
        is_new = np.ones(units.shape, np.bool_)
        np.not_equal(units[:, 1:], units[:, :-1], out=is_new[:, 1:])
        if lanes is not None:
            active = np.broadcast_to(lanes, units.shape)
            is_new[:, 1:] |= ~active[:, :-1]
            is_new &= active
        at = np.flatnonzero(is_new)
        found: IntArray = units.ravel()[at]
        is_common = len(units) == 1 and self.blocks > 1
        return found, None if is_common else at // units.shape[1]

    def steps(self, unit: int) -> IntArray:
        """Return the different shifts, in units."""
        shifts = np.array(self.shifts, np.int64)
        return _distinct(_divided(shifts, self.array.itemsize, unit))

    def lines_of_a_block(
        self, units: IntArray, blocks: IntArray | None, unit: int
    ) -> int:
        """Different lines of one block at one shift: of the first that takes part."""
        if blocks is not None and len(blocks):
            units = units[: int(np.searchsorted(blocks, blocks[0], side="right"))]
        return len(_distinct(units >> ((LINE // unit).bit_length() - 1)))


class _Marks:
    """A mark for each sector that a block touches; for allocations that are small."""

    def __init__(self, blocks: int, units: int) -> None:
        self._own = np.zeros((blocks, units), np.bool_)
        self._all = np.zeros(units, np.bool_)

    def add(self, units: IntArray, blocks: IntArray | None, steps: IntArray) -> None:
        touched = units if len(steps) == 1 else units[:, None]
        touched = np.minimum(touched + steps, len(self._all) - 1)
        if blocks is None:
            self._all[touched] = True
        elif len(steps) == 1:
            self._own[blocks, touched] = True
        else:
            self._own[blocks[:, None], touched] = True

    def counts(self) -> tuple[int, int]:
        """Sectors of the blocks, summed, and of all of them together."""
        common = int(np.count_nonzero(self._all))
        if common:
            self._own |= self._all
        together = np.bitwise_or.reduce(self._own, axis=0)
        return int(np.count_nonzero(self._own)), int(np.count_nonzero(together))


class _Keys:
    """A list of sectors and blocks; for allocations of any size."""

    def __init__(self, blocks: int) -> None:
        self._blocks = blocks
        self._own: list[IntArray] = []
        self._all: list[IntArray] = []

    def add(self, units: IntArray, blocks: IntArray | None, steps: IntArray) -> None:
        keys = units if blocks is None else units + (blocks << BLOCK)
        kept = self._all if blocks is None else self._own
        kept.append(_distinct((keys[:, None] + steps).ravel()))
        if sum(map(len, kept)) > MOST:
            kept[:] = [_joined(kept)]

    def counts(self) -> tuple[int, int]:
        """Sectors of the blocks, summed, and of all of them together."""
        own, common = _joined(self._own), _joined(self._all)
        if len(own) and len(common) * self._blocks <= MOST:
            blocks = np.arange(self._blocks)[:, None] << BLOCK
            own = _joined([own, (common + blocks).ravel()])
            common = common[:0]
        together = _joined([own & ((1 << BLOCK) - 1), common])
        return len(own) + self._blocks * len(common), len(together)


def _keeper(walk: Walk, unit: int, *, is_listed: bool) -> _Marks | _Keys:
    """Return what keeps the sectors of the walk's allocation."""
    storage = getattr(walk.array, "storage", None)
    units = MOST_MARKS if storage is None else -(-storage.nbytes // unit)
    if not is_listed and walk.blocks * units <= MOST_MARKS:
        return _Marks(walk.blocks, units)
    return _Keys(walk.blocks)


def _divided(elements: IntArray, itemsize: int, unit: int) -> IntArray:
    """Return the units that elements begin in."""
    if itemsize & (itemsize - 1) == 0 and itemsize <= unit:
        return elements >> ((unit // itemsize).bit_length() - 1)
    return elements * itemsize // unit


def _joined(parts: list[IntArray]) -> IntArray:
    return _distinct(np.concatenate(parts)) if parts else np.zeros(0, np.int64)


def _distinct(values: IntArray) -> IntArray:
    """Return the different values, ascending."""
    if len(values) < 2:
        return values
    if not bool(np.all(values[1:] > values[:-1])):
        values = np.sort(values, kind="stable")
        is_new = np.ones(len(values), np.bool_)
        np.not_equal(values[1:], values[:-1], out=is_new[1:])
        values = values[is_new]
    return values
