"""Causes in the work and its layout: float64, divisions, divergence, waits, a tail.

Each has two functions: the modelled time without it, and the sentence with its change.
Where several shapes could help, the one of which the model expects most is told.

Source: CUDA C++ Best Practices Guide, "Execution Configuration Optimizations" and
"Instruction Optimization"; what is changed are exact counts or the shape of the launch,
of which the cost model makes a time.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.cost.waves import blocks_of_an_sm
from tinytorch_gpu.profiler.cause import Cause, Judged, below_well
from tinytorch_gpu.profiler.finding import many
from tinytorch_gpu.profiler.line_text import sums_of_a_quotient
from tinytorch_gpu.profiler.packed import in_whole_warps
from tinytorch_gpu.units import format_count, format_share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tinytorch_gpu.cost import KernelTime
    from tinytorch_gpu.trace import LaunchCounts, LineCounts

__all__ = ["WORK_CAUSES"]

Change = dict[str, Any]  # of a launch's shape, as `Judged.time` takes it

USUAL = 256  # threads of a block
LEAN = 32  # registers of a thread, with which most SMs are full


def _with_lines(
    judged: Judged,
    change: Callable[[LineCounts], Change],
    counts: LaunchCounts | None = None,
) -> KernelTime:
    """Model the launch with its lines changed, and with other counts of memory."""
    lines = tuple(replace(line, **change(line)) for line in judged.counts.lines)
    return judged.time(counts=replace(counts or judged.counts, lines=lines))


def _in_float32(judged: Judged) -> KernelTime | None:
    spec = judged.spec
    if below_well(spec.fp64_lanes_per_sm, spec.fp32_lanes_per_sm) is None:
        return None
    return _with_lines(judged, _as_float32) if judged.counts.total("fp64") else None


def _as_float32(line: LineCounts) -> Change:
    fused = line.fused_fp32 + line.fused_fp64
    warps = line.fp32_warps + line.fp64_warps
    work = {"fp32": line.fp32 + line.fp64, "fp32_warps": warps, "fused_fp32": fused}
    return work | dict.fromkeys(("fp64", "fp64_warps", "fused_fp64"), 0)


def _tell_float64(judged: Judged) -> tuple[str, str]:
    ratio = judged.spec.fp32_lanes_per_sm / judged.spec.fp64_lanes_per_sm
    sentence = (
        f"{judged.name} does {format_count(judged.counts.total('fp64'))} float64 "
        f"operations, each {ratio:.0f} times as dear as a float32 one on "
        f"{judged.spec.name}."
    )
    return sentence, "x.astype(np.float32)   # and constants as float32(0.5)"


def _multiplied(judged: Judged) -> KernelTime | None:
    if not judged.counts.total("special"):
        return None
    return _with_lines(judged, _as_products)


def _as_products(line: LineCounts) -> Change:
    fused = min(
        sums_of_a_quotient(line.line.text) * line.special_warps, line.fp32_warps
    )
    share = fused / line.special_warps if line.special_warps else 0.0
    work = {
        "fp32": line.fp32 + line.special,
        "fp32_warps": line.fp32_warps + line.special_warps - round(fused),
        "fused_fp32": line.fused_fp32 + round(share * line.special),
        "fused_instructions": line.fused_instructions + round(fused),
    }
    return work | dict.fromkeys(("special", "special_warps"), 0)


def _tell_special(judged: Judged) -> tuple[str, str]:
    sentence = (
        f"{judged.name} does {format_count(judged.counts.total('special'))} divisions, "
        f"roots or exponentials; an SM does {judged.spec.sfu_lanes_per_sm} of them in "
        f"a clock, but {judged.spec.fp32_lanes_per_sm} multiplications."
    )
    return sentence, "inverse = 1 / total   # once; then multiply: x[i] * inverse"


def _all_lanes(judged: Judged) -> KernelTime | None:
    issued = 32 * judged.counts.total("instructions")
    if below_well(judged.counts.total("active_lanes"), issued) is None:
        return None
    return _with_lines(judged, _with_full_warps, in_whole_warps(judged.counts))


def _with_full_warps(line: LineCounts) -> Change:
    needed = min(line.instructions, -(-line.active_lanes // 32))
    left = needed / line.instructions if line.instructions else 1.0
    warps = ("fused_instructions", "fp32_warps", "fp64_warps", "special_warps")
    fewer = {name: round(left * getattr(line, name)) for name in warps}
    return fewer | {"instructions": needed}


def _tell_divergence(judged: Judged) -> tuple[str, str]:
    counts = judged.counts
    lanes = counts.total("active_lanes") / counts.total("instructions")
    if judged.is_partly_filled:
        sentence = (
            f"{judged.name} has {lanes:.1f} of 32 lanes active on average: a block has "
            f"{many(judged.threads, 'thread', 'threads')}, and a warp 32 lanes."
        )
        block = 32 * -(-judged.threads // 32)
        return sentence, f"kernel[blocks, {block}](...)   # a multiple of 32 threads"
    sentence = (
        f"{judged.name} has {lanes:.1f} of 32 lanes active on average; "
        f"{format_count(counts.total('divergent_branches'))} of "
        f"{format_count(counts.total('branches'))} branches part a warp."
    )
    return sentence, "value = a if condition else b   # or branch by whole warps"


def _best(judged: Judged, changes: Iterator[Change]) -> Change | None:
    """The change of shape that shortens the launch most, if any does."""
    times = [(judged.time(**change).duration_ns, change) for change in changes]
    least, change = min(times, key=lambda time: time[0], default=(0.0, None))
    is_shorter = change is not None and least < judged.now.duration_ns
    return change if is_shorter else None


def _time_of(judged: Judged, change: Change | None) -> KernelTime | None:
    return None if change is None else judged.time(**change)


def _more_at_a_time(judged: Judged) -> Change | None:
    """What would let an SM have more to do while its warps wait."""
    return _best(judged, _fuller(judged)) if judged.now.bound == "latency" else None


def _fuller(judged: Judged) -> Iterator[Change]:
    limiter, launch = judged.launch.occupancy_limiter, judged.launch
    times = _times_as_many(judged)
    if times > 1:
        yield {"grid": (times * judged.blocks, 1, 1)}
    if limiter == "registers" and (judged.registers or 0) > LEAN:
        yield {"registers": LEAN}
    if limiter == "shared memory":
        yield {"shared_bytes": launch.shared_bytes // 2}
    threads = judged.blocks * judged.threads
    is_free = not launch.shared_bytes and not judged.counts.barriers
    if limiter in {"warps", "blocks"} and is_free and threads % USUAL == 0:
        yield {"grid": (threads // USUAL, 1, 1), "block": (USUAL, 1, 1)}


def _loads_of_a_thread(judged: Judged) -> int:
    """Loads of global memory that a thread makes in turn, at the place with most."""
    loads = (a.requests for a in judged.counts.global_accesses if a.kind == "load")
    return max(loads, default=0) // judged.warps


def _times_as_many(judged: Judged) -> int:
    """How many times as many threads could share the loads, and fit on the GPU.

    A thread without a loop of loads has nothing to share: more blocks would do more
    work in the time, and not the same work in less.
    """
    room = judged.spec.num_sms * max(1, judged.resident) // judged.blocks
    return min(room, _loads_of_a_thread(judged))


def _hides_more(judged: Judged) -> KernelTime | None:
    return _time_of(judged, _more_at_a_time(judged))


def _tell_latency(judged: Judged) -> tuple[str, str]:
    change, name = _more_at_a_time(judged) or {}, judged.name
    if "grid" in change and "block" not in change:
        blocks = change["grid"][0]
        sentence = (
            f"{name} has {many(judged.blocks, 'block', 'blocks')} for "
            f"{judged.spec.num_sms} SMs, and each thread waits for "
            f"{_loads_of_a_thread(judged):,} loads in turn, which more threads could "
            "share."
        )
        part = blocks // judged.blocks
        return sentence, f"{name}[{blocks}, {judged.threads}](...)   # 1/{part} each"
    limiter = judged.launch.occupancy_limiter
    fits = format_share(judged.launch.theoretical_occupancy, 1)
    sentence = (
        f"{name} fits on an SM with {fits} of its warps, limited by {limiter}: too few "
        "to work while others wait."
    )
    if "block" in change:
        return sentence, f"{name}[{change['grid'][0]}, {USUAL}](...)"
    return sentence, LIMITERS.get(limiter, "")


LIMITERS = {
    "registers": f"@cuda.jit(max_registers={LEAN})",
    "shared memory": "tile = cuda.shared.array((16, 16), float32)   # half the bytes",
}


def _smaller_blocks(judged: Judged) -> Change | None:
    """The split of blocks that spreads them best over the SMs, if any does."""
    return _best(judged, _splits(judged)) if _evenness(judged) < 1 else None


def _evenness(judged: Judged, parts: int = 1) -> float:
    """Blocks of an average SM ÷ those of the one with most, when blocks are split."""
    blocks, sms = parts * judged.blocks, judged.spec.num_sms
    if blocks < sms:
        return 1.0
    return blocks / sms / blocks_of_an_sm(blocks, judged.spec)


def _splits(judged: Judged) -> Iterator[Change]:
    warps, parts = judged.threads // 32, 2
    while judged.threads % 32 == 0 and warps % parts == 0:
        if _evenness(judged, parts) > _evenness(judged):
            yield {
                "grid": (parts * judged.blocks, 1, 1),
                "block": (judged.threads // parts, 1, 1),
                "shared_bytes": judged.launch.shared_bytes // parts,
            }
        parts *= 2


def _spread_evenly(judged: Judged) -> KernelTime | None:
    return _time_of(judged, _smaller_blocks(judged))


def _tell_tail(judged: Judged) -> tuple[str, str]:
    change = _smaller_blocks(judged) or {}
    most = blocks_of_an_sm(judged.blocks, judged.spec)
    sentence = (
        f"{judged.name} runs in {judged.launch.waves:.2f} waves of blocks: some SMs of "
        f"{judged.spec.name} have {most:g} of them, the average is "
        f"{judged.blocks / judged.spec.num_sms:.2f}, and the kernel ends with the last."
    )
    blocks, threads = change["grid"][0], change["block"][0]
    return sentence, f"{judged.name}[{blocks}, {threads}](...)   # smaller blocks"


WORK_CAUSES = (
    Cause("float64", _in_float32, _tell_float64),
    Cause("special functions", _multiplied, _tell_special),
    Cause("divergence", _all_lanes, _tell_divergence),
    Cause("latency", _hides_more, _tell_latency),
    Cause("tail", _spread_evenly, _tell_tail),
)
