"""The verdict's second sentence on a kernel that waits: for what, and what helps."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tinytorch_gpu.profiler.finding import many
from tinytorch_gpu.units import format_share

if TYPE_CHECKING:
    from tinytorch_gpu.profiler.cause import Judged

__all__ = ["fuller_advice", "idle_advice"]


def idle_advice(judged: Judged) -> str:
    """Tell what a warp waits for most, and how many others there are meanwhile.

    Args:
        judged: a launch that latency binds.
    """
    cause, cure = _waits_for(judged)
    more = "launch more threads, for more work in the same time, or "
    told = f"{more if _has_room(judged) else ''}{cure}."
    return f"{_waiting(judged, cause)}. {told[0].upper()}{told[1:]}"


def fuller_advice(judged: Judged) -> str:
    """Tell what lets an SM have more warps for the same work.

    Args:
        judged: a launch that would be shorter with them.
    """
    cause, _ = _waits_for(judged)
    limiter = judged.launch.occupancy_limiter
    if _has_room(judged):
        cure = "Let more threads share its loads"
    elif limiter in ("registers", "shared memory"):
        cure = f"Use less of what limits that: {limiter}"
    else:
        cure = "Launch larger blocks, so that more warps fit"
    return f"{_waiting(judged, cause)}. {cure}."


def _waits_for(judged: Judged) -> tuple[str, str]:
    waits = judged.now.waits
    longest = max(waits or (0.0,))
    if waits and longest == waits.chain_ns:
        cause = "for their own instructions, each for the one before,"
        return cause, "let each thread do several independent things"
    if waits and longest == waits.barrier_ns:
        return "at barriers", "use fewer barriers"
    return "for memory", "let each load several independent elements"


def _has_room(judged: Judged) -> bool:
    """Tell whether an SM could hold more blocks than the grid has for it."""
    return judged.resident > -(-judged.blocks // judged.spec.num_sms)


def _waiting(judged: Judged, cause: str) -> str:
    fills = "fills" if judged.blocks == 1 else "fill"
    others = "the others do not hide it"
    if judged.filled < 1:
        others = "too few others have work"
    limiter = judged.launch.occupancy_limiter
    is_limited = judged.filled < 1 and not _has_room(judged) and limiter
    return (
        f"Its warps wait {cause} and {others}: it has "
        f"{many(judged.blocks, 'block', 'blocks')}, which {fills} an SM to "
        f"{format_share(judged.filled, 1)}"
        f"{f', limited by {limiter}' if is_limited else ''}"
    )
