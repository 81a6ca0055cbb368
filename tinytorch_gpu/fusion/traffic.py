"""What a fused kernel will ask of memory, from the addresses of its arrays alone.

Comes in: the grid of a launch, and the GPU. Goes out: for each array the requests and
sectors of its access, and what comes again, as the simulator counts them. Blocks that
run together are looked at once; later ones are taken to be like them, the last ones for
themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tinytorch_gpu import settings
from tinytorch_gpu.cost import GpuCountRules
from tinytorch_gpu.trace import Reuse

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tinytorch_gpu.arch import GpuSpec
    from tinytorch_gpu.fusion.grids import Grid

__all__ = ["Asked", "Site", "Traffic"]

WARP, SECTOR, LINE = 32, 32, 128
BLOCK = 44  # bits of a sector's number in a key; the block stands above them
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
Lanes = tuple[IntArray, BoolArray]  # addresses and activity, (blocks, steps, warps, 32)


@dataclass(frozen=True)
class Site:
    """One access to an array of a launch.

    Args:
        number: of the array in the grid.
        kind: `load` or `store`.
        times: how often it stands in the kernel.
        is_row: the array has one element for each row: all threads of the block load
            it, and one stores it.
    """

    number: int
    kind: str
    times: int = 1
    is_row: bool = False


class Asked(NamedTuple):
    """What one access asks for; the names are those of `AccessCounts`."""

    requests: int = 0
    sectors: int = 0
    active_lanes: int = 0
    wavefronts: int = 0
    bytes_used: int = 0
    tags: int = 0


@dataclass(frozen=True)
class _Array:
    """What the counting rules ask of an array."""

    itemsize: int
    space: str = "global"


class Traffic:
    """The accesses of one launch on one GPU.

    Args:
        grid: the launch.
        spec: the GPU, whose rules count.
    """

    def __init__(self, grid: Grid, spec: GpuSpec) -> None:
        self._grid, self._rules = grid, GpuCountRules(spec)
        at_once = max(1, settings.current().batch_lanes // grid.padded)
        self._first = range(min(at_once, grid.blocks))
        self._whole, rest = divmod(grid.blocks, at_once)
        self._rest = range(grid.blocks - rest, grid.blocks)
        self._known: dict[Site, tuple[Lanes, Asked, Asked]] = {}

    # Simplified: only the first and the last blocks that run together are looked at;
    # where rows lie otherwise against sectors in between, counts may be off by 1 %.

    def asked(self, site: Site) -> Asked:
        """Return what an access asks for, standing once.

        Args:
            site: the access.
        """
        return self._look(site)[2]

    def reuse(self, name: str, sites: Sequence[Site], nbytes: int) -> Reuse:
        """Return what is known of what comes again in one allocation.

        Args:
            name: of the array.
            sites: the accesses of one kind to the allocation.
            nbytes: bytes that indices can reach.
        """
        looked = [self._look(site) for site in sites]
        times = [site.times for site in sites]
        sectors = sum(n * asked.sectors for n, (_, _, asked) in _with(times, looked))
        first = sum(n * begun.sectors for n, (_, begun, _) in _with(times, looked))
        unit = self._rules.unit(sites[0].kind)
        scale = sectors / max(1, first) * (unit // SECTOR)
        parts = [_Different(lanes, unit) for lanes, _, _ in looked]
        own, together = (round(scale * n) for n in _united(parts))
        requests = zip(*(_requests(*p) for p in _with(parts, looked)), strict=True)
        asked, new_to_block, new_to_all = map(max, requests)
        return Reuse(
            name,
            sites[0].kind,
            nbytes,
            sectors,
            min(sectors, own),
            min(sectors, together),
            asked,
            new_to_block,
            new_to_all,
            sum(n * part.step_lines for n, part in zip(times, parts, strict=True)),
        )

    def _look(self, site: Site) -> tuple[Lanes, Asked, Asked]:
        """Return the lanes of the first blocks, what they ask, and what all ask."""
        if site not in self._known:
            lanes = self._lanes(site, self._first)
            first = self._counted(site, lanes)
            total = first
            if self._grid.blocks > len(self._first):
                last = Asked()
                if self._rest:
                    last = self._counted(site, self._lanes(site, self._rest))
                pairs = zip(first, last, strict=True)
                total = Asked._make(self._whole * n + m for n, m in pairs)
            self._known[site] = lanes, first, total
        return self._known[site]

    def _lanes(self, site: Site, blocks: range) -> Lanes:
        """Return where the lanes of some blocks access, and whether they do."""
        grid = self._grid
        address, by_row, by_column, _ = grid.arrays[site.number]
        row, column, active = grid.lanes(blocks)
        if site.is_row:
            row = row[:, :1]
            most = 1 if site.kind == "store" else grid.block[0]
            active = np.broadcast_to(np.arange(grid.padded) < most, row.shape)
            column = np.zeros_like(row)
        place = address + row * by_row + column * by_column
        warps = (*place.shape[:2], -1, WARP)
        active = np.broadcast_to(active, place.shape)
        return place.reshape(warps), active.reshape(warps)

    def _counted(self, site: Site, lanes: Lanes) -> Asked:
        """Count by the GPU's own rules."""
        at, on = lanes[0].reshape(-1, WARP), lanes[1].reshape(-1, WARP)
        array: Any = _Array(self._grid.arrays[site.number][3])
        cost = self._rules.requests(array, site.kind, at, on).cost(0)
        requests, active = int(on.any(axis=1).sum()), int(on.sum())
        of_cost = cost.wavefronts, cost.bytes_used, cost.tags
        return Asked(requests, cost.sectors, active, *of_cost)


def _with(one: Sequence[Any], other: Sequence[Any]) -> list[tuple[Any, Any]]:
    return list(zip(one, other, strict=True))


class _Different:
    """The different units of memory that the lanes of some blocks touch."""

    def __init__(self, lanes: Lanes, unit: int) -> None:
        at, on = lanes
        units = at // unit
        self.own = _keys(units, on)
        leads = on & (np.cumsum(on, axis=-1) == 1)
        self._leads = _keys(units, leads)
        lines = at[0] // LINE
        self.step_lines = max(
            len(np.unique(lines[step][on[0, step]])) for step in range(len(lines))
        )

    def new_requests(self) -> tuple[int, int]:
        """Count first lanes that come to units new to their block, and to all."""
        return len(self._leads), len(np.unique(self._leads & ((1 << BLOCK) - 1)))


def _keys(units: IntArray, on: BoolArray) -> IntArray:
    """Return the different units of each block, with the block's number above."""
    block = np.arange(len(units)).reshape(-1, 1, 1, 1) << BLOCK
    return np.unique((units + block)[on])


def _united(parts: Sequence[_Different]) -> tuple[int, int]:
    """Count the units of several accesses: of the blocks, summed, and of all."""
    keys = np.unique(np.concatenate([part.own for part in parts]))
    return len(keys), len(np.unique(keys & ((1 << BLOCK) - 1)))


def _requests(
    part: _Different, looked: tuple[Lanes, Asked, Asked]
) -> tuple[int, int, int]:
    """Return an access's requests, and those that come to new units, scaled."""
    _, first, asked = looked
    scale = asked.requests / max(1, first.requests)
    own, together = (round(scale * n) for n in part.new_requests())
    return asked.requests, min(asked.requests, own), min(asked.requests, together)
