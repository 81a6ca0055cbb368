"""The table: public projects' import lines are served."""

import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.as_numba.minimal import NUMBA_MODULES
from tinytorch_gpu.as_numba.stand_in import StandIn
from tinytorch_gpu.as_numba.tables import CUDA_MODULES, is_cuda_ndarray
from tinytorch_gpu.memory import DeviceArray

# module and name, from parsing 14 public projects (compilers' internals left out)
IMPORTED = """
numba cuda? prange njit jit vectorize float32 float64 int32 int64 bool_ void from_dtype
numba __version__ uintp boolean types? config?
numba.config ENABLE_CUDASIM DISABLE_JIT NUMBA_NUM_THREADS
numba.core.errors NumbaPerformanceWarning TypingError UnsupportedError
numba.cuda.cudadrv.devicearray DeviceNDArray DeviceNDArrayBase MappedNDArray
numba.cuda.cudadrv.error CudaSupportError
numba.cuda.core.errors TypingError
numba.cuda.simulator.cudadrv.devicearray FakeCUDAArray
numba.cuda.testing CUDATestCase skip_on_cudasim
numba.cuda.random create_xoroshiro128p_states xoroshiro128p_uniform_float64
numba.types int8 int32
numba.cuda jit grid to_device is_available
"""
MODULES = CUDA_MODULES | NUMBA_MODULES
PAIRS = [
    (line.split()[0], name)
    for line in IMPORTED.strip().splitlines()
    for name in line.split()[1:]
]


@pytest.mark.parametrize(("module", "name"), PAIRS, ids=".".join)
def test_what_projects_import_is_there(module, name):
    if name.endswith("?"):  # a module of its own
        assert f"{module}.{name[:-1]}" in MODULES
    else:
        assert hasattr(StandIn(module, *MODULES[module]), name)


def test_every_module_has_its_parent():
    parents = {name.rpartition(".")[0] for name in MODULES} - {""}
    assert parents <= set(MODULES)


def test_numba_cuda_offers_all_our_names():
    names = dir(StandIn("numba.cuda", *CUDA_MODULES["numba.cuda"]))
    assert set(cuda.__all__) <= set(names)


def test_a_device_array_is_numbas_device_array():
    array = cuda.to_device([1.0])
    assert isinstance(array, DeviceArray)
    assert is_cuda_ndarray(array)
    assert not is_cuda_ndarray([1.0])
