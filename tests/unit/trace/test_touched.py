"""Sectors that blocks touch, against sets."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinytorch_gpu.executor import Mask
from tinytorch_gpu.trace import different
from tinytorch_gpu.trace.touched import Asked, Touched, Walk

SHAPE = (2, 64)
LARGE = SimpleNamespace(itemsize=4)  # of unknown size
SMALL = SimpleNamespace(itemsize=4, storage=np.zeros(300_000, np.float32))


def reuse_of(accesses, unit=32, array=LARGE):
    """What is found of accesses (flat, lanes or None, shifts)."""
    found = Touched("x", "load", unit)
    asked = Asked(10**6, 10**6)
    found.count(0, asked, asked, 4000)
    for number, (flat, lanes, shifts) in enumerate(accesses):
        walk = Walk(flat, Mask(lanes, SHAPE), array)
        for shift in shifts:
            walk.at(flat, shift)
        found.add(walk, number)
        found.count(number, asked, asked, 4000)
    return found.reuse()


def by_sets(accesses, unit=32):
    """The same, lane by lane: different sectors, then those that requests lead with."""
    blocks, most = [set(), set()], [(0, 0)]
    for flat, lanes, shifts in accesses:
        full = np.broadcast_to(flat, SHAPE)
        active = np.broadcast_to(True if lanes is None else lanes, SHAPE)
        leads = [set(), set()]
        for shift in shifts:
            for block in range(2):
                for warp in (slice(0, 32), slice(32, 64)):
                    indices = full[block, warp][active[block, warp]] + shift
                    units = (4 * indices // unit).tolist()
                    blocks[block] |= set(units)
                    leads[block] |= set(units[:1])
        most.append((sum(map(len, leads)), len(leads[0] | leads[1])))
    scale = unit // 32
    return (
        scale * sum(map(len, blocks)),
        scale * len(blocks[0] | blocks[1]),
        *map(max, zip(*most, strict=True)),
    )


def numbers(reuse):
    """The four that `by_sets` finds."""
    return (
        reuse.block_sectors,
        reuse.together_sectors,
        reuse.block_requests,
        reuse.together_requests,
    )


BY_BLOCK = np.arange(128).reshape(SHAPE)
SAME = np.arange(64)[None]
FEW = SAME < 40
CASES = {
    "each block its own": [(BY_BLOCK, None, [0])],
    "twice": [(BY_BLOCK, None, [0]), (BY_BLOCK + 0, None, [0])],
    "a half again": [(BY_BLOCK, None, [0]), (BY_BLOCK + 32, None, [0])],
    "all blocks the same": [(SAME, None, [0])],
    "some lanes": [(BY_BLOCK, FEW, [0]), (SAME, FEW, [0, 64])],
    "one element": [(np.int64(7), None, [0])],
    "one element of each block": [(np.array([[0], [640]]), None, range(64))],
    "a walk along rows": [(800 * SAME, None, range(40))],
    "a walk down columns": [(BY_BLOCK, None, range(0, 8000, 800))],
    "a row of lanes only in one block": [(SAME, np.array([[True], [False]]), [0])],
    "one element, in one block": [
        (np.array([[0], [640]]), np.array([[True], [False]]), range(9))
    ],
    "backwards": [(BY_BLOCK[:, ::-1], None, [0])],
    "scattered": [(BY_BLOCK * 7919 % 1009, None, [0])],
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("unit", [32, 128])
@pytest.mark.parametrize("array", [LARGE, SMALL], ids=["large", "small"])
def test_against_sets(name, unit, array):
    found = reuse_of(CASES[name], unit, array)
    assert numbers(found) == by_sets(CASES[name], unit)


@given(st.lists(st.integers(0, 500), min_size=128, max_size=128), st.booleans())
def test_any_lanes(indices, is_masked):
    flat = np.array(indices).reshape(SHAPE)
    accesses = [(flat, flat % 3 > 0 if is_masked else None, [0])]
    for array in (LARGE, SMALL):
        found = reuse_of(accesses, array=array)
        assert numbers(found) == by_sets(accesses)


def test_scalars_walk_too():
    walk = Walk(np.int64(5), Mask(None, SHAPE), LARGE)
    mask = walk.mask
    assert walk.is_of(np.int64(6), mask)
    assert not walk.is_of(SAME, mask)
    for number in range(16):
        walk.at(np.int64(number), 0)
    found = Touched("x", "load", 32)
    found.add(walk, 0)
    found.count(0, Asked(64, 64), Asked(64, 64), 64)
    assert numbers(found.reuse()) == (4, 2, 4, 2)


def test_what_is_seen_is_scaled_and_never_more_than_was_asked_for():
    found = Touched("x", "load", 32)
    walk = Walk(BY_BLOCK, Mask(None, SHAPE), LARGE)
    walk.at(BY_BLOCK, 0)
    found.add(walk, 0)
    # 16 of 32 sectors are different, and all four requests lead with another.
    found.count(0, Asked(requests=40, sectors=320), Asked(4, 32), nbytes=512)
    assert numbers(found.reuse()) == (160, 160, 40, 40)
    assert found.reuse().array_bytes == 512


def test_huge_walks_are_counted_without_a_list(monkeypatch):
    monkeypatch.setattr(different, "MOST", 100)
    case = CASES["a walk down columns"]
    found = reuse_of(case)
    assert numbers(found) == by_sets(case)


def test_lines_of_one_block_at_a_time():
    # 64 rows of 3200 bytes: a line each; and 64 neighbours: two lines.
    found = reuse_of([(800 * SAME, None, range(40)), (BY_BLOCK, None, [0])])
    assert found.step_lines == 64 + 2
    # Both warps of a block want the same 32 lines.
    warps_alike = reuse_of([(800 * (SAME % 32) + 0 * BY_BLOCK, None, range(40))])
    assert warps_alike.step_lines == 32


def test_what_only_later_blocks_touch_is_taken_to_be_new():
    found = Touched("x", "load", 32)
    found.count(0, Asked(requests=40, sectors=320), Asked(), nbytes=4000)
    assert numbers(found.reuse()) == (320, 320, 40, 40)
