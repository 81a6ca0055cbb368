"""The machine on paper: GPU specs, presets, and the dtypes that devices hold."""

from tinytorch_gpu.arch.catalog import PRESETS, find_gpu
from tinytorch_gpu.arch.dtypes import DEVICE_DTYPES, check_dtype, poison_value
from tinytorch_gpu.arch.spec import GpuSpec

__all__ = [
    "DEVICE_DTYPES",
    "PRESETS",
    "GpuSpec",
    "check_dtype",
    "find_gpu",
    "poison_value",
]
