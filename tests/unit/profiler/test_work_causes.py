"""What a kernel gains without a cause in its work or layout, as the model says for a Tesla T4 (40 SMs).

Each test states the counts, or the shape, that the cure leaves; the finding must promise
what `kernel_time` gives for them, no more and no less.
"""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.cost import kernel_time

T4 = find_gpu("t4")
WARPS = 32_000  # of 4000 blocks


def ns_of(counts, grid=(4000, 1, 1), block=(256, 1, 1), shared_bytes=0, registers=None):
    return kernel_time(counts, grid, block, shared_bytes, T4, registers).duration_ns


def only(findings, kind):
    """The finding, and no other one on the kernel."""
    assert set(findings) - {"do not move this"} == {kind}
    return findings[kind]


def test_float64(found, counts):
    """2 lanes for float64 against 64 for float32."""
    work = counts(fp64=10**7)
    finding = only(found(work), "float64")
    assert finding.saves_ns == pytest.approx(ns_of(work) - ns_of(counts(fp32=10**7)))
    assert "10,000,000 float64 operations, each 32 times as dear" in finding.sentence


def test_special_functions(found, counts):
    work = counts(special=10**7)
    finding = only(found(work), "special functions")
    assert finding.saves_ns == pytest.approx(ns_of(work) - ns_of(counts(fp32=10**7)))
    assert "10,000,000 divisions" in finding.sentence


def test_divergence(found, counts):
    lines = {"branches": 4, "divergent_branches": 2}
    work = counts(instructions=10**7, active_lanes=16 * 10**7, **lines)
    cured = counts(instructions=10**7 // 2, **lines)
    finding = only(found(work), "divergence")
    assert finding.saves_ns == pytest.approx(ns_of(work) - ns_of(cured))
    assert "16.0 of 32 lanes active on average; 2 of 4 branches" in finding.sentence


def test_what_barriers_expose_stays(found, counts, access):
    lines = {"instructions": 10**7, "active_lanes": 16 * 10**7}
    loads = replace(counts(access(), **lines), barriers=10**6)
    less = replace(loads, lines=counts(instructions=5 * 10**6).lines)
    finding = only(found(loads), "divergence")
    assert finding.saves_ns == pytest.approx(ns_of(loads) - ns_of(less))


def looping(access, warps, turns, **changes):
    """Each warp loads so often, in a loop."""
    requests = warps * turns
    numbers = {
        "requests": requests,
        "sectors": 4 * requests,
        "active_lanes": 32 * requests,
        "wavefronts": requests,
    }
    nbytes = ("bytes_requested", "bytes_used", "array_bytes")
    return access(**(numbers | dict.fromkeys(nbytes, 128 * requests) | changes))


def test_few_blocks_whose_loads_more_could_share(found, counts, access):
    """10 blocks; the GPU has room for 16 times as many, which load a 16th each."""
    work = counts(looping(access, 80, 400))
    finding = only(found(work, grid=(10, 1, 1)), "latency")
    cured = ns_of(work, grid=(160, 1, 1))
    assert finding.saves_ns == pytest.approx(ns_of(work, grid=(10, 1, 1)) - cured)
    assert "10 blocks for 40 SMs, and each thread waits for 400 loads in turn" in (
        finding.sentence
    )
    assert "add_kernel[160, 256](...)   # 1/16 each" in finding.fix
    assert "latency" not in found(work, grid=(160, 1, 1))


@pytest.mark.parametrize("loads", [0, 1])
def test_a_chain_of_instructions_is_no_shorter_with_more_blocks(
    found, counts, access, loads
):
    """40 blocks of it take as long as one, but do 40 times the work."""
    work = counts(
        looping(access, 1, loads), instructions=100_000, active_lanes=3_200_000
    )
    assert "latency" not in found(work, grid=(1, 1, 1), block=(32, 1, 1))


def test_low_occupancy_by_registers(found, counts):
    """255 registers: one block of 256 threads fits on an SM, with 32 it would be 4."""
    work, shape = counts(instructions=10**7, active_lanes=32 * 10**7), (320, 1, 1)
    finding = only(found(work, grid=shape, registers=255), "latency")
    saved = ns_of(work, shape, registers=255) - ns_of(work, shape, registers=32)
    assert finding.saves_ns == pytest.approx(saved)
    assert "with 25.0 % of its warps, limited by registers" in finding.sentence
    assert "max_registers=32" in finding.fix


def test_low_occupancy_by_small_blocks(found, counts, access):
    """16 blocks of one warp fill an SM to a half; blocks of 256 fill it."""
    turns = 1280 * 64  # of a sector each, in which all lanes want one element
    one = {"sectors": turns, "bytes_used": 4 * turns, "array_bytes": 32_000}
    work = counts(looping(access, 1280, 64, **one))
    shape = {"grid": (1280, 1, 1), "block": (32, 1, 1)}
    finding = only(found(work, **shape), "latency")
    saved = ns_of(work, **shape) - ns_of(work, grid=(160, 1, 1))
    assert finding.saves_ns == pytest.approx(saved)
    assert "with 50.0 % of its warps, limited by blocks" in finding.sentence
    assert finding.fix == "add_kernel[160, 256](...)"


def test_low_occupancy_by_shared_memory(found, counts, access):
    work = counts(looping(access, WARPS, 8, array_bytes=32_000))
    finding = only(found(work, shared_bytes=40_000), "latency")
    saved = ns_of(work, shared_bytes=40_000) - ns_of(work, shared_bytes=20_000)
    assert finding.saves_ns == pytest.approx(saved)
    assert "with 25.0 % of its warps, limited by shared memory" in finding.sentence
    assert "half the bytes" in finding.fix


@pytest.mark.parametrize(("blocks", "threads"), [(170, 256), (300, 128), (41, 512)])
def test_tail(found, counts, blocks, threads):
    """What the best split gains, and after it nothing is promised again."""
    work = counts(fp32=10**8)
    now = ns_of(work, grid=(blocks, 1, 1), block=(threads, 1, 1))
    splits = [2**n for n in range(1, 5) if threads >> n >= 32]
    times = [ns_of(work, (n * blocks, 1, 1), (threads // n, 1, 1)) for n in splits]
    finding = only(found(work, grid=(blocks, 1, 1), block=(threads, 1, 1)), "tail")
    assert finding.saves_ns == pytest.approx(now - min(times))
    parts = splits[times.index(min(times))]
    assert finding.fix.startswith(f"add_kernel[{parts * blocks}, {threads // parts}]")
    assert f"have {math.ceil(blocks / 40)} of them, the average is" in finding.sentence
    cured = {"grid": (parts * blocks, 1, 1), "block": (threads // parts, 1, 1)}
    assert "tail" not in found(work, **cured)


def test_whole_waves_have_no_tail(found, counts):
    assert "tail" not in found(counts(fp32=10**8), grid=(160, 1, 1))
