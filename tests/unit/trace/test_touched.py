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
    asked = Asked(10**8, 10**8)
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


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("array", [LARGE, SMALL], ids=["large", "small"])
def test_walks_that_are_cut_into_parts_are_counted_alike(name, array, monkeypatch):
    whole = reuse_of(CASES[name], array=array)
    monkeypatch.setattr(different, "MOST", 2000)  # more than any list here holds
    assert numbers(reuse_of(CASES[name], array=array)) == numbers(whole)


def test_what_is_touched_again_and_again_is_counted_once_however_often():
    # Two blocks walk 4,096 times along the same 8 sectors: 65,536 asked, 8 different.
    walk = SAME.repeat(2, axis=0), None, [0] * 4096
    found = reuse_of([walk])
    assert numbers(found) == (16, 8, 4, 2)


ROWS = 8 * (2**17 * np.arange(64)[None] + 2**25 * np.arange(2)[:, None])


@pytest.mark.parametrize("steps", [1, 100, 20_000, 40_000, 80_000])
def test_a_long_list_is_sampled_without_a_jump(steps):
    """64 rows of each block, a sector at each step: 128 × steps, all of them new."""
    found = reuse_of([(ROWS, None, range(0, 8 * steps, 8))])
    expected = (128 * steps, 128 * steps)
    got = found.block_sectors, found.together_sectors
    is_exact = 128 * steps <= different.MOST
    assert got == expected if is_exact else got == pytest.approx(expected, rel=0.01)


def test_a_sample_tells_what_blocks_share_too(monkeypatch):
    monkeypatch.setattr(different, "MOST", 2**14)
    shared = ROWS[:1].repeat(2, axis=0)
    found = reuse_of([(shared, None, range(0, 8 * 1000, 8)), (ROWS, None, [0])])
    # 64,000 of both blocks, and 64 of the second alone
    assert found.block_sectors == pytest.approx(2 * 64_000 + 64, rel=0.02)
    assert found.together_sectors == pytest.approx(64_000 + 64, rel=0.02)


def test_sectors_of_all_blocks_are_not_counted_again_for_one_of_them():
    # All blocks touch 8 sectors; each touches 8 of its own, of which 8 are the same.
    found = reuse_of([(SAME, None, [0]), (BY_BLOCK, None, [0])])
    assert numbers(found)[:2] == (8 + 16, 16)


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
