"""Presets before compute capability 5.0 have the limits of their time."""

import pytest

from tinytorch_gpu.arch import PRESETS, find_gpu
from tinytorch_gpu.arch.older_gpus import OLDER_GPUS


@pytest.mark.parametrize("spec", OLDER_GPUS.values(), ids=OLDER_GPUS)
def test_they_are_older_and_presets(spec):
    assert spec.compute_capability < (5, 0)
    assert spec in PRESETS.values()


# CUDA C Programming Guide 3.2, table of technical specifications.
@pytest.mark.parametrize(
    ("name", "threads", "warps", "registers", "shared", "depth"),
    [
        ("c870", 512, 24, 8192, 16, 1),
        ("c1060", 512, 32, 16384, 16, 1),
        ("c2050", 1024, 48, 32768, 48, 65535),
        ("k20c", 1024, 64, 65536, 48, 65535),
    ],
)
def test_limits(name, threads, warps, registers, shared, depth):
    spec = find_gpu(name)
    assert spec.max_threads_per_block == spec.max_block_dim[0] == threads
    assert spec.max_threads_per_sm == 32 * warps
    assert spec.registers_per_sm == registers
    assert spec.shared_bytes_per_block == shared * 1024
    assert spec.max_grid_dim[2] == depth


# 2 × SMs × lanes × clock, in Gflop/s, as the board specifications tell.
@pytest.mark.parametrize(
    ("name", "gflops"),
    [
        ("8800gtx", 346),
        ("c870", 346),
        ("gtx280", 622),
        ("c1060", 622),
        ("c2050", 1030),
        ("m2050", 1030),
        ("gtx680", 3250),
        ("k20c", 3524),
    ],
)
def test_peaks(name, gflops):
    assert find_gpu(name).peak_fp32_flops / 1e9 == pytest.approx(gflops, rel=0.002)
