"""Judges of cost: exact counts by the rules of a GPU, and modelled time."""

from tinytorch_gpu.cost.bank_conflicts import bank_passes
from tinytorch_gpu.cost.caches import MemoryTraffic, dram_bytes, memory_traffic
from tinytorch_gpu.cost.coalescing import sectors_touched
from tinytorch_gpu.cost.cooperative import (
    check_cooperative_grid,
    max_cooperative_blocks,
)
from tinytorch_gpu.cost.model import KernelTime, check_block_fits, kernel_time
from tinytorch_gpu.cost.occupancy import Occupancy, fitting_registers, occupancy
from tinytorch_gpu.cost.pipes import issued_instructions
from tinytorch_gpu.cost.roofline import arithmetic_intensity, attainable_flops
from tinytorch_gpu.cost.rules import GpuCountRules
from tinytorch_gpu.cost.transfer import (
    achieved_gb_per_s,
    available_gb_per_s,
    copy_ns,
    device_copy_ns,
    pcie_peak_gb_per_s,
)
from tinytorch_gpu.cost.waves import effective_sms

__all__ = [
    "GpuCountRules",
    "KernelTime",
    "MemoryTraffic",
    "Occupancy",
    "achieved_gb_per_s",
    "arithmetic_intensity",
    "attainable_flops",
    "available_gb_per_s",
    "bank_passes",
    "check_block_fits",
    "check_cooperative_grid",
    "copy_ns",
    "device_copy_ns",
    "dram_bytes",
    "effective_sms",
    "fitting_registers",
    "issued_instructions",
    "kernel_time",
    "max_cooperative_blocks",
    "memory_traffic",
    "occupancy",
    "pcie_peak_gb_per_s",
    "sectors_touched",
]
