"""Findings on kernels: for each kernel and each cause what its absence would save.

Comes in: a `Case`. Goes out: candidates. A launch's `terms` tell the modelled time of
each pipe. The longest binds; without the cause it shrinks, until the next one binds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tinytorch_gpu.profiler.case import Case, exposed_ns, grouped
from tinytorch_gpu.profiler.cause import Cause, Judged
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
    counted = {i: r for i, r in case.numbered_launches.items() if exposed_ns(r) > 0}
    found = []
    for same in grouped(counted, lambda launch: launch.kernel):
        found += [_candidate(cause, same, case) for cause in CAUSES]
    return [candidate for candidate in found if candidate.savings]


def saved_ns(cause: Cause, judged: Judged) -> float:
    """Tell what one launch would gain without a cause.

    Args:
        cause: the cause.
        judged: the launch, its counts and the GPU.

    Returns:
        Nanoseconds; 0 where another pipe binds, or the host's pace does.
    """
    terms = {name: ns for name, ns in judged.launch.terms if name != "exposed"}
    binding = max(terms, key=lambda name: terms[name], default="")
    remains = cause.remains(judged) if binding in cause.pipes else None
    if remains is None:
        return 0.0
    terms = dict(judged.launch.terms)
    without = terms | {binding: remains * terms[binding]}
    return min(_busy_ns(terms) - _busy_ns(without), exposed_ns(judged.launch))


def _busy_ns(terms: dict[str, float]) -> float:
    """A kernel's time beyond its floor, as `cost.kernel_time` composes it."""
    beside = ("floor", "latency", "exposed")
    pipes = [ns for name, ns in terms.items() if name not in beside]
    busy = max(pipes, default=0.0) + terms.get("exposed", 0.0)
    return max(busy, terms.get("latency", 0.0))


def _candidate(cause: Cause, same: dict[int, LaunchRecord], case: Case) -> Candidate:
    """Add a cause up over the launches of one kernel; the worst one gives the words."""
    judged = {i: Judged(r, r.counts, case.spec) for i, r in same.items() if r.counts}
    savings = {i: ns for i, j in judged.items() if (ns := saved_ns(cause, j)) > 0}
    if not savings:
        return Candidate(cause.kind, {}, "", "")
    worst = judged[max(savings, key=lambda i: savings[i])]
    return Candidate(cause.kind, savings, *cause.tell(worst))
