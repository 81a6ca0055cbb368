"""How long the host was busy with, or waited for, one piece of work."""

from __future__ import annotations

from tinytorch_gpu.trace import (
    CopyRecord,
    HostRecord,
    LaunchRecord,
    SynchronizeRecord,
)

__all__ = ["Work", "host_ns"]

Work = LaunchRecord | CopyRecord | SynchronizeRecord | HostRecord


def host_ns(record: Work) -> float:
    """Return the modelled host time of a piece of work, waits included, nanoseconds.

    Example:
        >>> host_ns(SynchronizeRecord("device", "synchronize()", "", 0.0, 9.0, 5.0))
        9.0
    """
    if isinstance(record, (LaunchRecord, CopyRecord)):
        return record.issue_ns
    return record.duration_ns
