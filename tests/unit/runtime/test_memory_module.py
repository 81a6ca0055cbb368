"""Memory is told as torch.cuda tells it, in bytes."""

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tinytorch_gpu.runtime.device import use_gpus

MIB = 2**20

pytestmark = pytest.mark.usefixtures("own_memory")


def test_memory_is_allocated_in_chunks_and_reserved_in_segments():
    assert (simgpu.memory_allocated(), simgpu.memory_reserved()) == (0, 0)
    small = simgpu.cuda.to_device(np.zeros(1000, np.float32))
    assert (simgpu.memory_allocated(), simgpu.memory_reserved()) == (4096, 2 * MIB)
    large = simgpu.cuda.device_array(3 * MIB, np.uint8)
    assert simgpu.memory_reserved() == 22 * MIB
    assert simgpu.mem_get_info() == (15 * 2**30 - 22 * MIB, 15 * 2**30)
    del small, large
    assert (simgpu.memory_allocated(), simgpu.memory_reserved()) == (0, 22 * MIB)
    simgpu.empty_cache()
    assert simgpu.memory_reserved() == 0
    assert simgpu.max_memory_reserved() == 22 * MIB


def test_the_peak_is_kept_until_it_is_reset():
    held = simgpu.cuda.to_device(np.zeros(1000, np.float32))
    simgpu.cuda.to_device(np.zeros(2000, np.float32))
    assert (simgpu.memory_allocated(), simgpu.max_memory_allocated()) == (4096, 12288)
    simgpu.reset_peak_memory_stats()
    assert simgpu.max_memory_allocated() == 4096
    assert held.size == 1000


def test_the_statistics_have_torchs_keys():
    held = [simgpu.cuda.device_array(100, np.uint8) for _ in range(3)]
    del held[1]
    numbers = simgpu.memory_stats()
    assert numbers["allocation.all.current"] == 2
    assert numbers["allocation.small_pool.allocated"] == 3
    assert numbers["allocated_bytes.all.peak"] == 1536
    assert numbers["requested_bytes.all.current"] == 200
    assert numbers["reserved_bytes.all.current"] == 2 * MIB
    assert numbers["segment.large_pool.current"] == 0
    assert numbers["inactive_split_bytes.all.current"] == 2 * MIB - 1024
    assert numbers["num_alloc_retries"] == numbers["num_ooms"] == 0


def test_the_summary_has_the_numbers():
    held = simgpu.cuda.device_array(1000, np.uint8)
    lines = simgpu.memory_summary().splitlines()
    assert lines[0] == "Memory of simgpu:0: 16.1 GB, 16.1 GB not reserved"
    (row,) = [line for line in lines if line.startswith("allocated memory")]
    assert row.split()[2:4] == ["1.02", "kB"]
    assert lines[-1] == "free beside arrays in the same segment: 2.10 MB"
    assert held.size == 1000


def test_each_device_tells_of_its_own_memory():
    use_gpus(["t4", "a100"])
    with simgpu.device(1):
        held = simgpu.cuda.device_array(1000, np.uint8)
        assert simgpu.memory_allocated() == 1024
    assert held.device == "simgpu:1"
    assert (simgpu.memory_allocated(), simgpu.memory_allocated(1)) == (0, 1024)
    assert simgpu.mem_get_info("simgpu:1") == (40 * 2**30 - 2 * MIB, 40 * 2**30)
    assert "simgpu:1" in simgpu.memory_summary(1)
    del held
    simgpu.empty_cache()  # of all devices
    assert simgpu.memory_reserved(1) == 0


def test_fresh_memory_is_poisoned_even_where_an_array_lay():
    x = simgpu.cuda.to_device(np.ones(100, np.float32))
    address = x.buffer.address
    del x
    fresh = simgpu.cuda.device_array(100, np.float32)
    assert fresh.buffer.address == address
    assert np.isnan(fresh.copy_to_host()).all()
