"""Lanes for which a variable is defined, and the warning when one that is not shows.

Source: compute-sanitizer's initcheck, which reports uninitialised memory; registers are
ours to report.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tinytorch_gpu.errors import KernelWarning
from tinytorch_gpu.executor.faults import place_facts, place_of
from tinytorch_gpu.executor.notices import warn_at

if TYPE_CHECKING:
    from tinytorch_gpu.executor.lanes import Batch
    from tinytorch_gpu.executor.mask import Mask
    from tinytorch_gpu.trace import Site

__all__ = ["check_defined", "now_defined"]


def now_defined(old: Mask, mask: Mask, *sources: Mask) -> Mask:
    """Return for which lanes a variable is defined after an assignment.

    Args:
        old: for which lanes it was.
        mask: the lanes that assign.
        sources: for which lanes the variables that the value reads are defined.
    """
    lanes = mask
    for source in sources:
        lanes = lanes.minus(lanes.minus(source))
    return old.minus(mask).plus(lanes)


def check_defined(
    batch: Batch, mask: Mask, site: Site, *variables: tuple[str, Mask]
) -> None:
    """Warn when a variable that is undefined in some lane reaches memory or a branch.

    Args:
        batch: the lanes.
        mask: those that take part.
        site: where it stands.
        variables: names, each with the lanes for which it is defined.

    Warns:
        KernelWarning: names the variable, the line, and the lanes; they are attributes.
    """
    for name, defined in variables:
        undefined = mask.minus(defined)
        if not undefined.count:
            continue
        row, threads, text = place_of(batch, undefined.full())
        warning = KernelWarning(
            f"`{name.partition('__')[0]}` is used by {undefined.count} "
            f"lane{'s'[: undefined.count > 1]} that never assigned it",
            where=f"{site.line}\n{text}",
            why="it is assigned on a path that these lanes did not take; on a GPU it "
            "holds leftovers",
            fix="give it a value before the `if` or the loop",
            kind="undefined_variable",
            lanes_at_fault=undefined.count,
            **place_facts(batch, site.line, row, threads),
        )
        warn_at(site.line, warning)
