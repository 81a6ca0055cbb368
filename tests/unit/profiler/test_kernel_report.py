"""Reports of kernels that ran."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.profiler.conftest import make_launch
from tinytorch_gpu import cuda, profiler
from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.errors import UnsupportedError
from tinytorch_gpu.profiler.kernel_report import report_of


@cuda.jit
def copy_strided(x, out, stride):
    i = cuda.grid(1)
    if i < out.size:
        value = x[i * stride]
        out[i] = value + value


@cuda.jit
def add_strided(x, y, out):
    i = cuda.grid(1)
    out[i] = x[2 * i] + y[2 * i]


@pytest.fixture(scope="module")
def reports():
    """Two launches of 1024 threads: one reads side by side, one every 8th element."""
    x = cuda.to_device(np.zeros(8 * 1024, np.float32))
    out = cuda.device_array(1024, np.float32)
    with profiler.profile() as prof:
        copy_strided[4, 256](x, out, np.int32(1))
        copy_strided[4, 256](x, out, np.int32(8))
    near, far = sorted(prof.kernels("copy_strided"), key=lambda r: r.sectors)
    return near, far


def test_counts_are_those_of_the_rule(reports):
    near, far = reports
    assert (near.requests, near.sectors) == (64, 64 * 4)
    assert far.sectors == 32 * 32 + 32 * 4  # a sector for each lane, and the stores
    assert near.fp32_flops == far.fp32_flops == 1024


def test_comparison_has_ratios(reports):
    near, far = reports
    compared = near.compare(far)
    assert compared.ratios["sectors"] == 1152 / 256
    assert compared.ratios["fp32_flops"] == 1.0
    assert "4.5 ×" in str(compared)


@pytest.mark.parametrize("other", [3, None, "copy_strided", [], {"name": "x"}])
def test_what_is_no_report_does_not_compare(reports, other):
    with pytest.raises(UnsupportedError, match="is no report of a kernel") as caught:
        reports[0].compare(other)
    assert all((caught.value.where, caught.value.why, caught.value.fix))


@pytest.mark.parametrize("width", ["a", None, 0, -5, 80.0, True])
def test_the_source_needs_a_number_of_columns(reports, width):
    with pytest.raises(UnsupportedError, match="width=") as caught:
        reports[0].source(width)
    assert all((caught.value.where, caught.value.why, caught.value.fix))


def test_source_is_the_line_table(reports):
    assert "value = x[i * stride]" in reports[0].source()


def test_shown_as_text_and_in_notebooks(reports):
    text = str(reports[0])
    assert text.splitlines()[0].startswith("copy_strided (test_kernel_report.py:")
    assert text.splitlines()[-1].endswith(reports[0].verdict.split()[-1])
    assert max(map(len, text.splitlines())) <= 100
    assert reports[0]._repr_html_().startswith("<pre>copy_strided")


def test_plots_itself(reports):
    pytest.importorskip("matplotlib", reason="pictures need matplotlib").use("Agg")
    assert reports[0].plot_roofline().get_xscale() == "log"


def test_launches_that_share_memory_otherwise_have_reports_of_their_own():
    x, y = (cuda.to_device(np.zeros(2**21, np.float32)) for _ in range(2))
    out = cuda.device_array(2**20, np.float32)
    with profiler.profile() as prof:
        add_strided[4096, 256](x, x, out)
        add_strided[4096, 256](x, y, out)
        add_strided[4096, 256](y, x, out)
    two, one = prof.kernels("add_strided")
    assert (two.launches, one.launches) == (2, 1)
    assert two.sectors == one.sectors
    assert two.dram_bytes > one.dram_bytes


def test_reports_of_equal_launches_count_them():
    launch = make_launch()
    assert report_of([launch] * 3, find_gpu("toy")).launches == 3
