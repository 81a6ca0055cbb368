"""Each kind of record as a bar of a chrome trace."""

from __future__ import annotations

import pytest

from tinytorch_gpu.profiler.chrome_slices import device_slice, host_slice
from tinytorch_gpu.trace import (
    HostRecord,
    KernelSource,
    OpRecord,
    RangeRecord,
    Scope,
    SynchronizeRecord,
)

STEP = Scope("step", None, is_op=False, start_ns=10.0)
ADD = Scope("tinytorch::add", STEP, is_op=True, start_ns=20.0)
ORIGIN = ("train.py", 7)


def test_an_op_is_as_long_as_its_scope():
    source = KernelSource("add", "add.py", 3)
    record = OpRecord(ADD.name, "", "SimGPU", source, ((2, 3),), ADD, 50.0, ORIGIN)
    made = host_slice(record)
    assert (made.name, made.category) == ("tinytorch::add", "cpu_op")
    assert (made.start_ns, made.duration_ns, made.depth) == (20.0, 30.0, 1)
    assert made.args == {
        "key": "SimGPU",
        "implementation": "add (add.py:3)",
        "shapes": [[2, 3]],
        "asked for in": "train.py:7",
    }


def test_an_op_that_raised_tells_it():
    record = OpRecord(ADD.name, "", "", None, (), ADD, 50.0, error="KeyError: 'x'")
    assert host_slice(record).args == {"key": "", "raised": "KeyError: 'x'"}


def test_a_range_is_an_annotation():
    made = host_slice(RangeRecord("step", 10.0, 60.0, 0, STEP))
    assert (made.name, made.category) == ("step", "user_annotation")
    assert (made.start_ns, made.duration_ns, made.depth) == (10.0, 50.0, 0)
    assert made.args == {}


def test_a_wait_and_other_host_work():
    wait = SynchronizeRecord("event", "event.synchronize()", "", 5.0, 9.0, 4.0, 2)
    assert host_slice(wait).args == {
        "elapsed_ns": 4.0,
        "op": "",
        "waits for": "event",
        "stream": 2,
    }
    host = HostRecord("cudaMalloc", "add", 5.0, 9.0, 4.0, ADD)
    made = host_slice(host)
    assert (made.name, made.duration_ns, made.depth) == ("cudaMalloc", 9.0, 2)
    assert made.args == {"elapsed_ns": 4.0, "op": "add"}


def test_a_launch_is_a_call_and_a_kernel(launch):
    record = launch("add", stream=3, scope=ADD, issue_start_ns=100.0, origin=ORIGIN)
    call, kernel = host_slice(record), device_slice(record)
    assert (call.start_ns, call.duration_ns, call.depth) == (100.0, 5000.0, 2)
    assert call.args["asked for in"] == "train.py:7"
    assert (kernel.start_ns, kernel.duration_ns) == (5000.0, 3000.0)
    assert kernel.row == (0, 3)
    assert kernel.args["grid"] == [4, 1, 1]
    assert kernel.args["sectors_per_request"] == 4.0


def test_a_launch_without_counts_tells_none(launch):
    assert "sectors" not in device_slice(launch(counts=None)).args


@pytest.mark.parametrize(
    ("direction", "engine", "row"),
    [
        ("h2d", "h2d", (1, "h2d")),
        ("d2h", "", (1, "d2h")),
        ("h2d", "compute", (0, 5)),  # a GPU without copy engines
        ("d2d", "compute", (0, 5)),
        ("d2d", "", (0, 5)),
    ],
)
def test_a_copy_is_on_its_engines_row(copy, direction, engine, row):
    record = copy(direction=direction, engine=engine, stream=5, nbytes=9000)
    made = device_slice(record)
    assert made.row == row
    assert (made.args["bytes"], made.args["GB/s"]) == (9000, 1.0)
