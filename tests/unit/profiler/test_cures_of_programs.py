"""Findings on launches and copies of programs that run: what the cure then gives."""

from __future__ import annotations

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tests.unit.profiler.cures import HALF, ONE, finding, judged, others, t4  # noqa: F401  (t4 is a fixture)
from tinytorch_gpu import cuda


@cuda.jit
def increment(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += ONE


@cuda.jit
def add_part(x, first, number):
    i = cuda.grid(1)
    if i < number:
        x[first + i] = x[first + i] * HALF + ONE


@pytest.mark.parametrize("part", [1024, 16_384])
@pytest.mark.parametrize("gpu", ["t4", "a100"])
def test_one_launch_for_a_row_saves_what_it_gives(gpu, part):
    simgpu.install(gpu=gpu)
    x = cuda.to_device(np.ones(64 * part, np.float32))

    def row():
        for first in range(0, 64 * part, part):
            add_part[part // 256, 256](x, first, part)

    before = judged(row)
    after = judged(lambda: add_part[64 * part // 256, 256](x, 0, 64 * part))
    one = finding(before, "batch these launches")
    saved = before.elapsed_ns - after.elapsed_ns
    assert one.saves_ns == pytest.approx(saved, rel=0.02)
    assert before.findings[0] is one


@pytest.mark.parametrize("gpu", ["t4", "a100"])
def test_a_read_after_the_loop_saves_what_the_loop_without_it_gives(gpu):
    """The copy, and that the host cannot issue while it waits for the device."""
    simgpu.install(gpu=gpu)
    x = cuda.to_device(np.zeros(2**18, np.float32))
    few = cuda.to_device(np.zeros(4, np.float32))

    def loop(reads):
        for _ in range(50):
            increment[1024, 256](x)
            if reads:
                few.copy_to_host()
        if not reads:
            few.copy_to_host()

    before, after = judged(lambda: loop(True)), judged(lambda: loop(False))
    less = finding(before, "read back less often")
    saved = before.elapsed_ns - after.elapsed_ns
    assert less.saves_ns == pytest.approx(saved, rel=0.01)
    assert "more host and device take turns" in less.sentence


@cuda.jit
def double(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] *= 2


@pytest.mark.parametrize("gpu", ["t4", "a100", "c1060"])
def test_streams_save_what_they_give_to_chunks(gpu):
    """Each chunk has its own array: nothing of it goes around twice."""
    simgpu.install(gpu=gpu)
    arrays = [cuda.device_array(2**20, np.float32) for _ in range(4)]
    pinned = [cuda.pinned_array(2**20, np.float32) for _ in range(4)]
    streams = [cuda.stream() for _ in range(4)]

    def chunks():
        for x, host in zip(arrays, pinned, strict=True):
            x.copy_to_device(host)
            double[2**12, 256](x)
            x.copy_to_host(host)

    def piped():
        """In this order one copy engine will do, too."""
        every = list(zip(arrays, pinned, streams, strict=True))
        for x, host, stream in every:
            x.copy_to_device(host, stream=stream)
        for x, _, stream in every:
            double[2**12, 256, stream](x)
        for x, host, stream in every:
            x.copy_to_host(host, stream=stream)
        simgpu.synchronize()

    before, after = judged(chunks), judged(piped)
    overlap = finding(before, "overlap this copy")
    assert overlap is max(others(before), key=lambda found: found.saves_ns)
    saved = before.elapsed_ns - after.elapsed_ns
    assert overlap.saves_ns == pytest.approx(saved, rel=0.05)
    for verdict in (before, after):
        assert finding(verdict, "round trip") is None
        assert finding(verdict, "keep it on the device") is None
    assert finding(after, "overlap this copy") is None


def test_an_inference_loop_over_different_inputs_is_no_round_trip():
    inputs = [np.full(2**16, n, np.float32) for n in range(6)]

    def loop():
        for host in inputs:
            x = cuda.to_device(host)
            increment[256, 256](x)
            x.copy_to_host()

    assert finding(judged(loop), "round trip") is None


@pytest.mark.parametrize("side", [64, 1024])
def test_a_chain_of_ops_saves_what_one_kernel_gives(side):
    """Scalars, an array that the chain knows already, and one that it does not."""
    a, b = (cuda.to_device(np.ones((side, side), np.float32)) for _ in range(2))

    def chain(a, b):
        return ((a * 2.0 + 1.0) * a + b) * 0.5

    fused = simgpu.fuse(chain)
    fused(a, b)
    before, after = judged(lambda: chain(a, b)), judged(lambda: fused(a, b))
    found = before.findings[0]
    assert found.kind == "fuse element-wise ops"
    saved = before.elapsed_ns - after.elapsed_ns
    assert found.saves_ns == pytest.approx(saved, rel=0.03)
    assert "simgpu.fusion.opportunities(prof)" in before.sentences[1]
    assert finding(after, "fuse element-wise ops") is None


def test_ops_that_need_each_other_are_no_row_to_batch():
    a = cuda.to_device(np.ones(64, np.float32))

    def dependent():
        x = a
        for _ in range(8):
            x = x * 0.5

    def apart():
        for _ in range(8):
            a * 0.5

    assert finding(judged(dependent), "batch these launches") is None
    assert finding(judged(apart), "fuse element-wise ops") is None
    assert finding(judged(apart), "batch these launches") is not None
