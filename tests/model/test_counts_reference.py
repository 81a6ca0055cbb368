"""All counts of random requests against the rules as they are worded, lane by lane.

Source: as of `cost.coalescing`, `cost.half_warps`, `cost.bank_conflicts`.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.cost import GpuCountRules

SPECS = {name: find_gpu(name) for name in ["t4", "k20c", "c2050", "c1060", "c870"]}
SPECS["k20c wide"] = replace(SPECS["k20c"], bank_bytes=8)


# ---- global memory: `lanes` are pairs of a lane's number and its address


def segments(lanes, itemsize, nbytes):
    """Segments in which the first or the last byte of an element lies."""
    ends = {end for _, a in lanes for end in (a, a + itemsize - 1)}
    return {end // nbytes for end in ends}


def warp_of_sectors(lanes, itemsize):
    count = len(segments(lanes, itemsize, 32))
    return count, count


def warp_of_lines(lanes, itemsize):
    count = len(segments(lanes, itemsize, 128))
    return count, 4 * count


def half_of_1_0(lanes, itemsize):
    """Whole if each lane is at its word of one aligned segment, else all apart."""
    places = {(a - itemsize * (lane % 16)) for lane, a in lanes}
    segment = 16 * itemsize
    if itemsize >= 4 and len(places) == 1 and places.pop() % segment == 0:
        return max(1, segment // 128), segment // 32
    return len(lanes), len(lanes)


def half_of_1_3(lanes, itemsize):
    """Serve the segment of the lowest lane, shrunk to the part in use; repeat."""
    segment = {1: 32, 2: 64}.get(itemsize, 128)
    waiting, transactions, sectors = list(lanes), 0, 0
    while waiting:
        start, size = waiting[0][1] // segment * segment, segment
        served = [a for _, a in waiting if start <= a < start + segment]
        waiting = [(k, a) for k, a in waiting if not start <= a < start + segment]
        while size > 32:
            size //= 2
            if all(a < start + size for a in served):
                continue
            if all(a >= start + size for a in served):
                start += size
                continue
            size *= 2
            break
        transactions, sectors = transactions + 1, sectors + size // 32
    return transactions, sectors


def halves(rule):
    def of_warp(lanes, itemsize):
        parts = [[p for p in lanes if p[0] // 16 == half] for half in (0, 1)]
        found = [rule(part, itemsize) for part in parts if part]
        return tuple(map(sum, zip(*found, strict=True))) if found else (0, 0)

    return of_warp


MEMORY = {
    "t4": (warp_of_sectors, warp_of_sectors),
    "k20c": (warp_of_sectors, warp_of_sectors),
    "c2050": (warp_of_lines, warp_of_sectors),
    "c1060": (halves(half_of_1_3), halves(half_of_1_3)),
    "c870": (halves(half_of_1_0), halves(half_of_1_0)),
}


# ---- shared memory


def queues(words, banks, bank_of, row_of):
    """Longest queue of distinct rows at a bank."""
    rows = [set() for _ in range(banks)]
    for word in words:
        rows[bank_of(word)].add(row_of(word))
    return max(map(len, rows))


def modern(words):
    return queues(words, 32, lambda w: w % 32, lambda w: w)


def paired(words):
    return queues(words, 32, lambda w: w % 32, lambda w: w // 64)


def one_broadcast(words):
    """Each lane apart but for those of one word, whichever is best."""

    def longest(shared):
        apart = [w for w in words if w != shared] + [shared]
        return max(sum(w % 16 == bank for w in apart) for bank in range(16))

    return min(longest(shared) for shared in set(words))


# Bytes of a word, lanes that are served together for words of one lane, passes.
BANKS = {
    "t4": (4, 32, modern),
    "c2050": (4, 32, modern),
    "k20c": (4, 32, paired),
    "k20c wide": (8, 32, modern),
    "c1060": (4, 16, one_broadcast),
    "c870": (4, 16, one_broadcast),
}


def passes_and_ideal(gpu, lanes, itemsize):
    width, together, rule = BANKS[gpu]
    words_per_lane = max(1, itemsize // width)
    size = together // words_per_lane
    total = ideal = 0
    for start in range(0, 32, size):
        words = [
            a // width + word
            for lane, a in lanes
            if start <= lane < start + size
            for word in range(words_per_lane)
        ]
        if words:
            total, ideal = total + rule(words), ideal + 1
    return total, ideal


# ---- requests


@st.composite
def requests(draw):
    """Up to three warps: addresses strided, repeated, sorted or scattered; masks."""
    itemsize = draw(st.sampled_from([1, 2, 4, 8]))
    scattered = st.lists(st.integers(0, 300), min_size=32, max_size=32)
    one = st.one_of(
        st.integers(0, 40).map(lambda s: [s * lane for lane in range(32)]),
        st.integers(1, 40).map(lambda s: [s * (31 - lane) for lane in range(32)]),
        st.integers(1, 32).map(lambda s: [lane // s for lane in range(32)]),
        st.integers(1, 32).map(lambda s: [lane % s for lane in range(32)]),
        st.integers(16, 90).map(lambda s: [k % 16 + k // 16 * s for k in range(32)]),
        scattered,
        scattered.map(sorted),
    )
    masks = st.one_of(
        st.just([True] * 32),
        st.integers(0, 32).map(lambda n: [lane < n for lane in range(32)]),
        st.integers(1, 5).map(lambda n: [lane % n == 0 for lane in range(32)]),
        st.lists(st.booleans(), min_size=32, max_size=32),
    )
    rows = draw(st.lists(st.tuples(one, masks), min_size=1, max_size=3))
    base = draw(st.sampled_from([0, 1, 3, 8, 16, 31, 32]))
    elements = base + np.array([row for row, _ in rows])
    return itemsize, itemsize * elements, np.array([mask for _, mask in rows])


def lanes_of(addresses, active):
    """Pairs of lane and address of each request."""
    rows = zip(addresses.tolist(), active.tolist(), strict=True)
    return [[(k, row[k]) for k in range(32) if on[k]] for row, on in rows]


def found(gpu, space, kind, request_, shift):
    itemsize, addresses, active = request_
    array = SimpleNamespace(space=space, itemsize=itemsize)
    rules = GpuCountRules(SPECS[gpu])
    moved = rules.requests(array, kind, addresses, active).cost(shift * itemsize)
    return moved, lanes_of(addresses + shift * itemsize, active)


@pytest.mark.parametrize("kind", ["load", "store"])
@pytest.mark.parametrize("gpu", MEMORY)
@settings(max_examples=80)
@given(requests(), st.integers(0, 40))
def test_global_memory(gpu, kind, request_, shift):
    cost, warps = found(gpu, "global", kind, request_, shift)
    itemsize, rule = request_[0], MEMORY[gpu][kind == "store"]
    both = [rule(lanes, itemsize) for lanes in warps]
    assert cost.transactions == sum(transactions for transactions, _ in both)
    assert cost.sectors == sum(sectors for _, sectors in both)
    assert cost.tags == sum(len(segments(w, itemsize, 128)) for w in warps)
    passes = [passes_and_ideal(gpu, lanes, itemsize)[0] for lanes in warps]
    assert cost.wavefronts == (sum(passes) if gpu in ("t4", "c2050") else 0)
    assert cost.bytes_used == itemsize * sum(len({a for _, a in w}) for w in warps)


@pytest.mark.parametrize("gpu", BANKS)
@settings(max_examples=80)
@given(requests(), st.integers(0, 40))
def test_shared_memory(gpu, request_, shift):
    cost, warps = found(gpu, "shared", "load", request_, shift)
    both = [passes_and_ideal(gpu, lanes, request_[0]) for lanes in warps]
    assert cost.wavefronts == sum(passes for passes, _ in both)
    assert cost.ideal_wavefronts == sum(ideal for _, ideal in both)
    assert cost.ideal_wavefronts <= cost.wavefronts


@settings(max_examples=80)
@given(requests(), st.sampled_from(["global", "shared"]))
def test_contention(request_, space):
    cost, warps = found("t4", space, "atomic", request_, 0)
    meet = [[a for _, a in lanes] for lanes in warps]
    most = [max((row.count(a) for a in row), default=0) for row in meet]
    assert cost.serial_passes == sum(most)


@settings(max_examples=80)
@given(requests())
def test_constant_memory(request_):
    cost, warps = found("t4", "constant", "load", request_, 0)
    assert cost.wavefronts == sum(len({a // 4 for _, a in lanes}) for lanes in warps)


@pytest.mark.parametrize("gpu", SPECS)
def test_newer_gpus_never_move_more(gpu):
    """Stride by stride, no GPU moves less than a T4 does."""
    active = np.ones((1, 32), bool)
    array = SimpleNamespace(space="global", itemsize=4)
    for stride in range(65):
        row = 4 * stride * np.arange(32)[None]
        sectors = [
            GpuCountRules(SPECS[name]).requests(array, "load", row, active).cost(0)[0]
            for name in ("t4", gpu)
        ]
        assert all(few <= many for few, many in pairwise(sectors))
