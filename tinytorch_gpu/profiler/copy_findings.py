"""Findings on copies: keep data on the device, copy many in one, pin, overlap.

Comes in: a `Case`. Goes out: candidates; `COPY_FINDINGS` holds one function for each
cause. A copy's record does not name its array, so copies of one direction, reason, line
and size count as the same data sent again, which the savings state as "at most".
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from tinytorch_gpu.cost import available_gb_per_s, copy_ns
from tinytorch_gpu.profiler.bill import bill_of
from tinytorch_gpu.profiler.case import Case, grouped
from tinytorch_gpu.profiler.finding import Candidate, many
from tinytorch_gpu.units import format_bytes, format_ns, format_share

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable

    from tinytorch_gpu.trace import CopyRecord

__all__ = ["COPY_FINDINGS", "dearest_copies", "keep_fix", "place", "transfer_ns"]

HOST_ARGUMENT = "host array argument"  # how the reason of an implicit copy begins
READ_BYTES = 16  # a D2H copy of so few bytes is a number that somebody reads


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


def keep_fix(copy: CopyRecord) -> str:
    """Return the code that keeps data on the device, for copies of one reason.

    Args:
        copy: one of the copies.

    Returns:
        Lines of code.
    """
    if copy.reason.startswith(HOST_ARGUMENT):
        name = _argument(copy)
        return (
            f"{name} = cuda.to_device({name})   # once, before the loop\n"
            f"host = {name}.copy_to_host()      # once, after it"
        )
    if copy.direction == "h2d":
        return 'data = data.to("simgpu")   # once, before the loop'
    if copy.bytes <= READ_BYTES:
        return "if step % 100 == 0:   # not in each step\n    print(loss.item())"
    return "result = result.cpu()   # once, after the loop"


def _argument(copy: CopyRecord) -> str:
    """Name the parameter that a host array was given for; the reason tells it."""
    parts = copy.reason.split("`")
    return parts[1] if len(parts) > 1 else "array"


def place(copy: CopyRecord) -> str:
    """Name the line of the user's code that asked for a copy, or nothing.

    Args:
        copy: the copy.

    Returns:
        For example " (train.py, line 12)".
    """
    if copy.origin is None:
        return ""
    file, line = copy.origin
    return f" ({file.rsplit('/', 1)[-1]}, line {line})"


def _same(copy: CopyRecord) -> Hashable:
    return copy.direction, copy.reason, copy.origin


def _keep(case: Case) -> list[Candidate]:
    """The same line copies as many bytes again and again: one copy is enough."""
    found = []
    for same in grouped(case.numbered_copies, _same):
        sizes = grouped(same, lambda copy: copy.bytes)
        again = [size for size in sizes if len(size) > 1]
        if again:
            found.append(_keep_one(case, again))
    return found


def _keep_one(case: Case, again: list[dict[int, CopyRecord]]) -> Candidate:
    """Of the copies of each size the dearest stays."""
    every = {i: copy for size in again for i, copy in size.items()}
    stay = {_dearest(size) for size in again}
    first = next(iter(every.values()))
    share = format_share(_elapsed(every.values()), case.bill.total_ns) + " of the time"
    if first.direction == "d2h" and first.bytes <= READ_BYTES:
        kind = "read back less often"
        told = f"brings a number to the host {len(every):,} times ({share})"
        rest = "each time the host waits until the device is done"
    else:
        kind = "keep it on the device"
        nbytes = format_bytes(sum(copy.bytes for copy in every.values()))
        way = "to the device" if first.direction == "h2d" else "back to the host"
        sizes = many(len(again), "size", "sizes")
        told = f"moves {nbytes} {way} in {len(every):,} copies of {sizes} ({share})"
        rest = f"of the same data {many(len(again), 'copy', 'copies')} would be enough"
    savings = {i: copy.elapsed_ns for i, copy in every.items() if i not in stay}
    sentence = f"`{first.reason}`{place(first)} {told}; {rest}."
    return Candidate(kind, savings, sentence, keep_fix(first))


def _dearest(copies: dict[int, CopyRecord]) -> int:
    return max(copies, key=lambda i: copies[i].elapsed_ns)


def _round_trips(case: Case) -> list[Candidate]:
    """Bytes that went to the host and came back: the work between was the host's."""
    waiting: dict[int, list[int]] = defaultdict(list)
    pairs: list[tuple[int, int]] = []
    copies = case.numbered_copies
    for i, copy in copies.items():
        if copy.bytes <= READ_BYTES:
            continue
        if copy.direction == "d2h":
            waiting[copy.bytes].append(i)
        elif waiting[copy.bytes]:
            pairs.append((waiting[copy.bytes].pop(), i))
    if not pairs:
        return []
    away, back = (copies[i] for i in pairs[0])
    savings = {i: copies[i].elapsed_ns for pair in pairs for i in pair}
    share = format_share(sum(savings.values()), case.bill.total_ns)
    sentence = (
        f"{many(len(pairs), 'array leaves', 'arrays leave')} the device and "
        f"{'comes' if len(pairs) == 1 else 'come'} back with the same size, "
        f"{format_bytes(away.bytes)} by `{away.reason}`{place(away)} and "
        f"`{back.reason}`: {share} of the time."
    )
    is_argument = back.reason.startswith(HOST_ARGUMENT)
    fix = keep_fix(back) if is_argument else RUN_THERE
    return [Candidate("round trip", savings, sentence, fix)]


RUN_THERE = (
    '@library.impl("tinytorch::the_op_between", "simgpu")   # run it on the device'
)


def _batch(case: Case) -> list[Candidate]:
    """Copies so small that they pay for the latency: one copy for all of them."""
    found = []
    latency = case.spec.copy_latency_ns
    for same in grouped(case.numbered_copies, _same):
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
    for same in grouped(pageable, _same):
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
    if copy.reason.startswith(HOST_ARGUMENT):
        name = _argument(copy)
        return f"with cuda.pinned({name}):   # around the loop"
    return 'data.pin_memory().to("simgpu", non_blocking=True)'


def _pinned_gain(copy: CopyRecord, case: Case) -> float:
    faster = copy_ns(copy.bytes, is_pinned=True, spec=case.spec)
    return min(copy.elapsed_ns, max(0.0, copy.duration_ns - faster))


def _overlap(case: Case) -> list[Candidate]:
    """Large copies that wait for kernels, and kernels that wait for copies.

    Only copies of pinned memory overlap, so a pageable one hides for as long as it
    would take pinned; the rest is what pinning alone saves.
    """
    serial = {
        i: c
        for i, c in case.numbered_copies.items()
        if c.elapsed_ns >= c.duration_ns and c.bytes >= _half_speed_bytes(c, case)
    }
    could = {i: c.elapsed_ns - _pinned_gain(c, case) for i, c in serial.items()}
    copied = sum(could.values())
    hidden = min(copied, case.bill.kernel_ns)
    if not hidden:
        return []
    savings = {i: ns * hidden / copied for i, ns in could.items()}
    copies = many(len(serial), "copy", "copies")
    if not all(copy.is_pinned for copy in serial.values()):
        copies += f", which would take {format_ns(copied)} from pinned memory,"
    else:
        copies += f" of {format_ns(copied)}"
    sentence = (
        f"{copies} and kernels of {format_ns(case.bill.kernel_ns)} run one after the "
        "other; on two streams the shorter of both can hide behind the longer."
    )
    fix = (
        "with simgpu.stream(simgpu.Stream()):   # the next batch, while this one runs\n"
        '    following = following.pin_memory().to("simgpu", non_blocking=True)'
    )
    return [Candidate("overlap this copy", savings, sentence, fix)]


def _bandwidth(copy: CopyRecord, case: Case) -> float:
    return available_gb_per_s(copy.direction, copy.is_pinned, case.spec)


def _half_speed_bytes(copy: CopyRecord, case: Case) -> float:
    """Bytes at which latency and bandwidth cost the same: half of the peak is met."""
    return case.spec.copy_latency_ns * _bandwidth(copy, case)


def _elapsed(copies: Iterable[CopyRecord]) -> float:
    return sum(copy.elapsed_ns for copy in copies)


COPY_FINDINGS: tuple[Callable[[Case], list[Candidate]], ...] = (
    _round_trips,
    _keep,
    _batch,
    _pin,
    _overlap,
)
