"""The two sentences of a verdict: what dominates, by which numbers; what to change.

Comes in: a `Case`, the records and their bill. Goes out: two sentences. One function
for each dominant part stands in `SENTENCES`; for kernels the second sentence depends on
what binds the kernel that takes longest.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tinytorch_gpu.profiler.kernel_advice import worst_kernel_sentences
from tinytorch_gpu.profiler.op_table import plain_name
from tinytorch_gpu.trace import CopyRecord, LaunchRecord, OpRecord
from tinytorch_gpu.units import format_bytes, format_count, format_ns, format_share

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.profiler.bill import Bill
    from tinytorch_gpu.trace import Record

__all__ = ["SENTENCES", "Case"]

_LARGE_COPY_BYTES = 1_000_000  # above it bandwidth decides on every preset, not latency


@dataclass(frozen=True, slots=True)
class Case:
    """What a verdict is made of.

    Args:
        records: all records, in order.
        bill: their modelled time by what it was spent on.
        device: name of the modelled GPU.
        waits: number of synchronisations.
    """

    records: tuple[Record, ...]
    bill: Bill
    device: str
    waits: int

    @property
    def launches(self) -> list[LaunchRecord]:
        """The launches among the records."""
        return [r for r in self.records if isinstance(r, LaunchRecord)]

    @property
    def copies(self) -> list[CopyRecord]:
        """The copies between host and device among the records."""
        copies = [r for r in self.records if isinstance(r, CopyRecord)]
        return [c for c in copies if c.direction != "d2d"]

    def share(self, part_ns: float) -> str:
        """Part of the modelled time, in percent."""
        return format_share(part_ns, self.bill.total_ns)


def _transfers(case: Case) -> tuple[str, str]:
    copies = case.copies
    first = (
        f"Transfer-bound: {_many(len(copies), 'copy', 'copies')} take "
        f"{format_ns(case.bill.transfer_ns)} of the time modelled on {case.device} "
        f"({case.share(case.bill.transfer_ns)}), the kernels "
        f"{format_ns(case.bill.kernel_ns)}."
    )
    reason, same = _dearest_reason(copies)
    each = sum(c.bytes for c in same) / len(same)
    return first, (
        f"Keep the data on the device: {_many(len(same), 'copy', 'copies')} of "
        f"{format_bytes(each)} on average ({same[0].direction.upper()}, {reason}) make "
        f"up {format_share(_elapsed(same), case.bill.transfer_ns)} of it"
        f"{_cheaper_copies(each, same)}."
    )


def _dearest_reason(copies: list[CopyRecord]) -> tuple[str, list[CopyRecord]]:
    """The direction and reason that cost most, with its copies."""
    groups: dict[tuple[str, str], list[CopyRecord]] = defaultdict(list)
    for copy in copies:
        groups[copy.direction, copy.reason].append(copy)
    (_, reason), same = max(groups.items(), key=lambda group: _elapsed(group[1]))
    return reason, same


def _cheaper_copies(bytes_of_copy: float, copies: list[CopyRecord]) -> str:
    """What to do about copies that must remain: batch small ones, pin large ones."""
    if bytes_of_copy < _LARGE_COPY_BYTES:
        alone = _elapsed(copies) / len(copies)
        return f"; each costs {format_ns(alone)}, mostly latency: copy many in one"
    if not all(copy.is_pinned for copy in copies):
        return "; what must be copied goes faster from pinned memory"
    return "; move fewer bytes, for example float32 instead of float64"


def _launch_overhead(case: Case) -> tuple[str, str]:
    launches = case.launches
    count = len(launches) or 1
    issue = sum(launch.issue_ns for launch in launches) / count
    average = sum(launch.duration_ns for launch in launches) / count
    first = (
        f"Launch-bound: {_many(len(launches), 'launch', 'launches')} add "
        f"{format_ns(issue)} each while the kernels run {format_ns(average)} on "
        f"average; the overhead is {case.share(case.bill.launch_ns)} of the time "
        f"modelled on {case.device}."
    )
    return first, f"Use larger batches or fuse element-wise ops{_what_to_fuse(case)}."


def _what_to_fuse(case: Case) -> str:
    """Name the decomposed op that makes most launches, else the kernels' own bound."""
    children: dict[str, int] = defaultdict(int)
    decomposed: dict[str, int] = defaultdict(int)
    for record in case.records:
        if isinstance(record, OpRecord):
            children[record.parent] += 1
            decomposed[record.op] += record.key == "Decompose"
    worst = max(decomposed, key=lambda op: decomposed[op] and children[op], default="")
    if worst and decomposed[worst] and children[worst] > decomposed[worst]:
        ran, calls = children[worst], decomposed[worst]
        return (
            f": {plain_name(worst)} has no kernel of its own and ran as "
            f"{ran / calls:.3g} ops a call, so one fused kernel would save "
            f"{_many(ran - calls, 'launch', 'launches')}"
        )
    at_floor = sum(launch.bound == "floor" for launch in case.launches)
    if 2 * at_floor >= len(case.launches):
        return ": these kernels are so short that more elements cost almost nothing"
    return ""


def _kernels(case: Case) -> tuple[str, str]:
    return worst_kernel_sentences(case.launches, case.bill, case.device)


def _synchronization(case: Case) -> tuple[str, str]:
    bill = case.bill
    each = bill.synchronize_ns / (case.waits or 1)
    first = (
        f"Synchronization-bound: {_many(case.waits, 'wait', 'waits')} of "
        f"{format_ns(each)} take {format_ns(bill.synchronize_ns)} of the time modelled "
        f"on {case.device}, the kernels {format_ns(bill.kernel_ns)}."
    )
    return first, "Synchronize once at the end rather than after each step."


def _nothing(case: Case) -> tuple[str, str]:
    first = f"Nothing to judge: 0 launches and 0 copies on {case.device}."
    return first, 'Run ops on tensors of device "simgpu" while the profile listens.'


SENTENCES: dict[str, Callable[[Case], tuple[str, str]]] = {
    "transfers": _transfers,
    "launch overhead": _launch_overhead,
    "kernels": _kernels,
    "synchronization": _synchronization,
    "nothing": _nothing,
}


def _elapsed(copies: list[CopyRecord]) -> float:
    return sum(copy.elapsed_ns for copy in copies)


def _many(number: int, one: str, more: str) -> str:
    """Write a number with its noun."""
    return f"{format_count(number)} {one if number == 1 else more}"
