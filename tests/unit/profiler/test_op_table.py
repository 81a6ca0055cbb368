"""The table that a lecture shows."""

from __future__ import annotations

import re

import pytest
from hypothesis import given

from tests.unit.profiler.programs import Ran, programs
from tinytorch_gpu.profiler.key_averages import average
from tinytorch_gpu.trace import OpRecord, RangeRecord, Scope, SynchronizeRecord

# 5 µs of host time for each launch; a launch adds 5 µs of which its kernel takes 3.
EXPECTED = """\
modelled on toy GPU: 37.0 µs, 4 launches, 2 copies (H2D 4.10 kB, D2H 4 B)
                             sectors/     self     self     self             total
op          calls  launches   request      CPU   device     time    share     time
----------------------------------------------------------------------------------
(copy d2h)      1         -         -        -  8.00 µs  8.00 µs   21.6 %  8.00 µs
  copied D2H 4 B
add             2         2       4.0  10.0 µs  6.00 µs  10.0 µs   27.1 %  10.0 µs
  add.py:12 add_kernel
exp             1         1       4.0  5.00 µs  3.00 µs  5.00 µs   13.5 %  5.00 µs
  exp.py:12 exp_kernel
neg             1         1       4.0  5.00 µs  3.00 µs  5.00 µs   13.5 %  5.00 µs
  neg.py:12 neg_kernel
sigmoid         1         -         -        -        -        -    0.0 %        -
  → neg, exp, add
to              1         -         -        -  9.00 µs  9.00 µs   24.3 %  9.00 µs
  copied H2D 4.10 kB
----------------------------------------------------------------------------------
total           7         4       4.0  20.0 µs  29.0 µs  37.0 µs  100.0 %
Counts are exact: 2 launches traced, 2 replayed (counts of an equal earlier launch).
Self leaves out the ops inside, total time holds them; only self time adds up. Host (CPU) and device
work side by side, so it may be less than their sum.
→ no kernel of its own: it ran as these ops, whose rows hold its time."""


def test_whole_table(step):
    assert average(step, device="toy GPU").table(sort_by="op") == EXPECTED


@pytest.mark.parametrize("width", [100, 90, 80])
def test_width_with_long_names(launch, op, step, width):
    long = "mine::a_very_long_name_of_an_op_that_nobody_should_choose_for_anything"
    kernel = "a_very_long_kernel_name_of_more_than_fifty_characters_in_all" * 2
    averages = average([launch(long, kernel), op(long), *step] * 1000, device="toy GPU")
    table = averages.table(max_width=width)
    assert max(map(len, table.splitlines())) <= width
    assert "mine::" in table


@pytest.mark.parametrize(
    ("width", "times"), [(1, 1), (60, 1), (79, 1), (60, 1000), (60, 5000)]
)
def test_below_the_least_width_the_numbers_stay_whole(launch, op, step, width, times):
    long = "mine::a_very_long_name_of_an_op_that_nobody_should_choose_for_anything"
    averages = average([launch(long), op(long), *step] * times, device="toy GPU")
    text = averages.table(max_width=width).splitlines()
    calls = max(len("calls"), *(len(f"{row.calls:,}") for row in averages))
    total = max(len(f"{sum(row.calls for row in averages):,}"), calls)
    assert max(map(len, text)) <= 80 + total - len("calls")
    wide = averages.table().splitlines()
    numbers = [line.split()[1:] for line in wide if line.startswith("total")]
    assert [line.split()[1:] for line in text if line.startswith("total")] == numbers


@given(programs())
def test_printed_shares_add_up_to_a_hundred(program):
    averages = average(Ran(program).records, device="toy GPU")
    for limit in (-1, 2):
        shares = re.findall(r"(\d+\.\d) %", averages.table(row_limit=limit))
        tenths = [int(share.replace(".", "")) for share in shares]
        assert sum(tenths[:-1]) == tenths[-1]
        assert tenths[-1] == (1000 if averages.bill.total_ns else 0)


def test_total_time_of_a_range_holds_what_is_inside(launch):
    step = Scope("step", None, is_op=False)
    add = Scope("tinytorch::add", step, is_op=True)
    records = [launch("tinytorch::add", scope=add), RangeRecord("step", 0, 1, 0, step)]
    row = next(
        line
        for line in average(records, device="toy GPU").table().splitlines()
        if line.startswith("step")
    )
    assert row.split() == ["step", "1", *"-----", "0.0", "%", "5.00", "µs"]


def test_shapes_stand_below_the_op(launch):
    add = Scope("tinytorch::add", None, is_op=True)
    shapes = ((2, 3), (3,))
    records = [
        launch("tinytorch::add", scope=add),
        OpRecord("tinytorch::add", "", "SimGPU", None, shapes, add),
    ]
    table = average(records, device="toy GPU", group_by_input_shape=True).table()
    assert "\n  of (2, 3) (3,)\n" in table


def test_waits_of_an_op_are_told():
    item = Scope("tinytorch::item", None, is_op=True)
    wait = SynchronizeRecord("copy", "item()", item.name, 0.0, 9.0, 4.0, 0, item)
    table = average([wait, wait], device="toy GPU").table()
    assert "\n  waited for the device 2 times\n" in table


def test_launches_without_counts_are_said_to_be_so(launch):
    table = average([launch(counts=None)], device="toy GPU").table()
    assert "0 launches traced, 0 replayed" in table
    assert "1 not counted" in table


def test_several_kernels_of_an_op(launch):
    records = [launch("op", kernel) for kernel in ("a_kernel", "b_kernel", "c_kernel")]
    table = average(records, device="toy GPU").table()
    for name in "abc":  # each on a line of its own
        assert f"\n  {name}.py:12 {name}_kernel\n" in table


def test_an_op_that_ran_nothing_says_so(op):
    table = str(average([op("tinytorch::slice", key="Decompose")], device="toy GPU"))
    assert "\n  → nothing ran on the device\n" in table


def test_one_of_each_in_the_singular(launch, copy):
    table = str(average([launch(), copy()], device="toy GPU"))
    assert "1 launch, 1 copy (" in table
    assert "Counts are exact: 1 launch traced" in table


def test_the_cpu_fallback_is_told_also_where_other_calls_had_a_kernel(launch, op):
    records = [launch("sin", "sin_kernel"), op("sin"), op("sin", key="CPU")]
    table = average(records, device="toy GPU").table()
    assert "sin_kernel" in table
    assert "CPU fallback" in table
