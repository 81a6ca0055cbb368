"""The text of a report, and the sentence for each bound."""

from __future__ import annotations

import pytest

from tests.unit.profiler.conftest import make_counts, make_launch
from tests.unit.profiler.test_kernel_numbers import LOAD, TILE, WORK
from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.profiler.kernel_numbers import KernelNumbers, numbers_of
from tinytorch_gpu.profiler.kernel_text import report_text, verdict_of


def _numbers(**changes):
    fields = {
        "counts": make_counts(LOAD, TILE, **WORK),
        "terms": (("floor", 1000.0), ("dram", 1500.0), ("fp32", 300.0), ("sfu", 0.0)),
        "theoretical_occupancy": 0.5,
        "occupancy_limiter": "warps",
        "waves": 0.25,
    }
    launch = make_launch(**(fields | changes))
    return KernelNumbers(**numbers_of([launch] * 2, find_gpu("toy")))


def test_head_and_pipes():
    lines = report_text(_numbers()).splitlines()
    assert lines[:2] == [
        "add_kernel (add.py:12) on toy GPU: modelled 3.00 µs, 2 equal launches",
        "grid (4, 1, 1) × block (256, 1, 1)",
    ]
    assert lines[4:7] == [
        f"  dram        50.0 %   1.50 µs  {20 * '█'}",
        f"  fp32        10.0 %    300 ns  {4 * '█'}",
        "",
    ]


def test_accesses_are_rows_with_the_unit_of_their_space():
    text = report_text(_numbers())
    rows = [line.split() for line in text.splitlines() if line.startswith("  line 3")]
    assert rows == [
        ["line", "3", "load", "x", "global", "8", "64", "sectors", "8.0", "25", "%"],
        ["line", "3", "load", "tile", "shared", "4", "12", "wavefronts", "3.0", "-"],
    ]


@pytest.mark.parametrize(
    ("term", "why"),
    [
        ("dram", "; 3 flop/B, the ridge is at 2."),
        ("fp32", "; 3 flop/B, the ridge is at 2."),
        ("l1", "; 8 requests, 8.0 sectors per request."),
        ("shared", "; 12 passes over the banks, 4 without bank conflicts."),
        ("lsu", "; 4 requests to shared memory, 8 to global memory."),
        ("issue", "; 20 warp instructions, 75 % of their lanes active."),
        ("latency", "; theoretical occupancy 50 %, 0.25 waves."),
        ("barrier", "; 0 warps arrive at barriers, 0 threads for each clock of an SM."),
        ("special", "."),
    ],
)
def test_the_verdict_names_the_longest_term_and_why(term, why):
    numbers = _numbers(bound="shared memory", terms=(("floor", 1.0), (term, 1500.0)))
    first = f"Shared-memory-bound: {term} takes 1.50 µs of 3.00 µs"
    assert verdict_of(numbers) == first + why


def test_requests_to_global_memory_are_told_where_they_bind():
    numbers = _numbers(bound="memory", terms=(("lsu", 1500.0),))
    assert verdict_of(numbers).endswith("; 8 requests, 8.0 sectors per request.")


def test_a_kernel_at_its_floor():
    numbers = _numbers(bound="floor", terms=(("floor", 2500.0), ("dram", 500.0)))
    assert verdict_of(numbers) == "Floor-bound: floor takes 2.50 µs of 3.00 µs."


def test_without_counts_it_says_so():
    numbers = _numbers(counts=None, bound="not counted")
    assert verdict_of(numbers).startswith("Not counted")
    text = report_text(numbers)
    assert "Speed of light" not in text
    assert "50.0 %, limited by warps" in text
