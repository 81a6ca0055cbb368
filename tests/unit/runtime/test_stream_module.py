"""Streams and events by torch.cuda's names, and where work goes that names no stream."""

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tinytorch_gpu import cuda, profiler
from tinytorch_gpu.errors import KernelTypeError
from tinytorch_gpu.runtime import current_device, use_gpu
from tinytorch_gpu.trace import CopyRecord, LaunchRecord, SynchronizeRecord


@cuda.jit
def add_one(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] += 1


@pytest.fixture(autouse=True)
def _toy_gpu():
    before = current_device().spec
    use_gpu("toy")
    yield
    use_gpu(before)


def streams_of(work):
    """Return the stream's handle of each launch and copy."""
    with profiler.profile() as prof:
        work()
    records = prof.events()
    return [r.stream for r in records if isinstance(r, (LaunchRecord, CopyRecord))]


def test_work_that_names_no_stream_goes_to_the_current_one():
    side, named = simgpu.Stream(), cuda.stream()
    x = cuda.to_device(np.zeros(4, np.float32))

    def work():
        with simgpu.stream(side):
            add_one[1, 4](x)
            add_one[1, 4, 0, 0](x)
            add_one[1, 4, named](x)
            add_one[1, 4, cuda.default_stream()](x)
            x.copy_to_host()
            cuda.to_device(np.zeros(4))
        add_one[1, 4](x)

    s = side.handle
    assert streams_of(work) == [s, s, named.handle, 0, s, s, 0]


def test_the_current_stream_nests_and_comes_back():
    one, two = simgpu.Stream(), simgpu.Stream()
    assert simgpu.current_stream() == simgpu.default_stream()
    with simgpu.stream(one):
        with simgpu.stream(two), simgpu.stream(None):
            assert simgpu.current_stream() == two
        assert simgpu.current_stream() == one
        with pytest.raises(ZeroDivisionError), simgpu.stream(two):
            raise ZeroDivisionError
        assert simgpu.current_stream() == one
    assert simgpu.current_stream() == simgpu.default_stream()


def test_streams_are_equal_by_handle():
    one = simgpu.Stream(priority=-1)
    assert one == cuda.external_stream(one.handle)
    assert one != simgpu.Stream()
    assert one != one.handle
    assert len({one, cuda.external_stream(one.handle)}) == 1


def test_host_arrays_of_a_launch_are_copied_in_its_stream_and_the_host_waits():
    stream = cuda.stream()
    pinned = cuda.pinned_array(4, np.float32)
    pinned[:] = 0
    with profiler.profile() as prof:
        add_one[1, 4, stream](pinned)
    there, launch, back = [r for r in prof.events() if hasattr(r, "stream")]
    assert {there.stream, launch.stream, back.stream} == {stream.handle}
    assert not there.is_async
    assert not back.is_async
    assert there.origin[0] == back.origin[0] == __file__
    assert "pinned" not in there.reason
    assert pinned.tolist() == [1, 1, 1, 1]


def test_only_pinned_memory_with_a_stream_lets_the_host_go_on():
    stream, ordinary = cuda.stream(), np.zeros(4, np.float32)
    pinned = cuda.pinned_array(4, np.float32)

    def copies():
        x = cuda.to_device(ordinary, stream=stream)
        cuda.to_device(pinned)
        x.copy_to_device(pinned, stream=stream)
        x.copy_to_host(stream=stream)
        x.copy_to_host(pinned)
        x.copy_to_host(pinned, stream=stream)
        with cuda.pinned(ordinary):
            cuda.to_device(ordinary, stream=stream)
        x.getitem(0, stream=stream)
        x.setitem(0, 2.0, stream=stream)

    with profiler.profile() as prof:
        copies()
    records = [r for r in prof.events() if isinstance(r, CopyRecord)]
    asynchronous = [False, False, True, False, False, True, True, False]
    assert [r.is_async for r in records] == asynchronous
    launches = [r for r in prof.events() if isinstance(r, LaunchRecord)]
    assert [r.stream for r in launches] == [stream.handle]


def test_copies_tell_engine_and_bandwidth():
    with profiler.profile() as prof:
        cuda.to_device(np.zeros(1000, np.int8)).copy_to_host()
    there, back = [r for r in prof.events() if isinstance(r, CopyRecord)]
    assert (there.engine, back.engine) == ("h2d", "d2h")
    assert there.available_gb_per_s == 1
    assert there.achieved_gb_per_s == 0.5  # 1000 B in 2 µs


def test_events_time_what_a_stream_does():
    side = simgpu.Stream()
    pinned = cuda.pinned_array(6000, np.int8)
    start, end = simgpu.Event(enable_timing=True), simgpu.Event(enable_timing=True)
    with simgpu.stream(side):
        x = cuda.device_array(6000, np.int8)
        start.record()
        x.copy_to_device(pinned, stream=side)
        end.record()
    assert not end.query()
    side.synchronize()
    assert end.query()
    # Issued 1 µs after the first mark; 1 µs + 6000 B at 2 GB/s.
    assert start.elapsed_time(end) == pytest.approx(0.005)
    assert side.query()


def test_a_stream_waits_for_another_and_the_host_goes_on():
    one, two = simgpu.Stream(), simgpu.Stream()
    pinned, x = cuda.pinned_array(6000, np.int8), cuda.device_array(6000, np.int8)
    with profiler.profile() as prof:
        x.copy_to_device(pinned, stream=one)
        two.wait_stream(one)
        add_one[6, 1024, two](x)
        event = two.record_event()
        one.wait_event(event)
        x.copy_to_host(pinned, stream=one)
    there, launch, back = [
        r for r in prof.events() if isinstance(r, (LaunchRecord, CopyRecord))
    ]
    assert launch.start_ns == there.start_ns + there.duration_ns
    assert back.start_ns == launch.start_ns + launch.duration_ns
    assert not [r for r in prof.events() if isinstance(r, SynchronizeRecord)]


@pytest.mark.parametrize(
    ("wait", "kind", "reason"),
    [
        (simgpu.synchronize, "device", "synchronize()"),
        (lambda: simgpu.Stream().synchronize(), "stream", "stream.synchronize()"),
        (lambda: simgpu.Event().synchronize(), "event", "event.synchronize()"),
    ],
)
def test_waits_are_recorded(wait, kind, reason):
    with profiler.profile() as prof:
        wait()
    (record,) = [r for r in prof.events() if isinstance(r, SynchronizeRecord)]
    assert (record.kind, record.reason) == (kind, reason)


def test_polling_an_event_comes_to_an_end():
    side, event = simgpu.Stream(), simgpu.Event()
    x = cuda.device_array(6000, np.int8)
    x.copy_to_device(cuda.pinned_array(6000, np.int8), stream=side)
    event.record(side)
    asked = 0
    while not event.query():
        asked += 1
    assert asked == 4  # 4 µs of copying, 1 µs a question


@pytest.mark.parametrize("given", [3, "a", 1.5])
def test_what_is_no_stream_is_refused(given):
    with (
        pytest.raises(KernelTypeError, match="given as the stream"),
        simgpu.stream(given),
    ):
        pass
