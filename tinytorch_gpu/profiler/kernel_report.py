"""`KernelReport`: what one kernel did and what binds it, as Nsight Compute tells it."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tinytorch_gpu.errors import UnsupportedError
from tinytorch_gpu.profiler.kernel_comparison import KernelComparison
from tinytorch_gpu.profiler.kernel_numbers import KernelNumbers, numbers_of
from tinytorch_gpu.profiler.kernel_text import report_text, verdict_of
from tinytorch_gpu.profiler.line_table import line_table
from tinytorch_gpu.profiler.profile_checks import check_width
from tinytorch_gpu.profiler.roofline import draw_roofline

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

    from tinytorch_gpu.arch import GpuSpec
    from tinytorch_gpu.trace import LaunchRecord

__all__ = ["KernelReport", "report_of"]


@dataclass(frozen=True)
class KernelReport(KernelNumbers):
    """One kernel in one configuration: its numbers, and ways to look at them."""

    @property
    def verdict(self) -> str:
        """What binds the kernel, in one sentence with the two numbers that decide."""
        return verdict_of(self)

    def compare(self, other: KernelNumbers) -> KernelComparison:
        """Put another report beside this one.

        Args:
            other: the report after the change; this one is before.

        Returns:
            Both, with ratios.

        Raises:
            UnsupportedError: it is no report.
        """
        if not isinstance(other, KernelNumbers):
            raise UnsupportedError(
                f"{other!r:.60} is no report of a kernel",
                where=f"report.compare(other) of {self.name}",
                why=f"it is of type {type(other).__name__}, and two reports compare",
                fix="before.compare(after), each one of prof.kernels()",
            )
        return KernelComparison(self, other)

    def source(self, width: int = 100) -> str:
        """Return the kernel's source with each line's counts beside it.

        Args:
            width: columns at most; the numbers and some source need about 80.

        Raises:
            UnsupportedError: the width is no whole number, or below 1.
        """
        check_width(width, "report.source(width)")
        return line_table(self.launch, device=self.gpu.name, width=width)

    def plot_roofline(self, ax: Axes | None = None) -> Axes:
        """Draw the GPU's roofs, and the kernel as a point below them.

        Args:
            ax: where to draw; a new figure if None.

        Returns:
            The Axes; show or save its figure yourself.
        """
        return draw_roofline(self, ax)

    def __str__(self) -> str:
        """Return all sections, and the verdict."""
        return report_text(self)

    def _repr_html_(self) -> str:
        """Show the sections in a notebook."""
        return f"<pre>{html.escape(str(self))}</pre>"


def report_of(launches: Sequence[LaunchRecord], gpu: GpuSpec) -> KernelReport:
    """Report on launches that are equal.

    Args:
        launches: at least one; same kernel, configuration and counts.
        gpu: the modelled GPU.

    Returns:
        The report.
    """
    return KernelReport(**numbers_of(launches, gpu))
