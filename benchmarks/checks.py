"""What watching launches costs, as a ratio to the same launch with counters on.

    python benchmarks/checks.py [--seconds S] [--tiny]

The seven kernels of `cuda_style.py`: with counters, with counters and the checks for
races and uninitialised reads, and with everything that `simgpu.sanitize` looks for.
Then the bytes that these checks keep for each element of the arrays.
"""

from __future__ import annotations

import argparse
import contextlib
import math
import os
import tracemalloc
from typing import TYPE_CHECKING, Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from cuda_style import cases
from timing import fastest_seconds

import tinytorch_gpu as simgpu
from tinytorch_gpu import cuda, settings
from tinytorch_gpu.runtime.watching import watching
from tinytorch_gpu.sanitizer import MemoryChecker
from tinytorch_gpu.sanitizer.touching import Memories

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextlib.contextmanager
def checked() -> Iterator[None]:
    """Look for races and uninitialised reads only."""
    with watching(MemoryChecker(Memories())):
        yield


@contextlib.contextmanager
def sanitized() -> Iterator[None]:
    """Look for everything."""
    with simgpu.sanitize(show=False):
        yield


WAYS: dict[str, Callable[[], contextlib.AbstractContextManager[Any]]] = {
    "counted": contextlib.nullcontext,
    "checked": checked,
    "sanitized": sanitized,
}


def table(seconds: float, *, is_tiny: bool) -> Iterator[str]:
    """Yield the lines of the table: milliseconds, and ratios to counters alone."""
    yield "| case, ms a launch | " + " | ".join(WAYS) + " |"
    yield "|---" * (len(WAYS) + 1) + "|"
    logs: dict[str, list[float]] = {way: [] for way in WAYS}
    for case in cases(is_tiny=is_tiny):
        found: dict[str, float] = {}
        for way, watch in WAYS.items():
            with settings.override(replay=False), watch():
                case.launch()
                case.check()
                found[way] = fastest_seconds(case.launch, seconds)
            logs[way].append(math.log(found[way] / found["counted"]))
        cells = (f"{s * 1e3:.3g} ({s / found['counted']:.1f}×)" for s in found.values())
        yield f"| {case.name} | " + " | ".join(cells) + " |"
    means = (f"{math.exp(sum(log) / len(log)):.2f}×" for log in logs.values())
    yield "| geometric mean of the ratios | " + " | ".join(means) + " |"


@cuda.jit
def in_place(x: Any) -> None:
    """Read and write each element: the checks keep most for such arrays."""
    i = cuda.grid(1)
    if i < x.size:
        x[i] = x[i] + np.float32(1)


def bytes_for_each_element(n: int) -> float:
    """Return what the checks keep of an array that is read and written."""
    x = cuda.to_device(np.zeros(n, np.float32))
    in_place[-(-n // 256), 256](x)
    with watching(MemoryChecker(Memories())):
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        in_place[-(-n // 256), 256](x)
        kept = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
    return kept / n


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description="Time the checks; see the top.")
    parser.add_argument("--seconds", type=float, default=0.5, help="for each timing")
    parser.add_argument("--tiny", action="store_true", help="sizes for a quick look")
    options = parser.parse_args()
    for line in table(options.seconds, is_tiny=options.tiny):
        print(line, flush=True)
    kept = bytes_for_each_element(1 << 12 if options.tiny else 1 << 22)
    print(f"\nKept for each element that is read and written: {kept:.1f} B")


if __name__ == "__main__":
    main()
