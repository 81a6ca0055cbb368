"""Random programs of nested ops and ranges, for property tests of the profiler."""

from __future__ import annotations

from collections import defaultdict

from hypothesis import strategies as st

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.cost import KernelTime
from tinytorch_gpu.runtime.timeline import Timeline
from tinytorch_gpu.trace import KernelSource, OpRecord

NAMES = ("add", "mul", "step")


def _leaves():
    names = st.sampled_from(("a_kernel", "b_kernel"))
    streams = st.integers(0, 2)
    return st.one_of(
        st.tuples(st.just("launch"), names, streams, st.integers(0, 20_000)),
        st.tuples(
            st.just("copy"),
            st.sampled_from(("h2d", "d2h", "d2d")),
            streams,
            st.integers(1, 10**6),
            st.booleans(),
        ),
        st.tuples(st.just("synchronize")),
        st.tuples(st.just("host"), st.integers(0, 9_000)),
    )


def programs():
    """Return a strategy of programs: lists of leaves, and of ops, ranges with parts."""
    return st.lists(
        st.recursive(
            _leaves(),
            lambda parts: st.tuples(
                st.sampled_from(("op", "range")),
                st.sampled_from(NAMES),
                st.lists(parts, max_size=4),
            ),
            max_leaves=12,
        ),
        max_size=5,
    )


class Ran:
    """A program that ran: its records, and by how much the clocks grew within names.

    What is within a name is read off the clocks at its outermost begin and end, so that
    it does not depend on how the profiler adds up.
    """

    def __init__(self, program, gpu="t4"):
        self.timeline = Timeline(find_gpu(gpu))
        self.records = []
        self.timeline.listeners.append(self.records.append)
        self.elapsed, self.host = defaultdict(float), defaultdict(float)
        self._open = defaultdict(int)
        for part in program:
            self._do(*part)

    def _do(self, kind, *rest):
        getattr(self, f"_{kind}")(*rest)

    def _launch(self, name, stream, duration):
        self.timeline.add_launch(
            kernel=KernelSource(name, f"{name}.py", 3),
            grid=(1, 1, 1),
            block=(32, 1, 1),
            shared_bytes=0,
            counts=None,
            is_replayed=False,
            time=KernelTime(duration, "floor", {}),
            stream=stream,
        )

    def _copy(self, direction, stream, nbytes, is_async):
        self.timeline.add_copy(
            direction=direction,
            nbytes=nbytes,
            reason="lesson",
            is_pinned=is_async,
            stream=stream,
            is_async=is_async,
        )

    def _synchronize(self):
        self.timeline.synchronize()

    def _host(self, duration):
        self.timeline.add_host(duration, "cudaMalloc")

    def _op(self, name, parts):
        parent = self.timeline.current_op
        with self._within(name, is_range=False), self.timeline.op_scope(name) as scope:
            for part in parts:
                self._do(*part)
        end = self.timeline.host_ns
        self.timeline.add_op(OpRecord(name, parent, "SimGPU", None, (), scope, end))

    def _range(self, name, parts):
        with self._within(name, is_range=True), self.timeline.range_scope(name):
            for part in parts:
                self._do(*part)

    def _within(self, name, *, is_range):
        return _Within(self, (name, is_range))


class _Within:
    """Reads the clocks at the outermost begin and end of a name."""

    def __init__(self, ran, key):
        self.ran, self.key = ran, key

    def __enter__(self):
        self.ran._open[self.key] += 1
        timeline = self.ran.timeline
        self.before = timeline.elapsed_ns, timeline.host_ns

    def __exit__(self, *_):
        self.ran._open[self.key] -= 1
        if not self.ran._open[self.key]:
            timeline = self.ran.timeline
            self.ran.elapsed[self.key] += timeline.elapsed_ns - self.before[0]
            self.ran.host[self.key] += timeline.host_ns - self.before[1]
