"""Sums below the lines: one for each thing that a kernel has."""

from dataclasses import replace

import pytest

from tinytorch_gpu.profiler.line_totals import legend, totals
from tinytorch_gpu.trace import LaunchCounts


def test_a_kernel_that_does_nothing_has_no_sums():
    assert totals(LaunchCounts((), (), 0)) == []


# 10 loads of 4 sectors and 10 shared stores of 3 passes each, 1 of which would do.
def test_each_space_has_its_own_line(counts):
    load = replace(counts().accesses[0], bytes_used=1280)
    tile = replace(load, space="shared", sectors=0, wavefronts=30, ideal_wavefronts=10)
    lines = totals(counts(load, tile, branches=8, divergent_branches=2))
    memory = "10 requests, 40 sectors (4.0 for each); 1.28 kB of 1.28 kB used (100.0 %)"
    shared = "10 requests, 30 passes over the banks (3.0 for each); 20 bank conflicts"
    assert lines == [
        f"global memory  {memory}",
        f"shared memory  {shared}",
        "branches       8, 2 divergent (25.0 %)",
    ]


@pytest.mark.parametrize("line", legend())
def test_the_legend_fits_100_columns(line):
    assert len(line) <= 100
