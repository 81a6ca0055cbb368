"""Judges of cost: exact counts by the rules of a GPU, and modelled time."""

from tinytorch_gpu.cost.bank_conflicts import bank_passes
from tinytorch_gpu.cost.coalescing import sectors_touched
from tinytorch_gpu.cost.cooperative import (
    check_cooperative_grid,
    max_cooperative_blocks,
)
from tinytorch_gpu.cost.model import KernelTime, effective_sms, kernel_time
from tinytorch_gpu.cost.occupancy import Occupancy, occupancy
from tinytorch_gpu.cost.pipes import dram_bytes
from tinytorch_gpu.cost.roofline import arithmetic_intensity, attainable_flops
from tinytorch_gpu.cost.rules import GpuCountRules
from tinytorch_gpu.cost.transfer import achieved_gb_per_s, copy_ns, device_copy_ns

__all__ = [
    "GpuCountRules",
    "KernelTime",
    "Occupancy",
    "achieved_gb_per_s",
    "arithmetic_intensity",
    "attainable_flops",
    "bank_passes",
    "check_cooperative_grid",
    "copy_ns",
    "device_copy_ns",
    "dram_bytes",
    "effective_sms",
    "kernel_time",
    "max_cooperative_blocks",
    "occupancy",
    "sectors_touched",
]
