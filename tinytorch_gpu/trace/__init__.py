"""What can be observed: places in the source, frozen records, and recorders."""

from tinytorch_gpu.trace.counting import CountingRecorder, CountRules
from tinytorch_gpu.trace.recorder import LaunchStart, Recorder, Recorders
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
from tinytorch_gpu.trace.stamp import Stamp

__all__ = [
    "AccessCounts",
    "CopyRecord",
    "CountRules",
    "CountingRecorder",
    "KernelSource",
    "LaunchCounts",
    "LaunchRecord",
    "LaunchStart",
    "LineCounts",
    "OpRecord",
    "Record",
    "Recorder",
    "Recorders",
    "Site",
    "SourceLine",
    "Stamp",
]
