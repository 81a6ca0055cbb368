"""`Timeline`: the modelled clocks of the host, the streams and the engines of a device.

Comes in: launches with their modelled time, copies, ops, synchronisations. Goes out: a
record of each, handed to every listener at once and then forgotten, so that long
training does not fill memory. Modelled time is the latest of all clocks; the
`elapsed_ns` of a record is by how much that grew, so that all records add up to it.

Source: CUDA C++ Programming Guide, "Asynchronous Concurrent Execution"; CUDA C++ Best
Practices Guide, "Asynchronous and Overlapping Transfers with Computation".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tinytorch_gpu.cost import available_gb_per_s, copy_ns, device_copy_ns
from tinytorch_gpu.errors import UnsupportedError
from tinytorch_gpu.runtime.clocks import Clocks, Placed, whole
from tinytorch_gpu.trace import CopyRecord, LaunchRecord

if TYPE_CHECKING:
    from tinytorch_gpu.arch import GpuSpec
    from tinytorch_gpu.cost import KernelTime
    from tinytorch_gpu.trace import KernelSource, LaunchCounts

__all__ = ["Timeline"]


class Timeline(Clocks):
    """Clocks in modelled nanoseconds: the host's, and those of streams and engines.

    A launch is asynchronous: the host pays the issue cost and goes on. Work begins when
    the host has issued it, what its stream waits for is over, and its engine is free.
    A copy stops the host, unless it is asked to be asynchronous and its host memory is
    pinned.

    Args:
        spec: the GPU whose costs apply.
        order: which work waits for which; a new one if None.

    Example:
        >>> from tinytorch_gpu.arch import find_gpu
        >>> timeline = Timeline(find_gpu("toy"))
        >>> copy = timeline.add_copy(direction="h2d", nbytes=1000, reason="lesson")
        >>> copy.duration_ns, timeline.elapsed_ns     # 1 µs + 1000 B at 1 GB/s
        (2000.0, 2000.0)

    Limits: engines take work in the order of issue; see `Engines`.
    """

    # Simplified: a copy from pageable memory waits for all of the device's work, and
    # the host for the copy's end. On hardware a kernel of another stream may run on,
    # and the host returns once the bytes are staged: less by up to the shorter of both.
    # An asynchronous copy pays its latency on the engine and an issue on the host: up
    # to one issue (about 5 µs) too much where nothing overlaps.

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
        stream: int = 0,
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
            stream: handle of the stream that it is put into.

        Returns:
            The record, which every listener has got too.
        """
        fit = time.occupancy
        placed = self._issue("compute", stream, whole(time.duration_ns))
        record = LaunchRecord(
            kernel=kernel,
            op=self.current_op,
            scope=self.scope,
            grid=grid,
            block=block,
            shared_bytes=shared_bytes,
            counts=counts,
            is_replayed=is_replayed,
            bound=time.bound,
            stream=stream,
            terms=tuple(time.terms.items()),
            theoretical_occupancy=fit.theoretical_occupancy if fit else 0.0,
            occupancy_limiter=fit.limiter if fit else "",
            waves=time.waves,
            **placed._asdict(),
        )
        self._tell(record)
        return record

    def add_copy(
        self,
        *,
        direction: str,
        nbytes: int,
        reason: str,
        is_pinned: bool = False,
        stream: int = 0,
        is_async: bool = False,
        origin: tuple[str, int] | None = None,
        address: int = 0,
    ) -> CopyRecord:
        """Put one copy on the timeline.

        A copy between host and device stops the host unless it is asynchronous, which
        needs pinned memory. A copy within the device (`d2d`) is always asynchronous.

        Args:
            direction: `h2d`, `d2h` or `d2d`.
            nbytes: bytes moved.
            reason: why, in words, for example "Tensor.to".
            is_pinned: the host side is page-locked.
            stream: handle of the stream that it is put into.
            is_async: let the host go on if the memory is pinned.
            origin: file and line of the user's code that asked for it.
            address: of the first element on the device.

        Returns:
            The record, which every listener has got too.

        Raises:
            UnsupportedError: the direction is none of the three.
        """
        is_async = direction == "d2d" or (is_async and is_pinned)
        placed = self._place_copy(direction, nbytes, is_pinned, stream, is_async)
        available = available_gb_per_s(direction, is_pinned, self.spec)
        record = CopyRecord(
            *(direction, nbytes, reason, self.current_op, is_pinned),
            scope=self.scope,
            stream=stream,
            engine=self._engines.name_of(direction),
            is_async=is_async,
            available_gb_per_s=available,
            origin=origin,
            address=address,
            **placed._asdict(),
        )
        self._tell(record)
        return record

    def _place_copy(
        self, direction: str, nbytes: int, is_pinned: bool, stream: int, is_async: bool
    ) -> Placed:
        """Put a copy on the clocks; one of pageable memory waits for all engines."""
        duration = whole(_duration_ns(direction, nbytes, is_pinned, self.spec))
        engine = self._engines.name_of(direction)
        if is_async:
            return self._issue(engine, stream, duration)
        at = self._host_ns if is_pinned else self.elapsed_ns
        return self._meet(engine, stream, duration, at)


def _duration_ns(direction: str, nbytes: int, is_pinned: bool, spec: GpuSpec) -> float:
    """Time of a copy by itself."""
    if direction == "d2d":
        return device_copy_ns(nbytes, spec)
    if direction in ("h2d", "d2h"):
        return copy_ns(nbytes, is_pinned, spec)
    raise UnsupportedError(
        f"a copy of direction {direction!r} is not modelled",
        where="adding a copy to the timeline",
        why="a copy goes h2d, d2h or d2d",
        fix='use one of the three: timeline.add_copy(direction="h2d", ...)',
        direction=direction,
    )
