"""Findings on kernels that run: what is promised is what the cure then gives."""

from __future__ import annotations

import re

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tests.unit.profiler.cures import (  # noqa: F401  (t4 is a fixture)
    HALF,
    ONE,
    finding,
    judged,
    products,
    t4,
)
from tinytorch_gpu import cuda, profiler
from tinytorch_gpu.profiler.cause import Judged
from tinytorch_gpu.runtime.device import current_device
from tinytorch_gpu.trace import LaunchRecord


@cuda.jit
def total(x, out):
    sum_ = np.float32(0)
    i = cuda.grid(1)
    while i < x.size:
        sum_ += x[i]
        i += cuda.gridsize(1)
    out[cuda.grid(1)] = sum_


@cuda.jit
def increment(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += ONE


@cuda.jit
def every_eighth(x, out):
    i = cuda.grid(1)
    out[i] = x[(i // 4) * 8]


@cuda.jit
def count_in_shared(out):
    seen = cuda.shared.array(32, np.int32)
    seen[cuda.threadIdx.x % 32] = 0
    cuda.syncthreads()
    for _ in range(8):
        cuda.atomic.add(seen, 0, 1)
    cuda.syncthreads()
    out[cuda.grid(1)] = seen[0]


@cuda.jit
def add_each(x):
    cuda.atomic.add(x, cuda.grid(1), ONE)


@pytest.mark.parametrize(
    ("blocks", "threads"), [(170, 256), (300, 128), (170, 512), (41, 256), (1360, 32)]
)
def test_a_tail_saves_what_the_better_split_gives(blocks, threads):
    out = cuda.device_array(blocks * threads, np.float32)
    before = judged(lambda: products[blocks, threads](out, 600))
    tail = finding(before, "tail")
    if tail is None:
        assert threads == 32
        return
    split = tuple(map(int, re.search(r"\[(\d+), (\d+)\]", tail.fix).groups()))
    after = judged(lambda: products[split](out, 600))
    assert tail.saves_ns == pytest.approx(before.elapsed_ns - after.elapsed_ns, abs=2)
    assert finding(after, "tail") is None


def test_more_blocks_save_what_they_give():
    """But for the index arithmetic that each thread does once."""
    x = cuda.to_device(np.ones(2**20, np.float32))
    out = cuda.device_array(2**16, np.float32)
    before = judged(lambda: total[1, 256](x, out))
    few = finding(before, "latency")
    blocks = int(re.search(r"\[(\d+), 256\]", few.fix)[1])
    after = judged(lambda: total[blocks, 256](x, out))
    assert few.saves_ns == pytest.approx(before.elapsed_ns - after.elapsed_ns, rel=0.02)
    assert finding(after, "latency") is None


@pytest.mark.parametrize("blocks", [1, 40])
def test_a_chain_has_no_latency_to_save(blocks):
    out = cuda.device_array(32 * blocks, np.float32)
    found = judged(lambda: products[blocks, 32](out, 3000))
    assert finding(found, "latency") is None
    assert "wait for their own instructions" in found.sentences[1]
    assert "fill an SM to 3.1 %" in found.sentences[1].replace("fills", "fill")


def test_one_wait_saves_what_the_loop_without_waits_gives():
    x = cuda.to_device(np.zeros(256, np.float32))

    def loop(waits):
        for _ in range(50):
            increment[1, 256](x)
            if waits:
                simgpu.synchronize()
        if not waits:
            simgpu.synchronize()

    before, after = judged(lambda: loop(True)), judged(lambda: loop(False))
    assert before.dominant == "synchronization"
    once = finding(before, "synchronize once")
    saved = before.elapsed_ns - after.elapsed_ns
    assert once.saves_ns == pytest.approx(saved, rel=0.01)


@pytest.mark.usefixtures("own_memory")
def test_memory_that_is_kept_saves_what_the_loop_without_giving_back_gives(
    monkeypatch,
):
    device = current_device()
    monkeypatch.setattr(device.allocator, "on_driver_call", device._driver_call)

    def loop(gives_back):
        for _ in range(10):
            x = cuda.device_array(2**22, np.float32)
            increment[4, 256](x)
            del x
            if gives_back:
                simgpu.empty_cache()

    before = judged(lambda: loop(True))
    simgpu.empty_cache()
    after = judged(lambda: loop(False))
    assert before.dominant == "allocation"
    keep = finding(before, "keep memory")
    saved = before.elapsed_ns - after.elapsed_ns
    assert keep.saves_ns == pytest.approx(saved, rel=0.05)
    assert keep.saves_ns <= saved


def test_one_share_of_the_bytes_used_in_table_verdict_and_finding():
    x, out = cuda.device_array(2**21, np.float32), cuda.device_array(2**20, np.float32)
    x.copy_to_device(np.ones(2**21, np.float32))
    with profiler.profile() as prof:
        every_eighth[2**12, 256](x, out)
    verdict = prof.verdict()
    load = prof.kernels("every_eighth")[0].launch.counts.global_accesses[0]
    assert load.coalescing_efficiency == 0.125
    assert "uses 12.5 % of their bytes" in verdict.sentences[1]
    assert "uses 12.5 % of their bytes" in finding(verdict, "uncoalesced").sentence


def test_shared_atomics_at_one_address_are_contention():
    out = cuda.device_array(2**18, np.int32)
    verdict = judged(lambda: count_in_shared[1024, 256](out))
    assert finding(verdict, "bank conflicts") is None
    assert "on one address" in finding(verdict, "atomics").sentence
    assert "meet at one address" in verdict.sentences[1]


def test_atomics_at_different_addresses_need_no_tile():
    x = cuda.to_device(np.zeros(2**21, np.float32))
    verdict = judged(lambda: add_each[2**13, 256](x))
    assert {f.kind for f in verdict.findings} <= {"do not move this"}
    assert "brings its sector from DRAM and takes it back" in verdict.sentences[1]


@pytest.mark.parametrize("registers", [None, 40, 128, 255])
@pytest.mark.parametrize("threads", [32, 96, 256])
@pytest.mark.parametrize("gpu", ["t4", "a100", "c2050", "toy"])
def test_a_record_tells_enough_to_model_its_time_again(gpu, threads, registers):
    simgpu.install(gpu=gpu)
    spec = simgpu.get_device_properties().spec
    registers = registers and min(registers, spec.max_registers_per_thread)
    kernel = cuda.jit(total.py_func, max_registers=registers) if registers else total
    x = cuda.to_device(np.ones(2**14, np.float32))
    out = cuda.device_array(70 * threads, np.float32)
    with profiler.profile() as prof:
        kernel[70, threads](x, out)
    launch = prof.kernels("total")[0].launch
    again = Judged.of(launch, spec).now
    assert again.duration_ns == pytest.approx(launch.duration_ns, abs=1)
    assert again.terms == dict(launch.terms)


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


def test_lanes_that_part_pay_for_both_paths_and_the_cure_is_one():
    out = cuda.device_array(320 * 256, np.float32)
    with profiler.profile() as prof:
        by_lanes[320, 256](out, 400)
        products[320, 256](out, 400)
    events = prof.events()
    parted, whole = (e.duration_ns for e in events if isinstance(e, LaunchRecord))
    found = finding(judged(lambda: by_lanes[320, 256](out, 400)), "divergence")
    assert found is not None
    assert found.saves_ns == pytest.approx(parted - whole, rel=0.05)
    alone = judged(lambda: products[320, 256](out, 400))
    assert finding(alone, "divergence") is None
