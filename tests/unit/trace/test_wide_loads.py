"""Loads of shared memory that are joined, by hand and against each lane's history."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinytorch_gpu.trace.wide_loads import WideLoads

TILE = SimpleNamespace(address=0, itemsize=4)
OTHER = SimpleNamespace(address=4096, itemsize=4)
ROWS = 32 * np.arange(8)[None]  # tile[row, k] of eight lanes, rows of 32 elements


def ridden(shifts, flat=ROWS, array=TILE, loads=None):
    loads = loads or WideLoads()
    return [int(loads.rides("here", 0, array, flat, k)) for k in shifts]


def test_four_float32_are_one_load():
    assert ridden(range(9)) == [0, 1, 1, 1, 0, 1, 1, 1, 0]


@pytest.mark.parametrize(
    ("itemsize", "expected"),
    [
        (2, [0, 1, 1, 1, 1, 1, 1, 1, 0, 1]),
        (8, [0, 1, 0, 1, 0, 1, 0, 1, 0, 1]),
        (16, [0] * 10),
    ],
)
def test_as_many_as_16_bytes_hold(itemsize, expected):
    array = SimpleNamespace(address=0, itemsize=itemsize)
    assert ridden(range(10), array=array) == expected


@pytest.mark.parametrize(
    ("flat", "expected"),
    [
        (33 * np.arange(8)[None], [0, 0, 0, 0, 0]),  # a padded tile
        (np.arange(8)[None], [0, 0, 0, 0, 0]),  # neighbours of a stencil
        (ROWS + 1, [0, 1, 1, 0, 1]),  # elements 1 to 5 of a row
        (np.int64(2), [0, 1, 0, 1, 1]),  # one element for all lanes: 2 to 6
    ],
)
def test_the_pieces_of_16_bytes_begin_where_the_array_does(flat, expected):
    assert ridden(range(5), flat) == expected


def test_steps_of_a_row_are_no_neighbours():
    assert ridden(range(0, 128, 32)) == [0, 0, 0, 0]


def test_neighbours_may_come_later():
    # of a loop over rows, 8 elements apart, inside one over k
    order = [row * 8 + k for k in range(3) for row in range(2)]
    assert ridden(order) == [0, 0, 1, 1, 1, 1]


def test_lanes_that_are_computed_anew_are_known_by_their_distance():
    loads = WideLoads()
    flats = [ROWS + k for k in range(4)]
    assert [ridden([0], flat, loads=loads) for flat in flats] == [[0], [1], [1], [1]]
    assert ridden([0], ROWS * 2 + 4, loads=loads) == [0]  # lanes part
    assert ridden([1], ROWS * 2 + 4, loads=loads) == [1]


def test_nothing_is_joined_across_a_barrier_or_a_store_to_the_array():
    loads = WideLoads()
    assert ridden([0, 1], loads=loads) == [0, 1]
    loads.part(OTHER.address)
    assert ridden([2], loads=loads) == [1]
    loads.part(TILE.address)
    assert ridden([3], loads=loads) == [0]
    assert ridden([4, 5], loads=loads) == [0, 1]
    loads.part()
    assert ridden([6], loads=loads) == [0]


def test_places_arrays_and_batches_are_apart():
    loads = WideLoads()
    loads.rides("here", 0, TILE, ROWS, 0)
    assert not loads.rides("there", 0, TILE, ROWS, 1)
    assert not loads.rides("here", 0, OTHER, ROWS, 1)
    assert not loads.rides("here", 8, TILE, ROWS, 1)


EVENTS = st.lists(st.one_of(st.integers(0, 11), st.none()), max_size=40)


@given(EVENTS, st.integers(1, 40), st.integers(0, 5))
def test_each_lane_has_loaded_the_element_before(events, stride, start):
    flat = stride * np.arange(4)[None] + start
    loads, histories = WideLoads(), [set() for _ in range(4)]
    for shift in events:
        if shift is None:
            loads.part()
            for history in histories:
                history.clear()
            continue
        elements = (flat + shift).ravel().tolist()
        expected = len({e % 4 for e in elements}) == 1 and all(
            e % 4 and e - 1 in history
            for e, history in zip(elements, histories, strict=True)
        )
        assert loads.rides("here", 0, TILE, flat, shift) == expected
        for element, history in zip(elements, histories, strict=True):
            history.add(element)
