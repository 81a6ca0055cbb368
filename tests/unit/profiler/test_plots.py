"""The picture of the bill."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tinytorch_gpu.profiler import plot_bill
from tinytorch_gpu.profiler.key_averages import average

matplotlib = pytest.importorskip("matplotlib", reason="pictures need matplotlib")


@pytest.fixture(autouse=True)
def _no_window():
    matplotlib.use("Agg")
    yield
    matplotlib.pyplot.close("all")


@pytest.fixture
def ax():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    return pyplot.subplots()[1]


def _names(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def test_bars_are_split_and_labelled(step, ax):
    averages = average(step, device="Tesla T4")
    assert plot_bill(averages, ax) is ax
    assert ax.get_title(loc="left").startswith("Modelled time on Tesla T4")
    assert _names(ax) == ["add", "to", "(copy d2h)", "neg", "exp"]
    assert ax.texts[0].get_text() == " 10.0 µs"
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["transfers", "launch overhead", "kernels"]
    assert "µs" in ax.get_xlabel()


def test_lengths_of_the_bars_are_the_elapsed_times(step, ax):
    plot_bill(average(step, device="Tesla T4"), ax)
    assert sum(bar.get_width() for bar in ax.patches) == pytest.approx(37.0)


def test_ops_beyond_the_limit_make_one_bar(step, ax):
    plot_bill(average(step, device="Tesla T4"), ax, row_limit=2)
    assert _names(ax) == ["add", "to", "3 more"]
    assert sum(bar.get_width() for bar in ax.patches) == pytest.approx(37.0)


def test_two_kernels_of_one_name_have_a_bar_each(launch, ax):
    other = replace(launch().kernel, file="/other/add.py")
    records = [launch(), replace(launch(), kernel=other)]
    plot_bill(average(records, device="Tesla T4"), ax)
    assert _names(ax) == ["(kernel add_kernel)"] * 2


def test_makes_its_own_figure(step):
    axes = plot_bill(average(step * 1000, device="Tesla T4"))
    assert "ms" in axes.get_xlabel()


def test_nothing_to_draw(ax):
    assert plot_bill(average([], device="Tesla T4"), ax).get_legend() is None
