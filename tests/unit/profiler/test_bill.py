"""The split of a record's time."""

from __future__ import annotations

import pytest

from tinytorch_gpu.profiler.bill import Bill, bill_of
from tinytorch_gpu.trace import HostRecord, RangeRecord, SynchronizeRecord


def test_bills_add_part_by_part():
    both = Bill(1, 2, 3, 4) + Bill(10, 20, 30, 40)
    assert both == Bill(11, 22, 33, 44)
    assert both.total_ns == 110


def test_a_launch_that_the_device_waited_for(launch):
    record = launch(duration_ns=3000.0, elapsed_ns=5000.0)
    assert bill_of(record) == Bill(kernel_ns=3000, launch_ns=2000)


def test_a_launch_that_waited_for_the_device(launch):
    record = launch(duration_ns=9000.0, elapsed_ns=9000.0)
    assert bill_of(record) == Bill(kernel_ns=9000)


@pytest.mark.parametrize("direction", ["h2d", "d2h"])
def test_a_copy_is_transfer(copy, direction):
    assert bill_of(copy(direction=direction)) == Bill(transfer_ns=9000)


def test_a_copy_within_the_device_is_device_work(copy):
    record = copy(direction="d2d", elapsed_ns=9000.0)
    assert bill_of(record) == Bill(kernel_ns=9000)


def test_an_op_takes_no_time_of_its_own(op):
    assert bill_of(op("tinytorch::add")) == Bill()


def test_an_asynchronous_copy_that_waited_for_its_issue(copy):
    record = copy(duration_ns=3000.0, elapsed_ns=5000.0, is_async=True)
    assert bill_of(record) == Bill(transfer_ns=3000, launch_ns=2000)


def test_a_copy_behind_a_longer_kernel_costs_nothing(copy):
    assert bill_of(copy(duration_ns=3000.0, elapsed_ns=0.0)) == Bill()


def test_waits_and_other_host_time_have_their_parts():
    wait = SynchronizeRecord("device", "synchronize()", "", 0.0, 9.0, 5.0)
    assert bill_of(wait) == Bill(synchronize_ns=5)
    assert bill_of(HostRecord("cudaMalloc", "", 0.0, 9.0, 4.0)) == Bill(launch_ns=4)
    assert bill_of(RangeRecord("step", 0.0, 9.0, 0)) == Bill()
