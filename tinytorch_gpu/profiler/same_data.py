"""Findings on copies that may move the same data again: keep it, read it less, stay.

Comes in: a `Case`. Goes out: candidates; `SAME_DATA_FINDINGS` has both functions. A
copy's record tells its line, its reason, its bytes and where it lies on the device, but
not what the bytes are: a finding says "if" where only the program knows.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from tinytorch_gpu.profiler.case import Case, grouped
from tinytorch_gpu.profiler.finding import Candidate, many
from tinytorch_gpu.units import format_bytes, format_ns, format_share

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from tinytorch_gpu.trace import CopyRecord

    Waiting = dict[Hashable, list[int]]  # copies to the host by what can come back

__all__ = [
    "SAME_DATA_FINDINGS",
    "argument_of",
    "is_argument",
    "is_of_tensor",
    "keep_fix",
    "place",
    "same_line",
]

HOST_ARGUMENT = "host array argument"  # how the reason of an implicit copy begins
FALLBACK = "CPU fallback"  # how that of an op begins which runs on the host
IN_PLACE = ("copy_to_", "x[...]")  # those of copies of arrays that stay where they are
READ_BYTES = 16  # a D2H copy of so few bytes is a number that somebody reads


def is_argument(copy: CopyRecord) -> bool:
    """Tell whether a copy was made since a kernel was given a host array.

    Args:
        copy: the copy.
    """
    return copy.reason.startswith(HOST_ARGUMENT)


def is_of_tensor(copy: CopyRecord) -> bool:
    """Tell whether a tensor was copied, and not an array.

    Args:
        copy: the copy.
    """
    return bool(copy.op) or copy.reason.startswith(("Tensor", "to("))


def argument_of(copy: CopyRecord) -> str:
    """Name the parameter that a host array was given for; the reason tells it.

    Args:
        copy: one with `is_argument`.
    """
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


def keep_fix(copy: CopyRecord) -> str:
    """Return the code that keeps data on the device, for copies of one reason.

    Args:
        copy: one of the copies.

    Returns:
        Lines of code.
    """
    if is_argument(copy):
        name = argument_of(copy)
        return (
            f"{name} = cuda.to_device({name})   # once, before the loop\n"
            f"host = {name}.copy_to_host()      # once, after it"
        )
    is_tensor = is_of_tensor(copy) or "copy" not in copy.reason
    if copy.direction == "h2d":
        moved = 'data.to("simgpu")' if is_tensor else "cuda.to_device(data)"
        return f"data = {moved}   # once, before the loop"
    if copy.bytes <= READ_BYTES:
        read = "print(loss.item())" if is_tensor else "x.copy_to_host(host)"
        return f"if step % 100 == 0:   # not in each step\n    {read}"
    kept = "result.cpu()" if is_tensor else "x.copy_to_host()"
    return f"result = {kept}   # once, after the loop"


def same_line(copy: CopyRecord) -> Hashable:
    """Return what copies of one line for one reason have in common.

    Args:
        copy: the copy.
    """
    return copy.direction, copy.reason, copy.origin


def _keep(case: Case) -> list[Candidate]:
    """One line copies as much from or to one place again and again."""
    data = _data(case)
    found = []
    for same in grouped(case.numbered_copies, same_line):
        numbers = {i: i for i in same}
        again = [list(g) for g in grouped(numbers, data.__getitem__) if len(g) > 1]
        if again:
            found.append(_keep_one(case, again))
    return found


def _data(case: Case) -> dict[int, Hashable]:
    """What tells the data of copies apart, as far as the records know.

    Another array on the device has other data; so has one that was sent in (or read)
    again after it had been read (or sent in) as a whole. What a copy has made, a tensor
    or the array that stands for a host array, has its place by chance.
    """
    seen: dict[Hashable, int] = defaultdict(int)
    data: dict[int, Hashable] = {}
    for i, copy in case.numbered_copies.items():
        is_known = copy.address and copy.reason.startswith(IN_PLACE)
        if not is_known or copy.bytes <= READ_BYTES:
            data[i] = copy.bytes
            continue
        there = copy.bytes, copy.address
        other = "h2d" if copy.direction == "d2h" else "d2h"
        data[i] = *there, seen[other, there]
        seen[copy.direction, there] += 1
    return data


def _keep_one(case: Case, again: list[list[int]]) -> Candidate:
    """Of the copies of each data the dearest stays, the last of them."""
    copies = case.numbered_copies
    every = sorted(i for group in again for i in group)
    stay = {max(group, key=lambda i: (copies[i].elapsed_ns, i)) for group in again}
    dropped = [i for i in every if i not in stay]
    turns = case.lost_without(dropped)
    first = copies[every[0]]
    spent = sum(copies[i].elapsed_ns for i in every)
    share = format_share(spent, case.bill.total_ns) + " of the time"
    if turns:
        share += f", and for {format_ns(sum(turns.values()))} more host and device "
        share += "take turns"
    if first.direction == "d2h" and first.bytes <= READ_BYTES:
        kind = "read back less often"
        told = f"brings a number to the host {len(every):,} times ({share})"
        rest = "each time the host waits until the device is done"
    else:
        kind = "keep it on the device"
        nbytes = format_bytes(sum(copies[i].bytes for i in every))
        way = "to the device" if first.direction == "h2d" else "back to the host"
        sizes = many(len({copies[i].bytes for i in every}), "size", "sizes")
        told = f"moves {nbytes} {way} in {len(every):,} copies of {sizes} ({share})"
        is_in = first.direction == "h2d"
        rest = "if it is the same data" if is_in else "if only the last state is needed"
        rest += f" each time, {many(len(again), 'copy', 'copies')} would be enough"
        rest = rest if is_in else rest.replace(" each time", "")
    savings = {i: copies[i].elapsed_ns for i in dropped} | turns
    sentence = f"`{first.reason}`{place(first)} {told}; {rest}."
    return Candidate(kind, savings, sentence, keep_fix(first))


def _round_trips(case: Case) -> list[Candidate]:
    """Data that may have gone to the host and come back: the host worked between."""
    pairs, copies = _pairs(case), case.numbered_copies
    if not pairs:
        return []
    away, back = (copies[i] for i in pairs[0])
    both = [i for pair in pairs for i in pair]
    savings = {i: copies[i].elapsed_ns for i in both}
    share = format_share(sum(savings.values()), case.bill.total_ns)
    is_known = all(copies[i].reason.startswith(FALLBACK) for i in both)
    sentence = (
        f"{many(len(pairs), 'array leaves', 'arrays leave')} the device and "
        f"{'comes' if len(pairs) == 1 else 'come'} back with the same size, "
        f"{format_bytes(away.bytes)} by `{away.reason}`{place(away)} and "
        f"`{back.reason}`{place(back)}: {share} of the time"
        f"{'' if is_known else ', if it is the same data'}."
    )
    if not is_argument(back):  # the device does at least one launch for the host
        issue = case.spec.launch_issue_ns
        savings |= {i: max(0.0, copies[i].elapsed_ns - issue) for _, i in pairs}
    savings |= case.lost_without(both)
    return [Candidate("round trip", savings, sentence, _stay_fix(back))]


def _stay_fix(back: CopyRecord) -> str:
    if is_argument(back):
        return keep_fix(back)
    if is_of_tensor(back) or back.reason.startswith(FALLBACK):
        return (
            '@library.impl("tinytorch::the_op_between", "simgpu")   '
            "# run it on the device"
        )
    return "work_between[blocks, 256](x)   # a kernel in place of the host's work"


def _pairs(case: Case) -> list[tuple[int, int]]:
    """Copies to the host, each with the one that may have brought its data back."""
    waiting: Waiting = defaultdict(list)
    lines: dict[Hashable, list[int]] = defaultdict(list)
    first: dict[Hashable, str] = {}  # directions by line
    pairs: list[tuple[int, int]] = []
    for i, copy in case.numbered_copies.items():
        if copy.bytes <= READ_BYTES:
            continue
        first.setdefault((copy.bytes, copy.origin), copy.direction)
        if copy.direction == "d2h":
            key = _leaves(copy)
            if key not in waiting and copy.origin:
                lines[copy.bytes, copy.origin[0]].append(copy.origin[1])
            waiting[key].append(i)
            continue
        keys = [*_can_come_back(copy, lines)]
        if copy.origin and first[copy.bytes, copy.origin] == "d2h":
            keys.append((copy.bytes, copy.origin))  # out and in again on one line
        keys = [key for key in keys if waiting[key]]
        found = max((waiting[key] for key in keys), key=lambda w: w[-1], default=[])
        if found and _is_over(case.numbered_copies[found[-1]], copy):
            pairs.append((found.pop(), i))
    return pairs


def _is_over(away: CopyRecord, back: CopyRecord) -> bool:
    """Tell whether data was on the host when the copy back was asked for."""
    end = away.start_ns + away.duration_ns
    return not away.is_async or back.issue_start_ns >= end


def _has_own_reason(copy: CopyRecord) -> bool:
    """Tell whether the reason names what both directions of a trip are for."""
    return copy.reason.startswith((HOST_ARGUMENT, FALLBACK))


def _leaves(copy: CopyRecord) -> Hashable:
    return copy.bytes, copy.reason if _has_own_reason(copy) else copy.origin


def _can_come_back(
    copy: CopyRecord, lines: dict[Hashable, list[int]]
) -> list[Hashable]:
    """The keys of copies to the host that this one can have brought back.

    In a loop that sends data in, works and reads the result, the next data comes in at
    an earlier line than the result went out: it comes back only at a later one.
    """
    if _has_own_reason(copy):
        return [(copy.bytes, copy.reason)]
    if copy.origin is None:
        return []
    file, here = copy.origin
    earlier = (line for line in lines[copy.bytes, file] if line < here)
    return [(copy.bytes, (file, line)) for line in earlier]


SAME_DATA_FINDINGS: tuple[Callable[[Case], list[Candidate]], ...] = (
    _round_trips,
    _keep,
)
