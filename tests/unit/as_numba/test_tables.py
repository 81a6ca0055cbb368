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
numba.cuda.cudadrv.devices gpus get_context
numba.cuda.cudadrv.driver Stream Event Device Context CudaAPIError
numba.cuda.cudadrv.error CudaSupportError
numba.cuda.dispatcher CUDADispatcher
numba.cuda.fp16 hadd
numba.cuda.core.errors TypingError
numba.cuda.simulator.cudadrv.devicearray FakeCUDAArray
numba.cuda.testing CUDATestCase skip_on_cudasim
numba.cuda.random create_xoroshiro128p_states xoroshiro128p_uniform_float64
numba.types int8 int32
numba.cuda jit local atomic shared const grid gridsize threadIdx blockIdx blockDim
numba.cuda to_device is_available syncthreads stream as_cuda_array is_cuda_array event
numba.cuda synchronize get_current_device event_elapsed_time external_stream gpus
numba.cuda default_stream current_context select_device device_array list_devices
numba.cuda device_array_like threadfence pinned pinned_array mapped_array defer_cleanup
numba.cuda shfl_down_sync syncwarp activemask all_sync any_sync selp MemoryInfo reduce
numba.cuda is_supported_version types? cudadrv? random? args?
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


def test_what_functions_return_is_of_the_classes_that_drivers_modules_name():
    driver = StandIn("driver", *CUDA_MODULES["numba.cuda.cudadrv.driver"])
    assert isinstance(cuda.stream(), driver.Stream)
    assert isinstance(cuda.event(), driver.Event)
    assert isinstance(cuda.get_current_device(), driver.Device)
    assert isinstance(cuda.current_context(), driver.Context)


def test_a_device_array_is_numbas_device_array():
    array = cuda.to_device([1.0])
    assert isinstance(array, DeviceArray)
    assert is_cuda_ndarray(array)
    assert not is_cuda_ndarray([1.0])
