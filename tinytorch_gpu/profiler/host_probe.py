"""`measured_host`: how fast NumPy is on this machine, measured in about 50 ms."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import numpy as np

from tinytorch_gpu.cost.breakeven import Host

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["measured_host"]

SIDE = 512  # of the matrices, whose product takes 0.27 GFLOP
ADD_BYTES = 64_000_000  # read and written by one addition
SHARE_S = 0.02  # measured time for each of the two


def measured_host() -> Host:
    """Measure this machine's matrix product, long addition and shortest call.

    Returns:
        The host; the best of several runs, as other programs only ever slow it down.

    Example:
        >>> measured_host().gflop_per_s > 0
        True
    """
    matrix = np.ones((SIDE, SIDE), np.float32)
    long = np.ones(ADD_BYTES // 12, np.float32)
    out, short = np.empty_like(long), np.ones(1, np.float32)
    return Host(
        name="this machine, measured",
        gflop_per_s=2 * SIDE**3 / _best_ns(lambda: matrix @ matrix),
        gb_per_s=ADD_BYTES / _best_ns(lambda: np.add(long, long, out=out)),
        call_ns=_best_ns(lambda: np.add(short, short)),
        source=f"a product of {SIDE} x {SIDE} float32, an addition of 64 MB",
    )


def _best_ns(run: Callable[[], object]) -> float:
    """Run for a while and return the shortest time."""
    until = time.perf_counter() + SHARE_S
    best = float("inf")
    while best == float("inf") or time.perf_counter() < until:
        before = time.perf_counter_ns()
        run()
        best = min(best, time.perf_counter_ns() - before)
    return max(best, 1.0)
