"""Findings on what the host does: batch launches, fuse these, wait less, keep memory.

Comes in: a `Case`. Goes out: candidates; `LAUNCH_FINDINGS` holds one function for each
cause. What launches would cost as one, or in batches twice as large, the cost model
tells of as many times as many blocks.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING

from tinytorch_gpu.profiler.bill import bill_of
from tinytorch_gpu.profiler.case import (
    FREE,
    MALLOC,
    Case,
    exposed_ns,
    grouped,
    slack_ns,
)
from tinytorch_gpu.profiler.cause import judged_alike
from tinytorch_gpu.profiler.chain_finding import chain_findings, chains
from tinytorch_gpu.profiler.finding import Candidate, many
from tinytorch_gpu.profiler.op_table import plain_name
from tinytorch_gpu.trace import LaunchRecord, OpRecord
from tinytorch_gpu.units import format_ns, format_share

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["LAUNCH_FINDINGS"]

LEAST_RUN = 4  # so many equal launches in a row look like a loop on the host


def _larger_batches(case: Case) -> list[Candidate]:
    """Launches that are shorter than their issue: twice the batch needs half of them.

    Not only those that the device waits for: each kernel has its floor, too.
    """
    launches = case.numbered_launches
    short = {i: r for i, r in launches.items() if r.issue_ns >= r.duration_ns}
    if len(short) < LEAST_RUN:
        return []
    savings: dict[int, float] = {}
    for judged, alike in judged_alike(short, case.spec):
        grows = max(0.0, judged.grown(2).duration_ns - judged.now.duration_ns)
        savings |= {i: _half_of_two(r, grows) for i, r in alike.items()}
    issue = sum(launch.issue_ns for launch in short.values()) / len(short)
    runs = sum(launch.duration_ns for launch in short.values()) / len(short)
    sentence = (
        f"{len(short):,} launches, whether the device waits for them or not, cost the "
        f"host {format_ns(issue)} each while their kernels run {format_ns(runs)} on "
        "average; if there is more data than one batch, one twice as large needs half "
        "as many."
    )
    fix = "DataLoader(dataset, batch_size=2 * batch_size)"
    return [Candidate("larger batches", savings, sentence, fix)]


def _half_of_two(launch: LaunchRecord, grows_ns: float) -> float:
    """What half of two launches saves, if one of twice the size is made of them."""
    longer = max(0.0, grows_ns - slack_ns(launch))
    return max(0.0, launch.elapsed_ns - longer) / 2


def _runs(case: Case) -> list[dict[int, LaunchRecord]]:
    """Launches of one kernel in a row, nothing else between them.

    Ops that are known to work each on what the one before gave are none.
    """
    found: list[dict[int, LaunchRecord]] = []
    last = None
    for i, record in enumerate(case.records):
        if isinstance(record, OpRecord):
            continue
        key = record.kernel if isinstance(record, LaunchRecord) else None
        if isinstance(record, LaunchRecord):
            if key != last:
                found.append({})
            found[-1][i] = record
        last = key
    dependent = {i for chain in chains(case) for i in chain}
    return [r for r in found if len(r) >= LEAST_RUN and not dependent.issuperset(r)]


def _batch_launches(case: Case) -> list[Candidate]:
    """A loop on the host that launches one kernel: one launch with a larger grid."""
    runs = dict(enumerate(_runs(case)))
    found = []
    for same in grouped(runs, lambda run: next(iter(run.values())).kernel):
        savings: dict[int, float] = {}
        for run in same.values():
            savings |= _all_but_one(run, case)
        launches = [launch for run in same.values() for launch in run.values()]
        took = sum(launch.elapsed_ns for launch in launches)
        sentence = (
            f"{many(len(launches), 'launch', 'launches')} of {launches[0].kernel.name} "
            f"follow one another in {many(len(same), 'row', 'rows')} and take "
            f"{format_ns(took)}, {format_share(took, case.bill.total_ns)} of the time; "
            "if none needs what another gave, one launch a row does it in "
            f"{format_ns(took - sum(savings.values()))}."
        )
        fix = (
            f"{launches[0].kernel.name}[blocks_of_all, {math.prod(launches[0].block)}]"
            "(stacked, ...)   # one launch, no loop"
        )
        found.append(Candidate("batch these launches", savings, sentence, fix))
    return found


def _all_but_one(run: dict[int, LaunchRecord], case: Case) -> dict[int, float]:
    """What launches save, by position, if the first does their work with its own.

    The first then takes as much longer as the model says of all their blocks. Of a
    launch without counts only its issue and its floor are known to be saved.
    """
    first, *rest = run
    if any(launch.counts is None for launch in run.values()):
        floor = case.spec.kernel_floor_ns
        return {
            i: bill_of(run[i]).launch_ns + min(floor, exposed_ns(run[i])) for i in rest
        }
    parts = judged_alike(run, case.spec)
    # Of launches that differ each sort grows by itself, from the floor for the others.
    grown = [judged.grown(len(alike)).duration_ns for judged, alike in parts]
    whole = sum(grown) - (len(parts) - 1) * case.spec.kernel_floor_ns
    grows = max(0.0, whole - parts[0][0].now.duration_ns - slack_ns(run[first]))
    saved = sum(run[i].elapsed_ns for i in rest)
    left = max(0.0, 1 - grows / saved) if saved else 0.0
    return {i: left * run[i].elapsed_ns for i in rest}


def _fuse(case: Case) -> list[Candidate]:
    """Ops without a kernel of their own: one fused kernel in place of several."""
    pending: dict[str, list[int]] = defaultdict(list)  # launches by the op that asked
    fused: dict[str, list[list[int]]] = defaultdict(list)  # calls by decomposed op
    for i, record in enumerate(case.records):
        if isinstance(record, LaunchRecord):
            pending[record.op].append(i)
        elif isinstance(record, OpRecord):
            of_call = pending.pop(record.op, [])
            if record.key == "Decompose" and len(of_call) > 1:
                fused[record.op].append(of_call)
            elif record.parent:
                pending[record.parent] += of_call
    return [_fuse_one(op, calls, case) for op, calls in fused.items()]


def _fuse_one(op: str, calls: list[list[int]], case: Case) -> Candidate:
    launches = case.numbered_launches
    savings: dict[int, float] = {}
    for of_call in calls:
        stays = max(of_call, key=lambda i: launches[i].elapsed_ns)
        savings |= {i: launches[i].elapsed_ns for i in of_call if i != stays}
    ran = sum(map(len, calls)) / len(calls)
    sentence = (
        f"{plain_name(op)} has no kernel of its own and ran as {ran:.3g} launches a "
        f"call, {many(len(calls), 'call', 'calls')}; one fused kernel makes it 1."
    )
    fix = f'@library.impl("{op}", "simgpu")   # a kernel that does it all'
    return Candidate("fuse these ops", savings, sentence, fix)


def _wait_less(case: Case) -> list[Candidate]:
    """Synchronisations: the last one is enough, and launches go on without the rest."""
    waits = case.numbered_stops
    if len(waits) < 2:
        return []
    *others, last = waits
    lost = {i: ns for i, (at, ns) in case.lost_to_stops.items() if at != last}
    waited = sum(wait.elapsed_ns for wait in waits.values())
    turns = f", and for {format_ns(sum(lost.values()))} more host and device take turns"
    sentence = (
        f"{len(waits):,} synchronisations cost {format_ns(waited)}, "
        f"{format_share(waited, case.bill.total_ns)} of the time{turns * bool(lost)}; "
        "one at the end is enough to time or to read the results."
    )
    savings = {i: waits[i].elapsed_ns for i in others} | lost
    fix = "simgpu.synchronize()   # once, after the loop"
    return [Candidate("synchronize once", savings, sentence, fix)]


def _keep_memory(case: Case) -> list[Candidate]:
    """Memory that was given back to the driver: without that it is still there.

    Each cudaFree is saved, with its wait, and for each one cudaMalloc after it.
    """
    calls = case.numbered_calls
    savings = {i: case.elapsed_ns[i] for i in case.waits_of_frees}
    given_back = freed = again = 0
    for i, call in calls.items():
        if call.reason == FREE:
            freed, given_back = freed + 1, given_back + 1
        elif given_back:
            again, given_back = again + 1, given_back - 1
        else:
            continue
        savings[i] = call.elapsed_ns
    if not freed:
        return []
    sentence = (
        f"{many(freed, 'call', 'calls')} of {FREE}, and {again:,} of {MALLOC} after "
        f"{'it' if freed == 1 else 'them'}, cost {format_ns(sum(savings.values()))}, "
        f"{format_share(sum(savings.values()), case.bill.total_ns)} of the time; the "
        "allocator would have kept the memory."
    )
    fix = "simgpu.empty_cache()   # not in a loop: memory that is kept costs nothing"
    return [Candidate("keep memory", savings, sentence, fix)]


LAUNCH_FINDINGS: tuple[Callable[[Case], list[Candidate]], ...] = (
    _fuse,
    chain_findings,
    _batch_launches,
    _larger_batches,
    _wait_less,
    _keep_memory,
)
