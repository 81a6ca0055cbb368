"""Ranges: as a block, as a decorator, nested, and when the block fails."""

from __future__ import annotations

import pytest

from tinytorch_gpu.errors import UnsupportedError
from tinytorch_gpu.profiler import profile, record_function
from tinytorch_gpu.runtime.device import current_device
from tinytorch_gpu.trace import RangeRecord


def _copy():
    current_device().timeline.add_copy(direction="h2d", nbytes=4, reason="lesson")


def _ranges(prof):
    return [(r.name, r.depth) for r in prof.events() if isinstance(r, RangeRecord)]


def test_a_block_has_a_row_of_its_own():
    with profile() as prof:
        _copy()
        with record_function("load"):
            _copy()
    rows = {row.op: row for row in prof.key_averages()}
    assert set(rows) == {"(copy h2d)", "load"}
    load = rows["load"]
    assert (load.is_range, load.calls, load.copies) == (True, 1, 1)
    assert load.elapsed_ns == load.elapsed_total_ns == rows["(copy h2d)"].elapsed_ns


def test_nested_ranges_have_self_and_total():
    with profile() as prof, record_function("outer"):
        _copy()
        with record_function("inner"):
            _copy()
    assert _ranges(prof) == [("inner", 1), ("outer", 0)]
    rows = {row.op: row for row in prof.key_averages()}
    assert rows["outer"].elapsed_total_ns == 2 * rows["outer"].elapsed_ns
    assert rows["outer"].share + rows["inner"].share == 1.0


def test_a_function_that_calls_itself():
    @record_function("count")
    def count(number):
        _copy()
        return count(number - 1) if number else "done"

    with profile() as prof:
        assert count(2) == "done"
    assert _ranges(prof) == [("count", 2), ("count", 1), ("count", 0)]
    (row,) = prof.key_averages()
    assert (row.calls, row.copies) == (3, 3)
    assert row.elapsed_total_ns == row.elapsed_ns == prof.key_averages().bill.total_ns


def test_a_failing_block_is_told_and_closed():
    def fail():
        with record_function("fails"):
            raise ZeroDivisionError

    with profile() as prof, pytest.raises(ZeroDivisionError):
        fail()
    assert _ranges(prof) == [("fails", 0)]
    assert current_device().timeline.scope is None


def test_an_end_without_a_begin_is_refused():
    again = record_function("again")
    with again:
        pass
    for ended in (record_function("never"), again):
        with pytest.raises(UnsupportedError, match="has not begun") as caught:
            ended.__exit__(None, None, None)
        assert all((caught.value.where, caught.value.why, caught.value.fix))
    with profile() as prof, again:
        _copy()
    assert _ranges(prof) == [("again", 0)]
