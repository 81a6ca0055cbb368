"""Who gets the time: self once, total once for each name, whatever is nested in what."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.unit.profiler.programs import Ran, programs
from tinytorch_gpu.profiler.averaging import tallies_of
from tinytorch_gpu.trace import (
    CopyRecord,
    LaunchRecord,
    OpRecord,
    RangeRecord,
    Scope,
)


def _tally(tallies, name, *, is_range=False):
    return next(t for t in tallies if (t.op, t.is_range) == (name, is_range))


@given(programs())
def test_self_times_add_up_to_the_clocks(program):
    ran = Ran(program)
    tallies = tallies_of(ran.records)
    assert sum(t.bill.total_ns for t in tallies) == ran.timeline.elapsed_ns
    assert sum(t.host_ns for t in tallies) == ran.timeline.host_ns
    works = [r for r in ran.records if isinstance(r, (LaunchRecord, CopyRecord))]
    device = sum(record.duration_ns for record in works)
    assert sum(t.device_ns for t in tallies) == device
    assert sum(t.launches + t.copies for t in tallies) == len(works)


@given(programs())
def test_total_times_are_what_the_clocks_grew_by_within_the_name(program):
    ran = Ran(program)
    tallies = tallies_of(ran.records)
    for (name, is_range), elapsed in ran.elapsed.items():
        tally = _tally(tallies, name, is_range=is_range)
        assert tally.total_elapsed_ns == elapsed
        assert tally.total_host_ns == ran.host[name, is_range]
        assert tally.bill.total_ns <= elapsed


@given(programs(), st.booleans())
def test_grouping_by_shape_moves_time_between_rows_only(program, by_shape):
    ran = Ran(program)
    tallies = tallies_of(ran.records, group_by_input_shape=by_shape)
    assert sum(t.bill.total_ns for t in tallies) == ran.timeline.elapsed_ns


def test_work_in_an_op_in_a_range_is_the_ops_own(launch):
    step = Scope("step", None, is_op=False)
    add = Scope("add", step, is_op=True)
    tallies = tallies_of([launch("add", scope=add), launch(scope=step)])
    own = {t.op: t.bill.total_ns for t in tallies}
    total = {t.op: t.total_elapsed_ns for t in tallies}
    assert own == {"add": 5000, "step": 5000}
    assert total == {"add": 5000, "step": 10_000}


def test_an_op_that_failed_has_its_work_and_its_call(launch):
    failed = Scope("add", None, is_op=True)
    (tally,) = tallies_of([launch("add", scope=failed)])
    assert (tally.op, tally.calls, tally.launches) == ("add", 1, 1)


def test_a_range_that_began_before_and_ends_after_the_profile_counts_once(launch):
    around = Scope("epoch", None, is_op=False)
    inner = Scope("step", around, is_op=False)
    records = [
        launch(scope=inner),
        launch(scope=inner),
        RangeRecord("step", 0.0, 1.0, 1, inner),
        launch(scope=around),
    ]
    calls = {tally.op: tally.calls for tally in tallies_of(records)}
    assert calls == {"step": 1, "epoch": 1}


def test_shapes_split_the_rows_of_an_op(launch):
    first, second = (Scope("add", None, is_op=True) for _ in range(2))
    records = [
        launch("add", scope=first),
        OpRecord("add", "", "SimGPU", None, ((2, 3),), first),
        launch("add", scope=second),
        launch("add", scope=second),
        OpRecord("add", "", "SimGPU", None, ((4,),), second),
    ]
    split = tallies_of(records, group_by_input_shape=True)
    assert [(t.input_shapes, t.launches, t.calls) for t in split] == [
        (((2, 3),), 1, 1),
        (((4,),), 2, 1),
    ]
    (together,) = tallies_of(records)
    assert (together.input_shapes, together.launches, together.calls) == ((), 3, 2)


def test_an_op_and_a_range_of_one_name_are_two_rows():
    ran = Ran([("op", "add", []), ("range", "add", [])])
    assert [(t.op, t.is_range, t.calls) for t in tallies_of(ran.records)] == [
        ("add", False, 1),
        ("add", True, 1),
    ]


def test_host_work_outside_of_all_ops_is_named_by_its_reason():
    (tally,) = tallies_of(Ran([("host", 70)]).records)
    assert (tally.op, tally.calls, tally.host_ns) == ("(host cudaMalloc)", 1, 70)
