"""O1: six matrix products of N = 4096 on an RTX A6000, published beside modelled.

All counts of these kernels grow by the same amount with each tile of k. So two short
launches (k of 32 and 64, all else as published) tell the counts of k = 4096; a test
proves it at a length that can be run.

Source: siboehm/SGEMM_CUDA, README: Gflop/s of kernels 1 to 6.
"""

from __future__ import annotations

import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tinytorch_gpu import profiler
from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.cost import kernel_time
from tinytorch_gpu.trace import LaunchCounts

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "sgemm"))

from products import STEPS

if TYPE_CHECKING:
    from tinytorch_gpu.cost import KernelTime

GPU, N = "rtxa6000", 4096
PUBLISHED = (309.0, 1986.5, 2980.3, 8474.7, 15971.7, 18237.3)  # Gflop/s
SHORT, LONG = 32, 64  # of k, in the launches that run


class Row(NamedTuple):
    """One kernel: Gflop/s as published and as modelled, and what binds."""

    name: str
    published: float
    modelled: float
    bound: str
    seconds_on_gpu: float


def rows() -> list[Row]:
    """Model all six kernels."""
    steps = zip(STEPS, PUBLISHED, strict=True)
    return [_row(*step, published) for step, published in steps]


def _row(name: str, kernel: Any, tile: int, block: Any, published: float) -> Row:
    time = modelled(kernel, tile, block)
    gflops = 2 * N**3 / time.duration_ns
    term = f"{time.bound} ({time.binding_term})"
    return Row(name, published, gflops, term, time.duration_ns / 1e9)


def modelled(kernel: Any, tile: int, block: Any) -> KernelTime:
    """Model a product of N × N × N."""
    short, long = (_estimate(kernel, tile, block, k) for k in (SHORT, LONG))
    counts = grown(short.counts, long.counts, (N - SHORT) / (LONG - SHORT))
    return kernel_time(
        counts,
        long.grid,
        long.block,
        long.shared_bytes,
        find_gpu(GPU),
        long.registers,
    )


def _estimate(kernel: Any, tile: int, block: Any, k: int) -> profiler.Estimate:
    like = profiler.like
    arrays = like((N, k)), like((k, N)), like((N, N))
    grid = (N // tile, N // tile)
    few = 4 if tile < 64 else 1  # all blocks do the same
    return profiler.estimate(kernel, grid, block, arrays, blocks=few, gpu=GPU)


def grown(short: LaunchCounts, long: LaunchCounts, times: float) -> LaunchCounts:
    """Add to the counts of a short launch so many times what a longer one has more."""
    return LaunchCounts(
        _grown(short.accesses, long.accesses, times),
        _grown(short.lines, long.lines, times),
        round(short.barriers + times * (long.barriers - short.barriers)),
        _grown(short.reuse, long.reuse, times),
    )


def _grown(short: Any, long: Any, times: float) -> Any:
    """The same of each pair of records."""
    return tuple(_one(a, b, times) for a, b in zip(short, long, strict=True))


def _one(a: Any, b: Any, times: float) -> Any:
    numbers = {
        f.name: round(
            getattr(a, f.name) + times * (getattr(b, f.name) - getattr(a, f.name))
        )
        for f in fields(a)
        if isinstance(getattr(a, f.name), int) and f.name != "step_lines"
    }
    return replace(a, **numbers)
