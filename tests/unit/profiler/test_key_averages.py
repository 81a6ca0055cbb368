"""Averages by op: nothing is counted twice, shares add up."""

from __future__ import annotations

import json

import pytest

from tinytorch_gpu.errors import UnsupportedError
from tinytorch_gpu.profiler.key_averages import average
from tinytorch_gpu.trace import SynchronizeRecord

DEVICE = "Tesla T4"


@pytest.fixture
def averages(step):
    wait = SynchronizeRecord("device", "synchronize()", "", 0.0, 5000.0, 5000.0)
    return average([*step, wait, wait], device=DEVICE)


def _row(averages, op):
    return next(row for row in averages if row.op == op)


def test_elapsed_times_add_up_to_the_records(averages, step):
    told = sum(getattr(record, "elapsed_ns", 0.0) for record in step)
    assert sum(row.elapsed_ns for row in averages) == told + 10_000
    assert averages.bill.total_ns == told + 10_000


def test_shares_add_up_to_one(averages):
    assert sum(row.share for row in averages) == pytest.approx(1.0)


def test_launches_and_copies_are_counted_once(averages):
    assert sum(row.launches for row in averages) == 4
    assert sum(row.copies for row in averages) == 2


def test_rows_are_by_innermost_op(averages):
    add = _row(averages, "tinytorch::add")
    assert (add.calls, add.launches) == (2, 2)
    assert (add.traced_launches, add.replayed_launches) == (1, 1)


def test_a_decomposed_op_names_its_children_and_takes_no_time(averages):
    sigmoid = _row(averages, "tinytorch::sigmoid")
    assert sigmoid.is_decomposed
    assert sigmoid.decomposed_into == (
        "tinytorch::neg",
        "tinytorch::exp",
        "tinytorch::add",
    )
    assert (sigmoid.calls, sigmoid.launches, sigmoid.elapsed_ns) == (1, 0, 0)


def test_an_op_with_a_kernel_has_no_decomposition(op, launch):
    records = [launch("outer"), op("inner", "outer"), op("outer")]
    outer = _row(average(records, device=DEVICE), "outer")
    assert (outer.is_decomposed, outer.decomposed_into) == (False, ())


def test_a_registered_function_that_only_calls_ops_is_told_as_decomposed(op):
    outer = _row(average([op("inner", "outer"), op("outer")], device=DEVICE), "outer")
    assert (outer.is_decomposed, outer.decomposed_into) == (True, ("inner",))


def test_work_without_an_op_has_rows_of_its_own(launch, copy):
    records = [launch(), launch(kernel="b_kernel"), launch(), copy(direction="d2h")]
    found = average(records, device=DEVICE)
    assert {row.op: row.calls for row in found} == {
        "(kernel add_kernel)": 2,
        "(kernel b_kernel)": 1,
        "(copy d2h)": 1,
    }


def test_synchronisations_have_a_row(averages):
    row = _row(averages, "(synchronize)")
    assert (row.calls, row.elapsed_ns, row.bill.synchronize_ns) == (2, 10_000, 10_000)


def test_works_like_a_tuple_of_rows_longest_first(averages):
    times = [row.elapsed_ns for row in averages]
    assert times == sorted(times, reverse=True)
    assert len(averages) == len(list(averages)) == 7
    assert averages[:2] == (averages[0], averages[1])
    assert averages[-1] in averages


@pytest.mark.parametrize(
    ("sort_by", "first"),
    [
        ("elapsed", "(synchronize)"),
        ("elapsed_total", "(synchronize)"),
        ("count", "tinytorch::add"),
        ("launches", "tinytorch::add"),
        ("self_cpu_time_total", "(synchronize)"),
        ("cpu_time_total", "(synchronize)"),
        ("self_device_time_total", "tinytorch::to"),
        ("device_time_total", "tinytorch::to"),
        ("sectors_per_request", "tinytorch::add"),
        ("op", "(copy d2h)"),
    ],
)
def test_orders(averages, sort_by, first):
    ordered = averages.sorted_by(sort_by)
    best = {
        "elapsed": lambda row: row.elapsed_ns,
        "elapsed_total": lambda row: row.elapsed_total_ns,
        "count": lambda row: row.calls,
        "launches": lambda row: row.launches,
        "self_cpu_time_total": lambda row: row.self_cpu_time_total_ns,
        "cpu_time_total": lambda row: row.cpu_time_total_ns,
        "self_device_time_total": lambda row: row.self_device_time_total_ns,
        "device_time_total": lambda row: row.device_time_total_ns,
        "sectors_per_request": lambda row: row.sectors_per_request,
        "op": lambda _row: 0,
    }[sort_by]
    assert best(ordered[0]) == max(map(best, averages))
    assert best(_row(averages, first)) == best(ordered[0])
    assert sort_by != "op" or ordered[0].op == first


def test_an_unknown_order_is_told_in_four_parts(averages):
    with pytest.raises(UnsupportedError) as caught:
        averages.table(sort_by="cuda_time_total")
    error = caught.value
    assert error.sort_by == "cuda_time_total"
    assert "device_time_total" in error.why
    assert all((error.what, error.where, error.why, error.fix))


def test_row_limit_shortens_the_rows_not_the_totals(averages):
    whole, short = averages.table().splitlines(), averages.table(row_limit=2)
    assert "… 5 more rows" in short
    total = [line.split() for line in whole if line.startswith("total")]
    assert [x.split() for x in short.splitlines() if x.startswith("total")] == total
    assert averages.table(row_limit=0).count("100.0 %") == 2  # all others, the total


def test_shown_as_text_and_in_notebooks(averages):
    assert str(averages) == averages.table()
    assert averages._repr_html_().startswith("<pre>modelled on Tesla T4")


def test_to_dict_is_plain(averages):
    plain = json.loads(json.dumps(averages.to_dict()))
    assert plain["device"] == DEVICE
    assert len(plain["rows"]) == 7


def test_nothing_recorded():
    empty = average([], device=DEVICE)
    assert (len(empty), empty.bill.total_ns) == (0, 0)
    assert "0 launches traced" in empty.table()


@pytest.mark.parametrize(
    "more",
    [
        {"row_limit": "a"},
        {"row_limit": 1.5},
        {"row_limit": -2},
        {"row_limit": True},
        {"max_width": "a"},
        {"max_width": 0},
    ],
)
def test_numbers_of_no_table_are_refused(more):
    (name,) = more
    with pytest.raises(UnsupportedError, match=name) as caught:
        average([], device="toy GPU").table(**more)
    assert all((caught.value.where, caught.value.why, caught.value.fix))
