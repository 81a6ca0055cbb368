"""Percentages that add up as printed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinytorch_gpu.profiler.shares import percentages

parts = st.lists(st.integers(0, 10**9).map(float), min_size=1, max_size=60)


@given(parts)
def test_they_add_up_to_a_hundred_as_printed(numbers):
    tenths = [int(f"{share:.1f}".replace(".", "")) for share in percentages(numbers)]
    assert sum(tenths) == (1000 if any(numbers) else 0)


@given(parts)
def test_each_is_less_than_a_tenth_away(numbers):
    whole = sum(numbers)
    for part, share in zip(numbers, percentages(numbers), strict=True):
        assert abs(share - (100 * part / whole if whole else 0)) < 0.1 + 1e-9


def test_the_largest_remainders_are_rounded_up():
    assert percentages([2, 3, 1]) == [33.3, 50.0, 16.7]
    assert percentages([1] * 7) == [14.3] * 6 + [14.2]


@pytest.mark.parametrize("numbers", [[], [0.0], [0.0, 0.0]])
def test_nothing_has_no_share(numbers):
    assert percentages(numbers) == [0.0] * len(numbers)
