"""Counts made by hand, for the tests of the cost model."""

from __future__ import annotations

import pytest

from tinytorch_gpu.trace import AccessCounts, LaunchCounts, LineCounts, SourceLine

HERE = SourceLine("lesson", "lesson.py", 3, "out[i] = x[i]")


def make_access(array="x", space="global", kind="load", **numbers):
    """Return one access; by default one coalesced request of 32 float32."""
    numbers = {
        "requests": 1,
        "sectors": 4,
        "active_lanes": 32,
        "bytes_requested": 128,
        "array_bytes": 128,
    } | numbers
    return AccessCounts(line=HERE, array=array, space=space, kind=kind, **numbers)


def make_counts(*accesses, **totals):
    """Return the counts of a launch with one line."""
    names = set(LineCounts.__dataclass_fields__) - {"line"}
    line = LineCounts(line=HERE, **(dict.fromkeys(names, 0) | totals))
    return LaunchCounts(accesses, (line,), 0)


@pytest.fixture
def access():
    """Give the maker of accesses."""
    return make_access


@pytest.fixture
def counts():
    """Give the maker of counts."""
    return make_counts
