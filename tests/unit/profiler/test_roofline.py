"""The roofline picture."""

from __future__ import annotations

import pytest

from tests.unit.profiler.conftest import make_counts, make_launch
from tests.unit.profiler.test_kernel_numbers import LOAD, WORK
from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.profiler.kernel_report import report_of
from tinytorch_gpu.profiler.roofline import draw_roofline

matplotlib = pytest.importorskip("matplotlib", reason="pictures need matplotlib")


@pytest.fixture(autouse=True)
def _no_window():
    matplotlib.use("Agg")
    yield
    matplotlib.pyplot.close("all")


def test_roofs_meet_at_the_ridge_and_the_kernel_is_a_point():
    launch = make_launch(counts=make_counts(LOAD, **WORK))
    ax = draw_roofline(report_of([launch], find_gpu("toy")))
    roofs, drop, point = ax.lines
    assert roofs.get_xdata()[1] == 2.0
    assert list(roofs.get_ydata())[1:] == [64.0, 64.0]
    # 3072 flops in 3 µs: 1.024 Gflop/s at 3 flop/B, where the roof is at 64.
    assert (point.get_xdata()[0], point.get_ydata()[0]) == (3.0, pytest.approx(1.024))
    assert list(drop.get_ydata()) == pytest.approx([1.024, 64.0])
    assert any("2 % of its roof" in text.get_text() for text in ax.texts)


def test_a_kernel_without_flops_has_no_point():
    ax = matplotlib.pyplot.subplots()[1]
    launch = make_launch(counts=make_counts(LOAD))
    assert draw_roofline(report_of([launch], find_gpu("toy")), ax) is ax
    assert len(ax.lines) == 1
