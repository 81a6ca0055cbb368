"""The probe: its arithmetic by a clock of ours, and numbers that any machine keeps."""

from __future__ import annotations

import itertools
import time

import pytest

from tinytorch_gpu.profiler import host_probe
from tinytorch_gpu.profiler.breakeven import breakeven
from tinytorch_gpu.profiler.host_probe import measured_host


def _clock(monkeypatch, durations):
    """Let the n-th run take the n-th duration; each of them asks the clock twice."""
    readings = itertools.chain.from_iterable((0, ns) for ns in durations)
    monkeypatch.setattr(host_probe, "perf_counter_ns", lambda: next(readings))


def test_the_best_run_counts_and_eight_are_enough_if_they_are_long(monkeypatch):
    runs = []
    _clock(monkeypatch, [9e8, 7e8, 5e8, 6e8, 8e8, 9e8, 9e8, 9e8])
    assert host_probe._best_ns(lambda: runs.append(1)) == 5e8
    assert len(runs) == 2 + 8  # two more to warm up, which nobody times


def test_short_runs_are_repeated_until_a_quarter_of_a_second_is_over(monkeypatch):
    runs = []
    _clock(monkeypatch, [10_000_000] * 24 + [9_999_999] * 2)
    assert host_probe._best_ns(lambda: runs.append(1)) == 9_999_999
    assert len(runs) == 2 + 26  # 25 of them take 1 ns too little


def test_a_clock_too_coarse_to_see_a_run(monkeypatch):
    _clock(monkeypatch, [0] * 100)
    assert host_probe._best_ns(lambda: None) == 1


def test_the_arithmetic_by_a_clock_of_ours(monkeypatch):
    product, addition, call = 10_000_000, 16_000_000, 700
    _clock(monkeypatch, [product] * 25 + [addition] * 16 + [call] * 100)
    host = measured_host()
    assert host.gflop_per_s == pytest.approx(26.8435456)  # 2 x 512^3 in 10 ms
    assert host.gb_per_s == pytest.approx(12.0)  # 3 x 64 MB in 16 ms
    assert host.call_ns == 700


def test_the_arrays_of_the_addition_are_three_and_in_no_cache(monkeypatch):
    seen = []
    monkeypatch.setattr(host_probe.np, "add", lambda *a, **k: seen.append((*a, k)))
    measured_host()
    x, y, out = (*seen[0][:2], seen[0][2]["out"])
    assert len({id(x), id(y), id(out)}) == 3
    assert x.nbytes == y.nbytes == out.nbytes == 64_000_000


def test_numbers_of_a_machine_of_this_age():
    began = time.perf_counter()
    host = measured_host()
    assert time.perf_counter() - began < 20
    assert 0.1 < host.gflop_per_s < 1e5
    assert 0.1 < host.gb_per_s < 1e4
    assert 10 < host.call_ns < 1e6
    assert "measured" in host.name


def test_a_break_even_on_request():
    assert "this machine, measured" in str(breakeven("matmul", [64], "measure"))
