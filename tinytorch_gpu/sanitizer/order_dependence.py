"""What is told when a launch gives another result in another order of warps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.errors import SimGPUError
from tinytorch_gpu.sanitizer.finding import Finding
from tinytorch_gpu.trace.places import spelled

if TYPE_CHECKING:
    from tinytorch_gpu.trace import KernelSource

__all__ = ["order_finding"]

# Of float additions in another order; far more than that is no rounding.
ROUNDING = 1e-3


def order_finding(
    kernel: KernelSource, found: Any, seed: int, has_race: bool
) -> Finding:
    """Tell of a result that depends on the order.

    Args:
        kernel: what was launched.
        found: differences (array, index, first, again, count), or the error that
            stopped the launch in the other order.
        seed: of the order, for `settings.override(schedule_seed=...)`.
        has_race: a race was found in the launch.

    Returns:
        A warning; a note if the values differ as float sums do that are rounded in
        another order.
    """
    again = f'settings.override(schedule="shuffled", schedule_seed={seed})'
    if isinstance(found, SimGPUError):
        return Finding(
            tool="racecheck",
            kind="order_dependence",
            level="warning",
            what=f"in another order of warps and blocks the launch stops: {found.what}",
            where=f"{kernel}\nwith {again}",
            why=f"{found.where}\nwarps and blocks run in any order",
            fix=found.fix,
        )
    first = found[0]
    element = spelled(first.array, first.index)
    is_rounding = all(_is_rounding(d.first, d.again) for d in found)
    why, fix = _because(is_rounding, has_race)
    return Finding(
        tool="racecheck",
        kind="order_dependence",
        level="note" if is_rounding else "warning",
        what=f"`{element}` is {first.first} in one order of warps and blocks and "
        f"{first.again} in another",
        where=f"{kernel}; {first.count} element{'s'[: first.count > 1]} of "
        f"`{first.array}` differ{'s'[first.count > 1 :]}\nwith {again}",
        why=why,
        fix=fix,
        array=first.array,
        index=first.index,
        count=first.count,
    )


def _because(is_rounding: bool, has_race: bool) -> tuple[str, str]:
    """Return why the order shows, and what to do."""
    if is_rounding:
        why = "float sums round in another order; all orders are right"
        return why, "compare with a tolerance"
    if has_race:
        why = "warps and blocks run in any order, and hardware draws it anew each time"
        return why, (
            "look for the race in this report; give each thread elements of its own,\n"
            "use atomics, or a barrier"
        )
    why = "who comes first to an atomic decides, and hardware draws that anew each time"
    return why, (
        "if any order will do, sort before you compare; else compute the places from\n"
        "thread numbers or a scan"
    )


def _is_rounding(one: Any, other: Any) -> bool:
    """Tell whether two values differ by no more than the order of additions does."""
    if np.asarray(one).dtype.kind != "f":
        return False
    return bool(abs(one - other) <= ROUNDING * max(abs(one), abs(other)))
