"""Rows and the tally that makes them."""

from __future__ import annotations

import json

from tinytorch_gpu.profiler.op_row import Tally
from tinytorch_gpu.trace import HostRecord, SynchronizeRecord

WAIT = SynchronizeRecord("device", "synchronize()", "", 0.0, 9000.0, 4000.0)


def test_calls_of_an_op_are_its_runs_not_its_launches(launch, op):
    tally = Tally("tinytorch::add")
    tally.add(launch())
    tally.add(launch())
    tally.add_op(op("tinytorch::add"))
    row = tally.to_row(10_000)
    assert (row.calls, row.launches, row.share) == (1, 2, 1.0)


def test_calls_without_an_op_are_launches(launch):
    tally = Tally("(kernel add_kernel)", is_scope=False)
    tally.add(launch())
    tally.add(launch())
    assert tally.to_row(1).calls == 2


def test_launches_are_traced_replayed_or_not_counted(launch):
    tally = Tally("op")
    for changes in ({}, {"is_replayed": True}, {"is_replayed": True}, {"counts": None}):
        tally.add(launch(**changes))
    row = tally.to_row(1)
    assert (row.launches, row.traced_launches, row.replayed_launches) == (4, 1, 2)
    assert (row.requests, row.sectors, row.sectors_per_request) == (30, 120, 4.0)


def test_bytes_by_direction(copy):
    tally = Tally("op")
    for direction, nbytes in (("h2d", 1), ("h2d", 2), ("d2h", 4), ("d2d", 8)):
        tally.add(copy(direction=direction, nbytes=nbytes))
    row = tally.to_row(1)
    assert (row.h2d_bytes, row.d2h_bytes, row.d2d_bytes, row.copies) == (3, 4, 8, 4)


def test_kernels_are_told_once_in_order(launch):
    tally = Tally("op")
    for kernel in ("b_kernel", "a_kernel", "b_kernel"):
        tally.add(launch(kernel=kernel))
    assert [k.name for k in tally.to_row(1).kernels] == ["b_kernel", "a_kernel"]


def test_device_time_holds_kernels_and_copies(launch, copy):
    tally = Tally("op")
    tally.add(launch(duration_ns=3000.0))
    tally.add(copy(elapsed_ns=9000.0))
    row = tally.to_row(1)
    assert (row.self_device_time_total_ns, row.device_time_total_ns) == (12_000, 0)


def test_totals_are_added_apart(launch, copy):
    tally = Tally("op")
    for record in (launch(), copy(issue_ns=7000.0), WAIT):
        tally.add_total(record)
    row = tally.to_row(1)
    assert row.elapsed_total_ns == 5000 + 9000 + 4000
    assert row.cpu_time_total_ns == 5000 + 7000 + 9000
    assert row.device_time_total_ns == 3000 + 9000
    assert (row.launches, row.copies, row.waits, row.elapsed_ns) == (0, 0, 0, 0)


def test_waits_and_other_host_work(launch):
    tally = Tally("op")
    for record in (launch(), WAIT, HostRecord("cudaMalloc", "", 0.0, 70.0, 0.0)):
        tally.add(record)
    row = tally.to_row(1)
    assert (row.waits, row.self_cpu_time_total_ns) == (1, 5000 + 9000 + 70)
    assert row.bill.synchronize_ns == 4000


def test_empty_row():
    row = Tally("op").to_row(0.0)
    assert (row.share, row.sectors_per_request, row.elapsed_ns) == (0, 0, 0)


def test_to_dict_is_plain(launch):
    tally = Tally("op")
    tally.add(launch())
    plain = tally.to_row(5000).to_dict()
    assert json.loads(json.dumps(plain))["kernels"] == ["add_kernel (add.py:12)"]
    assert (plain["elapsed_ns"], plain["sectors_per_request"]) == (5000, 4.0)
