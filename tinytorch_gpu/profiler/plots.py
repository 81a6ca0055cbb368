"""Pictures of a profile; matplotlib is imported when one is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tinytorch_gpu.profiler.op_table import plain_name
from tinytorch_gpu.units import format_ns

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tinytorch_gpu.profiler.key_averages import KeyAverages
    from tinytorch_gpu.profiler.op_row import OpRow

__all__ = ["plot_bill"]

# Colours of Okabe and Ito, told apart with any colour vision.
_PARTS = (
    ("transfer_ns", "transfers", "#D55E00"),
    ("launch_ns", "launch overhead", "#E69F00"),
    ("kernel_ns", "kernels", "#0072B2"),
    ("synchronize_ns", "synchronize", "#999999"),
)
_UNITS = ((1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns"))


def plot_bill(
    averages: KeyAverages, ax: Axes | None = None, *, row_limit: int = 12
) -> Axes:
    """Draw the modelled time of each op as a bar, split by what it was spent on.

    A kernel that is over before the host has issued the next launch still has its own
    part here, as it did run; `Verdict.parts` counts it with the launch overhead, since
    a faster one would save nothing.

    Args:
        averages: rows by op.
        ax: where to draw; a new figure if None.
        row_limit: ops to show, those with the longest time; the others make one bar.

    Returns:
        The Axes; show or save its figure yourself.
    """
    if ax is None:
        ax = _new_axes(min(len(averages), row_limit + 1))
    bars = _bars(averages, row_limit)
    scale, unit = _unit_of(max((sum(parts) for _, parts in bars), default=0.0))
    left = [0.0] * len(bars)
    for index, (_, label, colour) in enumerate(_PARTS):
        lengths = [parts[index] / scale for _, parts in bars]
        if any(lengths):
            rows = range(len(bars))
            ax.barh(rows, lengths, left=left, color=colour, label=label, height=0.7)
        left = [start + length for start, length in zip(left, lengths, strict=True)]
    for row, (_, parts) in enumerate(bars):
        ax.text(left[row], row, f" {format_ns(sum(parts))}", va="center", fontsize=9)
    ax.set_yticks(range(len(bars)), [name for name, _ in bars])
    ax.set_xlim(0, 1.12 * max(left, default=1.0))  # room for the longest bar's label
    _dress(ax, averages, unit)
    return ax


def _new_axes(bars: int) -> Axes:
    import matplotlib.pyplot as plt  # noqa: PLC0415  (only when a picture is drawn)

    _, ax = plt.subplots(figsize=(7.5, 1.4 + 0.36 * bars), layout="constrained")
    return ax


def _bars(averages: KeyAverages, row_limit: int) -> list[tuple[str, list[float]]]:
    """Name and parts of each bar, nanoseconds; ops beyond the limit in one bar."""
    rows = [row for row in averages.sorted_by("elapsed") if row.elapsed_ns]
    bars = [(plain_name(row.op), _parts(row)) for row in rows[:row_limit]]
    rest = [_parts(row) for row in rows[row_limit:]]
    if rest:
        summed = [sum(part) for part in zip(*rest, strict=True)]
        bars.append((f"{len(rest)} more", summed))
    return bars


def _parts(row: OpRow) -> list[float]:
    return [getattr(row.bill, field) for field, _, _ in _PARTS]


def _unit_of(longest_ns: float) -> tuple[float, str]:
    """Scale and name of the unit that fits the longest bar."""
    return next((unit for unit in _UNITS if longest_ns >= unit[0]), _UNITS[-1])


def _dress(ax: Axes, averages: KeyAverages, unit: str) -> None:
    """Title, labels, legend; the longest bar on top, no frame."""
    total = format_ns(averages.bill.total_ns)
    ax.set_title(f"Modelled time on {averages.device}: {total}", loc="left")
    ax.set_xlabel(f"modelled time ({unit}); kernels as they ran, hidden or not")
    ax.invert_yaxis()
    ax.tick_params(axis="y", length=0)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)
    if averages.bill.total_ns:
        ax.legend(frameon=False, loc="lower right")
