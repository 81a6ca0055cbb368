"""What the allocator counts, under torch's names, and the table of it.

Source: `torch.cuda.memory_stats` and `torch.cuda.memory_summary`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tinytorch_gpu.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MemoryStatistics", "Tally"]

POOLS = ("all", "small_pool", "large_pool")
ROWS = {
    "allocated_bytes": "allocated memory",
    "requested_bytes": "requested memory",
    "reserved_bytes": "reserved memory",
    "allocation": "allocations",
    "segment": "segments",
}


@dataclass(slots=True)
class Tally:
    """A number that goes up and down: how much now, at most, and in all.

    Args:
        current: now.
        peak: the most at one time since `reset_peak`.
        allocated: all that was added.
        freed: all that was taken away.

    Example:
        >>> tally = Tally()
        >>> for change in (512, 1024, -512):
        ...     tally.add(change)
        >>> tally
        Tally(current=1024, peak=1536, allocated=1536, freed=512)
    """

    current: int = 0
    peak: int = 0
    allocated: int = 0
    freed: int = 0

    def add(self, change: int) -> None:
        """Add a change, negative for what is freed."""
        self.current += change
        if change < 0:
            self.freed -= change
        else:
            self.allocated += change
            self.peak = max(self.peak, self.current)

    def reset_peak(self) -> None:
        """Let the peak begin anew from now."""
        self.peak = self.current


@dataclass(slots=True)
class MemoryStatistics:
    """All tallies of one allocator.

    Args:
        alloc_retries: how often the cache was emptied to make room.
        ooms: how often a request was refused.

    Example:
        >>> statistics = MemoryStatistics()
        >>> statistics.add("allocated_bytes", "small_pool", 512)
        >>> statistics.of("allocated_bytes").current
        512
        >>> statistics.to_dict()["allocated_bytes.small_pool.current"]
        512
    """

    alloc_retries: int = 0
    ooms: int = 0
    _tallies: dict[str, dict[str, Tally]] = field(
        default_factory=lambda: {row: {p: Tally() for p in POOLS} for row in ROWS}
    )

    def add(self, row: str, pool: str, change: int) -> None:
        """Add a change to a pool and to the whole.

        Args:
            row: a key of torch's, for example `"allocated_bytes"`.
            pool: "small_pool" or "large_pool".
            change: bytes or a number; negative for what is freed.
        """
        tallies = self._tallies[row]
        tallies["all"].add(change)
        tallies[pool].add(change)

    def of(self, row: str) -> Tally:
        """Return the tally of a row over both pools."""
        return self._tallies[row]["all"]

    def reset_peaks(self) -> None:
        """Let all peaks begin anew from now."""
        for _row, _pool, tally in self._all():
            tally.reset_peak()

    def to_dict(self) -> dict[str, int]:
        """Return all numbers by torch's keys, for example `segment.all.current`."""
        numbers = {
            f"{row}.{pool}.{what}": getattr(tally, what)
            for row, pool, tally in self._all()
            for what in ("current", "peak", "allocated", "freed")
        }
        numbers |= {"num_alloc_retries": self.alloc_retries, "num_ooms": self.ooms}
        return dict(sorted(numbers.items()))

    def to_table(self, title: str) -> str:
        """Return a table: now, at the peak, in all, freed; a row for each pool.

        Args:
            title: stands above it.
        """
        lines = [
            title,
            f"{'':<18} {'now':>12} {'peak':>12} {'total':>12} {'freed':>12}",
        ]
        for row, pool, tally in self._all():
            name = ROWS[row] if pool == "all" else f"  {pool[:5]} pool"
            show = format_bytes if row.endswith("_bytes") else str
            parts = (tally.current, tally.peak, tally.allocated, tally.freed)
            lines.append(f"{name:<18} " + " ".join(f"{show(n):>12}" for n in parts))
        lines.append(
            f"cache emptied to make room: {self.alloc_retries}, "
            f"out of memory: {self.ooms}"
        )
        return "\n".join(lines)

    def _all(self) -> Iterator[tuple[str, str, Tally]]:
        """Go through all tallies with their row and pool."""
        for row, tallies in self._tallies.items():
            for pool, tally in tallies.items():
                yield row, pool, tally
