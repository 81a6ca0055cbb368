"""The timeline: who moves the modelled clocks, and by how much."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.cost import KernelTime
from tinytorch_gpu.errors import UnsupportedError
from tinytorch_gpu.runtime.timeline import Timeline
from tinytorch_gpu.trace import KernelSource, OpRecord

T4 = find_gpu("t4")  # launch 5 µs, copy latency 8 µs, synchronize 5 µs
KERNEL = KernelSource("add_kernel", "add.py", 3)


def _launch(timeline, duration_ns):
    return timeline.add_launch(
        kernel=KERNEL,
        grid=(1, 1, 1),
        block=(32, 1, 1),
        shared_bytes=0,
        counts=None,
        is_replayed=False,
        time=KernelTime(duration_ns, "memory", {}),
    )


def _copy(timeline, direction="h2d", nbytes=6000):
    return timeline.add_copy(direction=direction, nbytes=nbytes, reason="test")


def test_a_first_launch_costs_issue_and_kernel():
    timeline = Timeline(T4)
    record = _launch(timeline, 2600)
    assert (record.start_ns, record.duration_ns) == (5000, 2600)
    assert (record.issue_ns, record.elapsed_ns) == (5000, 7600)
    assert (timeline.host_ns, timeline.device_ns) == (5000, 7600)
    assert (record.kernel, record.bound, record.counts) == (KERNEL, "memory", None)


def test_short_kernels_go_at_the_hosts_pace():
    timeline = Timeline(T4)
    elapsed = [_launch(timeline, 2600).elapsed_ns for _ in range(3)]
    assert elapsed == [7600, 5000, 5000]


def test_long_kernels_hide_the_issue_of_the_next():
    timeline = Timeline(T4)
    elapsed = [_launch(timeline, 50_000).elapsed_ns for _ in range(3)]
    assert elapsed == [55_000, 50_000, 50_000]
    assert timeline.host_ns == 15_000


def test_a_copy_waits_for_the_device_and_stops_the_host():
    timeline = Timeline(T4)
    _launch(timeline, 50_000)
    record = _copy(timeline)
    assert record.start_ns == 55_000
    assert record.duration_ns == record.elapsed_ns == 9000  # 8 µs + 6000 B at 6 GB/s
    assert timeline.host_ns == timeline.device_ns == 64_000


def test_pinned_copies_are_faster():
    timeline = Timeline(T4)
    record = timeline.add_copy(
        direction="d2h", nbytes=6000, reason="test", is_pinned=True
    )
    assert record.is_pinned
    assert record.duration_ns == 8500


def test_a_copy_within_the_device_is_asynchronous():
    timeline = Timeline(T4)
    record = _copy(timeline, "d2d")
    assert timeline.host_ns == T4.launch_issue_ns
    assert timeline.device_ns == 5000 + record.duration_ns


def test_an_unknown_direction_is_refused_and_changes_nothing():
    timeline = Timeline(T4)
    with pytest.raises(UnsupportedError) as caught:
        _copy(timeline, "sideways")
    assert caught.value.direction == "sideways"
    assert timeline.elapsed_ns == 0


def test_synchronize_waits_for_the_device():
    timeline = Timeline(T4)
    _launch(timeline, 50_000)
    timeline.synchronize()
    assert timeline.host_ns == timeline.elapsed_ns == 60_000
    assert (timeline.synchronize_total_ns, timeline.synchronize_calls) == (5000, 1)


ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("launch"), st.integers(0, 40_000)),
        st.tuples(st.sampled_from(["h2d", "d2h", "d2d"]), st.integers(0, 100_000)),
        st.tuples(st.just("synchronize"), st.just(0)),
    ),
    max_size=30,
)


@given(ACTIONS)
def test_records_and_synchronisations_add_up_to_the_elapsed_time(actions):
    timeline = Timeline(T4)
    records = []
    timeline.listeners.append(records.append)
    for kind, number in actions:
        if kind == "launch":
            _launch(timeline, number)
        elif kind == "synchronize":
            timeline.synchronize()
        else:
            _copy(timeline, kind, number)
    assert all(record.elapsed_ns >= 0 for record in records)
    assert sum(record.elapsed_ns for record in records) == timeline.elapsed_ns


def test_records_carry_the_innermost_op():
    timeline = Timeline(T4)
    with timeline.op_scope("outer"):
        before = _copy(timeline)
        with timeline.op_scope("inner"):
            inside = _launch(timeline, 1)
        after = _launch(timeline, 1)
    outside = _launch(timeline, 1)
    labels = [record.op for record in (before, inside, after, outside)]
    assert labels == ["outer", "inner", "outer", ""]
    assert timeline.current_op == ""


def test_an_op_that_fails_leaves_its_scope():
    timeline = Timeline(T4)
    with pytest.raises(ZeroDivisionError), timeline.op_scope("op"):
        raise ZeroDivisionError
    assert timeline.current_op == ""


def test_every_listener_gets_every_record_in_order():
    timeline = Timeline(T4)
    first, second = [], []
    timeline.listeners += [first.append, second.append]
    made = [_launch(timeline, 1), _copy(timeline)]
    op = OpRecord("op", "", "SimGPU", None, ())
    timeline.add_op(op)
    assert first == second == [*made, op]


def test_a_listener_may_take_itself_off():
    timeline = Timeline(T4)
    seen = []

    def once(record):
        seen.append(record)
        timeline.listeners.remove(once)

    timeline.listeners += [once, seen.append]
    _copy(timeline)
    _copy(timeline)
    assert len(seen) == 3


def test_reset_puts_the_clocks_to_zero_and_keeps_listeners():
    timeline = Timeline(T4)
    seen = []
    timeline.listeners.append(seen.append)
    _launch(timeline, 10)
    timeline.synchronize()
    timeline.reset()
    assert timeline.elapsed_ns == timeline.host_ns == timeline.device_ns == 0
    assert timeline.synchronize_calls == 1
    assert _launch(timeline, 10).start_ns == 5000
    assert len(seen) == 3
