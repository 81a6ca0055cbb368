"""What holds for every program of streams, copies, kernels, events and waits."""

from collections import defaultdict
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinytorch_gpu.arch import PRESETS, find_gpu
from tinytorch_gpu.cost import KernelTime, copy_ns
from tinytorch_gpu.runtime import Timeline
from tinytorch_gpu.runtime.order import NON_BLOCKING
from tinytorch_gpu.trace import CopyRecord, KernelSource, LaunchRecord

KERNEL = KernelSource("work", "lesson.py", 1)
SIDE = 9001
STREAMS = st.sampled_from([0, 1, 2, 7, 8, SIDE])
STEP = st.one_of(
    st.tuples(st.just("kernel"), STREAMS, st.integers(0, 40_000)),
    st.tuples(
        st.sampled_from(["h2d", "d2h", "d2d"]),
        STREAMS,
        st.integers(0, 200_000),
        st.booleans(),
        st.booleans(),
    ),
    st.tuples(st.just("event"), STREAMS, STREAMS),
    st.tuples(st.just("wait"), STREAMS),
    st.tuples(st.just("wait for all")),
    st.tuples(st.just("host"), st.integers(0, 20_000)),
)
PROGRAMS = st.lists(STEP, max_size=25)
SPECS = st.builds(
    lambda gpu, engines: replace(find_gpu(gpu), copy_engines=engines),
    st.sampled_from(["toy", "t4"]),
    st.integers(0, 2),
)


@pytest.fixture(autouse=True, scope="module")
def _side_stream():
    NON_BLOCKING.add(SIDE)
    yield
    NON_BLOCKING.discard(SIDE)


def run(program, spec):
    """Return the timeline, all records, and (stamp, record) of the launches."""
    timeline, records, launches = Timeline(spec), [], []
    timeline.listeners.append(records.append)
    for step in program:
        do(timeline, launches, *step)
    return timeline, records, launches


def do(timeline, launches, kind, *rest):
    if kind == "kernel":
        stamp = timeline.order.launch(rest[0])
        launches.append((stamp, launch(timeline, *rest)))
    elif kind in ("h2d", "d2h", "d2d"):
        stream, nbytes, is_pinned, is_async = rest
        timeline.add_copy(
            direction=kind,
            nbytes=nbytes,
            reason="law",
            is_pinned=is_pinned,
            stream=stream,
            is_async=is_async,
        )
    elif kind == "event":
        timeline.order.wait(rest[1], timeline.mark(rest[0]))
    elif kind == "wait":
        timeline.wait_for_stream(rest[0], "law")
    elif kind == "host":
        timeline.add_host(rest[0], "law")
    else:
        timeline.synchronize()


def launch(timeline, stream, duration_ns):
    return timeline.add_launch(
        kernel=KERNEL,
        grid=(1, 1, 1),
        block=(32, 1, 1),
        shared_bytes=0,
        counts=None,
        is_replayed=False,
        time=KernelTime(duration_ns, "memory", {}),
        stream=stream,
    )


def work_of(records):
    return [r for r in records if isinstance(r, (LaunchRecord, CopyRecord))]


def engine_of(record):
    return "compute" if isinstance(record, LaunchRecord) else record.engine


def end_of(record):
    return record.start_ns + record.duration_ns


@given(PROGRAMS, SPECS)
def test_the_records_elapsed_times_add_up_to_the_clock(program, spec):
    timeline, records, _ = run(program, spec)
    assert sum(r.elapsed_ns for r in records) == timeline.elapsed_ns
    assert all(r.elapsed_ns >= 0 for r in records)


@given(PROGRAMS, SPECS)
def test_overlap_never_beats_the_longest_engine_or_stream(program, spec):
    timeline, records, _ = run(program, spec)
    busy = defaultdict(float)
    for record in work_of(records):
        busy["engine", engine_of(record)] += record.duration_ns
        busy["stream", record.stream] += record.duration_ns
    assert timeline.elapsed_ns >= max(busy.values(), default=0)


@given(PROGRAMS, SPECS)
def test_it_never_takes_longer_than_everything_in_a_row(program, spec):
    in_a_row = sum(run([step], spec)[0].elapsed_ns for step in program)
    assert run(program, spec)[0].elapsed_ns <= in_a_row


@given(PROGRAMS, SPECS, STEP, st.integers(0, 25))
def test_adding_work_never_shortens(program, spec, step, at):
    longer = [*program[:at], step, *program[at:]]
    assert run(longer, spec)[0].elapsed_ns >= run(program, spec)[0].elapsed_ns


@given(PROGRAMS, SPECS)
def test_engines_and_streams_do_one_thing_at_a_time_in_order(program, spec):
    last = defaultdict(float)
    for record in work_of(run(program, spec)[1]):
        stream = 0 if record.stream == 1 else record.stream
        for queue in (("engine", engine_of(record)), ("stream", stream)):
            assert record.start_ns >= last[queue]
            last[queue] = end_of(record)


@given(PROGRAMS, SPECS)
def test_what_the_sanitizer_takes_for_ordered_is_ordered_on_the_clock(program, spec):
    _, _, launches = run(program, spec)
    for stamp, record in launches:
        for other, before in launches:
            if stamp is not other and stamp.is_after(other):
                assert record.start_ns >= end_of(before)


@given(PROGRAMS, st.sampled_from(["toy", "t4"]))
def test_more_copy_engines_are_never_slower(program, gpu):
    spec = find_gpu(gpu)
    times = [
        run(program, replace(spec, copy_engines=n))[0].elapsed_ns for n in (0, 1, 2)
    ]
    assert times == sorted(times, reverse=True)


@given(st.integers(0, 10**9), st.booleans(), st.sampled_from(sorted(PRESETS)))
def test_twice_the_bytes_take_more_but_never_over_twice_the_time(nbytes, pinned, gpu):
    once = copy_ns(nbytes, pinned, find_gpu(gpu))
    twice = copy_ns(2 * nbytes, pinned, find_gpu(gpu))
    assert once <= twice <= 2 * once


@given(st.integers(0, 10**9), st.sampled_from(sorted(PRESETS)))
def test_pinned_memory_never_copies_slower(nbytes, gpu):
    spec = find_gpu(gpu)
    assert copy_ns(nbytes, True, spec) <= copy_ns(nbytes, False, spec)
