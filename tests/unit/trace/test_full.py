"""What a full recorder keeps, and what it says about the rest."""

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tests.unit.trace.trace_kernels import mixed, reverse, trace_mixed, trace_reverse
from tinytorch_gpu import cuda, errors, settings


def told(trace, block, thread):
    """Return all that a thread did, but the numbers of the steps."""
    rows = trace.thread(block, thread)
    return [(r.kind, r.line, r.element, str(r.value), r.detail) for r in rows]


def test_everything_is_kept():
    trace = trace_reverse()
    assert trace.is_complete
    assert trace.note == ""
    assert [step.kind for step in trace.steps] == [
        "load", "store", "barrier", "branch", "load", "store"
    ]  # fmt: skip
    assert [array.name for array in trace.arrays] == ["x", "out", "tile"]


@pytest.mark.parametrize(
    "options",
    [
        {"blocks": [1]},
        {"blocks": [(2, 0, 0), 0]},
        {"warps": [1]},
        {"warps": [0], "blocks": [1]},
    ],
)
@pytest.mark.parametrize("schedule", ["lockstep", "warps"])
def test_chosen_lanes_are_kept_as_in_a_full_trace(options, schedule):
    with settings.override(schedule=schedule):
        whole, part = trace_reverse(), trace_reverse(**options)
    assert not part.is_complete
    assert part.counts == whole.counts
    for block in part.blocks or range(3):
        for warp in part.warps or range(2):
            for thread in range(32 * warp, 32 * warp + 32):
                assert told(part, block, thread) == told(whole, block, thread)


def test_chosen_lanes_of_a_mixed_kernel():
    whole, part = trace_mixed(), trace_mixed(blocks=[1])
    for thread in range(32):
        assert told(part, 1, thread) == told(whole, 1, thread)


def test_what_is_not_kept_is_named():
    part = trace_reverse(blocks=[1], warps=[0])
    assert part.note == "kept 1 of 3 blocks; kept these warps of each block: 0"
    assert "note: kept 1 of 3 blocks" in str(part.thread(1, 0))
    for ask, why in (
        (lambda: part.thread(0, 0), "it keeps these blocks: 1"),
        (lambda: part.thread(1, 32), "it keeps these warps: 0"),
        (lambda: part.warp(1, 1), "it keeps these warps: 0"),
    ):
        with pytest.raises(errors.TraceQueryError) as caught:
            ask()
        assert caught.value.why == why


def test_steps_in_which_no_chosen_lane_takes_part_are_none():
    trace = trace_mixed(blocks=[0])
    assert trace.seen == len(trace.steps)
    late = trace_reverse(warps=[1])
    assert [s.kind for s in late.steps] == [s.kind for s in trace_reverse().steps]


def test_a_sample_is_drawn_for_each_launch():
    trace = trace_reverse(8, sample=2, seed=3)
    assert len(trace.blocks) == 2
    assert trace.blocks == trace_reverse(8, sample=2, seed=3).blocks
    assert trace.note == "kept 2 of 8 blocks"
    assert trace.counts == trace_reverse(8).counts


def test_the_budget_stops_it_and_the_note_says_so():
    whole = trace_reverse(64)
    trace = trace_reverse(64, budget="60 KiB")
    assert 0 < len(trace.steps) < len(whole.steps) == trace.seen
    assert not trace.is_complete
    kept = len(trace.steps)
    assert trace.note == (
        f"kept the first {kept} of 6 steps: 60 KiB are full; "
        "raise budget=, or choose blocks="
    )
    assert trace.counts == whole.counts
    assert "note: kept the first" in str(trace.touching("x", 0))
    assert trace_reverse(budget=0).steps == ()
    assert "of 6 steps: 0 B are full;" in trace_reverse(budget=0).note
    assert "of 6 steps: 100 B are full;" in trace_reverse(budget=100).note


def test_the_budget_holds():
    size = 60_000
    trace = trace_reverse(64, budget=size)
    columns = {
        id(c): c.nbytes
        for step in trace.steps
        for c in (step.lanes, step.taken, step.flat, step.value)
        if isinstance(c, np.ndarray)
    }
    assert 0 < sum(columns.values()) <= size


@cuda.jit
def sum_rows(x, out):
    i = cuda.grid(1)
    total = 0.0
    for k in range(x.shape[1]):
        total += x[i, k]
    out[i] = total


def test_the_index_of_a_loop_is_kept_once():
    with simgpu.tracing() as traces:
        sum_rows[1, 64](np.ones((64, 50)), np.zeros(64))
    loads = [step for step in traces[0].steps if step.kind == "load"]
    assert len(loads) == 50
    assert len({id(step.flat) for step in loads}) == 1
    assert [step.shift for step in loads] == list(range(50))


def test_what_is_kept_once_counts_once():
    # An index of 8 kB for all loads, a value of 8 kB for each: 50 of both are 800 kB.
    with simgpu.tracing(budget=600_000) as traces:
        sum_rows[1, 1024](np.ones((1024, 50)), np.zeros(1024))
    assert traces[0].is_complete


def test_arithmetic_on_request():
    with simgpu.tracing(operations=True) as traces:
        sum_rows[1, 32](np.ones((32, 2)), np.zeros(32))
    kept = [
        (r.detail, r.value) for r in traces[0].thread(0, 3) if r.kind == "operation"
    ]
    assert ("arithmetic", 1.0) in kept
    assert ("arithmetic", 2.0) in kept
    assert not any(step.kind == "operation" for step in trace_reverse().steps)


def test_a_launch_that_stops_leaves_its_trace():
    with simgpu.tracing() as traces, pytest.raises(errors.OutOfBoundsError):
        reverse[1, 64](np.zeros(64, np.float32), np.zeros(8, np.float32))
    (trace,) = traces
    assert [step.kind for step in trace.steps] == [
        "load",
        "store",
        "barrier",
        "branch",
        "load",
    ]
    assert trace.counts is None
    assert trace.note.startswith("the launch stopped: OutOfBoundsError: ")
    with pytest.raises(errors.TraceQueryError) as caught:
        trace.lines()
    assert caught.value.why.startswith("OutOfBoundsError")


@cuda.jit
def of_a_tuple(pair, out):
    i = cuda.grid(1)
    out[i] = pair[0][i] + pair[1][i]


def test_arrays_of_a_tuple():
    x = cuda.to_device(np.arange(32.0))
    y = cuda.to_device(np.arange(32.0) * 10)
    with simgpu.tracing() as traces:
        of_a_tuple[1, 32]((x, y), np.zeros(32))
    assert [r.value for r in traces[0].touching("pair[1]", 3)] == [30]
    assert [r.element for r in traces[0].thread(0, 3)] == [
        "pair[0][3]",
        "pair[1][3]",
        "out[3]",
    ]


def test_padding_takes_no_part():
    with simgpu.tracing() as traces:
        mixed[1, 20](np.zeros((2, 3), np.float32), np.zeros(1, np.int64))
    assert traces[0].warp(0, 0).rows[0].active == "#" * 20 + "." * 12
