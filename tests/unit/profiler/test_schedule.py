"""Schedules: torch.profiler's cycles of steps."""

from __future__ import annotations

import pytest

from tinytorch_gpu.errors import UnsupportedError
from tinytorch_gpu.profiler import ProfilerAction, schedule


def _letters(plan, steps):
    """One letter for each step: N, W, R, S."""
    letters = {"NONE": "N", "WARMUP": "W", "RECORD": "R", "RECORD_AND_SAVE": "S"}
    return "".join(letters[plan(step).name] for step in range(steps))


@pytest.mark.parametrize(
    ("numbers", "letters"),
    [
        ({"wait": 1, "warmup": 1, "active": 2}, "NWRSNWRSNW"),
        ({"wait": 1, "warmup": 1, "active": 2, "repeat": 1}, "NWRSNNNNNN"),
        ({"wait": 0, "warmup": 0, "active": 1}, "SSSSSSSSSS"),
        ({"wait": 0, "warmup": 0, "active": 3, "repeat": 2}, "RRSRRSNNNN"),
        ({"wait": 0, "warmup": 1, "active": 1, "skip_first": 3}, "NNNWSWSWSW"),
    ],
)
def test_cycles(numbers, letters):
    assert _letters(schedule(**numbers), 10) == letters


@pytest.mark.parametrize(
    "numbers",
    [
        {"wait": -1, "warmup": 0, "active": 1},
        {"wait": 0, "warmup": 0, "active": 0},
        {"wait": 0, "warmup": 0, "active": 1, "skip_first": -1},
    ],
)
def test_impossible_numbers_are_refused_in_four_parts(numbers):
    with pytest.raises(UnsupportedError) as caught:
        schedule(**numbers)
    error = caught.value
    assert all((error.what, error.where, error.why, error.fix))


def test_recording_actions():
    assert [action.name for action in ProfilerAction if action.is_recording] == [
        "RECORD",
        "RECORD_AND_SAVE",
    ]


@pytest.mark.parametrize(
    "more", [{"active": "a"}, {"wait": 1.5}, {"warmup": None}, {"repeat": True}]
)
def test_what_is_no_number_of_steps_is_refused(more):
    with pytest.raises(UnsupportedError, match="numbers of steps"):
        schedule(**({"wait": 1, "warmup": 1, "active": 3} | more))
