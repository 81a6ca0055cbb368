"""Figures of ours alone: against NumPy, the smallest launch, growth, memory.

    python benchmarks/figures.py [--tiny]

Prints a JSON line for each figure: name, value, unit, and the aim.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys

import numpy as np
from cuda_style import THREADS, Case, add_case, cuda, drawn, matmul_case, matmul_naive
from timing import median_seconds

from tinytorch_gpu import settings

MIB = 1 << 20
FLOAT32_BYTES = 4


@cuda.jit
def set_index(out):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
    """Store each thread's own index."""
    i = cuda.grid(1)
    if i < out.size:
        out[i] = i


def show(name: str, value: float, unit: str, aim: str) -> None:
    """Print one figure."""
    print(json.dumps({"name": name, "value": value, "unit": unit, "aim": aim}))


def timed(case: Case, seconds: float) -> float:
    """Launch once with its answer checked, then return the median, seconds."""
    case.launch()
    case.check()
    return median_seconds(case.launch, seconds)


def against_numpy(seconds: float, rows: int, elements: int) -> None:
    """Compare with what NumPy takes for the same answer."""
    a, b = drawn(2, rows, rows)
    ours = timed(matmul_case(matmul_naive, "matmul naive", rows), seconds)
    numpys = median_seconds(lambda: a @ b, seconds)
    name = f"matmul naive {rows}³, replayed, against a @ b"
    show(name, ours / numpys, "times", "1,500 at most")
    x, y = drawn(2, elements)
    out = np.empty_like(x)
    with settings.override(counters=False):
        ours = timed(add_case(elements), seconds)
    numpys = median_seconds(lambda: np.add(x, y, out=out), seconds)
    name = f"vector add {elements:,}, counters off, against np.add"
    show(name, ours / numpys, "times", "30 at most, 5 wanted")


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


def peak_mib(exponent: int, way: str) -> float:
    """Return the peak memory of a fresh process that adds 2^exponent elements.

    The same process with arrays of the same size and no launch is subtracted.
    """
    peaks = []
    for what in ("arrays", way):
        command = [sys.executable, __file__, "--peak", str(exponent), what]
        done = subprocess.run(command, capture_output=True, check=True)  # noqa: S603
        peaks.append(float(done.stdout))
    return peaks[1] - peaks[0]


def print_own_peak(exponent: int, way: str) -> None:
    """Add vectors, or only make them, and print this process's peak memory, MiB."""
    case = add_case(1 << exponent)
    if way != "arrays":
        with settings.override(counters=way == "counted"):
            case.launch()
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def memory(exponent: int) -> None:
    """Measure the memory that a launch takes above its arrays."""
    arrays = 3 * FLOAT32_BYTES * (1 << exponent) / MIB
    for way in ("counted", "off"):
        name = f"peak above the arrays ({arrays:.3g} MiB), 2^{exponent} threads, {way}"
        show(name, peak_mib(exponent, way), "MiB", "600 at most")


def main() -> None:
    """Measure all figures."""
    parser = argparse.ArgumentParser(description="Measure ours alone; see the top.")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each timing")
    parser.add_argument("--tiny", action="store_true", help="sizes for a quick look")
    parser.add_argument("--peak", nargs=2, metavar=("EXPONENT", "WAY"))
    options = parser.parse_args()
    if options.peak:
        print_own_peak(int(options.peak[0]), options.peak[1])
        return
    rows, elements, exponents = 256, MIB, [16, 18, 20, 22, 24]
    if options.tiny:
        rows, elements, exponents = 2 * 16, THREADS, [10, 12]
    against_numpy(options.seconds, rows, elements)
    smallest_launch(options.seconds)
    growth(options.seconds, exponents)
    memory(exponents[-1])


if __name__ == "__main__":
    main()
