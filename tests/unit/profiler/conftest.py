"""Records made by hand, for the tests of the profiler."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.cost import kernel_time
from tinytorch_gpu.profiler.verdict import judge
from tinytorch_gpu.trace import (
    AccessCounts,
    CopyRecord,
    KernelSource,
    LaunchCounts,
    LaunchRecord,
    LineCounts,
    OpRecord,
    SourceLine,
)

T4 = find_gpu("t4")
WARPS = 32_000
GRID, BLOCK = (4000, 1, 1), (256, 1, 1)
HERE = SourceLine("lesson", "lesson.py", 3, "out[i] = x[i]")
COALESCED = AccessCounts(
    HERE, "x", "global", "load", 10, 40, 320, 1280, 1280, bytes_used=1280
)


def make_counts(*accesses, **totals):
    """Return the counts of a launch; by default 10 coalesced requests."""
    names = set(LineCounts.__dataclass_fields__) - {"line"}
    line = LineCounts(line=HERE, **(dict.fromkeys(names, 0) | totals))
    return LaunchCounts(accesses or (COALESCED,), (line,), 0)


def make_launch(op="", kernel="add_kernel", **changes):
    """Return a launch whose kernel takes 3 µs of 5 µs elapsed."""
    fields = {
        "kernel": KernelSource(kernel, f"/lessons/{kernel.split('_')[0]}.py", 12),
        "op": op,
        "grid": (4, 1, 1),
        "block": (256, 1, 1),
        "shared_bytes": 0,
        "counts": make_counts(),
        "is_replayed": False,
        "start_ns": 5000.0,
        "duration_ns": 3000.0,
        "issue_ns": 5000.0,
        "elapsed_ns": 5000.0,
        "bound": "floor",
    }
    return LaunchRecord(**(fields | changes))


def make_copy(op="", direction="h2d", nbytes=4096, elapsed_ns=9000.0, **changes):
    """Return a copy of 4 kB that takes 9 µs."""
    fields = {
        "direction": direction,
        "bytes": nbytes,
        "reason": "Tensor.to",
        "op": op,
        "is_pinned": False,
        "start_ns": 0.0,
        "duration_ns": elapsed_ns,
        "elapsed_ns": elapsed_ns,
    }
    return CopyRecord(**(fields | changes))


def make_op(op, parent="", key="SimGPU"):
    """Return one run of an op."""
    return OpRecord(op, parent, key, None, ((4, 4),))


def make_step():
    """Return one training step: a copy in, two ops, one of them decomposed."""
    return [
        make_copy("tinytorch::to"),
        make_op("tinytorch::to", key="Copy"),
        make_launch("tinytorch::add"),
        make_op("tinytorch::add"),
        make_launch("tinytorch::neg", "neg_kernel"),
        make_op("tinytorch::neg", "tinytorch::sigmoid"),
        make_launch("tinytorch::exp", "exp_kernel", is_replayed=True),
        make_op("tinytorch::exp", "tinytorch::sigmoid"),
        make_launch("tinytorch::add", is_replayed=True),
        make_op("tinytorch::add", "tinytorch::sigmoid"),
        make_op("tinytorch::sigmoid", key="Decompose"),
        make_copy(direction="d2h", nbytes=4, elapsed_ns=8000.0, reason="float(loss)"),
    ]


@pytest.fixture
def counts():
    """Give the maker of counts."""
    return make_counts


@pytest.fixture
def launch():
    """Give the maker of launches."""
    return make_launch


@pytest.fixture
def copy():
    """Give the maker of copies."""
    return make_copy


@pytest.fixture
def op():
    """Give the maker of op records."""
    return make_op


@pytest.fixture
def step():
    """Give the records of one training step."""
    return make_step()


@pytest.fixture
def found(launch):
    """Give the findings on one launch, timed as the model times it."""

    def make(counts, grid=GRID, block=BLOCK, shared_bytes=0, registers=None, **changes):
        time = kernel_time(counts, grid, block, shared_bytes, T4, registers)
        fields = {
            "counts": counts,
            "grid": grid,
            "block": block,
            "shared_bytes": shared_bytes,
            "duration_ns": time.duration_ns,
            "elapsed_ns": time.duration_ns + 5000,
            "terms": tuple(time.terms.items()),
            "bound": time.bound,
            "waves": time.waves,
            "theoretical_occupancy": time.occupancy.theoretical_occupancy,
            "occupancy_limiter": time.occupancy.limiter,
        }
        record = launch(**(fields | changes))
        return {f.kind: f for f in judge([record], spec=T4).findings}

    return make


@pytest.fixture
def access(counts):
    """Give the maker of accesses: each of the 32,000 warps loads 128 bytes."""

    def make(**changes):
        numbers = {
            "requests": WARPS,
            "sectors": 4 * WARPS,
            "active_lanes": 32 * WARPS,
            "bytes_requested": 128 * WARPS,
            "bytes_used": 128 * WARPS,
            "array_bytes": 128 * WARPS,
            "wavefronts": WARPS,
        }
        return replace(counts().accesses[0], **(numbers | changes))

    return make
