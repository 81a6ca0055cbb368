"""The roofline picture of one kernel; matplotlib is imported when it is drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tinytorch_gpu.cost import attainable_flops

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tinytorch_gpu.profiler.kernel_numbers import KernelNumbers

__all__ = ["draw_roofline"]

_ROOF, _KERNEL = "#555555", "#0072B2"  # Okabe and Ito: told apart with any vision
_BESIDE = 10.0  # how far the picture reaches to both sides of what it shows


def draw_roofline(numbers: KernelNumbers, ax: Axes | None = None) -> Axes:
    """Draw the GPU's roofs, and the kernel as a point below them.

    Args:
        numbers: of one kernel and configuration.
        ax: where to draw; a new figure if None.

    Returns:
        The Axes, both scales logarithmic; a kernel without flops has no point.
    """
    if ax is None:
        ax = _new_axes()
    gpu, ridge = numbers.gpu, numbers.ridge_flops_per_byte
    intensity = numbers.arithmetic_intensity
    shown = [value for value in (ridge, intensity) if value]
    ends = [min(shown) / _BESIDE, ridge, max(shown) * _BESIDE]
    roofs = [attainable_flops(end, gpu) / 1e9 for end in ends]
    ax.loglog(ends, roofs, color=_ROOF, linewidth=2)
    # The slope goes up and to the right: below it and to its right is room.
    ax.annotate(f"{gpu.dram_gb_per_s:g} GB/s", (ends[0], roofs[0]), (24, -4), **_NEAR)
    peak = f"{gpu.peak_fp32_flops / 1e9:,.0f} Gflop/s (float32)"
    ax.annotate(peak, (ridge, roofs[1]), (4, 6), **_NEAR)
    ax.set_ylim(top=4 * roofs[1])  # room for the label of the upper roof
    if numbers.flops_per_s:
        _draw_point(ax, numbers)
    _dress(ax, numbers)
    return ax


_NEAR: dict[str, Any] = {"textcoords": "offset points", "fontsize": 9}


def _draw_point(ax: Axes, numbers: KernelNumbers) -> None:
    """The kernel, and how far it stays below the roof."""
    intensity, rate = numbers.arithmetic_intensity, numbers.flops_per_s / 1e9
    roof = attainable_flops(intensity, numbers.gpu) / 1e9
    ax.plot([intensity] * 2, [rate, roof], color=_KERNEL, linestyle=":")
    ax.plot([intensity], [rate], "o", color=_KERNEL, markersize=8)
    share = f"{numbers.name}\n{rate:.3g} Gflop/s, {100 * rate / roof:.0f} % of its roof"
    ax.annotate(share, (intensity, rate), (10, -4), va="top", **_NEAR)


def _new_axes() -> Axes:
    import matplotlib.pyplot as plt  # noqa: PLC0415  (only when a picture is drawn)

    _, ax = plt.subplots(figsize=(7.0, 4.5), layout="constrained")
    return ax


def _dress(ax: Axes, numbers: KernelNumbers) -> None:
    """Title and labels; no frame above and to the right."""
    ax.set_title(f"Roofline of {numbers.gpu.name} (modelled)", loc="left")
    ax.set_xlabel("arithmetic intensity (flops for each byte of DRAM)")
    ax.set_ylabel("Gflop/s")
    ax.grid(visible=True, which="major", alpha=0.25)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
