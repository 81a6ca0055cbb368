"""`cuda`: numba.cuda's names, run on the simulated GPU.

A strict subset: a kernel written with these names runs on real hardware after its
import line is changed to `from numba import cuda`.
"""

from numpy import (
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)

from tinytorch_gpu.cuda.host import (
    device_array,
    device_array_like,
    is_available,
    synchronize,
    to_device,
)
from tinytorch_gpu.cuda.intrinsics import (
    blockDim,
    blockIdx,
    grid,
    gridDim,
    gridsize,
    laneid,
    shared,
    syncthreads,
    threadIdx,
    warpsize,
)
from tinytorch_gpu.cuda.jit import jit

__all__ = [
    "blockDim",
    "blockIdx",
    "device_array",
    "device_array_like",
    "float16",
    "float32",
    "float64",
    "grid",
    "gridDim",
    "gridsize",
    "int8",
    "int16",
    "int32",
    "int64",
    "is_available",
    "jit",
    "laneid",
    "shared",
    "synchronize",
    "syncthreads",
    "threadIdx",
    "to_device",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "warpsize",
]
