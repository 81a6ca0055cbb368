"""What is remembered of an access: costs by shift, found by a rule made up here."""

from __future__ import annotations

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.executor import Mask
from tinytorch_gpu.profiler import profile
from tinytorch_gpu.trace import AccessCost, LaunchRecord, Site, SourceLine
from tinytorch_gpu.trace.accesses import AccessTotals
from tinytorch_gpu.trace.touched import Touched

SITE = Site(SourceLine("k", "k.py", 3, "x[i]"), "x")
MASK = Mask(None, (1, 32))
ROW = np.arange(32)[None]


class Array:
    space, address, itemsize, nbytes = "global", 1000, 4, 128
    element_dtype = np.dtype("float32")


class Requests:
    """The cost is the shift in bytes, in steps of 16, and starts over at 64."""

    def __init__(self):
        self.asked = []

    def requests(self, array, kind, addresses, active):
        self.addresses = addresses
        return self

    def cost(self, shift):
        self.asked.append(shift)
        return AccessCost(sectors=shift % 64 // 16)

    def parts(self, array):
        return 1

    def shifts(self):
        return 64, [0, 16, 32, 48]


def totals_after(shifts, flat=ROW):
    rules = Requests()
    totals = AccessTotals(SITE, "load", Array, rules, Touched("x", "load", 32))
    for shift in shifts:
        totals.add(None, MASK, flat, shift)
    return totals.counts(), rules


def test_addresses_begin_at_the_array():
    _, rules = totals_after([0])
    assert rules.addresses.tolist() == [(1000 + 4 * ROW[0]).tolist()]


def test_shifts_between_two_starts_are_asked_for_once():
    counts, rules = totals_after([1, 1, 1, 2, 3, 4, 7, 20, 16])
    assert counts.sectors == sum(
        4 * s % 64 // 16 for s in [1, 1, 1, 2, 3, 4, 7, 20, 16]
    )
    assert rules.asked == [4, 8, 16]  # 1 alone; 2, 3 and 16; then 4, 7 and 20
    assert (counts.requests, counts.active_lanes) == (9, 9 * 32)


def test_other_lanes_are_asked_for_anew():
    rules = Requests()
    totals = AccessTotals(SITE, "load", Array, rules, Touched("x", "load", 32))
    totals.add(None, MASK, ROW, 0)
    totals.add(None, MASK, ROW + 0, 0)
    totals.add(None, Mask(ROW < 8, (1, 32)), ROW, 0)
    assert rules.asked == [0, 0, 0]


def test_costs_are_multiplied_part_by_part():
    assert AccessCost(*range(1, 8)).times(10) == (10, 20, 30, 40, 50, 60, 70)


# Whole launches, whose batches of 65,536 lanes hold as many blocks as fit.


@cuda.jit
def count_one(out):
    h = cuda.shared.array(1, np.int32)
    if cuda.threadIdx.x == 0:
        h[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(h, 0, 1)
    cuda.syncthreads()
    if cuda.threadIdx.x == 0:
        out[cuda.blockIdx.x] = h[0]


@cuda.jit
def count_bins(bins, out):
    h = cuda.shared.array((2, 4), np.int32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    if t < 8:
        h[t // 4, t % 4] = 0
    cuda.syncthreads()
    if bins[i] >= 0:
        cuda.atomic.add(h, (bins[i] // 4, bins[i] % 4), 1)
    cuda.syncthreads()
    if t == 0:
        for k in range(8):
            out[cuda.blockIdx.x, k] = h[k // 4, k % 4]


@cuda.jit
def count_bins_in_dynamic(bins, out):
    h = cuda.shared.array(0, np.int32)
    i, t = cuda.grid(1), cuda.threadIdx.x
    if t < 8:
        h[t] = 0
    cuda.syncthreads()
    part = h[4:]
    if bins[i] >= 4:
        cuda.atomic.add(part, bins[i] - 4, 1)
    elif bins[i] >= 0:
        cuda.atomic.add(h, bins[i], 1)
    cuda.syncthreads()
    if t == 0:
        for k in range(8):
            out[cuda.blockIdx.x, k] = h[k]


GRIDS = [
    *[(blocks, 256) for blocks in (1, 2, 255, 256, 257, 300, 512, 513, 700)],
    *[(64, 1024), (65, 1024), (130, 1000), (2049, 32), (683, 96), (5, 1024)],
]


def hottest_of(kernel, grid, block, *arguments, dynamic=0):
    """Launch, and return how many lanes met at the hottest address of a block."""
    with profile() as prof:
        kernel[grid, block, 0, dynamic](*arguments)
    (launch,) = [r for r in prof.events() if isinstance(r, LaunchRecord)]
    atomics = [a for a in launch.counts.accesses if a.kind == "atomic"]
    assert sum(a.requests for a in atomics) > 0
    return [a.hottest_address for a in atomics], sum(a.active_lanes for a in atomics)


@pytest.mark.parametrize(("blocks", "threads"), GRIDS)
def test_all_lanes_of_a_block_meet_whatever_the_last_batch_holds(blocks, threads):
    out = cuda.to_device(np.zeros(blocks, np.int32))
    assert hottest_of(count_one, blocks, threads, out) == ([threads], blocks * threads)
    assert (out.copy_to_host() == threads).all()


@pytest.mark.parametrize("crowded", [0, -1], ids=["first block", "last block"])
@pytest.mark.parametrize(("blocks", "threads"), GRIDS)
def test_lanes_meet_where_their_own_indices_say(blocks, threads, crowded):
    bins = np.random.default_rng(blocks).integers(-1, 8, (blocks, threads))
    bins[crowded, : threads * 3 // 4] = 5
    by_hand = np.stack([(bins == k).sum(1) for k in range(8)], axis=1)
    device = cuda.to_device(bins.reshape(-1))
    for kernel, dynamic in ((count_bins, 0), (count_bins_in_dynamic, 32)):
        out = cuda.to_device(np.zeros((blocks, 8), np.int32))
        hottest, lanes = hottest_of(
            kernel, blocks, threads, device, out, dynamic=dynamic
        )
        np.testing.assert_array_equal(out.copy_to_host(), by_hand)
        assert lanes == by_hand.sum()
        assert max(hottest) == by_hand.max()
        if dynamic:
            assert sorted(hottest) == sorted([by_hand[:, :4].max(), by_hand.max()])
