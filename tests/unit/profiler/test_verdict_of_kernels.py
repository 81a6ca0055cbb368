"""The verdict on kernels that run says what its first finding says."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.profiler.cures import (  # noqa: F401  (t4 is a fixture)
    HALF,
    ONE,
    divided,
    finding,
    judged,
    others,
    products,
    t4,
)
from tinytorch_gpu import cuda


@cuda.jit
def by_lanes(out, turns):
    value = ONE
    if cuda.threadIdx.x % 2:
        for _ in range(turns):
            value = value * HALF + ONE
    else:
        for _ in range(turns):
            value = value * HALF - ONE
    out[cuda.grid(1)] = value


@cuda.jit(max_registers=255)
def crowded(x, out):
    i, sum_ = cuda.grid(1), np.float32(0)
    for k in range(64):
        sum_ += x[(i + k * 16_384) % x.size]
    out[i] = sum_


@cuda.jit
def conflicting(out):
    tile = cuda.shared.array((32, 32), np.float32)
    i = cuda.grid(1)
    lane, row = cuda.threadIdx.x % 32, cuda.threadIdx.x // 32
    tile[row, lane] = ONE
    cuda.syncthreads()
    sum_ = np.float32(0)
    for k in range(64):
        sum_ += tile[lane, (row + k) % 32]
    out[i] = sum_


VERDICTS = {
    "latency": (lambda x, out: crowded[4096, 256](x, out), "limits that: registers"),
    "divergence": (lambda x, out: by_lanes[4096, 256](out, 200), "branch by whole"),
    "tail": (lambda x, out: products[41, 1024](out, 2000), "launch smaller blocks"),
    "special functions": (
        lambda x, out: divided[4096, 256](x, out, np.float32(3)),
        "multiply by an inverse",
    ),
    "bank conflicts": (lambda x, out: conflicting[1024, 1024](out), "Pad the shared"),
}


@pytest.mark.parametrize("kind", VERDICTS)
def test_the_verdict_says_what_its_first_finding_says(kind):
    launch, told = VERDICTS[kind]
    x = cuda.to_device(np.ones(2**20, np.float32))
    out = cuda.device_array(2**20, np.float32)
    verdict = judged(lambda: launch(x, out))
    assert verdict.dominant == "kernels"
    assert others(verdict)[0].kind == kind
    assert told in verdict.sentences[1]
    assert "more threads" not in verdict.sentences[1]


def test_a_kernel_that_its_own_cure_makes_faster_than_the_host_is_moved():
    out = cuda.device_array(2**20, np.float32)
    verdict = judged(lambda: conflicting[1024, 1024](out))
    assert finding(verdict, "bank conflicts") is not None
    assert finding(verdict, "do not move this") is None


@pytest.mark.parametrize("threads", [33, 40])
def test_lanes_that_idle_for_the_size_of_blocks(threads):
    """No branch parts a warp: the blame is the blocks', and whole ones save as much."""
    out = cuda.device_array(4096 * 128, np.float32)
    verdict = judged(lambda: products[4096, threads](out, 2000))
    found = finding(verdict, "divergence")
    assert f"a block has {threads} thread" in found.sentence
    assert "branch" not in found.sentence
    whole = 32 * -(-threads // 32)
    assert f"kernel[blocks, {whole}]" in found.fix
    blocks = -(-4096 * threads // whole)
    after = judged(lambda: products[blocks, whole](out, 2000))
    saved = verdict.elapsed_ns - after.elapsed_ns
    assert found.saves_ns == pytest.approx(saved, rel=0.1)


def test_one_block_of_arithmetic_is_told_to_be_several():
    out = cuda.device_array(1024, np.float32)
    verdict = judged(lambda: products[1, 1024](out, 3000))
    assert "has 1 block for 40 SMs: spread it over more" in str(verdict)
    verdict = judged(lambda: products[40, 1024](cuda.device_array(40960, "f4"), 3000))
    assert "choose a larger GPU" in str(verdict)
