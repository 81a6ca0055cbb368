"""What a record looks like in a chrome trace: name, category, time and arguments.

Categories are those of torch.profiler's traces, so that tools for them read ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.trace import (
    CopyRecord,
    HostRecord,
    LaunchRecord,
    OpRecord,
    RangeRecord,
    SynchronizeRecord,
)

if TYPE_CHECKING:
    from tinytorch_gpu.trace import Record

__all__ = ["Slice", "device_slice", "host_slice"]


@dataclass(frozen=True, slots=True)
class Slice:
    """One bar in a row.

    Args:
        name: what stands on it.
        category: `cpu_op`, `user_annotation`, `cuda_runtime`, `kernel` or
            `gpu_memcpy`.
        start_ns: modelled start.
        duration_ns: modelled length.
        depth: how many ops and ranges are around it.
        args: what a click on it shows.
        row: (0, stream) or (1, copy engine); the host has one row only.
    """

    name: str
    category: str
    start_ns: float
    duration_ns: float
    depth: int
    args: dict[str, Any]
    row: tuple[int, int | str] = (0, 0)


def host_slice(record: Record) -> Slice:
    """Return what the host did.

    Args:
        record: any record.

    Returns:
        The bar on the host's row.

    Example:
        >>> wait = SynchronizeRecord("device", "synchronize()", "", 0.0, 9.0, 5.0)
        >>> host_slice(wait).name, host_slice(wait).duration_ns
        ('synchronize()', 9.0)
    """
    start, duration = _host_time(record)
    around = len(list(record.scope.chain())) if record.scope else 0
    is_scope = isinstance(record, (OpRecord, RangeRecord))
    name, category = _host_name(record)
    args = _scope_args(record) if is_scope else _call_args(record)
    depth = around - 1 if is_scope else around
    return Slice(name, category, start, duration, depth, args)


def device_slice(record: LaunchRecord | CopyRecord) -> Slice:
    """Return what the device did for a launch or a copy.

    Args:
        record: the launch or copy.

    Returns:
        The bar on the row of its stream, or of the copy engine that moved it.

    Example:
        >>> copy = CopyRecord("h2d", 1000, "lesson", "", False, 0.0, 2000.0, 2000.0)
        >>> device_slice(copy).row, device_slice(copy).args["GB/s"]
        ((1, 'h2d'), 0.5)
    """
    start, duration = record.start_ns, record.duration_ns
    if isinstance(record, LaunchRecord):
        name, args, row = record.kernel.name, _kernel_args(record), (0, record.stream)
        return Slice(name, "kernel", start, duration, 0, args, row)
    name, args = f"copy {record.direction}", _copy_args(record)
    return Slice(name, "gpu_memcpy", start, duration, 0, args, _row_of(record))


def _row_of(copy: CopyRecord) -> tuple[int, int | str]:
    engine = copy.engine or copy.direction
    is_on_stream = engine == "compute" or copy.direction == "d2d"
    return (0, copy.stream) if is_on_stream else (1, engine)


def _host_time(record: Record) -> tuple[float, float]:
    """Start and length on the host's clock."""
    if isinstance(record, (LaunchRecord, CopyRecord)):
        return record.issue_start_ns, record.issue_ns
    if isinstance(record, RangeRecord):
        return record.start_ns, record.end_ns - record.start_ns
    if isinstance(record, OpRecord):
        start = record.scope.start_ns if record.scope else record.end_ns
        return start, record.end_ns - start
    return record.start_ns, record.duration_ns


def _host_name(record: Record) -> tuple[str, str]:
    """Name and category on the host's row."""
    if isinstance(record, OpRecord):
        return record.op, "cpu_op"
    if isinstance(record, RangeRecord):
        return record.name, "user_annotation"
    if isinstance(record, LaunchRecord):
        return f"launch {record.kernel.name}", "cuda_runtime"
    if isinstance(record, CopyRecord):
        return f"copy {record.direction}: {record.reason}", "cuda_runtime"
    return record.reason, "cuda_runtime"


def _scope_args(record: Record) -> dict[str, Any]:
    if not isinstance(record, OpRecord):
        return {}
    args: dict[str, Any] = {"key": record.key}
    if record.implementation:
        args["implementation"] = str(record.implementation)
    if record.shapes:
        args["shapes"] = [list(shape) for shape in record.shapes]
    if record.error:
        args["raised"] = record.error
    return args | _origin(record)


def _call_args(record: Record) -> dict[str, Any]:
    """What a call of the host tells; `elapsed_ns` adds up to the table's total."""
    if isinstance(record, (OpRecord, RangeRecord)):
        return {}
    args: dict[str, Any] = {"elapsed_ns": record.elapsed_ns, "op": record.op}
    if isinstance(record, SynchronizeRecord):
        args["waits for"] = record.kind
    if not isinstance(record, HostRecord):
        args["stream"] = record.stream
    return args | _origin(record)


def _origin(record: Record) -> dict[str, Any]:
    """The line of the user's code, if the profile keeps it."""
    if isinstance(record, RangeRecord) or record.origin is None:
        return {}
    file, line = record.origin
    return {"asked for in": f"{file}:{line}"}


def _kernel_args(launch: LaunchRecord) -> dict[str, Any]:
    args: dict[str, Any] = {
        "kernel": str(launch.kernel),
        "op": launch.op,
        "stream": launch.stream,
        "grid": list(launch.grid),
        "block": list(launch.block),
        "shared_bytes": launch.shared_bytes,
        "theoretical_occupancy": launch.theoretical_occupancy,
        "occupancy_limiter": launch.occupancy_limiter,
        "waves": launch.waves,
        "bound": launch.bound,
        "is_replayed": launch.is_replayed,
    }
    if launch.counts:
        args["requests"] = launch.counts.requests
        args["sectors"] = launch.counts.sectors
        args["sectors_per_request"] = launch.counts.sectors_per_request
    return args


def _copy_args(copy: CopyRecord) -> dict[str, Any]:
    return {
        "bytes": copy.bytes,
        "GB/s": copy.achieved_gb_per_s,
        "available GB/s": copy.available_gb_per_s,
        "reason": copy.reason,
        "op": copy.op,
        "stream": copy.stream,
        "is_pinned": copy.is_pinned,
        "is_async": copy.is_async,
    }
