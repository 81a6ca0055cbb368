"""Seeing: profiles of what ran, as tables, reports, verdicts and pictures."""

from tinytorch_gpu.profiler.bill import Bill
from tinytorch_gpu.profiler.breakeven import breakeven
from tinytorch_gpu.profiler.breakeven_report import BreakEven
from tinytorch_gpu.profiler.estimate_launch import estimate
from tinytorch_gpu.profiler.estimate_report import Estimate
from tinytorch_gpu.profiler.finding import Finding
from tinytorch_gpu.profiler.kernel_comparison import KernelComparison
from tinytorch_gpu.profiler.kernel_report import KernelReport
from tinytorch_gpu.profiler.key_averages import KeyAverages
from tinytorch_gpu.profiler.op_row import OpRow
from tinytorch_gpu.profiler.plots import plot_bill
from tinytorch_gpu.profiler.profile import profile
from tinytorch_gpu.profiler.record_function import record_function
from tinytorch_gpu.profiler.schedule import ProfilerAction, schedule
from tinytorch_gpu.profiler.stand_in import like
from tinytorch_gpu.profiler.verdict import Verdict

__all__ = [
    "Bill",
    "BreakEven",
    "Estimate",
    "Finding",
    "KernelComparison",
    "KernelReport",
    "KeyAverages",
    "OpRow",
    "ProfilerAction",
    "Verdict",
    "breakeven",
    "estimate",
    "like",
    "plot_bill",
    "profile",
    "record_function",
    "schedule",
]
