"""Figures of ours alone: against NumPy, the smallest launch, growth, memory.

    python benchmarks/figures.py [--tiny]

Prints a JSON line for each figure: name, value, unit, and the aim.
"""

from __future__ import annotations

import argparse
import json
import tracemalloc
from typing import TYPE_CHECKING, Any

import numpy as np
from cuda_style import THREADS, Case, add_case, cuda, drawn, matmul_case, matmul_naive
from timing import fastest_seconds, seconds_of

from tinytorch_gpu import settings

if TYPE_CHECKING:
    from collections.abc import Callable

MIB = 1 << 20


@cuda.jit
def set_index(out):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Store each thread's own index."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = i


def show(name: str, value: float, unit: str, aim: str) -> None:
    """Print one figure."""
    row = {"name": name, "value": value, "unit": unit, "aim": aim}
    print(json.dumps(row), flush=True)


def timed(case: Case, seconds: float) -> float:
    """Launch once with its answer checked, then return the fastest, seconds."""
    case.launch()
    case.check()
    return fastest_seconds(case.launch, seconds)


def against(numpys: Callable[[], Any], ours: Case, seconds: float) -> float:
    """Return how many times as long as NumPy ours takes.

    The fastest of calls in turns, so that other work on the machine lengthens neither.
    """
    ours.launch()
    ours.check()
    took: list[tuple[float, float]] = []
    while not took or sum(mine + its for mine, its in took) < seconds:
        mine = seconds_of(ours.launch)
        its = min(seconds_of(numpys) for _ in range(5))
        took.append((mine, its))
    return min(mine for mine, _ in took) / min(its for _, its in took)


def against_numpy(seconds: float, rows: int, elements: int) -> None:
    """Compare with what NumPy takes for the same answer."""
    a, b = drawn(2, rows, rows)
    case = matmul_case(matmul_naive, "matmul naive", rows)
    name = f"matmul naive {rows}³, replayed, against a @ b"
    show(name, against(lambda: a @ b, case, seconds), "times", "1,500 at most")
    x, y = drawn(2, elements)
    out = np.empty_like(x)
    with settings.override(counters=False):
        ratio = against(lambda: np.add(x, y, out=out), add_case(elements), seconds)
    name = f"vector add {elements:,}, counters off, against np.add"
    show(name, ratio, "times", "30 at most, 5 wanted")


def smallest_launch(seconds: float) -> None:
    """Time a launch of one warp."""
    out = cuda.to_device(np.zeros(32, np.int32))
    case = Case("", lambda: set_index[1, 32](out), lambda: None)
    microseconds = timed(case, seconds) * 1e6
    show("launch of 32 threads, replayed", microseconds, "µs", "150 at most")


def growth(seconds: float, exponents: list[int]) -> None:
    """Time the vector add at growing sizes; a flat time a thread is linear growth."""
    for exponent in exponents:
        threads = 1 << exponent
        nanoseconds = timed(add_case(threads), seconds) / threads * 1e9
        show(f"vector add of 2^{exponent} threads", nanoseconds, "ns a thread", "flat")


def memory(exponent: int) -> None:
    """Measure the most memory that a launch holds besides its arrays."""
    case = add_case(1 << exponent)
    for way, counters in (("counted", True), ("off", False)):
        with settings.override(counters=counters, replay=False):
            tracemalloc.start()
            case.launch()
            peak = tracemalloc.get_traced_memory()[1] / MIB
            tracemalloc.stop()
        show(f"peak of 2^{exponent} threads, {way}", peak, "MiB", "600 at most")


def main() -> None:
    """Measure all figures."""
    parser = argparse.ArgumentParser(description="Measure ours alone; see the top.")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each timing")
    parser.add_argument("--tiny", action="store_true", help="sizes for a quick look")
    options = parser.parse_args()
    rows, elements, exponents = 256, MIB, [16, 18, 20, 22, 24]
    if options.tiny:
        rows, elements, exponents = 2 * 16, THREADS, [10, 12]
    against_numpy(options.seconds, rows, elements)
    smallest_launch(options.seconds)
    growth(options.seconds, exponents)
    memory(exponents[-1])


if __name__ == "__main__":
    main()
