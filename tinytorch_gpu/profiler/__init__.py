"""Seeing: profiles of what ran, as tables, verdicts and pictures."""

from tinytorch_gpu.profiler.bill import Bill
from tinytorch_gpu.profiler.key_averages import KeyAverages
from tinytorch_gpu.profiler.op_row import OpRow
from tinytorch_gpu.profiler.plots import plot_bill
from tinytorch_gpu.profiler.profile import profile
from tinytorch_gpu.profiler.verdict import Verdict

__all__ = ["Bill", "KeyAverages", "OpRow", "Verdict", "plot_bill", "profile"]
