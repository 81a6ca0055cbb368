"""`Timeline`: the modelled clocks of host and device, and who moved them.

Comes in: launches with their modelled time, copies, ops, synchronisations. Goes out: a
record of each, handed to every listener at once and then forgotten, so that long
training does not fill memory. Modelled time is `max(host, device)`; the `elapsed_ns` of
a record is by how much that grew, so that records and synchronisations add up to it.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from tinytorch_gpu.cost import copy_ns, device_copy_ns
from tinytorch_gpu.errors import UnsupportedError
from tinytorch_gpu.trace import CopyRecord, LaunchRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tinytorch_gpu.arch import GpuSpec
    from tinytorch_gpu.cost import KernelTime
    from tinytorch_gpu.trace import KernelSource, LaunchCounts, OpRecord, Record

__all__ = ["Timeline"]


class Timeline:
    """Two clocks in modelled nanoseconds: what the host did, and what the device did.

    A launch is asynchronous: the host pays the issue cost and goes on, the device runs
    the kernel when it is free. A copy between host and device waits for both.

    Args:
        spec: the GPU whose costs apply.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> timeline = Timeline(find_gpu("toy"))
        >>> copy = timeline.add_copy(direction="h2d", nbytes=1000, reason="lesson")
        >>> copy.duration_ns, timeline.elapsed_ns     # 1 µs + 1000 B at 1 GB/s
        (2000.0, 2000.0)

    Limits: one stream; copies do not overlap with kernels.
    """

    # Simplified: a copy from pageable memory to the device returns to the host a little
    # before it has arrived on hardware; here the host waits for its end. Streams and
    # overlapping copies are not modelled: a program that overlaps well may take half.

    def __init__(self, spec: GpuSpec) -> None:
        self.spec = spec
        self.listeners: list[Callable[[Record], None]] = []
        self.synchronize_total_ns = 0.0
        self.synchronize_calls = 0
        self._host_ns = 0.0
        self._device_ns = 0.0
        self._ops: list[str] = []

    @property
    def host_ns(self) -> float:
        """Modelled time at which the host is."""
        return self._host_ns

    @property
    def device_ns(self) -> float:
        """Modelled time at which the device has done all its work."""
        return self._device_ns

    @property
    def elapsed_ns(self) -> float:
        """Modelled time since the start or the last reset."""
        return max(self._host_ns, self._device_ns)

    @property
    def current_op(self) -> str:
        """The innermost op that is running, or ""."""
        return self._ops[-1] if self._ops else ""

    @contextmanager
    def op_scope(self, name: str) -> Iterator[None]:
        """Label the records that are made within the `with` block.

        Args:
            name: the op's qualified name.

        Yields:
            Nothing.

        Example:
            >>> from tinytorch_gpu.arch import find_gpu
            >>> timeline = Timeline(find_gpu("toy"))
            >>> with timeline.op_scope("tinytorch::add"):
            ...     timeline.current_op
            'tinytorch::add'
        """
        self._ops.append(name)
        try:
            yield
        finally:
            self._ops.pop()

    def add_launch(
        self,
        *,
        kernel: KernelSource,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        shared_bytes: int,
        counts: LaunchCounts | None,
        is_replayed: bool,
        time: KernelTime,
    ) -> LaunchRecord:
        """Put one launch on the timeline; the host does not wait for it.

        Args:
            kernel: the function that ran.
            grid: blocks in x, y, z.
            block: threads in x, y, z.
            shared_bytes: shared memory of one block.
            counts: what was counted; None when counters were off.
            is_replayed: the counts were taken over from an equal earlier launch.
            time: the kernel's modelled time.

        Returns:
            The record, which every listener has got too.
        """
        duration = _whole(time.duration_ns)
        start, elapsed = self._run_on_device(duration)
        record = LaunchRecord(
            kernel=kernel,
            op=self.current_op,
            grid=grid,
            block=block,
            shared_bytes=shared_bytes,
            counts=counts,
            is_replayed=is_replayed,
            start_ns=start,
            duration_ns=duration,
            issue_ns=self.spec.launch_issue_ns,
            elapsed_ns=elapsed,
            bound=time.bound,
        )
        self._tell(record)
        return record

    def add_copy(
        self, *, direction: str, nbytes: int, reason: str, is_pinned: bool = False
    ) -> CopyRecord:
        """Put one copy on the timeline.

        Host and device both wait for a copy between them; a copy within the device
        (`d2d`) is asynchronous, as a launch is.

        Args:
            direction: `h2d`, `d2h` or `d2d`.
            nbytes: bytes moved.
            reason: why, in words, for example "Tensor.to".
            is_pinned: the host side is page-locked.

        Returns:
            The record, which every listener has got too.

        Raises:
            UnsupportedError: the direction is none of the three.
        """
        if direction == "d2d":
            duration = _whole(device_copy_ns(nbytes, self.spec))
            start, elapsed = self._run_on_device(duration)
        elif direction in ("h2d", "d2h"):
            duration = _whole(copy_ns(nbytes, is_pinned, self.spec))
            start, elapsed = self._run_on_both(duration)
        else:
            raise _unknown_direction(direction)
        record = CopyRecord(
            direction=direction,
            bytes=nbytes,
            reason=reason,
            op=self.current_op,
            is_pinned=is_pinned,
            start_ns=start,
            duration_ns=duration,
            elapsed_ns=elapsed,
        )
        self._tell(record)
        return record

    def add_op(self, record: OpRecord) -> None:
        """Hand the record of one op to the listeners; it takes no modelled time."""
        self._tell(record)

    def synchronize(self) -> None:
        """Let the host wait until the device has done all its work."""
        before = self.elapsed_ns
        self._host_ns = before + _whole(self.spec.synchronize_ns)
        self.synchronize_total_ns += self.elapsed_ns - before
        self.synchronize_calls += 1

    def reset(self) -> None:
        """Put both clocks to 0.

        Listeners and open ops stay, and so do the totals of synchronisations, of which
        a profile takes differences.
        """
        self._host_ns = 0.0
        self._device_ns = 0.0

    def _run_on_device(self, duration_ns: float) -> tuple[float, float]:
        """Issue work to the device; return its start and the growth of elapsed time."""
        before = self.elapsed_ns
        self._host_ns += _whole(self.spec.launch_issue_ns)
        start = max(self._device_ns, self._host_ns)
        self._device_ns = start + duration_ns
        return start, self.elapsed_ns - before

    def _run_on_both(self, duration_ns: float) -> tuple[float, float]:
        """Let host and device meet and work together; return as `_run_on_device`."""
        start = self.elapsed_ns
        self._host_ns = self._device_ns = start + duration_ns
        return start, self.elapsed_ns - start

    def _tell(self, record: Record) -> None:
        for listener in tuple(self.listeners):
            listener(record)


def _whole(duration_ns: float) -> float:
    """Round to whole nanoseconds, whose sums are exact whatever the clock shows."""
    return float(round(duration_ns))


def _unknown_direction(direction: str) -> UnsupportedError:
    return UnsupportedError(
        f"a copy of direction {direction!r} is not modelled",
        where="adding a copy to the timeline",
        why="a copy goes h2d, d2h or d2d",
        fix='use one of the three: timeline.add_copy(direction="h2d", ...)',
        direction=direction,
    )
