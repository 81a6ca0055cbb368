"""Stretches and jumps count what sets of segments count."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinytorch_gpu.cost.requests import count_distinct
from tinytorch_gpu.cost.spans import Spans

LANES = np.arange(8)
EVERYONE = np.ones((1, 8), bool)


def test_a_row_is_one_stretch():
    spans = Spans.of(4 * LANES[None], EVERYONE)
    assert (spans.first.tolist(), spans.last.tolist()) == ([0], [28])
    assert (len(spans.before), spans.requests, spans.distinct) == (0, 1, 8)


def test_a_column_is_all_jumps():
    spans = Spans.of(100 * LANES[None], EVERYONE)
    assert spans.first.tolist() == spans.last.tolist() == (100 * LANES).tolist()
    assert (len(spans.before), spans.distinct) == (7, 8)


def test_what_is_touched_twice_counts_once():
    spans = Spans.of(4 * (LANES % 4)[None], EVERYONE)  # 0 1 2 3 0 1 2 3: is sorted
    assert (spans.first.tolist(), spans.last.tolist()) == ([0], [12])
    assert spans.distinct == 4


def test_nothing_is_touched_without_active_lanes():
    spans = Spans.of(4 * LANES[None], ~EVERYONE)
    assert (spans.requests, spans.distinct, spans.segments(32)) == (0, 0, 0)
    assert Spans.of(np.zeros((0, 8), int), np.ones((0, 8), bool)).segments(32) == 0
    assert spans.starts(128, 32) == [0]


def test_inactive_lanes_may_hold_anything():
    active = np.array([[True, True, False, False, False, False, False, False]])
    spans = Spans.of(np.where(active, 4 * LANES, -999), active)
    assert (spans.first.tolist(), spans.last.tolist()) == ([0], [4])


@pytest.mark.parametrize(
    ("shift", "sectors", "lines"), [(0, 1, 1), (4, 2, 1), (100, 2, 2)]
)
def test_shifted_rows(shift, sectors, lines):
    spans = Spans.of(4 * LANES[None], EVERYONE)  # 32 bytes
    assert (spans.segments(32, shift), spans.segments(128, shift)) == (sectors, lines)


@given(
    st.lists(st.lists(st.integers(0, 600), min_size=8, max_size=8), max_size=4),
    st.lists(st.booleans(), min_size=8, max_size=8),
    st.booleans(),
    st.integers(0, 300),
)
def test_segments_equal_the_count_by_sorting(rows, active, is_sorted, shift):
    addresses = 4 * np.array(rows, np.int64).reshape(-1, 8)
    if is_sorted:
        addresses.sort(axis=1)
    mask = np.broadcast_to(active, addresses.shape).copy()
    spans = Spans.of(addresses, mask)
    for nbytes in (32, 64, 128):
        expected = count_distinct((addresses + shift) // nbytes, mask).sum()
        assert spans.segments(nbytes, shift) == expected
    assert spans.distinct == count_distinct(addresses, mask).sum()
