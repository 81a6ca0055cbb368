"""Numbers of a kernel, computed by hand on the toy GPU."""

from __future__ import annotations

import json

import pytest

from tests.unit.profiler.conftest import HERE, make_counts, make_launch
from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.profiler.kernel_numbers import KernelNumbers, numbers_of
from tinytorch_gpu.trace import AccessCounts

LOAD = AccessCounts(
    HERE, "x", "global", "load", 8, 64, 256, 1024, 1024, bytes_used=512, wavefronts=16
)
TILE = AccessCounts(
    HERE, "tile", "shared", "load", 4, 0, 128, 512, 0, wavefronts=12, ideal_wavefronts=4
)
WORK = {
    "instructions": 20,
    "active_lanes": 480,
    "branches": 10,
    "divergent_branches": 2,
    "fp32": 2048,
    "fp64": 1024,
    "special": 64,
}


@pytest.fixture
def numbers():
    launch = make_launch(
        counts=make_counts(LOAD, TILE, **WORK),
        terms=(("floor", 1000.0), ("dram", 1500.0), ("l2", 300.0)),
        theoretical_occupancy=0.5,
        occupancy_limiter="warps",
        waves=0.25,
    )
    return KernelNumbers(**numbers_of([launch, launch], find_gpu("toy")))


def test_global_memory(numbers):
    assert (numbers.requests, numbers.sectors) == (8, 64)
    assert numbers.sectors_per_request == 8.0
    assert (numbers.requested_bytes, numbers.l1_bytes) == (1024, 2048)
    assert numbers.coalescing_efficiency == 512 / 2048


def test_dram_moves_what_fits_in_l2_once(numbers):
    assert numbers.dram_bytes == 1024
    assert 0 <= numbers.l2_bytes <= numbers.l1_bytes
    assert numbers.l2_hit_rate == 1 - 1024 / numbers.l2_bytes


def test_shared_memory(numbers):
    assert (numbers.shared_requests, numbers.shared_wavefronts) == (4, 12)
    assert numbers.bank_conflicts == 8


def test_warps(numbers):
    assert numbers.warp_instructions == 20
    assert numbers.warp_execution_efficiency == 480 / 640
    assert (numbers.branches, numbers.divergent_branches) == (10, 2)
    assert numbers.branch_efficiency == 0.8


def test_arithmetic(numbers):
    assert numbers.arithmetic_intensity == 3072 / 1024
    assert numbers.flops_per_s == 3072 / 3e-6  # in the 3 µs of the launch
    assert numbers.ridge_flops_per_byte == 2.0  # 64 Gflop/s at 32 GB/s


def test_speed_of_light_is_of_the_duration_and_leaves_the_floor_out(numbers):
    assert numbers.speed_of_light == {"dram": 0.5, "l2": 0.1}


def test_launch_facts(numbers):
    assert (numbers.launches, numbers.total_ns) == (2, 6000)
    assert (numbers.grid, numbers.block) == ((4, 1, 1), (256, 1, 1))
    assert (numbers.theoretical_occupancy, numbers.waves) == (0.5, 0.25)


def test_to_dict_is_plain(numbers):
    plain = json.loads(json.dumps(numbers.to_dict()))
    assert plain["sectors_per_request"] == 8.0
    assert (plain["kernel"], plain["gpu"]) == ("add_kernel (add.py:12)", "toy GPU")
    assert plain["speed_of_light"]["dram"] == 0.5


def test_without_counts_all_counts_are_zero():
    launch = make_launch(counts=None)
    numbers = KernelNumbers(**numbers_of([launch], find_gpu("toy")))
    assert not numbers.is_counted
    assert (numbers.requests, numbers.dram_bytes, numbers.flops_per_s) == (0, 0, 0)
    assert (numbers.branch_efficiency, numbers.warp_execution_efficiency) == (1, 1)
