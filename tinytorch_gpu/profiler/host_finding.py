"""The finding "do not move this": the host would be done before the GPU.

Comes in: a `Case`. Goes out: one candidate, if the stated laptop's modelled time for
the same arithmetic and the same arrays is shorter than the GPU's. It tells how many
times larger the work of each launch would have to be, which is the slope test.

Source: as `cost.breakeven`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tinytorch_gpu.cost.breakeven import Work, find_host, host_ns
from tinytorch_gpu.profiler.finding import Candidate
from tinytorch_gpu.units import format_count, format_ns

if TYPE_CHECKING:
    from tinytorch_gpu.cost.breakeven import Host
    from tinytorch_gpu.profiler.case import Case
    from tinytorch_gpu.trace import LaunchCounts, LaunchRecord

__all__ = ["array_bytes", "host_finding", "host_work"]


def array_bytes(counts: LaunchCounts, *kinds: str) -> dict[str, int]:
    """Return the bytes of the global arrays that a kernel uses in certain ways.

    Args:
        counts: what the kernel did.
        kinds: of `load`, `store` and `atomic`.

    Returns:
        Bytes by the array's name in the source.
    """
    return {a.array: a.array_bytes for a in counts.global_accesses if a.kind in kinds}


def host_work(counts: LaunchCounts) -> Work:
    """Say what NumPy would have to do for the same result: one call on whole arrays.

    Args:
        counts: what the kernel did.

    Returns:
        The work, without copies and kernels.
    """
    loaded = sum(array_bytes(counts, "load", "atomic").values())
    stored = sum(array_bytes(counts, "store", "atomic").values())
    flops = sum(counts.total(name) for name in ("fp32", "fp64", "special"))
    return Work(float(flops), float(loaded + stored), 1, (), (), ())


def host_finding(case: Case) -> list[Candidate]:
    """Compare the profile's modelled time with that of the stated laptop.

    Args:
        case: the records and the GPU.

    Returns:
        One candidate that stands against all others, or none.
    """
    launches, host = case.launches, find_host("laptop")
    if not launches or any(launch.counts is None for launch in launches):
        return []
    calls, growing = _host_ns(launches, host)
    total = case.bill.total_ns
    if calls + growing >= total:
        return []
    sentence = (
        f"Do not move this: NumPy on a {host.name} ({host.gflop_per_s:g} GFLOP/s, "
        f"{host.gb_per_s:g} GB/s) would take {format_ns(calls + growing)}, "
        f"{case.spec.name} with its copies takes {format_ns(total)}; "
        f"{_crossing(case, calls, growing)}."
    )
    left = (calls + growing) / total
    savings = {i: ns * (1 - left) for i, ns in enumerate(case.elapsed_ns) if ns}
    fix = 'model.to("cpu")'
    return [Candidate("do not move this", savings, sentence, fix, is_alternative=True)]


def _host_ns(launches: list[LaunchRecord], host: Host) -> tuple[float, float]:
    """The host's time by what stays and by what grows with the size of the arrays."""
    known: dict[int, float] = {}  # a replayed launch has the counts of an earlier one
    for launch in launches:
        if launch.counts and id(launch.counts) not in known:
            known[id(launch.counts)] = host_ns(host_work(launch.counts), host)
    calls = host.call_ns * len(launches)
    return calls, sum(known[id(launch.counts)] for launch in launches) - calls


def _crossing(case: Case, calls: float, growing: float) -> str:
    """By how much all arrays would have to grow for the GPU to win, or never."""
    fixed, linear = _device_ns(case)
    if linear >= growing:
        return (
            "and larger arrays never change that: each byte costs the GPU "
            f"{linear / growing if growing else math.inf:.3g} times what it costs the "
            "host"
        )
    times = (fixed - calls) / (growing - linear)
    return f"break-even at arrays {format_count(math.ceil(times))} times as large"


def _device_ns(case: Case) -> tuple[float, float]:
    """The GPU's time by what stays and by what grows with the size of the arrays.

    Copies: the latency stays, the bytes grow. Launches: the issue and the kernel's
    floor stay, the rest of the kernel grows.
    """
    # Simplified: a small grid grows into idle SMs for free, so its time would grow more
    # slowly than here; the break-even told is the later one, up to the number of SMs
    # times too late for kernels of one block.
    copies = case.copies
    latency = sum(min(c.elapsed_ns, case.spec.copy_latency_ns) for c in copies)
    copied = sum(c.elapsed_ns for c in copies) - latency
    floor = case.spec.kernel_floor_ns
    work = sum(max(0.0, launch.duration_ns - floor) for launch in case.launches)
    fixed = case.bill.total_ns - copied - min(work, case.bill.kernel_ns)
    return fixed, copied + work
