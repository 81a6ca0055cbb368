"""A kernel's numbers as text: sections named as Nsight Compute names them."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from tinytorch_gpu.profiler.table import Column, table_lines
from tinytorch_gpu.units import (
    format_bytes,
    format_count,
    format_ns,
    format_share,
    format_short,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tinytorch_gpu.profiler.kernel_numbers import KernelNumbers
    from tinytorch_gpu.trace import AccessCounts

__all__ = ["WIDTH", "report_text", "verdict_of"]

WIDTH = 100
_BAR = 40  # characters of a pipe that works all the time
_PER_REQUEST = {
    "global": ("sectors", "sectors"),
    "shared": ("wavefronts", "wavefronts"),
    "constant": ("wavefronts", "words"),
}
_ACCESSES = (
    Column(("", "access"), is_text=True),
    Column(("", "space"), is_text=True),
    Column(("", "requests")),
    Column(("", "sectors or wavefronts")),
    Column(("", "for each request")),
    Column(("", "bytes used")),
)


def report_text(numbers: KernelNumbers) -> str:
    """Write all sections, and the verdict.

    Args:
        numbers: of one kernel and configuration.

    Returns:
        Lines of 100 columns at most.
    """
    times = f", {format_count(numbers.launches)} equal launches"
    least = "" if numbers.is_counted else "at least "
    head = (
        f"{numbers.launch.kernel} on {numbers.gpu.name}: "
        f"modelled {least}{format_ns(numbers.duration_ns)}"
        f"{times if numbers.launches > 1 else ''}\n"
        f"grid {numbers.grid} × block {numbers.block}"
    )
    parts = [_lined(head)]
    if numbers.is_counted:
        parts += [_speed_of_light(numbers), _memory(numbers), _warps(numbers)]
    parts += [_occupancy(numbers), _lined(verdict_of(numbers))]
    return "\n\n".join(parts)


def verdict_of(numbers: KernelNumbers) -> str:
    """Say in one sentence what binds the kernel, with the two numbers that decide it.

    Args:
        numbers: of one kernel and configuration.

    Returns:
        The sentence.
    """
    if not numbers.is_counted:
        return (
            "Not counted: 0 counts, so only the least that a kernel takes is known; "
            "settings.override(counters=True) counts."
        )
    term = max(numbers.terms, key=lambda name: numbers.terms[name], default="")
    bound = numbers.bound[:1].upper() + numbers.bound[1:].replace(" ", "-")
    took = f"{term} takes {format_ns(numbers.terms.get(term, 0.0))}"
    told = f"{took} of {format_ns(numbers.duration_ns)}"
    if term in _WHY:
        told += f"; {_WHY[term](numbers)}"
    return f"{bound}-bound: {told}."


def _by_dram(numbers: KernelNumbers) -> str:
    return (
        f"{numbers.arithmetic_intensity:.3g} flop/B, the ridge is at "
        f"{numbers.ridge_flops_per_byte:.3g}"
    )


def _by_requests(numbers: KernelNumbers) -> str:
    return (
        f"{format_short(numbers.requests)} requests, "
        f"{numbers.sectors_per_request:.1f} sectors per request"
    )


def _by_lanes(numbers: KernelNumbers) -> str:
    if numbers.bound != "shared memory":
        return _by_requests(numbers)
    return (
        f"{format_short(numbers.shared_requests)} requests to shared memory, "
        f"{format_short(numbers.requests)} to global memory"
    )


def _by_shared_memory(numbers: KernelNumbers) -> str:
    fewest = numbers.shared_wavefronts - numbers.bank_conflicts
    return (
        f"{format_short(numbers.shared_wavefronts)} passes over the banks, "
        f"{format_short(fewest)} without bank conflicts"
    )


def _by_issue(numbers: KernelNumbers) -> str:
    return (
        f"{format_short(numbers.warp_instructions)} warp instructions, "
        f"{100 * numbers.warp_execution_efficiency:.0f} % of their lanes active"
    )


def _by_barriers(numbers: KernelNumbers) -> str:
    rate = numbers.gpu.barrier_threads_per_clock
    return (
        f"{format_short(numbers.barriers)} warps arrive at barriers, {rate:g} threads "
        "for each clock of an SM"
    )


def _by_latency(numbers: KernelNumbers) -> str:
    return (
        f"theoretical occupancy {100 * numbers.theoretical_occupancy:.0f} %, "
        f"{numbers.waves:.2f} waves"
    )


_WHY: dict[str, Callable[[KernelNumbers], str]] = {
    "dram": _by_dram,
    "l2": _by_requests,
    "l1": _by_requests,
    "lsu": _by_lanes,
    "shared": _by_shared_memory,
    "fp32": _by_dram,
    "fp64": _by_dram,
    "issue": _by_issue,
    "barrier": _by_barriers,
    "latency": _by_latency,
    "exposed": _by_latency,
}


def _speed_of_light(numbers: KernelNumbers) -> str:
    ordered = sorted(numbers.speed_of_light.items(), key=lambda pipe: -pipe[1])
    lines = [
        f"  {name:<10}{100 * share:6.1f} %  {format_ns(numbers.terms[name]):>8}  "
        + "█" * round(_BAR * share)
        for name, share in ordered
        if share
    ]
    title = "Speed of light (modelled): share of the time that each pipe is at its peak"
    return "\n".join([title, *(line.rstrip() for line in lines)])


def _memory(numbers: KernelNumbers) -> str:
    accesses = numbers.launch.counts.accesses if numbers.launch.counts else ()
    rows = [row for access in accesses for row in _access(access)]
    lines = table_lines(_ACCESSES, rows, WIDTH - 2) if rows else []
    text = [f"  {line}" for line in lines]
    return "\n".join(["Memory tables", *text, *([_levels(numbers)] if rows else [])])


def _levels(numbers: KernelNumbers) -> str:
    """Where the bytes came from: exact down to L1, modelled below."""
    return (
        f"  global memory: lanes asked for {format_bytes(numbers.requested_bytes)}; "
        f"L1 {format_bytes(numbers.l1_bytes)}, L2 {format_bytes(numbers.l2_bytes)}, "
        f"DRAM {format_bytes(numbers.dram_bytes)}\n"
        f"  hit rates (modelled): L1 {100 * numbers.l1_hit_rate:.0f} %, "
        f"L2 {100 * numbers.l2_hit_rate:.0f} %"
    )


def _access(access: AccessCounts) -> list[list[str]]:
    if access.space not in _PER_REQUEST or not access.requests:
        return []
    field, unit = _PER_REQUEST[access.space]
    number = getattr(access, field)
    is_global = access.space == "global"
    return [
        [
            f"line {access.line.line}  {access.kind} {access.array}",
            access.space,
            format_short(access.requests),
            f"{format_short(number)} {unit}",
            f"{number / access.requests:.1f}",
            f"{100 * access.coalescing_efficiency:.0f} %" if is_global else "-",
        ]
    ]


def _warps(numbers: KernelNumbers) -> str:
    flops = numbers.fp32_flops + numbers.fp64_flops
    efficiency = 100 * numbers.warp_execution_efficiency
    return _section(
        "Warps and arithmetic",
        {
            "warp instructions": f"{format_count(numbers.warp_instructions)}, "
            f"{efficiency:.1f} % of their lanes active",
            "branches": f"{format_count(numbers.branches)}, "
            f"{format_count(numbers.divergent_branches)} divergent "
            f"({format_share(numbers.divergent_branches, numbers.branches)})",
            "bank conflicts": f"{format_count(numbers.bank_conflicts)} of "
            f"{format_count(numbers.shared_wavefronts)} wavefronts",
            "flops": f"{format_short(flops)} ({format_short(numbers.fp64_flops)} "
            f"float64) and {format_short(numbers.special_functions)} special functions",
            "intensity": f"{numbers.arithmetic_intensity:.3g} flop/B; the ridge is at "
            f"{numbers.ridge_flops_per_byte:.3g}",
            "rate": f"{numbers.flops_per_s / 1e9:.3g} Gflop/s (modelled); peak "
            f"{numbers.gpu.peak_fp32_flops / 1e9:,.0f} float32",
        },
    )


def _occupancy(numbers: KernelNumbers) -> str:
    return _section(
        "Occupancy and launch",
        {
            "theoretical": f"{100 * numbers.theoretical_occupancy:.1f} %, limited by "
            f"{numbers.occupancy_limiter or 'nothing known'}",
            "waves": f"{numbers.waves:.2f}",
            "waiting": _waiting(numbers),
            "shared memory": f"{format_bytes(numbers.shared_bytes)} for each block",
            "issue": f"{format_ns(numbers.issue_ns)} of host time (modelled)",
        },
    )


def _section(title: str, facts: dict[str, str]) -> str:
    lines: Sequence[str] = [f"  {name:<20}{told}" for name, told in facts.items()]
    return "\n".join([title, *lines])


def _lined(text: str) -> str:
    return "\n".join(
        line for part in text.splitlines() for line in textwrap.wrap(part, WIDTH)
    )


def _waiting(numbers: KernelNumbers) -> str:
    if not numbers.is_counted:
        return "not counted"
    latency, exposed = (numbers.terms.get(name, 0.0) for name in ("latency", "exposed"))
    return (
        f"{format_ns(latency)} of latency, {format_ns(exposed)} exposed by barriers "
        "(modelled)"
    )
