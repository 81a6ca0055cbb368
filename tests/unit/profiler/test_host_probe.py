"""The probe measures this machine within bounds that any machine keeps."""

from __future__ import annotations

import time

from tinytorch_gpu.profiler.breakeven import breakeven
from tinytorch_gpu.profiler.host_probe import measured_host


def test_numbers_of_a_machine_of_this_age():
    began = time.perf_counter()
    host = measured_host()
    assert time.perf_counter() - began < 5
    assert 0.1 < host.gflop_per_s < 1e5
    assert 0.1 < host.gb_per_s < 1e4
    assert 10 < host.call_ns < 1e6
    assert "measured" in host.name


def test_a_break_even_on_request():
    assert "this machine, measured" in str(breakeven("matmul", [64], "measure"))
