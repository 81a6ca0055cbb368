"""The chrome trace: valid, and with the table's totals."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from tests.unit.profiler import trace_event_format as fmt
from tests.unit.profiler.programs import Ran, programs
from tinytorch_gpu import profiler, synchronize, tinytorch
from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.demo import load_digits
from tinytorch_gpu.demo.training import Plan, train
from tinytorch_gpu.errors import TraceFileError
from tinytorch_gpu.integration import installed
from tinytorch_gpu.profiler.chrome_trace import chrome_trace, write_chrome_trace
from tinytorch_gpu.profiler.key_averages import average
from tinytorch_gpu.runtime import Timeline

GPU = "Tesla T4"
HOST, DEVICE = 0, 1


def _ns(events):
    return sum(round(1000 * event["dur"]) for event in events)


def _assert_totals_are_equal(trace, averages):
    """Compare host calls, device work and elapsed time with the table's totals."""
    calls = [e for e in fmt.of_phase(trace, "X", HOST) if e["cat"] == "cuda_runtime"]
    assert _ns(calls) == sum(row.self_cpu_time_total_ns for row in averages)
    on_device = fmt.of_phase(trace, "X", DEVICE)
    assert _ns(on_device) == sum(row.self_device_time_total_ns for row in averages)
    elapsed = sum(event["args"]["elapsed_ns"] for event in calls)
    assert elapsed == averages.bill.total_ns
    kernels = [event for event in on_device if event["cat"] == "kernel"]
    assert len(kernels) == sum(row.launches for row in averages)
    moved = sum(event["args"].get("bytes", 0) for event in on_device)
    told = sum(row.h2d_bytes + row.d2h_bytes + row.d2d_bytes for row in averages)
    assert moved == told


@given(programs())
def test_any_program_gives_a_valid_trace_with_the_tables_totals(program):
    records = Ran(program).records
    trace = chrome_trace(records, GPU)
    assert fmt.faults_of(trace) == []
    _assert_totals_are_equal(trace, average(records, device=GPU))


def test_the_demos_trace_is_valid_and_has_the_tables_totals(tmp_path):
    with installed("t4", package=tinytorch.__name__):
        with profiler.profile(record_shapes=True) as prof:
            with profiler.record_function("training"):
                train(load_digits(), "simgpu", Plan(epochs=1), lambda: None)
            synchronize()
        prof.export_chrome_trace(tmp_path / "demo.json")
    trace = json.loads((tmp_path / "demo.json").read_text("utf-8"))
    assert fmt.faults_of(trace) == []
    averages = prof.key_averages()
    _assert_totals_are_equal(trace, averages)
    assert averages.bill.total_ns > 1e6
    (training,) = (e for e in fmt.of_phase(trace, "X") if e["name"] == "training")
    (row,) = (row for row in averages if row.is_range)
    assert round(1000 * training["dur"]) == row.cpu_time_total_ns
    requests = [
        e["args"]["requests"] for e in fmt.of_phase(trace, "X") if e["cat"] == "kernel"
    ]
    assert sum(requests) == sum(row.requests for row in averages)


def test_rows_are_streams_and_copy_engines():
    ran = Ran(
        [
            ("copy", "h2d", 2, 4096, True),
            ("launch", "add_kernel", 2, 3000),
            ("launch", "add_kernel", 0, 3000),
            ("copy", "d2d", 2, 4096, False),
            ("copy", "d2h", 0, 4096, False),
        ]
    )
    trace = chrome_trace(ran.records, GPU)
    names = {
        (e["pid"], e["tid"]): e["args"]["name"]
        for e in fmt.of_phase(trace, "M")
        if e["name"] == "thread_name"
    }
    assert list(names.values()) == [
        "main thread",
        "stream 0 (default)",
        "stream 2",
        "copy engine D2H",
        "copy engine H2D",
    ]
    rows = [(e["name"], names[DEVICE, e["tid"]]) for e in fmt.of_phase(trace, "X", 1)]
    assert sorted(rows) == [
        ("add_kernel", "stream 0 (default)"),
        ("add_kernel", "stream 2"),
        ("copy d2d", "stream 2"),
        ("copy d2h", "copy engine D2H"),
        ("copy h2d", "copy engine H2D"),
    ]


@pytest.mark.parametrize(
    ("gpu", "engines"),
    [
        ("c870", []),
        ("c1060", ["copy engine"]),
        ("t4", ["copy engine D2H", "copy engine H2D"]),
    ],
)
def test_there_is_a_row_for_each_copy_engine_and_none_more(gpu, engines):
    timeline = Timeline(find_gpu(gpu))
    records = [
        timeline.add_copy(
            direction=direction, nbytes=4096, reason="test", is_pinned=True, stream=3
        )
        for direction in ("h2d", "d2h", "h2d")
    ]
    trace = chrome_trace(records, gpu)
    assert fmt.faults_of(trace) == []
    rows = [
        e["args"]["name"]
        for e in fmt.of_phase(trace, "M", DEVICE)
        if e["name"] == "thread_name"
    ]
    assert rows == (engines or ["stream 3"])


@pytest.mark.parametrize("path", [3, None, b"trace.json", ["a"], 1.5])
def test_what_is_no_name_of_a_file_is_refused(path):
    with profiler.profile() as prof:
        pass
    with pytest.raises(TraceFileError, match="is no name of a file") as caught:
        prof.export_chrome_trace(path)
    assert all((caught.value.where, caught.value.why, caught.value.fix))


@pytest.mark.parametrize("path", ["a\0b", "", "/dev/null/trace.json", "x" * 5000])
def test_a_file_that_cannot_be_written_is_told(path):
    with pytest.raises(TraceFileError, match="cannot be written") as caught:
        write_chrome_trace(path, [], GPU)
    assert all((caught.value.where, caught.value.why, caught.value.fix))


def test_an_arrow_leads_from_the_launch_to_its_kernel():
    trace = chrome_trace(Ran([("launch", "add_kernel", 0, 3000)]).records, GPU)
    (start,), (end,) = fmt.of_phase(trace, "s"), fmt.of_phase(trace, "f")
    assert (start["ts"], end["ts"]) == (0.0, 5.0)  # issued for 5 µs, then it runs
    (call, kernel) = fmt.of_phase(trace, "X")
    assert (call["name"], call["ts"], call["dur"]) == ("launch add_kernel", 0.0, 5.0)
    assert (kernel["name"], kernel["ts"], kernel["dur"]) == ("add_kernel", 5.0, 3.0)


def test_a_file_is_the_trace_and_the_same_each_time(tmp_path):
    program = [("op", "add", [("launch", "add_kernel", 0, 3000)]), ("synchronize",)]
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    for file in files:
        write_chrome_trace(file, Ran(program).records, GPU)
    first, second = (file.read_text("utf-8") for file in files)
    assert first == second
    assert json.loads(first) == chrome_trace(Ran(program).records, GPU)


def test_nothing_recorded_is_a_trace_too():
    trace = chrome_trace([], GPU)
    assert fmt.faults_of(trace) == []
    assert fmt.of_phase(trace, "X") == []


def _broken(**changes):
    trace = chrome_trace(Ran([("launch", "add_kernel", 0, 3000)]).records, GPU)
    event = fmt.of_phase(trace, changes.pop("phase"))[-1]
    event.update(changes)
    return trace


@pytest.mark.parametrize(
    "changes",
    [
        {"phase": "X", "ph": "Q"},
        {"phase": "X", "dur": -1.0},
        {"phase": "X", "tid": "stream"},
        {"phase": "X", "tid": 77},
        {"phase": "f", "id": 99},
        {"phase": "f", "ts": 7.0},
        {"phase": "s", "name": "other"},
        {"phase": "M", "args": {}},
    ],
)
def test_the_validator_finds_what_is_wrong(changes):
    assert fmt.faults_of(_broken(**changes))


def test_the_validator_finds_overlaps():
    program = [("launch", "a_kernel", 0, 9000), ("launch", "b_kernel", 0, 9000)]
    trace = chrome_trace(Ran(program).records, GPU)
    assert fmt.faults_of(trace) == []
    first, _ = fmt.of_phase(trace, "X", DEVICE)
    first["dur"] += 1.0
    assert any("overlaps" in fault for fault in fmt.faults_of(trace))
