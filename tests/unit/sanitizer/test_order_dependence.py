"""A result that another order changes is told; rounding is a note."""

from types import SimpleNamespace

import numpy as np
import pytest

from tinytorch_gpu.errors import OutOfBoundsError
from tinytorch_gpu.sanitizer.order_dependence import order_finding
from tinytorch_gpu.trace import KernelSource

KERNEL = KernelSource("mix", "mix.py", 3)


def differing(first, again, index=(2, 1), count=3):
    return [
        SimpleNamespace(array="out", index=index, first=first, again=again, count=count)
    ]


def test_another_value_is_a_warning_with_both():
    found = order_finding(
        KERNEL, differing(np.int32(5), np.int32(6)), seed=4, has_race=True
    )
    assert (found.tool, found.kind) == ("racecheck", "order_dependence")
    assert found.level == "warning"
    assert "`out[2, 1]` is 5 in one order" in found.what
    assert "6 in another" in found.what
    assert "3 elements of `out` differ\n" in found.where
    assert "schedule_seed=4" in found.where
    assert (found.array, found.index, found.count) == ("out", (2, 1), 3)


def test_one_element_differs():
    found = order_finding(KERNEL, differing(1, 2, count=1), seed=0, has_race=False)
    assert "1 element of `out` differs\n" in found.where


@pytest.mark.parametrize(
    ("first", "again", "level"),
    [
        (np.float32(1), np.float32(1.0000001), "note"),
        (np.float32(1), np.float32(1.01), "warning"),
        (np.float32(1), np.float32(np.nan), "warning"),
        (np.int32(10_000), np.int32(10_001), "warning"),
    ],
)
def test_float_sums_may_round(first, again, level):
    found = order_finding(KERNEL, differing(first, again), seed=0, has_race=False)
    assert found.level == level
    assert ("tolerance" in found.fix) == (level == "note")


def test_without_a_race_atomics_are_to_blame():
    found = order_finding(KERNEL, differing(1, 2), seed=0, has_race=False)
    assert "atomic" in found.why
    assert "race" not in found.fix
    assert "look for the race" in order_finding(KERNEL, differing(1, 2), 0, True).fix


def test_a_launch_that_stops_in_another_order():
    error = OutOfBoundsError("index 9", where="line 3", why="too far", fix="guard it")
    found = order_finding(KERNEL, error, seed=1, has_race=False)
    assert found.level == "warning"
    assert found.what.endswith("the launch stops: index 9")
    assert (found.why.startswith("line 3"), found.fix) == (True, "guard it")


def test_without_a_race_the_advice_is_not_to_look_for_one():
    found = [order_finding(KERNEL, differing(1, 2), 0, race) for race in (True, False)]
    assert ["race" in f.fix for f in found] == [True, False]
    assert "who comes first" in found[1].why
