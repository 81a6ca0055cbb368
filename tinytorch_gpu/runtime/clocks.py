"""`Clocks`: when work begins, and how long the host waits for it.

Three things decide when work begins: the host has issued it, what its stream waits for
is over (`order.py`), and its engine is free (`engines.py`). All times are modelled
nanoseconds, whole ones, so that their sums are exact.

Source: CUDA C++ Programming Guide, "Asynchronous Concurrent Execution".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tinytorch_gpu.runtime.engines import Engines
from tinytorch_gpu.runtime.order import WorkOrder
from tinytorch_gpu.runtime.scopes import Scopes
from tinytorch_gpu.trace import HostRecord, SynchronizeRecord

if TYPE_CHECKING:
    from tinytorch_gpu.arch import GpuSpec
    from tinytorch_gpu.runtime.order import Point

__all__ = ["Clocks", "Placed", "whole"]


class Placed(NamedTuple):
    """When a piece of work runs, by the names of its record's fields."""

    start_ns: float
    duration_ns: float
    elapsed_ns: float
    issue_start_ns: float
    issue_ns: float


class Clocks(Scopes):
    """The clocks of the host, of the streams and of the engines of one device.

    Args:
        spec: the GPU whose costs apply.
        order: which work waits for which; a new one if None.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> clocks = Clocks(find_gpu("t4"))
        >>> clocks.synchronize().duration_ns     # nothing to wait for: the call's cost
        5000.0
    """

    def __init__(self, spec: GpuSpec, order: WorkOrder | None = None) -> None:
        super().__init__()
        self.spec = spec
        self.order = order or WorkOrder()
        self.synchronize_total_ns = 0.0
        self.synchronize_calls = 0
        # For each time asked for in vain: how long, with nothing else in between.
        self._polled_ns: dict[float, float] = {}
        self._polled_at = 0.0, 0
        self.reset()

    @property
    def device_ns(self) -> float:
        """Modelled time at which the device has done all its work."""
        return self._engines.idle_ns

    @property
    def elapsed_ns(self) -> float:
        """Modelled time since the start or the last reset."""
        return max(self._host_ns, self.device_ns)

    def add_host(self, duration_ns: float, reason: str) -> HostRecord:
        """Let the host do something that takes time; the device goes on with its work.

        Args:
            duration_ns: modelled host time.
            reason: what takes it, for example "cudaMalloc".

        Returns:
            The record, which every listener has got too.
        """
        start, before = self._host_ns, self.elapsed_ns
        self._host_ns += whole(duration_ns)
        took, elapsed = self._host_ns - start, self.elapsed_ns - before
        record = HostRecord(
            reason, self.current_op, start, took, elapsed, scope=self.scope
        )
        self._tell(record)
        return record

    def synchronize(self, reason: str = "synchronize()") -> SynchronizeRecord:
        """Let the host wait until the device has done all its work.

        Args:
            reason: which call waits.

        Returns:
            The record, which every listener has got too.
        """
        self.order.synchronize()
        return self._wait("device", reason, self.device_ns)

    def wait_for_stream(self, stream: int, reason: str) -> SynchronizeRecord:
        """Let the host wait until a stream's work is done.

        Args:
            stream: the stream's handle.
            reason: which call waits.

        Returns:
            The record, which every listener has got too.
        """
        self.order.synchronize(stream)
        ready = self.order.next_point(stream).ready_ns
        return self._wait("stream", reason, ready, stream)

    def wait_for_event(self, point: Point, reason: str) -> SynchronizeRecord:
        """Let the host wait for what an event keeps.

        Args:
            point: what the event keeps.
            reason: which call waits.

        Returns:
            The record, which every listener has got too.
        """
        self.order.reach(point)
        return self._wait("event", reason, point.ready_ns)

    def has_reached(self, point: Point) -> bool:
        """Tell whether work is done at the host's time; nobody learns of the question.

        Args:
            point: the work.
        """
        return point.ready_ns <= self._host_ns

    def is_over(self, point: Point) -> bool:
        """Tell whether work is done by now; a question alone moves no clock.

        A program that asks again and again, and does nothing else, waits: each "no"
        brings it one issue closer, and the host's clock moves once the answer is "yes".

        Args:
            point: the work.
        """
        issue_ns = whole(self.spec.launch_issue_ns)
        # Where issuing is free, a loop that issues and asks has to come to an end too.
        moment = self._host_ns, self.order.changes if issue_ns else 0
        if moment != self._polled_at:
            self._polled_at, self._polled_ns = moment, {}
        polled_ns = self._polled_ns.get(point.ready_ns, 0.0)
        if point.ready_ns <= self._host_ns + polled_ns:
            self._host_ns = max(self._host_ns, point.ready_ns)
            self.order.reach(point)
            return True
        self._polled_ns[point.ready_ns] = polled_ns + (issue_ns or point.ready_ns)
        return False

    def mark(self, stream: int) -> Point:
        """Return the point at which all work issued to a stream so far is done.

        Args:
            stream: the stream's handle.
        """
        point = self.order.record(stream)
        point.ready_ns = max(point.ready_ns, self._host_ns)
        return point

    def _wait(
        self, kind: str, reason: str, until_ns: float, stream: int = 0
    ) -> SynchronizeRecord:
        """Let the host wait, and pay for the call."""
        start, before = self._host_ns, self.elapsed_ns
        self._host_ns = max(start, until_ns) + whole(self.spec.synchronize_ns)
        took, elapsed = self._host_ns - start, self.elapsed_ns - before
        self.synchronize_total_ns += elapsed
        self.synchronize_calls += 1
        record = SynchronizeRecord(
            kind, reason, self.current_op, start, took, elapsed, stream, self.scope
        )
        self._tell(record)
        return record

    def reset(self) -> None:
        """Put all clocks to 0.

        Listeners and open ops stay, and so do the totals of synchronisations, of which
        a profile takes differences.
        """
        self._host_ns = 0.0
        self._polled_ns = {}
        self._engines = Engines(self.spec.copy_engines)
        self.order.restart_clock()

    def _issue(self, engine: str, stream: int, duration_ns: float) -> Placed:
        """Put work on the clocks that runs by itself."""
        host, before = self._host_ns, self.elapsed_ns
        self._host_ns += whole(self.spec.launch_issue_ns)
        start = self._run(engine, stream, self._host_ns, duration_ns)
        grown, issue = self.elapsed_ns - before, self._host_ns - host
        return Placed(start, duration_ns, grown, host, issue)

    def _meet(
        self, engine: str, stream: int, duration_ns: float, at_ns: float
    ) -> Placed:
        """Put work on the clocks that the host waits for, from `at_ns` on."""
        host, before = self._host_ns, self.elapsed_ns
        start = self._run(engine, stream, at_ns, duration_ns)
        self._host_ns = start + duration_ns
        self.order.synchronize(stream)
        grown, waited = self.elapsed_ns - before, self._host_ns - host
        return Placed(start, duration_ns, grown, host, waited)

    def _run(self, engine: str, stream: int, at_ns: float, duration_ns: float) -> float:
        """Run work when it is issued, its stream is ready and its engine is free."""
        point = self.order.next_point(stream)
        ready = max(at_ns, point.ready_ns)
        start = self._engines.run(engine, ready, duration_ns)
        point.ready_ns = start + duration_ns
        return start


def whole(duration_ns: float) -> float:
    """Round to whole nanoseconds, whose sums are exact whatever the clock shows."""
    return float(round(duration_ns))
