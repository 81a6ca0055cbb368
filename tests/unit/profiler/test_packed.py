"""Counts with lanes side by side, and in whole warps."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tinytorch_gpu.profiler.packed import (
    fewest_sectors,
    in_whole_warps,
    share_needed,
    side_by_side,
    wasted_sectors,
)
from tinytorch_gpu.trace import Reuse

WARPS = 32_000


def half_empty(access, sectors):
    """16 of 32 lanes of each warp take part."""
    return access(
        sectors=sectors * WARPS,
        active_lanes=16 * WARPS,
        bytes_requested=64 * WARPS,
        bytes_used=64 * WARPS,
    )


def test_lanes_that_are_off_waste_no_sector(access):
    assert share_needed(half_empty(access, 4)) is None
    assert wasted_sectors(half_empty(access, 4)) == 0
    assert fewest_sectors(half_empty(access, 16)) == 4 * WARPS
    assert fewest_sectors(access(sectors=32 * WARPS)) == 4 * WARPS


@pytest.mark.parametrize(("sectors", "left"), [(4, 2), (16, 16)])
def test_whole_warps_ask_half_as_often(access, counts, sectors, left):
    """Neighbours share sectors then; scattered lanes want as many as before."""
    access = half_empty(access, sectors)
    again = Reuse("x", "load", 128 * WARPS, *[sectors * WARPS] * 3, *[WARPS] * 3)
    whole = in_whole_warps(replace(counts(access), reuse=(again,)))
    assert whole.accesses[0].requests == WARPS // 2
    assert whole.accesses[0].sectors == left * WARPS
    (reuse,) = whole.reuse
    assert (reuse.sectors, reuse.block_sectors) == (left * WARPS, left * WARPS)
    assert reuse.requests == reuse.block_requests == WARPS // 2


def test_whole_warps_and_atomics_stay_as_they_are(access, counts):
    for full in (access(), half_empty(access, 4)):
        work = counts(replace(full, kind="atomic"))
        assert in_whole_warps(work) == work
    assert in_whole_warps(counts(access())) == counts(access())


def test_side_by_side_each_request_comes_to_new_sectors(access, counts):
    """Of a walk along rows one of 8 requests does; of one down columns each."""
    rows = access(sectors=32 * WARPS, wavefronts=32 * WARPS)
    again = Reuse(
        "x", "load", 128 * WARPS, 32 * WARPS, *[4 * WARPS] * 2, WARPS, *[WARPS // 8] * 2
    )
    packed = side_by_side(replace(counts(rows), reuse=(again,)))
    (reuse,) = packed.reuse
    assert packed.accesses[0].sectors == reuse.sectors == 4 * WARPS
    assert reuse.block_requests == reuse.together_requests == WARPS


@pytest.mark.parametrize(("text", "left"), [("p[i] * p[i]", 4), ("p[i] * p[j]", 8)])
def test_two_loads_of_an_element_are_different_once(access, counts, text, left):
    load = access(sectors=16 * WARPS, array="p")
    load = replace(load, line=replace(load.line, text=f"y[i] = {text}"))
    again = Reuse("p", "load", 512 * WARPS, 32 * WARPS, *[16 * WARPS] * 2, *[WARPS] * 3)
    (reuse,) = side_by_side(replace(counts(load, load), reuse=(again,))).reuse
    assert (reuse.sectors, reuse.block_sectors) == (8 * WARPS, left * WARPS)
    assert reuse.block_requests == WARPS
