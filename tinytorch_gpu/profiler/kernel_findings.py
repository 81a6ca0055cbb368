"""Findings on kernels: for each kernel and each cause what its absence would save.

Comes in: a `Case`. Goes out: candidates. A cause asks the cost model again, without
what it is about; what is saved is the difference, so that another pipe may bind then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tinytorch_gpu.profiler.case import Case, exposed_ns, grouped
from tinytorch_gpu.profiler.cause import Cause, Judged, judged_alike
from tinytorch_gpu.profiler.finding import Candidate
from tinytorch_gpu.profiler.memory_causes import MEMORY_CAUSES
from tinytorch_gpu.profiler.work_causes import WORK_CAUSES

if TYPE_CHECKING:
    from tinytorch_gpu.trace import LaunchRecord

__all__ = ["kernel_findings", "saved_ns"]

CAUSES: tuple[Cause, ...] = (*MEMORY_CAUSES, *WORK_CAUSES)


def kernel_findings(case: Case) -> list[Candidate]:
    """Find what the kernels would gain without each cause of their time.

    Args:
        case: the records and the GPU.

    Returns:
        At most one candidate for each kernel and cause.
    """
    counted = {
        i: r
        for i, r in case.numbered_launches.items()
        if r.counts is not None and exposed_ns(r) > 0
    }
    found = []
    for same in grouped(counted, lambda launch: launch.kernel):
        equal = judged_alike(same, case.spec)
        found += [_candidate(cause, equal) for cause in CAUSES]
    return [candidate for candidate in found if candidate.savings]


def saved_ns(cause: Cause, judged: Judged) -> float:
    """Tell by how much a kernel would be shorter without a cause.

    Args:
        cause: the cause.
        judged: a launch of it, its counts and the GPU.

    Returns:
        Modelled nanoseconds; 0 where it is no cause, or something else binds.
    """
    cured = cause.cured(judged)
    gain = judged.now.duration_ns - cured.duration_ns if cured else 0.0
    return max(0.0, gain)


def _candidate(
    cause: Cause, equal: list[tuple[Judged, dict[int, LaunchRecord]]]
) -> Candidate:
    """Add a cause up over the launches of one kernel; the worst one gives the words."""
    savings: dict[int, float] = {}
    worst, most = None, 0.0
    for judged, alike in equal:
        gain = saved_ns(cause, judged)
        saves = {i: min(gain, exposed_ns(r)) for i, r in alike.items() if gain}
        savings |= saves
        if max(saves.values(), default=0.0) > most:
            worst, most = judged, max(saves.values())
    if worst is None:
        return Candidate(cause.kind, {}, "", "")
    return Candidate(cause.kind, savings, *cause.tell(worst))
