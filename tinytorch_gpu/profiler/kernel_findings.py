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
    from tinytorch_gpu.arch import GpuSpec
    from tinytorch_gpu.trace import LaunchRecord

__all__ = ["kernel_findings", "saved_ns", "worst_cause"]

CAUSES: tuple[Cause, ...] = (*MEMORY_CAUSES, *WORK_CAUSES)


def kernel_findings(case: Case) -> list[Candidate]:
    """Find what the kernels would gain without each cause of their time.

    Args:
        case: the records and the GPU.

    Returns:
        At most one candidate for each kernel and cause.
    """
    found = []
    for same in grouped(_seen(case.numbered_launches), lambda launch: launch.kernel):
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


def worst_cause(
    launches: dict[int, LaunchRecord], spec: GpuSpec
) -> tuple[float, str, Judged] | None:
    """Find the cause of which the launches of one kernel would gain most.

    Args:
        launches: by their position among the records.
        spec: the modelled GPU.

    Returns:
        What they would gain, the cause's kind, and the launch that would gain most; or
        None where none would gain anything.
    """
    equal = judged_alike(_seen(launches), spec)
    found = [(cause, *_gains(cause, equal)) for cause in CAUSES]
    told = [(sum(s.values()), c.kind, worst) for c, s, worst in found if worst]
    return max(told, key=lambda one: one[0], default=None)


def _seen(launches: dict[int, LaunchRecord]) -> dict[int, LaunchRecord]:
    """Those that were counted, and whose time sticks out of their issue."""
    return {
        i: r for i, r in launches.items() if r.counts is not None and exposed_ns(r) > 0
    }


def _candidate(
    cause: Cause, equal: list[tuple[Judged, dict[int, LaunchRecord]]]
) -> Candidate:
    """Add a cause up over the launches of one kernel; the worst one gives the words."""
    savings, worst = _gains(cause, equal)
    words = cause.tell(worst) if worst else ("", "")
    return Candidate(cause.kind, savings, *words)


def _gains(
    cause: Cause, equal: list[tuple[Judged, dict[int, LaunchRecord]]]
) -> tuple[dict[int, float], Judged | None]:
    """What launches would gain without a cause, and the one that would gain most."""
    savings: dict[int, float] = {}
    worst, most = None, 0.0
    for judged, alike in equal:
        gain = saved_ns(cause, judged)
        saves = {i: min(gain, exposed_ns(r)) for i, r in alike.items() if gain}
        savings |= saves
        if max(saves.values(), default=0.0) > most:
            worst, most = judged, max(saves.values())
    return savings if worst else {}, worst
