"""Causes in the work and its layout: float64, divisions, divergence, waits, a tail.

Each has two functions: what remains without it, and the sentence with its change.

Source: CUDA C++ Best Practices Guide, "Execution Configuration Optimizations" and
"Instruction Optimization"; the shares are ratios of exact counts and of the GPU's data.
"""

from __future__ import annotations

import math

from tinytorch_gpu.profiler.cause import Cause, Judged, below_well
from tinytorch_gpu.profiler.finding import many
from tinytorch_gpu.units import format_count, format_share

__all__ = ["WORK_CAUSES"]

OF_AN_SM = ("l1", "lsu", "l2", "shared", "fp32", "fp64", "special", "issue", "latency")


def _in_float32(judged: Judged) -> float | None:
    return below_well(judged.spec.fp64_lanes_per_sm, judged.spec.fp32_lanes_per_sm)


def _tell_float64(judged: Judged) -> tuple[str, str]:
    ratio = judged.spec.fp32_lanes_per_sm / judged.spec.fp64_lanes_per_sm
    sentence = (
        f"{judged.name} does {format_count(judged.counts.total('fp64'))} float64 "
        f"operations, each {ratio:.0f} times as dear as a float32 one on "
        f"{judged.spec.name}."
    )
    return sentence, "x.astype(np.float32)   # and constants as float32(0.5)"


def _without_special(judged: Judged) -> float | None:
    return 0.0 if judged.counts.total("special") else None


def _tell_special(judged: Judged) -> tuple[str, str]:
    sentence = (
        f"{judged.name} does {format_count(judged.counts.total('special'))} divisions, "
        f"roots or exponentials; an SM does {judged.spec.sfu_lanes_per_sm} of them in "
        f"a clock, but {judged.spec.fp32_lanes_per_sm} multiplications."
    )
    return sentence, "inverse = 1 / total   # once; then multiply: x[i] * inverse"


def _all_lanes(judged: Judged) -> float | None:
    issued = 32 * judged.counts.total("instructions")
    return below_well(judged.counts.total("active_lanes"), issued)


def _tell_divergence(judged: Judged) -> tuple[str, str]:
    counts = judged.counts
    lanes = counts.total("active_lanes") / counts.total("instructions")
    sentence = (
        f"{judged.name} has {lanes:.1f} of 32 lanes active on average; "
        f"{format_count(counts.total('divergent_branches'))} of "
        f"{format_count(counts.total('branches'))} branches part a warp."
    )
    return sentence, "value = a if condition else b   # or branch by whole warps"


def _full_sms(judged: Judged) -> float | None:
    blocks, sms = math.prod(judged.launch.grid), judged.spec.num_sms
    occupancy = judged.launch.theoretical_occupancy or 1.0
    return below_well(min(blocks, sms) * occupancy, sms)


def _tell_latency(judged: Judged) -> tuple[str, str]:
    launch, blocks = judged.launch, math.prod(judged.launch.grid)
    if blocks < judged.spec.num_sms:
        sentence = (
            f"{judged.name} has {many(blocks, 'block', 'blocks')} for "
            f"{judged.spec.num_sms} SMs: too few warps to work while others wait for "
            "memory."
        )
        return sentence, f"{judged.name}[more_blocks, 64](...)   # or a larger batch"
    limiter = launch.occupancy_limiter or "blocks"
    sentence = (
        f"{judged.name} fills an SM to {format_share(launch.theoretical_occupancy, 1)} "
        f"of its warps, limited by {limiter}: too few to work while others wait for "
        "memory."
    )
    return sentence, LIMITERS.get(limiter, f"{judged.name}[blocks, 256](...)")


LIMITERS = {
    "registers": "@cuda.jit(max_registers=32)",
    "shared memory": "tile = cuda.shared.array((16, 16), float32)   # a smaller tile",
}


def _whole_waves(judged: Judged) -> float | None:
    waves = judged.launch.waves
    return below_well(waves, math.ceil(waves)) if waves > 1 else None


def _tell_tail(judged: Judged) -> tuple[str, str]:
    whole = math.floor(judged.launch.waves)
    sentence = (
        f"{judged.name} runs in {judged.launch.waves:.2f} waves of blocks: after "
        f"{whole} whole the last one fills {judged.spec.name} to "
        f"{format_share(judged.launch.waves - whole, 1)}."
    )
    threads = max(32, math.prod(judged.launch.block) // 2)
    return sentence, f"{judged.name}[2 * blocks, {threads}](...)   # smaller blocks"


WORK_CAUSES = (
    Cause("float64", ("fp64",), _in_float32, _tell_float64),
    Cause("special functions", ("special",), _without_special, _tell_special),
    Cause("divergence", ("issue",), _all_lanes, _tell_divergence),
    Cause("latency", ("latency",), _full_sms, _tell_latency),
    Cause("tail", OF_AN_SM, _whole_waves, _tell_tail),
)
