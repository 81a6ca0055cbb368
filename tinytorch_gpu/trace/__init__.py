"""What can be observed: places in the source, frozen records, and recorders."""

from tinytorch_gpu.trace.recorder import CountingRecorder, CountRules
from tinytorch_gpu.trace.records import (
    AccessCounts,
    CopyRecord,
    LaunchCounts,
    LaunchRecord,
    LineCounts,
    OpRecord,
    Record,
)
from tinytorch_gpu.trace.source import KernelSource, Site, SourceLine

__all__ = [
    "AccessCounts",
    "CopyRecord",
    "CountRules",
    "CountingRecorder",
    "KernelSource",
    "LaunchCounts",
    "LaunchRecord",
    "LineCounts",
    "OpRecord",
    "Record",
    "Site",
    "SourceLine",
]
