"""What a device did and when: frozen records, written once and read by every judge.

`LaunchRecord` and `CopyRecord` tell of work on the modelled timeline,
`SynchronizeRecord` of the host's waits for it, `OpRecord` of one op that the dispatcher
ran, `RangeRecord` of a named part of the program, `HostRecord` of other host time.

All times are modelled nanoseconds. `start_ns` and `end_ns` are on one clock that begins
at 0 with the device. The `elapsed_ns` of all records add up to the growth of the clock.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tinytorch_gpu.trace.counts import LaunchCounts
    from tinytorch_gpu.trace.scope import Scope
    from tinytorch_gpu.trace.source import KernelSource

__all__ = [
    "ArrayUse",
    "CopyRecord",
    "HostRecord",
    "LaunchRecord",
    "OpRecord",
    "RangeRecord",
    "Record",
    "SynchronizeRecord",
]


@dataclass(frozen=True, slots=True)
class LaunchRecord:
    """One launch of one kernel.

    Args:
        kernel: name, file and line of the function that computed the values.
        op: innermost op that asked for the launch, or "".
        grid: blocks in x, y, z.
        block: threads in x, y, z.
        shared_bytes: shared memory of one block.
        counts: None when counters were off.
        is_replayed: the counts were taken over from an equal earlier launch.
        start_ns: modelled start on the device.
        duration_ns: modelled time that the kernel runs.
        issue_ns: modelled host time that the launch costs.
        elapsed_ns: by how much the launch lengthened the modelled timeline.
        bound: what binds the kernel's modelled time.
        stream: handle of the stream that it ran in; 0 is the default stream.
        issue_start_ns: when the host began to issue it.
        terms: modelled nanoseconds of each pipe, longest or not.
        theoretical_occupancy: resident warps of an SM ÷ the most it can hold, 0 to 1.
        occupancy_limiter: what keeps more blocks off an SM, or "".
        waves: blocks ÷ blocks that are resident at one time on the whole GPU.
        scope: innermost op or range that was open, or None.
        origin: file and line of the user's code, where a profile asks for it.
    """

    kernel: KernelSource
    op: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    shared_bytes: int
    counts: LaunchCounts | None
    is_replayed: bool
    start_ns: float
    duration_ns: float
    issue_ns: float
    elapsed_ns: float
    bound: str
    stream: int = 0
    issue_start_ns: float = 0.0
    terms: tuple[tuple[str, float], ...] = ()
    theoretical_occupancy: float = 0.0
    occupancy_limiter: str = ""
    waves: float = 0.0
    scope: Scope | None = None
    origin: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True)
class CopyRecord:
    """One copy between host and device.

    Args:
        direction: `h2d`, `d2h` or `d2d`.
        bytes: bytes moved.
        reason: why, in words, for example "Tensor.to" or "float(loss)".
        op: innermost op that asked for it, or "".
        is_pinned: the host side is page-locked.
        start_ns: modelled start.
        duration_ns: modelled time of the copy.
        elapsed_ns: by how much the copy lengthened the modelled timeline.
        stream: handle of the stream that it ran in; 0 is the default stream.
        engine: what moved the bytes: `h2d` or `d2h` (copy engines), `copy` (one
            engine for both directions), or `compute`.
        is_async: the host went on while the copy ran.
        available_gb_per_s: bandwidth of the link (10⁹ bytes/s), latency left out.
        origin: file and line of the user's code that asked for it, or None.
        scope: innermost op or range that was open, or None.
        issue_start_ns: when the host called for it.
        issue_ns: modelled host time of the call; all of its wait if it is no async one.
        address: of the first element on the device, simulated; 0 if not told.
    """

    direction: str
    bytes: int
    reason: str
    op: str
    is_pinned: bool
    start_ns: float
    duration_ns: float
    elapsed_ns: float
    stream: int = 0
    engine: str = ""
    is_async: bool = False
    available_gb_per_s: float = 0.0
    origin: tuple[str, int] | None = None
    scope: Scope | None = None
    issue_start_ns: float = 0.0
    issue_ns: float = 0.0
    address: int = 0

    @property
    def achieved_gb_per_s(self) -> float:
        """Bytes ÷ duration, latency included (10⁹ bytes/s); 0 if it took no time."""
        return self.bytes / self.duration_ns if self.duration_ns else 0.0


@dataclass(frozen=True, slots=True)
class SynchronizeRecord:
    """One wait of the host for the device.

    Args:
        kind: what it waited for: `device`, `stream`, `event` or `copy`.
        reason: which call waited, for example "stream.synchronize()".
        op: innermost op that asked for it, or "".
        start_ns: when the host began to wait.
        duration_ns: how long the host waited, the cost of the call included.
        elapsed_ns: by how much the wait lengthened the modelled timeline.
        stream: handle of the stream that was waited for; 0 for the whole device.
        scope: innermost op or range that was open, or None.
        origin: file and line of the user's code, where a profile asks for it.
    """

    kind: str
    reason: str
    op: str
    start_ns: float
    duration_ns: float
    elapsed_ns: float
    stream: int = 0
    scope: Scope | None = None
    origin: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True)
class HostRecord:
    """Host time that something else than a launch, a copy or a wait cost.

    Args:
        reason: what took it, for example "cudaMalloc".
        op: innermost op that was open, or "".
        start_ns: modelled host time at its start.
        duration_ns: how long it took.
        elapsed_ns: by how much it lengthened the modelled timeline.
        scope: innermost op or range that was open, or None.
        origin: file and line of the user's code, where a profile asks for it.
    """

    reason: str
    op: str
    start_ns: float
    duration_ns: float
    elapsed_ns: float
    scope: Scope | None = None
    origin: tuple[str, int] | None = None


@dataclass(frozen=True, slots=True)
class RangeRecord:
    """One named part of the program (`profiler.record_function`), written at its end.

    Args:
        name: the name.
        start_ns: modelled host time at its start.
        end_ns: modelled host time at its end.
        depth: how many other ranges were open around it.
        scope: the range itself, with what was open around it.
    """

    name: str
    start_ns: float
    end_ns: float
    depth: int
    scope: Scope | None = None


@dataclass(frozen=True, slots=True)
class ArrayUse:
    """An array that an op got or gave.

    Two uses with equal addresses, shapes, strides and serials are one array.

    Args:
        address: of its first element, simulated.
        shape: its lengths.
        strides: bytes from an element to the next, by axis.
        dtype: name of its elements' type.
        device: name of the device.
        serial: counts allocations: memory that was given out again has another one.
    """

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    device: str = "simgpu:0"
    serial: int = 0


@dataclass(frozen=True, slots=True)
class OpRecord:
    """One op that the dispatcher ran, written when it ends.

    Args:
        op: qualified name, for example `tinytorch::sigmoid`.
        parent: the op that it ran inside, or "".
        key: the dispatch key that served it: SimGPU, Decompose, CPU or Autograd; "" if
            it raised.
        implementation: name, file and line of the registered function, or None.
        shapes: shapes of the array operands.
        scope: the run itself, with its start and with what was open around it.
        end_ns: modelled host time at its end.
        origin: file and line of the user's code, where a profile asks for it.
        operands: what it was called with, arrays as `ArrayUse`.
        parameters: name and value of its other parameters, arrays as `ArrayUse`.
        results: the arrays that it gave.
        path: the keys that the call came by, and what it met at each, the last served.
        error: what it raised, in one line; "" if it ended as it should.
    """

    op: str
    parent: str
    key: str
    implementation: KernelSource | None
    shapes: tuple[tuple[int, ...], ...]
    scope: Scope | None = None
    end_ns: float = 0.0
    origin: tuple[str, int] | None = None
    operands: tuple[Any, ...] = ()
    parameters: tuple[tuple[str, Any], ...] = ()
    results: tuple[ArrayUse, ...] = ()
    path: tuple[tuple[str, str], ...] = ()
    error: str = ""


Record = (
    LaunchRecord | CopyRecord | SynchronizeRecord | HostRecord | OpRecord | RangeRecord
)
