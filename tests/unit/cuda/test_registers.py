"""Registers of a thread: given, or estimated."""

from __future__ import annotations

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.cost import fitting_registers
from tinytorch_gpu.cuda import float32
from tinytorch_gpu.cuda.options import Options
from tinytorch_gpu.cuda.registers import Registers, estimated_registers
from tinytorch_gpu.errors import LaunchConfigError


@pytest.mark.parametrize(
    ("variables", "local_bytes", "registers"),
    [
        ([], 0, 16),
        ([np.float32(0)] * 4, 0, 16),
        ([np.float32(0)] * 5, 0, 24),
        ([np.int64(0), np.float64(0), np.bool_(0)], 0, 24),  # 12 + 2 + 2 + 1
        ([(np.int64(0), np.int64(0)), object()], 0, 24),  # 12 + 4 + 2
        ([], 256, 80),  # 12 + 64
        ([], 4096, 16),  # stays in memory
    ],
)
def test_estimate(variables, local_bytes, registers):
    assert estimated_registers(variables, local_bytes) == registers


@pytest.mark.parametrize(
    ("options", "number"),
    [
        ({}, 144),
        ({"launch_bounds": (256,)}, 144),
        ({"launch_bounds": (512, 2)}, 64),
        ({"launch_bounds": (1024,)}, 64),
        ({"max_registers": 37}, 37),
        ({"max_registers": 37, "launch_bounds": (1024,)}, 37),
    ],
)
def test_options(options, number):
    found = Registers.of(Options(**options), [], 512)
    assert found.number == number
    assert found.are_given == ("max_registers" in options)


@pytest.mark.parametrize(
    ("estimate", "threads", "gpu", "left"),
    [
        (32, 1024, "t4", 32),
        (80, 1024, "t4", 64),
        (80, 512, "c870", 16),
        (255, 32, "t4", 255),
    ],
)
def test_an_estimate_gives_way_to_one_block(estimate, threads, gpu, left):
    assert fitting_registers(estimate, threads, find_gpu(gpu)) == left


def greedy(x):
    sums = cuda.local.array(64, float32)
    for i in range(64):
        sums[i] = x[i]
    x[0] = sums[63]


def test_a_kernel_that_needs_too_many_still_launches():
    cuda.jit(greedy)[1, 1024](np.zeros(64, np.float32))


def test_given_registers_that_do_not_fit_are_refused_before_anything_happens():
    x = np.ones(64, np.float32)
    x[63] = 7
    with pytest.raises(LaunchConfigError, match="too many resources requested"):
        cuda.jit(max_registers=65)(greedy)[1, 1024](x)
    assert x[0] == 1
    cuda.jit(max_registers=64)(greedy)[1, 1024](x)
    assert x[0] == 7
