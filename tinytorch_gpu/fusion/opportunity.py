"""What could be fused in a program, and what may not: frozen reports.

Times are modelled; launches and bytes of what ran are exact, those of a fused kernel
are foretold.
"""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.units import format_bytes, format_ns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tinytorch_gpu.fusion.bill import Bill

__all__ = ["FusionOpportunities", "Opportunity", "Refusal"]


@dataclass(frozen=True)
class Opportunity:
    """Launches (or copies) that could be one.

    Args:
        kind: `element-wise chain`, `bias + activation`, `row reduction`, `repeated
            reads`, `several arrays` or `copies`.
        ops: the ops in order, one for each launch.
        shape: that the kernel would walk over; of several arrays that of the first.
        lines: the user's lines, where the profile kept them.
        why: why it is legal, and what has to be stored beside the result.
        before: what they cost now, of one time.
        after: what one would cost, foretold.
        times: how often the same was found.
        source: the kernel's text; "" for copies.
    """

    kind: str
    ops: tuple[str, ...]
    shape: tuple[int, ...]
    lines: tuple[str, ...]
    why: str
    before: Bill
    after: Bill
    times: int = 1
    source: str = field(default="", repr=False)

    @property
    def saved_ns(self) -> float:
        """Modelled time that all times together would save."""
        return self.times * (self.before.time_ns - self.after.time_ns)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by name."""
        plain = dict(vars(self)) | {"saved_ns": self.saved_ns}
        return plain | {n: getattr(self, n).to_dict() for n in ("before", "after")}

    def __str__(self) -> str:
        """Tell it in a few lines."""
        often = f"  ({self.times} times)" if self.times > 1 else ""
        return "\n".join(
            [
                f"{self.kind} over {self.shape}: {_told(self.ops)}{often}",
                *(f"  line    {line}" for line in self.lines),
                f"  legal   {self.why}",
                f"  before  {self.before}",
                f"  after   {self.after}",
            ]
        )


@dataclass(frozen=True)
class Refusal:
    """Two ops that stay apart though one reads what the other makes.

    Args:
        kind: the rule, one of `reasons.KINDS`.
        text: what breaks it.
        maker: the op that makes the value.
        reader: the op that reads it.
        lines: the user's lines of both, where the profile kept them.
        times: how often the same was found.
    """

    kind: str
    text: str
    maker: str
    reader: str
    lines: tuple[str, ...] = ()
    times: int = 1

    def to_dict(self) -> dict[str, Any]:
        """Return the fields by name."""
        return dict(vars(self))

    def __str__(self) -> str:
        """Tell it in a few lines."""
        often = f"  ({self.times} times)" if self.times > 1 else ""
        head = f"{self.maker} → {self.reader}: {self.kind}{often}"
        return "\n".join([head, *(f"  line    {n}" for n in self.lines), self._why()])

    def _why(self) -> str:
        return f"  why     {self.text}"


@dataclass(frozen=True)
class FusionOpportunities:
    """All that was found in a profile; iterate for the opportunities.

    Args:
        found: the opportunities, the largest saving first.
        refused: what a rule forbids.
        gpu: name of the modelled GPU.
    """

    found: tuple[Opportunity, ...]
    refused: tuple[Refusal, ...]
    gpu: str

    @property
    def saved_ns(self) -> float:
        """Modelled time that all of them together would save."""
        return sum(one.saved_ns for one in self.found)

    def to_dict(self) -> dict[str, Any]:
        """Return everything in plain types."""
        return {
            "gpu": self.gpu,
            "saved_ns": self.saved_ns,
            "found": [one.to_dict() for one in self.found],
            "refused": [one.to_dict() for one in self.refused],
        }

    def __iter__(self) -> Iterator[Opportunity]:
        """Go through the opportunities."""
        return iter(self.found)

    def __len__(self) -> int:
        """Count the opportunities."""
        return len(self.found)

    def __getitem__(self, number: int) -> Opportunity:
        """Return one opportunity; 0 is the largest."""
        return self.found[number]

    def __str__(self) -> str:
        """Tell all of it."""
        count = len(self.found)
        noun = "opportunity" if count == 1 else "opportunities"
        head = f"{count} fusion {noun} on {self.gpu}, modelled saving "
        parts = [head + format_ns(self.saved_ns), *map(str, self.found)]
        if self.refused:
            parts.append(f"not fused, {len(self.refused)}:")
            parts += map(str, self.refused)
        return "\n\n".join(parts)

    def table(self) -> str:
        """Return one line for each opportunity."""
        head = (
            f"{'times':>5} {'launches':>9} {'DRAM bytes':>18} {'time':>20}  kind, ops"
        )
        return "\n".join([head, *map(_row, self.found)])

    def _repr_html_(self) -> str:
        """Show it in a notebook."""
        return f"<pre>{html.escape(str(self))}</pre>"


def _row(one: Opportunity) -> str:
    before, after = one.before, one.after
    calls = f"{before.launches} → {after.launches}"
    moved = f"{format_bytes(before.dram_bytes)} → {format_bytes(after.dram_bytes)}"
    time = f"{format_ns(before.time_ns)} → {format_ns(after.time_ns)}"
    told = f"{one.kind}: {_told(one.ops)}"
    return f"{one.times:>5} {calls:>9} {moved:>18} {time:>20}  {told}"


def _told(ops: tuple[str, ...]) -> str:
    """Name ops in order; of many the first and the last."""
    if len(ops) <= 12:
        return ", ".join(ops)
    return ", ".join((*ops[:8], f"... {len(ops) - 10} more ...", *ops[-2:]))
