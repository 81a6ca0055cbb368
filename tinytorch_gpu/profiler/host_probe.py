"""`measured_host`: how fast NumPy is on this machine, measured in about a second.

Source: McCalpin, "Memory Bandwidth and Machine Balance in Current High Performance
Computers" (1995), the add of the STREAM benchmark: arrays far larger than the caches,
the best of several runs.
"""

from __future__ import annotations

from time import perf_counter_ns
from typing import TYPE_CHECKING

import numpy as np

from tinytorch_gpu.cost.breakeven import Host

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["measured_host"]

SIDE = 512  # of the matrices, whose product takes 0.27 GFLOP
ARRAY_BYTES = 64_000_000  # of each of the three arrays of an addition
WARM_UPS = 2  # the first runs touch the pages and start the threads of the BLAS
RUNS = range(8, 100)  # at least and at most; between them as many as take `LONG_NS`
LONG_NS = 250_000_000


def measured_host() -> Host:
    """Measure this machine's matrix product, long addition and shortest call.

    Returns:
        The host; the best of several runs, as other programs only ever slow it down.

    Example:
        >>> measured_host().gflop_per_s > 0
        True
    """
    a, b = (np.full((SIDE, SIDE), value, np.float32) for value in (1, 2))
    x, y, z = (np.full(ARRAY_BYTES // 4, value, np.float32) for value in (1, 2, 3))
    product, short = np.empty_like(a), np.ones(1, np.float32)
    return Host(
        name="this machine, measured",
        gflop_per_s=2 * SIDE**3 / _best_ns(lambda: np.matmul(a, b, out=product)),
        gb_per_s=3 * ARRAY_BYTES / _best_ns(lambda: np.add(x, y, out=z)),
        call_ns=_best_ns(lambda: np.add(short, short)),
        source=f"best of {RUNS.start} or more: a product of {SIDE} x {SIDE} float32, "
        f"an addition of two arrays of {ARRAY_BYTES // 10**6} MB into a third",
    )


def _best_ns(run: Callable[[], object]) -> float:
    """Run some times and return the shortest time, at least 1 ns."""
    for _ in range(WARM_UPS):
        run()
    times = [_once_ns(run) for _ in range(RUNS.start)]
    while len(times) < RUNS.stop and sum(times) < LONG_NS:
        times.append(_once_ns(run))
    return float(max(1, min(times)))


def _once_ns(run: Callable[[], object]) -> int:
    before = perf_counter_ns()
    run()
    return perf_counter_ns() - before
