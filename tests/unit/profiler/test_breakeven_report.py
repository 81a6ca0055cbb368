"""Crossings of curves whose crossing is known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinytorch_gpu.profiler.breakeven_report import FAR, Crossing, crossing

positive = st.integers(1, 10**6)


@given(positive, positive, positive)
def test_two_lines_cross_where_algebra_says(fixed, gpu, host):
    found = crossing(lambda n: fixed + gpu * n, lambda n: host * n)
    assert found.size == (fixed // (host - gpu) + 1 if host > gpu else None)


def test_the_gpu_may_win_at_once():
    assert crossing(lambda n: 1, lambda n: 5 * n).size == 1


@pytest.mark.parametrize(("last", "is_extrapolated"), [(100, True), (2000, False)])
def test_beyond_the_last_size_it_is_extrapolated(last, is_extrapolated):
    found = crossing(lambda n: 1000, lambda n: n, last)
    assert found.size == 1001
    assert found.is_extrapolated is is_extrapolated


def test_a_crossing_beyond_all_memory_is_none():
    found = crossing(lambda n: 3.0 * FAR, lambda n: float(n))
    assert found.size is None


@pytest.mark.parametrize(
    ("gpu_ns", "host_ns", "told"),
    [
        (2.0, 1.0, "costs the GPU 2.00 ns and the host 1.00 ns"),
        (1.0004, 1.0, "costs the GPU 1.0004 ns and the host 1.0000 ns"),
        (1.0, 1.0, "costs the GPU 1.00 ns, as much as the host"),
        (1.00000001, 1.0, "costs the GPU 1.00 ns, as much as the host"),
        (2000.0, 1000.0, "costs the GPU 2.00 µs and the host 1.00 µs"),
        (1000.4, 1000.0, "costs the GPU 1,000.4 ns and the host 1,000.0 ns"),
        (1.0, 2.0, "N would have to be larger than 1,099,511,627,776"),
    ],
)
def test_never_tells_slopes_that_differ(gpu_ns, host_ns, told):
    assert str(Crossing(None, gpu_ns, host_ns)).startswith("never: ")
    assert told in str(Crossing(None, gpu_ns, host_ns))
