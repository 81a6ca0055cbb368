"""`Cause`: one reason for a kernel's time, and what would be left without it.

Comes in: a `Judged`, one launch with its counts on a GPU. The causes themselves stand
in `memory_causes` and `work_causes`; `kernel_findings` makes findings of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.arch import GpuSpec
    from tinytorch_gpu.trace import LaunchCounts, LaunchRecord

__all__ = ["Cause", "Judged", "below_well"]

WELL = 0.75  # of the ideal; what does better is left alone


@dataclass(frozen=True)
class Judged:
    """One launch as a cause sees it.

    Args:
        launch: the launch.
        counts: what it did.
        spec: the modelled GPU.
    """

    launch: LaunchRecord
    counts: LaunchCounts
    spec: GpuSpec

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self.launch.kernel.name


@dataclass(frozen=True)
class Cause:
    """One reason for a kernel's time.

    Args:
        kind: its name, as in `Finding`.
        pipes: names of the pipes that it lengthens.
        remains: share of the pipe's time that remains without it, 0 to 1, or None
            where it is not the cause.
        tell: a sentence with two numbers, and the change as code.
    """

    kind: str
    pipes: tuple[str, ...]
    remains: Callable[[Judged], float | None]
    tell: Callable[[Judged], tuple[str, str]]


def below_well(part: float, whole: float) -> float | None:
    """Return part ÷ whole where that is far from the ideal of 1, else None.

    Args:
        part: what the ideal needs.
        whole: what there is.

    Returns:
        The share, or None from 75 % on, or when there is nothing.

    Example:
        >>> below_well(1, 4), below_well(3, 4), below_well(0, 0)
        (0.25, None, None)
    """
    return part / whole if whole and part < WELL * whole else None
