"""Findings made of the errors that stop a launch, and of a kernel's warnings.

Both name their fault in a `kind` fact; what the sanitizer calls it and how grave it is
stands in one table here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tinytorch_gpu.errors import KernelWarning
from tinytorch_gpu.sanitizer.finding import Finding

if TYPE_CHECKING:
    from tinytorch_gpu.errors import SimGPUError

__all__ = ["finding_of"]

TOOLS = {
    "out_of_bounds": "memcheck",
    "negative_index": "memcheck",
    "use_after_free": "memcheck",
    "undefined_variable": "initcheck",
    "divergent_barrier": "synccheck",
    "barrier_after_return": "synccheck",
    "warp_mask": "synccheck",
    "divergent_warp": "synccheck",
    "deadlock": "synccheck",
    "endless_loop": "synccheck",
}
MISTAKES = frozenset({"undefined_variable"})  # warned of, and yet results are wrong
HARMLESS = frozenset({"deadlock"})  # warned of: lanes waited, and then got on


def finding_of(error: SimGPUError) -> Finding | None:
    """Return what an error or a warning tells as a finding.

    Args:
        error: what stopped a launch, or a `KernelWarning`.

    Returns:
        The finding; None if it is no fault of a kernel that the sanitizer names.

    Example:
        >>> from tinytorch_gpu.errors import OutOfBoundsError
        >>> error = OutOfBoundsError("past the end of `x`", kind="out_of_bounds")
        >>> print(finding_of(error))
        error: past the end of `x` [memcheck]
    """
    facts = error.facts
    kind = facts.get("kind")
    if kind not in TOOLS:
        return None
    is_warning = isinstance(error, KernelWarning) and kind not in MISTAKES
    level = "note" if kind in HARMLESS else "warning"
    threads = facts.get("threads", ())
    return Finding(
        tool=TOOLS[kind],
        kind=kind,
        level=level if is_warning else "error",
        what=error.what,
        where=error.where,
        why=error.why,
        fix=error.fix,
        line=facts.get("source_line"),
        array=facts.get("argument", ""),
        space=facts.get("space", ""),
        index=_index(facts),
        block=facts.get("block"),
        threads=threads,
        count=facts.get("lanes_at_fault", len(threads)),
    )


def _index(facts: dict[str, Any]) -> tuple[int, ...] | None:
    """Return the first lane's index on the axis at fault."""
    index = facts.get("index")
    if index is None:
        return None
    return (index[0] if isinstance(index, tuple) else index,)
