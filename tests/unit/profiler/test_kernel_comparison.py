"""Before and after."""

from __future__ import annotations

import json

from tests.unit.profiler.conftest import make_counts, make_launch
from tests.unit.profiler.test_kernel_numbers import LOAD, TILE
from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.profiler.kernel_comparison import KernelComparison
from tinytorch_gpu.profiler.kernel_report import report_of

TOY = find_gpu("toy")


def _compared():
    before = make_launch(counts=make_counts(LOAD), duration_ns=4000.0, bound="memory")
    after = make_launch(
        kernel="tiled_kernel", counts=make_counts(TILE), duration_ns=1000.0
    )
    return KernelComparison(report_of([before], TOY), report_of([after], TOY))


def test_ratios():
    compared = _compared()
    assert compared.speedup == 4.0
    assert compared.ratios["duration_ns"] == 0.25
    assert compared.ratios["sectors"] == 0.0
    assert compared.ratios["bank_conflicts"] == float("inf")  # there were none
    assert compared.ratios["fp64_flops"] == 1.0  # none on either side


def test_table_leaves_out_what_neither_has():
    lines = str(_compared()).splitlines()
    assert lines[0].split() == ["before", "after", "after", "÷"]
    assert lines[1].split() == ["add_kernel", "tiled_kernel", "before"]
    cells = [line.split() for line in lines]
    assert ["duration", "4.00", "µs", "1.00", "µs", "0.25", "×"] in cells
    assert ["bound", "memory", "floor"] in cells
    assert not any(line.startswith("fp64") for line in lines)
    assert lines[-1] == "modelled speedup: 4 ×"


def test_shown_in_notebooks_and_as_plain_types():
    compared = _compared()
    assert compared._repr_html_().startswith("<pre>")
    plain = json.loads(json.dumps(compared.to_dict()))
    assert plain["after"]["name"] == "tiled_kernel"
    assert plain["ratios"]["duration_ns"] == 0.25
