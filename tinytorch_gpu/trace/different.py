"""`Different`: how many different sectors some blocks touch, each and all together.

Sectors are marked where an allocation is small, and listed where it is large. A list
that would grow too long keeps a sample: every second, fourth, eighth ... sector, chosen
by a hash of its place, so that the counts grow with the launch without a jump.

Source of the sample: P. Flajolet, "On Adaptive Sampling" (1990).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from tinytorch_gpu.trace.recorder import RecordedArray

__all__ = ["Different", "Found", "distinct", "once"]

IntArray = npt.NDArray[np.int64]
BLOCK = 40  # bits for the sector in a key; the block stands above them
# How much memory counting may take, and with it its time; no part of the model.
MOST = 1 << 21  # sectors that are looked at together, or listed; 16 MB
MOST_MARKS = 1 << 24  # a byte for each sector and block: 16 MB
GOLDEN = 0x9E3779B97F4A7C15  # 2^64 ÷ golden ratio: spreads neighbours (Knuth, 6.4)


class Found(NamedTuple):
    """What a walk touches.

    Args:
        array: that it goes along.
        blocks: how many blocks walk.
        units: units of memory at shift 0.
        owners: the block of each unit; None if all blocks touch them.
        steps: the different shifts, in units.
    """

    array: RecordedArray
    blocks: int
    units: IntArray
    owners: IntArray | None
    steps: IntArray


class Different:
    """How many different units walks touch: of each block, summed, and together.

    Args:
        unit: bytes of one.
        is_listed: they are few, so that a list is small.
    """

    def __init__(self, unit: int, *, is_listed: bool = False) -> None:
        self._unit, self._is_listed = unit, is_listed
        self._first: Found | None = None
        self._kept: _Marks | _Keys | None = None

    def add(self, found: Found) -> None:
        """Add what a walk touches."""
        if len(found.steps) > 1:  # what is told twice would be so at every step
            units, owners = once(found.units, found.owners)
            found = found._replace(units=units, owners=owners)
        if self._first is None:
            self._first = found
        else:
            self._keep(self._first, is_single=False).add(*found[2:])

    def counts(self) -> tuple[int, int]:
        """Units of the blocks, summed, and of all of them together."""
        if self._first is None:
            return 0, 0
        return self._keep(self._first, is_single=True).counts()

    def _keep(self, first: Found, *, is_single: bool) -> _Marks | _Keys:
        """Return what keeps the units, with those of the first walk in it.

        A single walk is mostly in order already, and cheaper to list than to mark.
        """
        if self._kept is None:
            array, all_blocks, units, blocks, steps = first
            is_listed = self._is_listed or (is_single and len(steps) == 1)
            self._kept = _keeper(array, all_blocks, self._unit, is_listed=is_listed)
            self._kept.add(units, blocks, steps)
        return self._kept


class _Marks:
    """A mark for each sector that a block touches; for allocations that are small."""

    def __init__(self, blocks: int, units: int) -> None:
        self._own = np.zeros((blocks, units), np.bool_)
        self._all = np.zeros(units, np.bool_)

    def add(self, units: IntArray, blocks: IntArray | None, steps: IntArray) -> None:
        for few in _parts(steps, len(units)):
            self._mark(units, blocks, few)

    def _mark(self, units: IntArray, blocks: IntArray | None, steps: IntArray) -> None:
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
    """A list of sectors and blocks; for allocations of any size.

    Of a list that is too long only the sectors stay whose hash begins with so many
    zeros (`_level`); each stands for two to the power of that many.
    """

    # Simplified: above two million sectors the counts are of such a sample, off by less
    # than 1 % where it holds 16,384 sectors or more.

    def __init__(self, blocks: int) -> None:
        self._blocks, self._level = blocks, 0
        self._own: list[IntArray] = []
        self._all: list[IntArray] = []

    def add(self, units: IntArray, blocks: IntArray | None, steps: IntArray) -> None:
        keys = units if blocks is None else units + (blocks << BLOCK)
        kept = self._all if blocks is None else self._own
        for few in _parts(steps, len(units)):
            kept.append(distinct(self._sampled((few[:, None] + keys).ravel())))
            if sum(map(len, kept)) > MOST:
                kept[:] = [_joined(kept)]
                self._thin_out()

    def _thin_out(self) -> None:
        """Keep a smaller sample, until no list is too long."""
        while max(sum(map(len, kept)) for kept in (self._own, self._all)) > MOST:
            self._level += 1
            for kept in (self._own, self._all):
                kept[:] = map(self._sampled, kept)

    def _sampled(self, keys: IntArray) -> IntArray:
        """Those of the keys whose sectors are in the sample, in their order."""
        if not self._level:
            return keys
        hashed = (keys & ((1 << BLOCK) - 1)).view(np.uint64) * np.uint64(GOLDEN)
        sampled: IntArray = keys[hashed >> np.uint64(64 - self._level) == 0]
        return sampled

    def counts(self) -> tuple[int, int]:
        """Sectors of the blocks, summed, and of all of them together."""
        own, common = _joined(self._own), _joined(self._all)
        alone = own & ((1 << BLOCK) - 1)
        if len(common):  # all blocks have these
            alone = alone[~np.isin(alone, common)]
        of_blocks = len(alone) + self._blocks * len(common)
        together = len(distinct(alone)) + len(common)
        return of_blocks << self._level, together << self._level


def once(units: IntArray, owners: IntArray | None) -> tuple[IntArray, IntArray | None]:
    """Return the different units of each block, and the block of each."""
    if owners is None:
        return distinct(units), None
    keys = distinct(units + (owners << BLOCK))
    return keys & ((1 << BLOCK) - 1), keys >> BLOCK


def _parts(steps: IntArray, units: int) -> list[IntArray]:
    """Cut the steps of a walk, so that a part of it touches few sectors."""
    return np.array_split(steps, max(1, -(-units * len(steps) // MOST)))


def _keeper(
    array: RecordedArray, blocks: int, unit: int, *, is_listed: bool
) -> _Marks | _Keys:
    """Return what keeps the sectors of the array's allocation."""
    storage = getattr(array, "storage", None)
    units = MOST_MARKS if storage is None else -(-storage.nbytes // unit)
    if not is_listed and blocks * units <= MOST_MARKS:
        return _Marks(blocks, units)
    return _Keys(blocks)


def _joined(parts: list[IntArray]) -> IntArray:
    """Join parts, each of different values in order, to such a one."""
    filled = [part for part in parts if len(part)]
    if len(filled) > 1:
        return distinct(np.concatenate(filled))
    return filled[0] if filled else np.zeros(0, np.int64)


def distinct(values: IntArray) -> IntArray:
    """Return the different values, ascending."""
    if len(values) < 2:
        return values
    if not bool((values[1:] > values[:-1]).all()):
        values = np.sort(values, kind="stable")
        is_new = np.ones(len(values), np.bool_)
        np.not_equal(values[1:], values[:-1], out=is_new[1:])
        values = values[is_new]
    return values
