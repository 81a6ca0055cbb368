"""What divergence costs in the pipes of arithmetic, of launches, by hand.

A warp instruction takes its pipe for all 32 lanes, however few are active; a warp whose
lanes part runs both sides.

Source: CUDA C++ Programming Guide, "SIMT Architecture".
"""

from __future__ import annotations

import numpy as np
import pytest

from tinytorch_gpu import cuda, profiler

HALF, ONE, TURNS = np.float32(0.5), np.float32(1), 200
BLOCKS, BLOCK = 4096, 256
WARPS = BLOCKS * BLOCK // 32


@cuda.jit
def products(x, period):
    i = cuda.grid(1)
    a = x[i]
    if (i >> period) & 1:
        for _ in range(TURNS):
            a = a * HALF + ONE
    else:
        for _ in range(TURNS):
            a = a * ONE + HALF
    x[i] = a


@cuda.jit
def roots(x, period):
    i = cuda.grid(1)
    a = x[i]
    if (i >> period) & 1:
        for _ in range(TURNS):
            a = a / HALF
    else:
        for _ in range(TURNS):
            a = a / ONE
    x[i] = a


@cuda.jit
def doubles(x, period):
    i = cuda.grid(1)
    a = 1.0
    if (i >> period) & 1:
        for _ in range(TURNS):
            a = a * 0.5
    else:
        for _ in range(TURNS):
            a = a + 0.5
    x[i] = a


@cuda.jit
def first_lanes(x, lanes):
    i = cuda.grid(1)
    a = x[i]
    if cuda.laneid < lanes:
        for _ in range(TURNS):
            a = a * HALF + ONE
    x[i] = a


def estimated(kernel, number, blocks=20):
    x = profiler.like(BLOCKS * BLOCK)
    return profiler.estimate(
        kernel, BLOCKS, BLOCK, [x, number], blocks=blocks, gpu="t4"
    )


def expected_ns(turns, lanes_per_sm):
    """Each turn an instruction of each warp, on 40 SMs at 1.59 GHz."""
    return turns * WARPS * 32 / lanes_per_sm / (40 * 1.59)


# Sides alternate every 2 to the power of `period` threads: from 5 on by warps.
@pytest.mark.parametrize(("period", "sides"), [(0, 2), (4, 2), (5, 1), (6, 1)])
@pytest.mark.parametrize(
    ("kernel", "pipe", "lanes_per_sm"),
    [(products, "fp32", 64), (roots, "special", 16), (doubles, "fp64", 2)],
)
def test_a_warp_that_parts_pays_for_both_sides(
    kernel, pipe, lanes_per_sm, period, sides
):
    found = estimated(kernel, period)
    ns = expected_ns(sides * TURNS, lanes_per_sm)
    assert found.time.terms[pipe] == pytest.approx(ns)
    assert found.time.binding_term == pipe
    # What lanes do is the same: a product and a sum, fused, or one operation.
    of_a_lane = 2 * TURNS if kernel is products else TURNS
    assert found.counts.total(pipe) == BLOCKS * BLOCK * of_a_lane


@pytest.mark.parametrize("lanes", [1, 8, 31, 32])
def test_one_lane_costs_as_much_as_all(lanes):
    found = estimated(first_lanes, lanes)
    assert found.time.terms["fp32"] == pytest.approx(expected_ns(TURNS, 64))
    assert found.counts.total("fp32") == BLOCKS * BLOCK * lanes / 32 * 2 * TURNS


def test_a_sample_tells_of_warps_what_the_whole_launch_does():
    assert estimated(products, 0, 8).counts == estimated(products, 0, 64).counts
    assert estimated(products, 0, 8).counts.total("fp32_warps") == 2 * TURNS * WARPS
