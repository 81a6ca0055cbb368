"""The finding "do not move this": the host would be done before the GPU.

Comes in: a `Case`. Goes out: one candidate, if the stated laptop's modelled time for
the same arithmetic and the same arrays is shorter than the GPU's. It tells how many
times larger the arrays would have to be: the cost model tells how long the launches
take then, and once the GPU is full each further byte costs as much as the one before.
Where the GPU would win once its kernels and copies are as their own findings ask, there
is none.

Source: as `cost.breakeven`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tinytorch_gpu.cost.breakeven import Work, find_host, host_ns
from tinytorch_gpu.cost.waves import WAVES_TOLD_APART
from tinytorch_gpu.profiler.case import slack_ns
from tinytorch_gpu.profiler.cause import judged_alike
from tinytorch_gpu.profiler.copy_findings import overlap_findings
from tinytorch_gpu.profiler.finding import LEAST_SHARE, Candidate
from tinytorch_gpu.profiler.kernel_findings import kernel_findings
from tinytorch_gpu.units import format_count, format_ns

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.cost.breakeven import Host
    from tinytorch_gpu.profiler.case import Case
    from tinytorch_gpu.profiler.cause import Judged
    from tinytorch_gpu.trace import KernelSource, LaunchCounts, LaunchRecord

__all__ = ["array_bytes", "host_finding", "host_work"]

STEADY = 0.01  # two doublings that differ by less cost the same for each byte


def array_bytes(counts: LaunchCounts, *kinds: str) -> dict[str, int]:
    """Return the bytes of the global arrays that a kernel uses in certain ways.

    Args:
        counts: what the kernel did.
        kinds: of `load`, `store` and `atomic`.

    Returns:
        Bytes by the array's name in the source.
    """
    return {a.array: a.array_bytes for a in counts.global_accesses if a.kind in kinds}


def host_work(counts: LaunchCounts) -> Work:
    """Say what NumPy would have to do for the same result: one call on whole arrays.

    Args:
        counts: what the kernel did.

    Returns:
        The work, without copies and kernels.
    """
    loaded = sum(array_bytes(counts, "load", "atomic").values())
    stored = sum(array_bytes(counts, "store", "atomic").values())
    flops = sum(counts.total(name) for name in ("fp32", "fp64", "special"))
    flops += sum(access.active_lanes for access in counts.atomics)  # one each
    return Work(float(flops), float(loaded + stored), 1, (), (), ())


def host_finding(case: Case) -> list[Candidate]:
    """Compare the profile's modelled time with that of the stated laptop.

    Args:
        case: the records and the GPU.

    Returns:
        One candidate that stands against all others, or none.
    """
    launches, host = case.launches, find_host("laptop")
    if not launches or any(launch.counts is None for launch in launches):
        return []
    calls, growing = _host_ns(launches, host)
    total = case.bill.total_ns
    if calls + growing >= total:
        return []
    left = total - _own_changes_ns(case)
    if calls + growing >= left:
        return []
    copies = " with its copies" if case.copies else ""
    changed, as_it_is = "", ""
    if left < (1 - LEAST_SHARE) * total:
        changed = f", and {format_ns(left)} after the changes to its kernels and copies"
        as_it_is = "as it is, "
    sentence = (
        f"Do not move this: NumPy on a {host.name} ({host.gflop_per_s:g} GFLOP/s, "
        f"{host.gb_per_s:g} GB/s) would take {format_ns(calls + growing)}, "
        f"{case.spec.name}{copies} takes {format_ns(total)}{changed}; "
        f"{as_it_is}{_crossing(case, calls, growing)}."
    )
    share = (calls + growing) / total
    savings = {i: ns * (1 - share) for i, ns in enumerate(case.elapsed_ns) if ns}
    fix = 'model.to("cpu")'
    return [Candidate("do not move this", savings, sentence, fix, is_alternative=True)]


def _own_changes_ns(case: Case) -> float:
    """What the GPU saves if each kernel loses its worst cause, and copies overlap."""
    best: dict[KernelSource, float] = {}
    for found in kernel_findings(case):
        kernel = case.numbered_launches[next(iter(found.savings))].kernel
        best[kernel] = max(found.saves_ns, best.get(kernel, 0.0))
    overlap = sum(found.saves_ns for found in overlap_findings(case))
    return sum(best.values()) + overlap


def _host_ns(launches: list[LaunchRecord], host: Host) -> tuple[float, float]:
    """The host's time by what stays and by what grows with the size of the arrays."""
    known: dict[int, float] = {}  # a replayed launch has the counts of an earlier one
    for launch in launches:
        if launch.counts and id(launch.counts) not in known:
            known[id(launch.counts)] = host_ns(host_work(launch.counts), host)
    calls = host.call_ns * len(launches)
    return calls, sum(known[id(launch.counts)] for launch in launches) - calls


def _crossing(case: Case, calls: float, growing: float) -> str:
    """By how much all arrays would have to grow for the GPU to win, or never."""
    device = _Device(case)

    def lead(times: int) -> float:
        return calls + times * growing - device.ns(times)

    below, times, slope = 1, 2, 0.0
    while lead(times) < 0:
        before, slope = slope, (device.ns(times) - device.ns(below)) / (times - below)
        if device.is_full(below) and abs(slope - before) <= STEADY * slope:
            return _in_proportion(times, -lead(times), slope, growing)
        below, times = times, 2 * times
    return _larger(_first(lead, below, times))


def _in_proportion(times: int, behind: float, slope: float, growing: float) -> str:
    """Where the GPU wins if all its time grows with the arrays, or never."""
    if slope < growing:
        return _larger(times + math.ceil(behind / (growing - slope)))
    never = "larger arrays never change that"
    if not growing:
        return never
    return (
        f"{never}: each byte more costs the GPU {slope / growing:.3g} times what it "
        "costs the host"
    )


def _larger(times: int) -> str:
    return f"break-even at arrays {format_count(times)} times as large"


def _first(lead: Callable[[int], float], below: int, times: int) -> int:
    """The first number from which on the GPU leads, by halving."""
    while times - below > 1:
        middle = (below + times) // 2
        below, times = (below, middle) if lead(middle) >= 0 else (middle, times)
    return times


class _Device:
    """The GPU's time for arrays that are several times as large.

    Copies: the latency stays, the bytes grow. Launches: the issue stays, and hides the
    kernel as far as it does now; kernels grow as the cost model says, first into idle
    SMs, with as many times as many blocks.
    """

    def __init__(self, case: Case) -> None:
        self._case, latency = case, case.spec.copy_latency_ns
        copies = sum(c.elapsed_ns for c in case.copies)
        self._copied = copies - sum(min(c.elapsed_ns, latency) for c in case.copies)
        self._fixed = case.bill.total_ns - self._copied
        self._alike = [
            (judged, [slack_ns(launch) for launch in alike.values()])
            for judged, alike in judged_alike(case.numbered_launches, case.spec)
        ]

    def ns(self, times: int) -> float:
        """The time for arrays so many times as large."""
        grown = sum(_longer_ns(*alike, times) for alike in self._alike)
        return self._fixed + times * self._copied + grown

    def is_full(self, times: int) -> bool:
        """Tell whether each launch fills the GPU then, and sticks out of its issue."""
        places = WAVES_TOLD_APART * self._case.spec.num_sms
        return all(
            times * judged.blocks >= places * max(1, judged.resident)
            and judged.grown(times).duration_ns >= max(hides) + judged.now.duration_ns
            for judged, hides in self._alike
        )


def _longer_ns(judged: Judged, hides: list[float], times: int) -> float:
    """By how much equal launches take longer when their arrays are larger."""
    growth = judged.grown(times).duration_ns - judged.now.duration_ns
    return sum(max(0.0, growth - hidden) for hidden in hides)
