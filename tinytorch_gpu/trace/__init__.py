"""What can be observed: places in the source, frozen records, and recorders."""

from tinytorch_gpu.trace.accesses import AccessCost, CountedRequests, CountRules
from tinytorch_gpu.trace.counting import CountingRecorder
from tinytorch_gpu.trace.counts import AccessCounts, LaunchCounts, LineCounts, Reuse
from tinytorch_gpu.trace.full import FullRecorder
from tinytorch_gpu.trace.launch_trace import LaunchTrace
from tinytorch_gpu.trace.recorder import LaunchStart, Recorder, Recorders
from tinytorch_gpu.trace.records import (
    ArrayUse,
    CopyRecord,
    HostRecord,
    LaunchRecord,
    OpRecord,
    RangeRecord,
    Record,
    SynchronizeRecord,
)
from tinytorch_gpu.trace.scope import Scope
from tinytorch_gpu.trace.selection import Selection
from tinytorch_gpu.trace.source import KernelSource, Site, SourceLine
from tinytorch_gpu.trace.stamp import Stamp
from tinytorch_gpu.trace.trace_reader import load_trace

__all__ = [
    "AccessCost",
    "AccessCounts",
    "ArrayUse",
    "CopyRecord",
    "CountRules",
    "CountedRequests",
    "CountingRecorder",
    "FullRecorder",
    "HostRecord",
    "KernelSource",
    "LaunchCounts",
    "LaunchRecord",
    "LaunchStart",
    "LaunchTrace",
    "LineCounts",
    "OpRecord",
    "RangeRecord",
    "Record",
    "Recorder",
    "Recorders",
    "Reuse",
    "Scope",
    "Selection",
    "Site",
    "SourceLine",
    "Stamp",
    "SynchronizeRecord",
    "load_trace",
]
