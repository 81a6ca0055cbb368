"""Findings on copies: copy many in one, pin, overlap, and those of `same_data`.

Comes in: a `Case`. Goes out: candidates; `COPY_FINDINGS` holds one function for each
cause.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING

from tinytorch_gpu.cost import available_gb_per_s, copy_ns
from tinytorch_gpu.profiler.bill import bill_of
from tinytorch_gpu.profiler.case import Case, grouped
from tinytorch_gpu.profiler.finding import Candidate, many
from tinytorch_gpu.profiler.same_data import (
    SAME_DATA_FINDINGS,
    argument_of,
    is_argument,
    is_of_tensor,
    place,
    same_line,
)
from tinytorch_gpu.trace import LaunchRecord
from tinytorch_gpu.units import format_bytes, format_ns

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable

    from tinytorch_gpu.trace import CopyRecord

__all__ = ["COPY_FINDINGS", "dearest_copies", "overlap_findings", "transfer_ns"]


def dearest_copies(case: Case) -> list[CopyRecord]:
    """Return the copies of the direction and reason that cost most; there is one.

    Args:
        case: a case with at least one copy.

    Returns:
        The copies, in order.
    """
    groups = grouped(case.numbered_copies, lambda c: (c.direction, c.reason))
    return list(max(groups, key=lambda g: transfer_ns(g.values())).values())


def transfer_ns(copies: Iterable[CopyRecord]) -> float:
    """Sum the time that copies take on the link, as the bill has it.

    Args:
        copies: any.

    Returns:
        Nanoseconds; the issue of asynchronous copies is launch overhead, not transfer.
    """
    return sum(bill_of(copy).transfer_ns for copy in copies)


def _batch(case: Case) -> list[Candidate]:
    """Copies so small that they pay for the latency: one copy for all of them."""
    found = []
    latency = case.spec.copy_latency_ns
    for same in grouped(case.numbered_copies, same_line):
        nbytes = sum(copy.bytes for copy in same.values()) / len(same)
        first, *rest = same
        if not rest or nbytes >= _half_speed_bytes(same[first], case):
            continue
        savings = {i: min(latency, same[i].elapsed_ns) for i in rest}
        sentence = (
            f"{len(same):,} copies of {format_bytes(nbytes)} for "
            f"`{same[first].reason}`{place(same[first])} pay a latency of "
            f"{format_ns(latency)} each; for the bytes alone "
            f"{format_ns(nbytes / _bandwidth(same[first], case))} would do."
        )
        fix = "together = np.concatenate(parts)   # on the host, then one copy"
        found.append(Candidate("batch copies", savings, sentence, fix))
    return found


def _pin(case: Case) -> list[Candidate]:
    """Pageable copies: page-locked host memory goes at the link's own pace."""
    pageable = {i: c for i, c in case.numbered_copies.items() if not c.is_pinned}
    found = []
    for same in grouped(pageable, same_line):
        gains = {i: _pinned_gain(copy, case) for i, copy in same.items()}
        first = next(iter(same.values()))
        sentence = (
            f"{many(len(same), 'copy', 'copies')} for `{first.reason}`{place(first)} "
            f"{'moves' if len(same) == 1 else 'move'} "
            f"{format_bytes(sum(c.bytes for c in same.values()))} from or to pageable "
            f"memory at {case.spec.pageable_gb_per_s:g} GB/s; pinned memory reaches "
            f"{case.spec.pinned_gb_per_s:g} GB/s."
        )
        fix = _pin_fix(first)
        found.append(Candidate("pin this buffer", gains, sentence, fix))
    return found


def _pin_fix(copy: CopyRecord) -> str:
    if is_argument(copy):
        return f"with cuda.pinned({argument_of(copy)}):   # around the loop"
    if copy.direction == "d2h":
        source = "x.data" if is_of_tensor(copy) else "x"
        return (
            "host = cuda.pinned_array(x.shape, np.float32)   # once\n"
            f"{source}.copy_to_host(host)"
        )
    if is_of_tensor(copy):
        return 'data.pin_memory().to("simgpu", non_blocking=True)'
    return "with cuda.pinned(host):   # around the loop\n    x.copy_to_device(host)"


def _pinned_gain(copy: CopyRecord, case: Case) -> float:
    faster = copy_ns(copy.bytes, is_pinned=True, spec=case.spec)
    return min(copy.elapsed_ns, max(0.0, copy.duration_ns - faster))


def overlap_findings(case: Case) -> list[Candidate]:
    """Find large copies that wait for kernels or other copies, and kernels that wait.

    Only copies of pinned memory overlap, so a pageable one hides for as long as it
    would take pinned; the rest is what pinning alone saves. Of a number of turns the
    first or last piece has nothing to hide behind.

    Args:
        case: the records and the GPU.

    Returns:
        One candidate, or none.
    """
    serial = _serial(case)
    could = {i: c.elapsed_ns - _pinned_gain(c, case) for i, c in serial.items()}
    busy = {"compute": case.bill.kernel_ns}
    for i, copy in serial.items():
        engine = copy.engine or copy.direction
        busy[engine] = busy.get(engine, 0.0) + could[i]
    turns = _turns(case, serial)
    longest = max(busy, key=lambda engine: busy[engine])
    hides = sum(busy.values()) - busy[longest]
    hidden = _share_of_turns(turns, longest, serial.values()) * hides
    copied = sum(could.values())
    if not hidden or not copied:
        return []
    savings = {i: ns * min(1.0, hidden / copied) for i, ns in could.items()}
    copies = many(len(serial), "copy", "copies")
    if not all(copy.is_pinned for copy in serial.values()):
        copies += f", which would take {format_ns(copied)} from pinned memory,"
    else:
        copies += f" of {format_ns(copied)}"
    sentence = (
        f"{copies} and kernels of {format_ns(case.bill.kernel_ns)} run one after the "
        f"other in {many(turns, 'turn', 'turns')}; on as many streams most of it can "
        f"hide behind the {ENGINES[longest]}, {format_ns(busy[longest])}."
    )
    first = next(iter(serial.values()))
    return [Candidate("overlap this copy", savings, sentence, _overlap_fix(first))]


def _share_of_turns(turns: int, longest: str, copies: Iterable[CopyRecord]) -> float:
    """What can hide of so many turns: not the first or last of them.

    But an engine that copies in and out works from the first copy to the last.
    """
    is_both = longest == "copy" and len({c.direction for c in copies}) > 1
    return 1 - 1 / turns if turns and not is_both else float(turns > 1)


ENGINES = {
    "compute": "kernels",
    "copy": "copies",
    "h2d": "copies to the device",
    "d2h": "copies to the host",
}


def _serial(case: Case) -> dict[int, CopyRecord]:
    """Large copies that ran alone; asynchronous ones only where all is one stream."""
    streams = {c.stream for c in case.copies} | {r.stream for r in case.launches}
    has_streams = len(streams) > 1
    return {
        i: c
        for i, c in case.numbered_copies.items()
        if c.elapsed_ns >= c.duration_ns
        and c.bytes >= _half_speed_bytes(c, case)
        and not (c.is_async and has_streams)
    }


def _turns(case: Case, serial: Collection[int]) -> int:
    """Tell how often copies and launches follow each other: pieces to overlap."""
    is_copy = [
        i in serial
        for i, record in enumerate(case.records)
        if i in serial or isinstance(record, LaunchRecord)
    ]
    follows = Counter(pairwise(is_copy))
    return max(follows[True, False], follows[False, True])


def _overlap_fix(copy: CopyRecord) -> str:
    if is_of_tensor(copy) or is_argument(copy):
        return (
            "with simgpu.stream(simgpu.Stream()):   # the next batch, while this one "
            "runs\n"
            '    following = following.pin_memory().to("simgpu", non_blocking=True)'
        )
    return (
        "for x, host, stream in zip(parts, pinned, streams):   # a stream for each:\n"
        "    x.copy_to_device(host, stream=stream)   # first all copies in, then the "
        "launches"
    )


def _bandwidth(copy: CopyRecord, case: Case) -> float:
    return available_gb_per_s(copy.direction, copy.is_pinned, case.spec)


def _half_speed_bytes(copy: CopyRecord, case: Case) -> float:
    """Bytes at which latency and bandwidth cost the same: half of the peak is met."""
    return case.spec.copy_latency_ns * _bandwidth(copy, case)


COPY_FINDINGS: tuple[Callable[[Case], list[Candidate]], ...] = (
    *SAME_DATA_FINDINGS,
    _batch,
    _pin,
    overlap_findings,
)
