"""A profile as a chrome trace: what the host and each part of the device did when.

Comes in: records. Goes out: JSON in the trace-event format, which Perfetto and
chrome://tracing draw. The host is one process with one row: ranges, ops, and in them
launches, copies and waits. The device is another process, with a row for each stream
and for each copy engine. Arrows lead from a call of the host to what the device did.

Source: "Trace Event Format" (Google, public document): complete events `X`, flows `s`
and `f`, metadata `M`; times in microseconds.
"""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.errors import TraceFileError
from tinytorch_gpu.profiler.chrome_slices import device_slice, host_slice
from tinytorch_gpu.trace import CopyRecord, LaunchRecord

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tinytorch_gpu.profiler.chrome_slices import Slice
    from tinytorch_gpu.trace import Record

    Event = dict[str, Any]

__all__ = ["chrome_trace", "write_chrome_trace"]

_HOST, _DEVICE = 0, 1  # process numbers
_HOST_ROW = "main thread"


def write_chrome_trace(path: str | Path, records: Sequence[Record], gpu: str) -> None:
    """Write the chrome trace of some records to a file, an event in each line.

    Args:
        path: the JSON file.
        records: what the timeline told, in order.
        gpu: name of the modelled GPU.

    Raises:
        TraceFileError: the file cannot be written, or its name is none.
    """
    if not isinstance(path, (str, PathLike)):
        raise _no_path(path)
    trace = chrome_trace(records, gpu)
    rest = json.dumps({k: v for k, v in trace.items() if k != "traceEvents"})
    events = (json.dumps(e, ensure_ascii=False) for e in trace["traceEvents"])
    text = '{"traceEvents": [\n' + ",\n".join(events) + f"\n], {rest[1:]}\n"
    try:
        Path(path).write_text(text, encoding="utf-8")
    except (OSError, ValueError) as error:  # ValueError: a name with a NUL in it
        raise TraceFileError(
            f"the chrome trace cannot be written to {Path(path).name!r:.60}",
            where=str(Path(path).parent),
            why=getattr(error, "strerror", None) or str(error),
            fix="name a folder that exists and may be written to",
        ) from error


def _no_path(path: object) -> TraceFileError:
    return TraceFileError(
        f"{path!r:.60} is no name of a file",
        where="prof.export_chrome_trace(path)",
        why=f"it is of type {type(path).__name__}, and a name is a text or a Path",
        fix='prof.export_chrome_trace("trace.json")',
    )


def chrome_trace(records: Sequence[Record], gpu: str) -> dict[str, Any]:
    """Return the chrome trace of some records.

    Args:
        records: what the timeline told, in order.
        gpu: name of the modelled GPU.

    Returns:
        The JSON object; its events in order of time, metadata first.

    Example:
        >>> copy = CopyRecord("h2d", 1000, "lesson", "", False, 500.0, 2000.0, 2000.0)
        >>> [event] = [
        ...     event
        ...     for event in chrome_trace([copy], "toy GPU")["traceEvents"]
        ...     if event["ph"] == "X" and event["pid"] == 1
        ... ]
        >>> event["name"], event["ts"], event["dur"]     # microseconds
        ('copy h2d', 0.5, 2.0)

    Limits: clocks that were put back to 0 within the profile lie on top of each other.
    """
    on_host = sorted(map(host_slice, records), key=_outermost_first)
    works = [r for r in records if isinstance(r, (LaunchRecord, CopyRecord))]
    on_device = [device_slice(record) for record in works]
    rows = _rows(on_device)
    events = [_complete(slice_, _HOST, 0) for slice_ in on_host]
    events += [_complete(slice_, _DEVICE, rows[slice_.row]) for slice_ in on_device]
    for number, (record, slice_) in enumerate(zip(works, on_device, strict=True), 1):
        events += _arrow(number, record, slice_, rows[slice_.row])
    events.sort(key=lambda event: event["ts"])  # stable: outer ones stay first
    return {
        "traceEvents": [*_names(gpu, rows), *events],
        "displayTimeUnit": "ns",
        "otherData": {"time": "modelled", "gpu": gpu},
    }


def _outermost_first(slice_: Slice) -> tuple[float, float, int]:
    return slice_.start_ns, -slice_.duration_ns, slice_.depth


def _rows(slices: Iterable[Slice]) -> dict[tuple[int, int | str], int]:
    """Number the device's rows: streams by their handles, then copy engines."""
    return {row: tid for tid, row in enumerate(sorted({s.row for s in slices}), 1)}


def _complete(slice_: Slice, pid: int, tid: int) -> Event:
    return {
        "ph": "X",
        "name": slice_.name,
        "cat": slice_.category,
        "pid": pid,
        "tid": tid,
        "ts": _us(slice_.start_ns),
        "dur": _us(slice_.duration_ns),
        "args": slice_.args,
    }


def _arrow(
    number: int, record: LaunchRecord | CopyRecord, slice_: Slice, tid: int
) -> list[Event]:
    """Two events: where an arrow starts on the host, and where it ends."""
    both = {"name": "issue", "cat": "issue", "id": number}
    start, end = _us(record.issue_start_ns), _us(slice_.start_ns)
    return [
        {"ph": "s", **both, "pid": _HOST, "tid": 0, "ts": start},
        {"ph": "f", "bp": "e", **both, "pid": _DEVICE, "tid": tid, "ts": end},
    ]


def _names(gpu: str, rows: dict[tuple[int, int | str], int]) -> list[Event]:
    """Metadata: names of processes and rows, and their order."""
    events = [
        _metadata("process_name", _HOST, 0, name="host (modelled)"),
        _metadata("process_sort_index", _HOST, 0, sort_index=_HOST),
        _metadata("thread_name", _HOST, 0, name=_HOST_ROW),
    ]
    if rows:
        events += [
            _metadata("process_name", _DEVICE, 0, name=f"{gpu} (modelled)"),
            _metadata("process_sort_index", _DEVICE, 0, sort_index=_DEVICE),
        ]
    for row, tid in rows.items():
        events += [
            _metadata("thread_name", _DEVICE, tid, name=_row_name(row)),
            _metadata("thread_sort_index", _DEVICE, tid, sort_index=tid),
        ]
    return events


def _metadata(kind: str, pid: int, tid: int, **args: Any) -> Event:
    return {"ph": "M", "name": kind, "pid": pid, "tid": tid, "ts": 0, "args": args}


def _row_name(row: tuple[int, int | str]) -> str:
    is_engine, which = row
    if is_engine:  # one that serves both directions is called "copy"
        return f"copy engine {str(which).upper()}".removesuffix(" COPY")
    return f"stream {which}" if which else "stream 0 (default)"


def _us(duration_ns: float) -> float:
    return duration_ns / 1e3
