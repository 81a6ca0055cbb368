"""The two sentences of a verdict: what dominates, by which numbers; what to change.

Comes in: a `Case`, the records and their bill. Goes out: two sentences. One function
for each dominant part stands in `SENTENCES`; for kernels the second sentence depends on
what binds the kernel that takes longest.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from tinytorch_gpu.cost import available_gb_per_s
from tinytorch_gpu.profiler.case import FREE, MALLOC, is_awaited
from tinytorch_gpu.profiler.chain_finding import WHERE_TO_LOOK, chains
from tinytorch_gpu.profiler.copy_findings import (
    COPY_FINDINGS,
    dearest_copies,
    transfer_ns,
)
from tinytorch_gpu.profiler.finding import many
from tinytorch_gpu.profiler.kernel_advice import worst_kernel_sentences
from tinytorch_gpu.profiler.op_table import plain_name
from tinytorch_gpu.trace import HostRecord, OpRecord
from tinytorch_gpu.units import format_bytes, format_count, format_ns, format_share

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.arch import GpuSpec
    from tinytorch_gpu.profiler.case import Case
    from tinytorch_gpu.trace import CopyRecord

__all__ = ["SENTENCES"]


def _transfers(case: Case) -> tuple[str, str]:
    copies, bill = case.copies, case.bill
    first = (
        f"Transfer-bound: copies take {case.share}, {format_ns(bill.transfer_ns)} in "
        f"{many(len(copies), 'copy', 'copies')}; the kernels take "
        f"{format_ns(bill.kernel_ns)}."
    )
    same = dearest_copies(case)
    nbytes = sum(copy.bytes for copy in same) / len(same)
    part = format_share(transfer_ns(same), bill.transfer_ns)
    what = f"{same[0].direction.upper()} for `{same[0].reason}`"
    return first, (
        f"{_best_for_copies(case)}: {part} of it is {what}, "
        f"{many(len(same), 'copy', 'copies')} of {format_bytes(nbytes)} on average; "
        f"{_cheaper_copies(nbytes, same, case.spec)}."
    )


def _best_for_copies(case: Case) -> str:
    """What saves most of the copies, in the words of an order."""
    found = [candidate for cause in COPY_FINDINGS for candidate in cause(case)]
    best = max(found, key=lambda candidate: candidate.saves_ns, default=None)
    return ORDERS.get(best.kind if best else "", "Copy less")


ORDERS = {
    "keep it on the device": "Keep on the device what stays the same",
    "round trip": "Keep on the device what comes back",
    "read back less often": "Read results less often",
    "batch copies": "Copy many in one",
    "pin this buffer": "Copy from and to pinned memory",
    "overlap this copy": "Let copies and kernels overlap",
}


def _cheaper_copies(nbytes: float, copies: list[CopyRecord], spec: GpuSpec) -> str:
    """What to do about copies that must remain: batch small ones, pin large ones."""
    is_pinned = all(copy.is_pinned for copy in copies)
    bandwidth = available_gb_per_s(copies[0].direction, is_pinned, spec)
    if nbytes < spec.copy_latency_ns * bandwidth:
        latency = format_ns(spec.copy_latency_ns)
        return f"the latency of {latency} is most of their cost: copy many in one"
    if not is_pinned:
        return (
            f"pinned host memory would copy at {spec.pinned_gb_per_s:g} GB/s instead "
            f"of {spec.pageable_gb_per_s:g}"
        )
    return "copy fewer bytes, for example float32 instead of float64"


def _launch_overhead(case: Case) -> tuple[str, str]:
    spent = format_ns(case.dominant_ns)
    first = f"Launch-bound: {case.share}, {spent}, passes at the host's pace: "
    what = f"{_what_to_fuse(case)}{_where_to_look(case)}"
    return (
        f"{first}{_host_pace(case)}.",
        f"Use larger batches or fuse element-wise ops{what}.",
    )


def _host_pace(case: Case) -> str:
    """Tell of the launches that the device waits for, or of what else the host does."""
    paced = [launch for launch in case.launches if is_awaited(launch)]
    every = many(len(case.launches), "launch", "launches")
    if not paced:
        calls = sum(isinstance(record, HostRecord) for record in case.records)
        return (
            f"the device waits while the host issues {every} and makes "
            f"{many(calls, 'other call', 'other calls')} of the driver"
        )
    issue = sum(launch.issue_ns for launch in paced) / len(paced)
    average = sum(launch.duration_ns for launch in paced) / len(paced)
    each = "takes" if len(paced) == 1 else "take"
    return (
        f"the device waits for {format_count(len(paced))} of {every}, which {each} the "
        f"host longer to issue, {format_ns(issue)}, than the device to run, "
        f"{format_ns(average)} on average"
    )


def _what_to_fuse(case: Case) -> str:
    """Name the decomposed op that makes most launches, else the kernels' own bound."""
    children: dict[str, int] = defaultdict(int)
    decomposed: dict[str, int] = defaultdict(int)
    for record in case.records:
        if isinstance(record, OpRecord):
            children[record.parent] += 1
            decomposed[record.op] += record.key == "Decompose"
    worst = max(decomposed, key=lambda op: decomposed[op] and children[op], default="")
    ran, calls = children[worst], decomposed[worst]
    if calls and ran > calls:
        return (
            f": {plain_name(worst)} has no kernel of its own and ran as "
            f"{ran / calls:.3g} ops a call, so one fused kernel would save about "
            f"{many(ran - calls, 'launch', 'launches')}"
        )
    at_floor = sum(launch.bound == "floor" for launch in case.launches)
    if 2 * at_floor >= len(case.launches):
        return ": these kernels are so short that more elements cost almost nothing"
    return ""


def _where_to_look(case: Case) -> str:
    """Name the tool that tells more, where ops follow each other that could be one."""
    return f"; {WHERE_TO_LOOK} tells which" if chains(case) else ""


def _kernels(case: Case) -> tuple[str, str]:
    return worst_kernel_sentences(case)


def _synchronization(case: Case) -> tuple[str, str]:
    asked = len(case.numbered_waits) - len(case.waits_of_frees)
    waits = many(asked, "wait", "waits")
    lost = sum(ns for _, ns in case.lost_to_stops.values())
    idle = f", {format_ns(lost)} of it since host and device take turns" if lost else ""
    first = (
        f"Synchronization-bound: waiting takes {case.share}, "
        f"{format_ns(case.dominant_ns)} in {waits}{idle}; the "
        f"kernels take {format_ns(case.bill.kernel_ns)}."
    )
    return first, "Synchronize once at the end rather than after each step."


def _allocation(case: Case) -> tuple[str, str]:
    reasons = [call.reason for call in case.numbered_calls.values()]
    calls = many(reasons.count(MALLOC), "call", "calls") + f" of {MALLOC}"
    if FREE in reasons:
        calls += f" and {format_count(reasons.count(FREE))} of {FREE}"
    first = (
        f"Allocation-bound: {case.share}, {format_ns(case.dominant_ns)}, passes in "
        f"{calls}; the kernels take {format_ns(case.bill.kernel_ns)}."
    )
    if FREE in reasons:
        return first, (
            "Call no empty_cache() in a loop: the allocator keeps the memory of arrays "
            "that die, and gives it to the next ones for nothing."
        )
    return first, (
        "Only new segments cost this, and the allocator keeps them: let a first step "
        "run before the profile begins."
    )


def _nothing(case: Case) -> tuple[str, str]:
    first = f"Nothing to judge: 0 launches and 0 copies on {case.spec.name}."
    return first, 'Run ops on tensors of device "simgpu" while the profile listens.'


SENTENCES: dict[str, Callable[[Case], tuple[str, str]]] = {
    "transfers": _transfers,
    "launch overhead": _launch_overhead,
    "kernels": _kernels,
    "synchronization": _synchronization,
    "allocation": _allocation,
    "nothing": _nothing,
}
