"""The verdict's sentences when kernels dominate: the worst kernel, its bound, a cure.

Comes in: a `Case`. Goes out: two sentences. The second tells the cure of the cause that
`kernel_findings` ranks first (`CURES`); of a kernel without a cause it tells what its
bound leaves to do (`ADVICE`, one function for each bound of the cost model).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tinytorch_gpu.profiler.bill import bill_of
from tinytorch_gpu.profiler.case import at_hosts_pace, grouped
from tinytorch_gpu.profiler.cause import Judged
from tinytorch_gpu.profiler.chain_finding import WHERE_TO_LOOK, chains
from tinytorch_gpu.profiler.finding import LEAST_SHARE, many
from tinytorch_gpu.profiler.kernel_findings import worst_cause
from tinytorch_gpu.profiler.latency_advice import fuller_advice, idle_advice
from tinytorch_gpu.profiler.memory_causes import fewest_passes, lanes_apart
from tinytorch_gpu.profiler.packed import share_needed, wasted_sectors
from tinytorch_gpu.sanitizer.float64 import float64_lines, float64_text
from tinytorch_gpu.units import format_count, format_ns, format_share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tinytorch_gpu.profiler.case import Case
    from tinytorch_gpu.trace import AccessCounts, LaunchRecord

__all__ = ["ADVICE", "CURES", "worst_kernel_sentences"]


def worst_kernel_sentences(case: Case) -> tuple[str, str]:
    """Tell which kernel takes longest and what binds it; then what to change in it.

    Args:
        case: the records; kernels dominate.

    Returns:
        Two sentences. Both shares are of the whole modelled time.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> from tinytorch_gpu.profiler.bill import Bill
        >>> from tinytorch_gpu.profiler.case import Case
        >>> case = Case((), Bill(kernel_ns=5.0), 5.0, find_gpu("toy"))
        >>> worst_kernel_sentences(case)[1]
        'Use views instead of copies where the layout allows it.'
    """
    slow = {i: r for i, r in case.numbered_launches.items() if not at_hosts_pace(r)}
    if not slow:
        first = f"Kernel-bound: copies within the device take {case.share}."
        return first, "Use views instead of copies where the layout allows it."
    by_kernel = grouped(slow, lambda launch: launch.kernel)
    same = list(max(by_kernel, key=lambda group: _spent_ns(group.values())).values())
    longest = max(same, key=lambda launch: launch.duration_ns)
    spent = _spent_ns(same)
    first = (
        f"Kernel-bound: kernels take {case.share}, {longest.kernel} alone "
        f"{format_share(spent, case.bill.total_ns)}: {format_ns(spent)} in "
        f"{many(len(same), 'launch', 'launches')}, "
        f"bound: {longest.bound}{_measure(longest)}."
    )
    return first, _cure(case, longest, by_kernel)


def _cure(
    case: Case, longest: LaunchRecord, by_kernel: list[dict[int, LaunchRecord]]
) -> str:
    """What to change in a kernel: against its worst cause, if that is worth telling."""
    same = next(g for g in by_kernel if next(iter(g.values())).kernel == longest.kernel)
    gain, kind, worst = worst_cause(same, case.spec) or (0.0, "", None)
    if worst is not None and gain >= LEAST_SHARE * case.bill.total_ns:
        return CURES[kind](worst)
    told = ADVICE[longest.bound](Judged.of(longest, case.spec))
    is_chained = any(not same.keys().isdisjoint(chain) for chain in chains(case))
    look = f" {WHERE_TO_LOOK} tells what may be fused."
    return told + look * (is_chained and "fuse" in told)


def _spent_ns(launches: Iterable[LaunchRecord]) -> float:
    """The part of the bill that these kernels make."""
    return sum(bill_of(launch).kernel_ns for launch in launches)


def _measure(launch: LaunchRecord) -> str:
    """The number that belongs to a memory bound."""
    if launch.bound != "memory" or launch.counts is None:
        return ""
    return f", {launch.counts.sectors_per_request:.1f} sectors per request"


def _memory(judged: Judged) -> str:
    """What to do about bytes of a kernel that no other layout makes faster."""
    worst = max(judged.counts.global_accesses, key=wasted_sectors, default=None)
    if worst is None or share_needed(worst) is None:
        return _fewer_bytes(judged)
    return (
        f"The {worst.kind} of `{worst.array}` (line {worst.line.line}) moves "
        f"{worst.sectors_per_request:.1f} sectors per request, but side by side "
        "they would be hardly faster: move fewer bytes, and fuse it with its "
        "neighbours."
    )


def _uncoalesced(judged: Judged) -> str:
    worst = max(judged.counts.global_accesses, key=wasted_sectors)
    used = format_share(worst.coalescing_efficiency, 1)
    return (
        f"Let neighbouring lanes touch neighbouring elements: the {worst.kind} of "
        f"`{worst.array}` (line {worst.line.line}) moves "
        f"{worst.sectors_per_request:.1f} sectors per request and uses {used} of their "
        "bytes."
    )


def _fewer_bytes(judged: Judged) -> str:
    """What to do about bytes that lie side by side."""
    moved = {
        a: a.sectors * (2 if a.kind == "atomic" else 1)
        for a in judged.counts.global_accesses
    }
    most = max(moved, key=lambda access: moved[access], default=None)
    if most is not None and most.kind == "atomic":
        return (
            f"Each atomic operation on `{most.array}` (line {most.line.line}) brings "
            "its sector from DRAM and takes it back, as a load and a store would: add "
            "more in registers before, or fuse it with its neighbours."
        )
    return (
        "Its accesses are coalesced, so move fewer bytes: fuse it with its "
        "neighbours, or reuse data through a shared-memory tile."
    )


def _shared_memory(judged: Judged) -> str:
    shared = judged.counts.shared_accesses
    worst = max(shared, key=lambda access: access.wavefronts_per_request, default=None)
    if worst is not None and _meets(worst):
        return _meeting((worst,))
    if worst is None or worst.wavefronts < 2 * fewest_passes(worst):
        return "It has hardly a bank conflict: keep more values in registers."
    return _conflicts(judged)


def _conflicts(judged: Judged) -> str:
    shared = judged.counts.shared_accesses
    worst = max(shared, key=lambda access: access.wavefronts - fewest_passes(access))
    return (
        f"Pad the shared array by one column: the {worst.kind} of `{worst.array}` "
        f"(line {worst.line.line}) takes {worst.wavefronts_per_request:.1f} passes "
        "over the banks for each request, where "
        f"{fewest_passes(worst) / worst.requests:.3g} would do."
    )


def _compute(judged: Judged) -> str:
    counts = judged.counts
    if float64_lines(counts) or counts.total("fp64") > counts.total("fp32"):
        return _float64(judged)
    if judged.blocks < judged.spec.num_sms:
        return (
            "It does much arithmetic, and has "
            f"{many(judged.blocks, 'block', 'blocks')} for {judged.spec.num_sms} SMs: "
            "spread it over more."
        )
    return (
        "It does much arithmetic for each byte: do less of it, or choose a larger GPU."
    )


def _float64(judged: Judged) -> str:
    lines = float64_lines(judged.counts)
    if lines:
        worst = max(lines, key=lambda line: line.fp64)
        return (
            f"Line {worst.line.line} does {float64_text(worst.fp64)}: write its "
            "constants as float32(0.0)."
        )
    return (
        f"It does {format_count(judged.counts.total('fp64'))} float64 operations, "
        "which cost more than float32 ones: keep values and constants in float32."
    )


def _divergence(judged: Judged) -> str:
    total = judged.counts.total
    lanes = total("active_lanes") / total("instructions")
    if judged.is_partly_filled:
        return (
            f"Of 32 lanes {lanes:.1f} are active on average, as blocks of "
            f"{many(judged.threads, 'thread', 'threads')} do not fill their warps: "
            "launch a multiple of 32."
        )
    return (
        f"Of 32 lanes {lanes:.1f} are active on average, as lanes part at "
        f"{format_count(total('divergent_branches'))} branches, and then a warp issues "
        "both paths: branch by whole warps, or select without a branch."
    )


def _issue(judged: Judged) -> str:  # noqa: ARG001  (all have one form)
    return (
        "It issues many instructions for each byte: move index arithmetic out of loops."
    )


def _atomics(judged: Judged) -> str:
    atomics = judged.counts.atomics
    hottest = max((a.hottest_address for a in atomics), default=0)
    if hottest > judged.warps / 2 or any(map(_meets, atomics)):
        return _meeting(atomics)
    lanes = sum(access.active_lanes for access in atomics)
    return (
        f"It does {format_count(lanes)} atomic operations, at most "
        f"{format_count(hottest)} of them at one address: do fewer, and add what "
        "belongs to one address in registers or shared memory first."
    )


def _barriers(judged: Judged) -> str:
    return (
        f"Its warps arrive {format_count(judged.counts.barriers)} times at barriers, "
        f"and an SM takes in {judged.spec.barrier_threads_per_clock:g} threads a clock "
        "there, however many blocks it has: do more between two of them, or exchange "
        "values within warps."
    )


def _rereads(judged: Judged) -> str:  # noqa: ARG001  (all have one form)
    return (
        "The caches lose data before it is used again: reuse it through a "
        "shared-memory tile."
    )


def _special(judged: Judged) -> str:
    return (
        f"It does {format_count(judged.counts.total('special'))} divisions, roots or "
        "exponentials, which have a slow pipe of their own: multiply by an inverse."
    )


def _tail(judged: Judged) -> str:
    return (
        f"Its {many(judged.blocks, 'block', 'blocks')} do not spread evenly over "
        f"{judged.spec.num_sms} SMs, and it ends with the last: launch smaller blocks."
    )


def _meets(access: AccessCounts) -> bool:
    """Tell whether most lanes of an atomic meet others of their warp."""
    return access.kind == "atomic" and 2 * lanes_apart(access) < access.active_lanes


def _meeting(atomics: tuple[AccessCounts, ...]) -> str:
    hottest = max((a.hottest_address for a in atomics), default=0)
    return (
        f"Up to {format_count(hottest)} atomic operations meet at one address, one "
        "after another: add within a warp or block first, then once for all."
    )


def _floor(judged: Judged) -> str:
    return (
        "Each of these kernels is as short as a kernel can be, "
        f"{format_ns(judged.launch.duration_ns)} at the longest: make fewer, larger "
        "launches, by larger batches or fused element-wise ops."
    )


def _not_counted(judged: Judged) -> str:  # noqa: ARG001  (all have one form)
    return (
        "Switch counters on to learn what binds it: settings.override(counters=True)."
    )


ADVICE: dict[str, Callable[[Judged], str]] = {
    "memory": _memory,
    "shared memory": _shared_memory,
    "compute": _compute,
    "issue": _issue,
    "atomics": _atomics,
    "barriers": _barriers,
    "latency": idle_advice,
    "floor": _floor,
    "not counted": _not_counted,
}

CURES: dict[str, Callable[[Judged], str]] = {
    "uncoalesced": _uncoalesced,
    "cache-missing": _rereads,
    "bank conflicts": _conflicts,
    "atomics": lambda judged: _meeting(judged.counts.atomics),
    "float64": _float64,
    "special functions": _special,
    "divergence": _divergence,
    "latency": fuller_advice,
    "tail": _tail,
}
