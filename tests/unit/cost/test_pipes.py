"""Each pipe of arithmetic by hand, on the toy GPU: one SM, 1 GHz."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.cost import pipes
from tinytorch_gpu.trace import LaunchCounts, LineCounts, SourceLine

TOY = find_gpu("toy")
T4 = find_gpu("t4")


@pytest.mark.parametrize(
    ("pipe", "totals", "clocks"),
    [
        ("fp32", {"fp32": 6400}, 6400 / 32),
        ("fp64", {"fp64": 6400}, 6400),
        ("special", {"special": 6400}, 6400 / 4),
        ("issue", {"instructions": 60, "branches": 4}, 64),
    ],
)
def test_sm_pipes(pipe, totals, clocks, counts):
    assert pipes.SM_PIPES[pipe](counts(**totals), TOY) == clocks


def test_sustained_share_slows_float32(counts):
    work = counts(fp32=6400)
    assert pipes.fp32_clocks(work, T4) == 6400 / 64
    assert pipes.fp32_clocks(work, find_gpu("a100")) == 6400 / (64 * 0.98)


# 12 warps arrive: 384 threads, as many a clock as the Programming Guide tells.
@pytest.mark.parametrize(
    ("gpu", "rate"), [("c2050", 16), ("gtx680", 128), ("p100", 32), ("t4", 16)]
)
def test_an_sm_takes_in_so_many_threads_at_barriers(gpu, rate, counts):
    work = replace(counts(), barriers=12)
    assert pipes.barrier_clocks(work, find_gpu(gpu)) == 384 / rate
    assert pipes.barrier_clocks(work, TOY) == 0


def test_a_product_and_its_sum_are_one_operation(counts):
    work = counts(fp32=6400, fused_fp32=3200, fp64=640, fused_fp64=320)
    assert pipes.fp32_clocks(work, TOY) == 100
    assert pipes.fp64_clocks(work, TOY) == 320


# 6400 active lanes: of 200 warps, or of 6400 with one lane each. A pipe serves lanes
# that are off as well: 6400 warps of 32.
@pytest.mark.parametrize(("pipe", "lanes"), [("fp32", 32), ("fp64", 1), ("special", 4)])
def test_a_warp_takes_a_pipe_whole(pipe, lanes, counts):
    cost = pipes.SM_PIPES[pipe]
    assert cost(counts(**{pipe: 6400, f"{pipe}_warps": 200}), TOY) == 6400 / lanes
    parted = counts(**{pipe: 6400, f"{pipe}_warps": 6400})
    assert cost(parted, TOY) == 32 * 6400 / lanes


@pytest.mark.parametrize("pipe", ["fp32", "fp64", "special"])
def test_without_operations_no_warp_takes_a_pipe(pipe, counts):
    assert pipes.SM_PIPES[pipe](counts(**{f"{pipe}_warps": 9}), TOY) == 0


@pytest.mark.parametrize(("pipe", "lanes"), [("fp32", 32), ("fp64", 1)])
def test_fused_warps_are_left_out_of_divergent_ones_too(pipe, lanes, counts):
    # 100 products in warps with 8 lanes, and 100 sums with them
    numbers = {pipe: 1600, f"fused_{pipe}": 800, f"{pipe}_warps": 100}
    assert pipes.SM_PIPES[pipe](counts(**numbers), TOY) == 3200 / lanes


def test_local_arrays_and_fused_products_are_not_issued(access, counts):
    register = access(space="local", requests=10)
    work = counts(register, access(), instructions=50, fused_instructions=15)
    assert pipes.issued_instructions(work) == 25


def test_a_loop_is_written_out_four_times():
    def branches(text):
        line = SourceLine("k", "k.py", 2, text)
        return LaunchCounts((), (LineCounts(line, 0, 0, 64, *[0] * 5),), 0)

    assert pipes.issued_instructions(branches("for k in range(9):")) == 16
    assert pipes.issued_instructions(branches("if k:")) == 64
