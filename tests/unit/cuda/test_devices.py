"""Which GPU there is: numba.cuda's names answered from the modelled GPU."""

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tinytorch_gpu import cuda
from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.errors import UnknownDeviceError, UseAfterFreeError
from tinytorch_gpu.runtime import current_device, use_gpu
from tinytorch_gpu.runtime.device import use_gpus

# CUDA's names; values of the T4 from NVIDIA's deviceQuery.
T4 = {
    "MULTIPROCESSOR_COUNT": 40,
    "WARP_SIZE": 32,
    "MAX_THREADS_PER_BLOCK": 1024,
    "MAX_BLOCK_DIM_X": 1024,
    "MAX_BLOCK_DIM_Y": 1024,
    "MAX_BLOCK_DIM_Z": 64,
    "MAX_GRID_DIM_X": 2**31 - 1,
    "MAX_GRID_DIM_Y": 65_535,
    "MAX_GRID_DIM_Z": 65_535,
    "MAX_SHARED_MEMORY_PER_BLOCK": 49_152,
    "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": 65_536,
    "MAX_REGISTERS_PER_BLOCK": 65_536,
    "MAX_REGISTERS_PER_MULTIPROCESSOR": 65_536,
    "MAX_THREADS_PER_MULTIPROCESSOR": 1024,
    "MAX_BLOCKS_PER_MULTIPROCESSOR": 16,
    "CLOCK_RATE": 1_590_000,
    "L2_CACHE_SIZE": 4_194_304,
    "SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO": 32,
    "COMPUTE_CAPABILITY_MAJOR": 7,
    "COMPUTE_CAPABILITY_MINOR": 5,
    "COOPERATIVE_LAUNCH": 1,
    "CAN_MAP_HOST_MEMORY": 1,
    "UNIFIED_ADDRESSING": 1,
}


@pytest.fixture
def other_gpu():
    yield use_gpu
    use_gpu("t4")


@pytest.mark.parametrize(("name", "value"), T4.items())
def test_an_attribute_of_the_t4(name, value):
    assert getattr(cuda.get_current_device(), name) == value


def test_the_attributes_follow_the_modelled_gpu(other_gpu):
    device = cuda.get_current_device()
    assert (device.name, device.compute_capability) == ("Tesla T4", (7, 5))
    assert not device.supports_bfloat16
    other_gpu("a100")
    assert (device.name, device.compute_capability) == ("A100-SXM4-40GB", (8, 0))
    assert find_gpu("a100").num_sms == device.MULTIPROCESSOR_COUNT
    assert device.supports_float16
    assert device.supports_bfloat16


def test_an_unknown_attribute_is_an_attribute_error():
    device = cuda.get_current_device()
    assert not hasattr(device, "ECC_ENABLED")
    with pytest.raises(AttributeError, match="simulated"):
        _ = device.NO_SUCH


def test_the_list_of_devices():
    assert len(cuda.gpus) == len(cuda.gpus.lst) == len(list(cuda.gpus)) == 1
    assert cuda.list_devices() is cuda.gpus
    assert cuda.gpus[0] == cuda.gpus[-1] == cuda.gpus.current
    assert hash(cuda.gpus[0]) == hash(cuda.get_current_device())
    assert "simulated" in str(cuda.gpus)
    assert cuda.gpus[0].uuid.startswith("GPU-")
    with pytest.raises(IndexError):
        cuda.gpus[1]


def test_a_device_is_chosen_by_number_and_by_with():
    assert cuda.select_device(0).id == 0
    with cuda.gpus[0] as device:
        assert device.id == cuda.get_current_device().id
    with pytest.raises(UnknownDeviceError) as caught:
        cuda.select_device(1)
    assert caught.value.device == 1
    with pytest.raises(UnknownDeviceError):
        cuda.current_context(3)


@pytest.mark.usefixtures("own_memory")
def test_memory_info_counts_the_segments():
    context = cuda.current_context()
    before = context.get_memory_info()
    held = cuda.device_array(513, np.int8)
    now = context.get_memory_info()
    assert held.size == 513
    assert before.free - now.free == 2 * 2**20
    assert now.total == before.total == 15 * 2**30


def test_context_and_device_go_together():
    assert cuda.current_context(0).device == cuda.get_current_device()
    context = cuda.get_current_device().get_primary_context()
    context.synchronize()


@cuda.jit
def add_one(x):
    x[cuda.grid(1)] += 1


USES = {
    "a launch": lambda x: add_one[1, 4](x),
    "a launch with a view": lambda x: add_one[1, 2](x[1:3]),
    "a copy to the host": lambda x: x.copy_to_host(),
    "a copy to the device": lambda x: x.copy_to_device(np.zeros(4)),
    "an op": lambda x: x + 1,
    "an element": lambda x: x[0],
    "printing": repr,
}
ENDS = {
    "cuda.close()": cuda.close,
    "device.reset()": cuda.get_current_device().reset,
    "current_context().reset()": cuda.current_context().reset,
}


@pytest.mark.usefixtures("own_memory")
@pytest.mark.parametrize(("told", "end"), ENDS.items())
def test_the_end_of_the_context_frees_all_memory(told, end):
    held = [cuda.device_array(n) for n in (4, 100)]
    end()
    assert cuda.current_context().get_memory_info().free == 15 * 2**30
    with pytest.raises(UseAfterFreeError, match="float64") as caught:
        held[0].copy_to_host()
    assert (caught.value.freed_by, caught.value.shape) == (told, (4,))
    assert told in str(caught.value)
    fresh = cuda.to_device(np.zeros(4))
    add_one[1, 4](fresh)
    assert fresh.copy_to_host().tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("use", USES.values(), ids=USES)
def test_a_freed_array_cannot_be_used(use):
    x, other = cuda.to_device(np.zeros(4)), cuda.to_device(np.ones(4))
    x.gpu_data.free()
    with pytest.raises(UseAfterFreeError):
        use(x)
    assert x.shape == (4,)  # what the host knows stays
    assert other.copy_to_host().tolist() == [1, 1, 1, 1]


def test_memory_is_given_back_once():
    x = cuda.device_array(4)
    before = simgpu.memory_allocated()
    x.gpu_data.free()
    x.gpu_data.free()  # as often as one likes
    assert simgpu.memory_allocated() == before - 512
    del x
    assert simgpu.memory_allocated() == before - 512


def test_what_is_there_and_what_went_wrong():
    assert cuda.is_available() is True
    assert cuda.is_supported_version() is True
    assert cuda.cuda_error() is None


def test_detect_prints_the_device(capsys):
    assert cuda.detect() is True
    text = capsys.readouterr().out
    assert text.startswith("Found 1 CUDA devices\n")
    assert "Tesla T4" in text
    assert "SIMULATED" in text
    assert text.endswith("1/1 devices are supported\n")


def test_what_steers_the_driver_changes_nothing():
    cuda.profile_start()
    cuda.profile_stop()
    with cuda.profiling(), cuda.defer_cleanup():
        array = cuda.to_device(np.arange(3))
    assert array.copy_to_host().tolist() == [0, 1, 2]


def test_require_context_keeps_the_function():
    @cuda.require_context
    def add(a, b=1):
        """Add."""
        return a + b

    assert add(2, b=5) == 7
    assert cuda.require_context(add) is add


@pytest.fixture
def two_gpus():
    return use_gpus(["t4", "a100"])


@pytest.mark.usefixtures("two_gpus")
def test_two_devices_are_listed_with_their_own_attributes(capsys):
    assert [device.name for device in cuda.gpus] == ["Tesla T4", "A100-SXM4-40GB"]
    assert [device.MULTIPROCESSOR_COUNT for device in cuda.gpus] == [40, 108]
    assert cuda.gpus[1].supports_bfloat16
    assert not cuda.gpus[0].supports_bfloat16
    cuda.detect()
    assert capsys.readouterr().out.endswith("2/2 devices are supported\n")


@pytest.mark.usefixtures("two_gpus")
def test_select_device_makes_it_the_current_one():
    assert cuda.get_current_device().id == 0
    assert cuda.select_device(1).id == cuda.get_current_device().id == 1
    assert cuda.device_array(4).device == "simgpu:1"
    assert cuda.current_context().device.id == 1


@pytest.mark.usefixtures("two_gpus")
def test_with_blocks_of_devices_nest():
    with cuda.gpus[1]:
        with cuda.gpus[0], cuda.gpus[0]:
            assert cuda.get_current_device().id == 0
        assert cuda.get_current_device().id == 1
    assert cuda.get_current_device().id == 0


def test_the_context_of_a_device_is_its_own(two_gpus):
    with cuda.gpus[1]:
        held = cuda.device_array(100)
    contexts = [cuda.current_context(i) for i in range(2)]
    assert current_device() is two_gpus[0]  # asking does not choose
    total = [context.get_memory_info().total for context in contexts]
    assert total == [15 * 2**30, 40 * 2**30]
    contexts[0].reset()
    assert held.gpu_data.freed_by == ""
    cuda.gpus[1].reset()
    assert held.gpu_data.freed_by == "device.reset()"


@pytest.mark.usefixtures("two_gpus")
def test_a_device_that_was_taken_away_is_unknown():
    second = cuda.gpus[1]
    use_gpus(["t4"])
    with pytest.raises(UnknownDeviceError):
        _ = second.name


@pytest.mark.usefixtures("own_memory", "two_gpus")
def test_close_frees_the_memory_of_all_devices():
    with cuda.gpus[1]:
        held = [cuda.device_array(4)]
    held.append(cuda.device_array(4))
    cuda.close()
    assert [x.gpu_data.freed_by for x in held] == ["cuda.close()"] * 2
