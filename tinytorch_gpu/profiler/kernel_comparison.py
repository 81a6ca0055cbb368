"""`KernelComparison`: two kernels' numbers side by side, before and after a change."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.profiler.table import Column, table_lines
from tinytorch_gpu.units import format_bytes, format_count, format_ns

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.profiler.kernel_numbers import KernelNumbers

__all__ = ["KernelComparison"]


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _plain(number: float) -> str:
    return f"{number:.3g}"


_ROWS: dict[str, Callable[[float], str]] = {
    "duration_ns": format_ns,
    "theoretical_occupancy": _percent,
    "waves": _plain,
    "requests": format_count,
    "sectors": format_count,
    "sectors_per_request": _plain,
    "coalescing_efficiency": _percent,
    "l1_bytes": format_bytes,
    "l2_bytes": format_bytes,
    "dram_bytes": format_bytes,
    "shared_wavefronts": format_count,
    "bank_conflicts": format_count,
    "warp_instructions": format_count,
    "warp_execution_efficiency": _percent,
    "divergent_branches": format_count,
    "fp32_flops": format_count,
    "fp64_flops": format_count,
    "arithmetic_intensity": _plain,
    "flops_per_s": _plain,
}


@dataclass(frozen=True)
class KernelComparison:
    """Numbers before and after, and their ratios.

    Args:
        before: the one kernel.
        after: the other.
    """

    before: KernelNumbers
    after: KernelNumbers

    @property
    def speedup(self) -> float:
        """Modelled time before ÷ after; more than 1 is faster."""
        return self.before.duration_ns / self.after.duration_ns

    @property
    def ratios(self) -> dict[str, float]:
        """After ÷ before of each number; where both are 0, 1; from 0, infinite."""
        return {name: _ratio(*self._pair(name)) for name in _ROWS}

    def to_dict(self) -> dict[str, Any]:
        """Return before, after and the ratios by name, in plain types."""
        before, after = self.before.to_dict(), self.after.to_dict()
        return {"before": before, "after": after, "ratios": self.ratios}

    def __str__(self) -> str:
        """Return the table; what is 0 on both sides is left out."""
        columns = (
            Column(("", ""), is_text=True),
            Column(("before", self.before.name)),
            Column(("after", self.after.name)),
            Column(("after ÷", "before")),
        )
        told = {name: form for name, form in _ROWS.items() if any(self._pair(name))}
        rows = [
            [
                name.removesuffix("_ns").replace("_", " "),
                *map(form, self._pair(name)),
                f"{self.ratios[name]:.3g} ×",
            ]
            for name, form in told.items()
        ]
        bound = ["bound", self.before.bound, self.after.bound, ""]
        lines = table_lines(columns, [*rows, bound], 100)
        return "\n".join([*lines, f"modelled speedup: {self.speedup:.3g} ×"])

    def _repr_html_(self) -> str:
        """Show the table in a notebook."""
        return f"<pre>{html.escape(str(self))}</pre>"

    def _pair(self, name: str) -> tuple[float, float]:
        return getattr(self.before, name), getattr(self.after, name)


def _ratio(before: float, after: float) -> float:
    if before:
        return after / before
    return float("inf") if after else 1.0
