"""Break-even: gpu-facts' worked examples, kernels that run, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tinytorch_gpu import cuda
from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.cost.breakeven import Host
from tinytorch_gpu.errors import UnsupportedError
from tinytorch_gpu.profiler.breakeven import breakeven

# A T4 as the worked examples state it: 4.9 TFLOP/s and 256 GB/s sustained, 10 µs for
# each copy, 5 µs for each launch, no floor; a host of 60 GFLOP/s and 12 GB/s.
SUSTAINED = 4.9e12 / find_gpu("t4").peak_fp32_flops
T4 = replace(
    find_gpu("t4"),
    fp32_sustained=SUSTAINED,
    dram_gb_per_s=320.0,
    dram_efficiency=0.8,
    copy_latency_ns=10_000.0,
    launch_issue_ns=5_000.0,
    kernel_floor_ns=0.0,
    pageable_gb_per_s=6.0,
    pinned_gb_per_s=12.0,
)
HOST = Host("stated", 60.0, 12.0, 0.0, "worked examples")


def sizes_of(found):
    return {way: crossing.size for way, crossing in found.crossings.items()}


def test_matmul_pays_off_from_a_side_of_127():
    found = breakeven("matmul", [128], HOST, gpu=T4)
    assert sizes_of(found) == {"pageable": 127, "pinned": 114, "resident": 54}


def test_matmul_of_1024_and_4096():
    """Host 35.8 ms; GPU 2.57 ms, of which 0.44 are the kernel; at 4096 28.0 ms."""
    small, large = breakeven("matmul", [1024, 4096], HOST, gpu=T4).rows
    assert small.host_ns == pytest.approx(35.8e6, rel=0.002)
    assert small.pageable_ns == pytest.approx(2.57e6, rel=0.002)
    assert small.resident_ns - 5_000 == pytest.approx(0.44e6, rel=0.005)
    assert small.pageable_ns - small.resident_ns == pytest.approx(2.13e6, rel=0.002)
    assert large.resident_ns == pytest.approx(28.0e6, rel=0.003)
    assert large.pageable_ns - large.resident_ns == pytest.approx(33.6e6, rel=0.003)


def test_one_elementwise_op_never_pays_unless_its_data_is_there():
    """Host 8 B ÷ 12 GB/s = 0.667 ns; the link alone 8 B ÷ 6 GB/s = 1.33 ns."""
    found = breakeven("relu", [10**6], HOST, gpu=T4).crossings
    assert found["pageable"].size is found["pinned"].size is None
    assert found["pageable"].host_slope_ns == pytest.approx(8 / 12)
    assert found["pageable"].gpu_slope_ns == pytest.approx(8 / 6 + 8 / 256)
    assert str(found["pageable"]) == (
        "never: one more of N costs the GPU 1.36 ns and the host 0.667 ns"
    )
    assert found["resident"].size == 7869  # 5 µs ÷ (8/12 − 8/256 ns)


@pytest.mark.parametrize(
    ("ops", "pageable", "pinned"),
    [(2, None, 50), (4, 33, 21), (8, 16, 14), (16, 11, 11)],
)
def test_chains_in_thousands_of_elements(ops, pageable, pinned):
    found = sizes_of(breakeven(["relu"] * ops, [1000], HOST, gpu=T4))
    assert found["pageable"] == (pageable and pytest.approx(pageable * 1000, abs=500))
    assert found["pinned"] == pytest.approx(pinned * 1000, abs=500)


@pytest.mark.parametrize("way", ["pageable", "pinned", "resident"])
def test_the_crossing_is_the_first_size_at_which_the_gpu_wins(way):
    size = breakeven("matmul", [1], HOST, gpu=T4).crossings[way].size
    before, after = breakeven("matmul", [size - 1, size], HOST, gpu=T4).rows
    assert getattr(before, f"{way}_ns") >= before.host_ns
    assert getattr(after, f"{way}_ns") < after.host_ns


def test_table_and_dict():
    found = breakeven("matmul", [128, 1024], gpu="t4")
    lines = str(found).splitlines()
    assert lines[0].startswith("matmul: Tesla T4 (modelled, copies included) against")
    assert lines[2].split() == ["N", "host", "pageable", "pinned", "resident"]
    assert lines[4].split()[0] == "1,024"
    assert max(map(len, lines)) <= 100
    assert "<pre>" in found._repr_html_()
    assert json.loads(json.dumps(found.to_dict()))["rows"][0]["size"] == 128


@cuda.jit
def scale(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = 2 * x[i]


def arrays(size):
    return np.ones(size, np.float32), np.ones(size, np.float32)


def test_a_kernel_runs_at_each_size_and_copies_what_it_loads_and_stores():
    with simgpu.installed("t4"):
        small, large = breakeven(scale, [4096, 1024], HOST, arguments=arrays).rows
    assert (small.size, large.size) == (1024, 4096)
    assert small.host_ns == pytest.approx(1024 * 8 / 12)
    assert small.pageable_ns - small.resident_ns == pytest.approx(2 * (8000 + 4096 / 6))
    assert small.pinned_ns < small.pageable_ns


def test_a_kernel_that_never_pays():
    with simgpu.installed("t4"):
        found = breakeven(scale, [1024, 65_536], HOST, arguments=arrays)
    assert found.what == "scale"
    assert found.crossings["pageable"].size is None


def test_a_function_of_several_launches():
    def twice(x, out):
        scale.forall(x.size)(x, out)
        scale.forall(x.size)(out, x)
        return x

    with simgpu.installed("t4"):
        row, _ = breakeven(twice, [1000, 2000], HOST, arguments=arrays).rows
    assert row.host_ns == pytest.approx(2 * 8000 / 12)
    assert row.pageable_ns - row.resident_ns == pytest.approx(3 * (8000 + 4000 / 6))


def test_beyond_the_sizes_that_ran_it_is_extrapolated():
    slow = replace(HOST, gb_per_s=0.5)
    with simgpu.installed("t4"):
        found = breakeven(scale, [10, 20], slow, arguments=arrays)
    assert "(extrapolated)" in str(found.crossings["pageable"])


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: breakeven("softmax", [10]), "the work of the op 'softmax' is not"),
        (lambda: breakeven(["add", "matmul"], [10]), "'matmul' is not known"),
        (lambda: breakeven([], [10]), "neither an op nor a kernel"),
        (lambda: breakeven("add", [10], "cray"), "no host is called 'cray'"),
        (lambda: breakeven(scale, [10, 20]), "got no arguments, 2 sizes"),
        (lambda: breakeven(scale, [10], arguments=arrays), "1 sizes"),
        (lambda: breakeven(scale, [1, 2], arguments=arrays, gpu="t4"), "gpu='t4'"),
    ],
)
def test_refused_in_four_parts(call, text):
    with pytest.raises(UnsupportedError, match=text) as caught:
        call()
    told = str(caught.value)
    assert all(part in told for part in ("where", "why", "fix"))
    assert max(map(len, told.splitlines())) <= 91


def test_a_named_op_tells_which_kernel_it_prices_and_a_kernel_that_ran_does_not():
    text = str(breakeven("matmul", [64], gpu="t4"))
    assert "The kernel is a well-written one" in text
    assert "87 % of its bandwidth" in text  # dram_efficiency of the preset
    assert max(map(len, text.splitlines())) <= 100
    ran = breakeven(scale, [32, 64], arguments=arrays)
    assert ran.note == ""


def test_a_qualified_name_is_the_op():
    long, short = (breakeven(name, [64, 512]) for name in ("tinytorch::add", "add"))
    assert str(long) == str(short)
