"""`FusionComparison`: one function before fusion, as predicted, and after."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.units import format_bytes, format_ns

if TYPE_CHECKING:
    from tinytorch_gpu.fusion.bill import Bill

__all__ = ["FusionComparison"]


@dataclass(frozen=True)
class FusionComparison:
    """What fusing a function saves.

    Args:
        name: the function's.
        gpu: name of the modelled GPU.
        before: the launches of the ops one by one.
        predicted: foretold from them; None if the function may not be fused.
        after: the fused kernel's launch; None likewise.
        max_difference: largest |fused − unfused| ÷ max(1, |unfused|) of the results.
        reason: why it may not be fused, or "".
    """

    name: str
    gpu: str
    before: Bill
    predicted: Bill | None
    after: Bill | None
    max_difference: float = 0.0
    reason: str = ""

    @property
    def speedup(self) -> float:
        """Modelled time before ÷ after; 1.0 if nothing was fused."""
        return self.before.time_ns / self.after.time_ns if self.after else 1.0

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers by name."""
        bills = {
            "before": self.before,
            "predicted": self.predicted,
            "after": self.after,
        }
        told = {name: bill.to_dict() if bill else None for name, bill in bills.items()}
        plain = {"name": self.name, "gpu": self.gpu, "reason": self.reason}
        more = {"speedup": self.speedup, "max_difference": self.max_difference}
        return {**plain, **told, **more}

    def __str__(self) -> str:
        """Return the table, and one sentence."""
        named = {"before": self.before, "predicted": self.predicted}
        named["after"] = self.after
        bills = {name: _cells(bill) for name, bill in named.items() if bill}
        lines = [f"{self.name} on {self.gpu}, times modelled", _row("", list(bills))]
        rows = zip(TITLES, *bills.values(), strict=True)
        lines += [_row(title, cells) for title, *cells in rows]
        return "\n".join([*lines, self._sentence()])

    def _sentence(self) -> str:
        if self.after is None:
            return f"not fused: {self.reason}"
        gap = f"{self.max_difference:.1e}" if self.max_difference else "none"
        return f"{self.speedup:.1f} x as fast; largest difference of values: {gap}"

    def _repr_html_(self) -> str:
        """Show the table in a notebook."""
        return f"<pre>{html.escape(str(self))}</pre>"


def _cells(bill: Bill) -> list[str]:
    moved = format_bytes(bill.dram_bytes)
    return [
        str(bill.launches),
        moved,
        format_ns(bill.kernel_ns),
        format_ns(bill.time_ns),
    ]


TITLES = ("launches", "DRAM traffic", "kernels", "with issue")


def _row(title: str, cells: list[str]) -> str:
    return f"{title:<14}" + "".join(f"{cell:>12}" for cell in cells)
