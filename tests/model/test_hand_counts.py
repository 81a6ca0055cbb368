"""Counts that a reader can work out by hand, and laws that every count keeps.

Source: CUDA C++ Best Practices Guide, "Coalesced Access to Global Memory" and "Shared
Memory and Memory Banks".
"""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.cost import bank_passes, sectors_touched

T4 = find_gpu("t4")
LANES = np.arange(32)
EVERYONE = np.ones(32, bool)


def sectors(addresses, itemsize=4, active=EVERYONE):
    """Sectors of one request."""
    return int(sectors_touched(np.asarray([addresses]), itemsize, active[None], T4)[0])


def passes(addresses, itemsize=4, active=EVERYONE):
    """Passes over the banks of one request."""
    return int(bank_passes(np.asarray([addresses]), itemsize, active[None], T4)[0])


# ---- sectors by hand


@pytest.mark.parametrize(
    ("stride", "expected"),
    [(1, 4), (2, 8), (3, 12), (4, 16), (6, 24), (8, 32), (16, 32), (32, 32)],
)
def test_stride_of_float32(stride, expected):
    assert sectors(4 * stride * LANES) == expected


@pytest.mark.parametrize("shift", [4, 8, 28, 100])
def test_misaligned_warp_needs_a_fifth_sector(shift):
    assert sectors(512 + shift + 4 * LANES) == 5


def test_aligned_shifts_need_four():
    assert [sectors(shift + 4 * LANES) for shift in (0, 32, 64, 512)] == [4] * 4


def test_broadcast_needs_one():
    assert sectors(np.full(32, 4096)) == 1


def test_float64_in_a_row_needs_eight():
    assert sectors(8 * LANES, itemsize=8) == 8


def test_float64_column_of_a_transpose_needs_one_for_each_lane():
    assert sectors(8 * 1024 * LANES, itemsize=8) == 32


def test_bytes_in_a_row_need_one():
    assert sectors(LANES, itemsize=1) == 1


@pytest.mark.parametrize(
    ("lanes", "expected"), [(0, 0), (1, 1), (8, 1), (9, 2), (31, 4)]
)
def test_partial_warps(lanes, expected):
    assert sectors(4 * LANES, active=lanes > LANES) == expected


def test_every_fourth_lane_of_a_row_still_moves_all_sectors():
    assert sectors(4 * LANES, active=LANES % 4 == 0) == 4


# ---- passes by hand


def test_column_of_a_square_tile_takes_32_passes():
    assert passes(4 * 32 * LANES) == 32


def test_column_of_a_padded_tile_takes_one():
    assert passes(4 * 33 * LANES) == 1


@pytest.mark.parametrize("stride", range(65))
def test_stride_s_takes_gcd_passes(stride):
    expected = math.gcd(stride, 32) if stride else 1
    assert passes(4 * stride * LANES) == expected


def test_two_broadcasts_in_different_banks_are_one_pass():
    assert passes(4 * (LANES % 2)) == 1


def test_two_broadcasts_in_one_bank_are_two():
    assert passes(128 * (LANES % 2)) == 2


def test_float64_row_takes_two_and_column_conflicts_within_half_warps():
    assert passes(8 * LANES, itemsize=8) == 2
    assert passes(8 * 32 * LANES, itemsize=8) == 2 * 16
    assert passes(8 * 33 * LANES, itemsize=8) == 2


def test_16_byte_row_takes_four():
    assert passes(16 * LANES, itemsize=16) == 4


def test_float16_neighbours_share_words():
    assert passes(2 * LANES, itemsize=2) == 1
    assert passes(2 * 2 * LANES, itemsize=2) == 1
    assert passes(2 * 64 * LANES, itemsize=2) == 32


# ---- a naive reference: sets and loops, as the rule is worded


def naive_sectors(addresses, itemsize, active):
    """Distinct sectors of both ends of each active lane's element."""
    ends = [
        (a, a + itemsize - 1) for a, on in zip(addresses, active, strict=True) if on
    ]
    return len({end // 32 for pair in ends for end in pair})


def naive_passes(addresses, itemsize, active):
    """Longest queue at a bank, for each part of the warp that is served together."""
    words_per_lane = max(1, itemsize // 4)
    size = 32 // words_per_lane
    total = 0
    for start in range(0, 32, size):
        queues = [set() for _ in range(32)]
        for lane in range(start, start + size):
            for word in range(words_per_lane) if active[lane] else ():
                index = addresses[lane] // 4 + word
                queues[index % 32].add(index)
        total += max(map(len, queues))
    return total


ITEMSIZES = st.sampled_from([1, 2, 4, 8, 16])
MASKS = st.one_of(
    st.just([True] * 32),
    st.integers(0, 32).map(lambda n: [lane < n for lane in range(32)]),
    st.integers(0, 32).map(lambda n: [lane >= n for lane in range(32)]),
    st.lists(st.booleans(), min_size=32, max_size=32),
)


@st.composite
def requests(draw):
    """Elements of 32 lanes: strided, repeated, sorted or scattered, and a mask."""
    itemsize = draw(ITEMSIZES)
    base = draw(st.integers(0, 300))
    scattered = st.lists(st.integers(0, 400), min_size=32, max_size=32)
    elements = draw(
        st.one_of(
            st.integers(0, 40).map(lambda s: [s * lane for lane in range(32)]),
            st.integers(1, 40).map(lambda s: [s * (31 - lane) for lane in range(32)]),
            st.integers(1, 32).map(lambda s: [lane // s for lane in range(32)]),
            scattered,
            scattered.map(sorted),
        )
    )
    addresses = [itemsize * (base + element) for element in elements]
    return np.array(addresses), itemsize, np.array(draw(MASKS))


@settings(max_examples=400)
@given(requests())
def test_sectors_equal_the_naive_count(request_):
    assert sectors(*request_) == naive_sectors(*request_)


@settings(max_examples=200)
@given(requests(), st.integers(1, 31))
def test_sectors_of_misaligned_elements_equal_the_naive_count(request_, shift):
    addresses, itemsize, active = request_
    assert sectors(addresses + shift, itemsize, active) == naive_sectors(
        addresses + shift, itemsize, active
    )


@settings(max_examples=400)
@given(requests())
def test_passes_equal_the_naive_count(request_):
    assert passes(*request_) == naive_passes(*request_)


@settings(max_examples=50)
@given(st.lists(requests(), min_size=1, max_size=5))
def test_a_batch_counts_as_its_requests(batch):
    itemsize = batch[0][1]
    addresses = np.array([row // size * itemsize for row, size, _ in batch])
    active = np.array([mask for _, _, mask in batch])
    rows = list(zip(addresses, active, strict=True))
    expected = [naive_sectors(row, itemsize, on) for row, on in rows]
    assert sectors_touched(addresses, itemsize, active, T4).tolist() == expected
    expected = [naive_passes(row, itemsize, on) for row, on in rows]
    assert bank_passes(addresses, itemsize, active, T4).tolist() == expected


# ---- laws


@settings(max_examples=100)
@given(requests(), st.permutations(range(32)))
def test_permuting_lanes_changes_no_sectors(request_, order):
    addresses, itemsize, active = request_
    assert sectors(addresses[order], itemsize, active[order]) == sectors(*request_)


@settings(max_examples=100)
@given(requests(), st.permutations(range(32)))
def test_permuting_lanes_changes_no_passes_of_4_byte_elements(request_, order):
    addresses, itemsize, active = request_
    words = addresses // itemsize * 4
    assert passes(words[order], 4, active[order]) == passes(words, 4, active)


@settings(max_examples=100)
@given(requests(), MASKS)
def test_fewer_active_lanes_are_never_dearer(request_, mask):
    addresses, itemsize, active = request_
    fewer = active & np.array(mask)
    assert sectors(addresses, itemsize, fewer) <= sectors(*request_)
    assert passes(addresses, itemsize, fewer) <= passes(*request_)


@settings(max_examples=100)
@given(requests(), st.integers(0, 50))
def test_moving_by_whole_sectors_changes_nothing(request_, shift):
    addresses, itemsize, active = request_
    assert sectors(addresses + 32 * shift, itemsize, active) == sectors(*request_)
    assert passes(addresses + 128 * shift, itemsize, active) == passes(*request_)
