"""Accesses become lanes, and memories keep their shadows."""

import gc

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tinytorch_gpu import cuda
from tinytorch_gpu.executor.global_memory import global_array
from tinytorch_gpu.executor.lanes import Batch
from tinytorch_gpu.executor.local_memory import local_array
from tinytorch_gpu.executor.mask import Mask
from tinytorch_gpu.executor.shared_memory import shared_array
from tinytorch_gpu.sanitizer.touching import LaneFinder, Memories, all_lanes
from tinytorch_gpu.trace import KernelSource, LaunchStart, Site, SourceLine


def site(name="x"):
    return Site(SourceLine("k", "k.py", 3, f"{name}[i]"), name)


def batch(count=2, first=0):
    return Batch((4, 1, 1), (32, 1, 1), first=first, count=count)


def device(values):
    return cuda.to_device(np.asarray(values, np.float32))


def find(of, array, flat, mask=None, *, few=False, finder=None, at=None):
    lanes = mask or of.entry
    return (finder or LaneFinder()).find(of, at or site(), lanes, array, flat, few=few)


def test_threads_are_numbered_through_the_launch():
    numbers = LaneFinder().threads(batch(count=2, first=1))
    assert numbers[0, :3].tolist() == [32, 33, 34]
    assert numbers[1, -1] == 95


def test_only_active_lanes_touch():
    of, x = batch(), global_array(device(range(64)))
    two = of.entry.split(np.arange(32)[None] < 2)[0]
    found = find(of, x, np.arange(64).reshape(2, 32), two)
    assert found.cells.tolist() == [0, 1, 32, 33]
    assert found.threads.tolist() == [0, 1, 32, 33]


def test_of_a_block_that_reads_one_element_the_outermost_lanes_are_enough():
    of, x = batch(), global_array(device(range(64)))
    some = of.entry.split((np.arange(32)[None] > 3) & (np.arange(32) < 9))[0]
    found = find(of, x, np.int64(5), some, few=True)
    assert found.cells.tolist() == [5] * 4
    assert found.threads.tolist() == [4, 8, 36, 40]
    assert len(find(of, x, np.int64(5), some).cells) == 10


def test_the_same_lanes_have_the_same_key():
    of, x, finder, at = batch(), global_array(device(range(64))), LaneFinder(), site()
    flat, other = np.arange(64).reshape(2, 32), np.arange(64).reshape(2, 32)
    first = find(of, x, flat, finder=finder, at=at)
    assert find(of, x, flat, finder=finder, at=at) is first
    assert find(of, x, other, finder=finder, at=at).key != first.key
    finder.begin()
    assert find(of, x, other, finder=finder, at=at).key != first.key


def test_values_of_the_active_lanes():
    mask = Mask(np.array([[True] + [False] * 31]), (2, 32))
    assert all_lanes(np.array([[3], [4]]), mask).tolist() == [3, 4]
    assert all_lanes(7, mask).tolist() == [7, 7]


@pytest.fixture
def memories():
    return Memories()


def fresh(memories, dtype=np.float32, size=12):
    array = cuda.device_array(size, dtype)
    memories.allocated(array)
    return array, memories.of(batch(), global_array(array))


def test_new_memory_is_fresh_and_older_memory_is_not(memories):
    _, shadow = fresh(memories)
    assert (shadow.fresh, shadow.granule) == (shadow.size, 4)
    assert memories.of(batch(), global_array(device([1, 2]))).fresh == 0


def watched(build):
    """Build memory under `sanitize`; return its findings for a kernel that reads it."""

    @cuda.jit
    def read(x, out):
        i = cuda.grid(1)
        if i < x.size:
            out[i] = x[i]

    with simgpu.sanitize(show=False) as report:
        x = cuda.device_array(12, np.float32)
        build(x)
        read[1, 32](x, cuda.to_device(np.zeros(12, np.float32)))
    return [f.count for f in report.findings if f.kind == "uninitialized_read"]


@pytest.mark.parametrize(
    ("build", "lanes"),
    [
        (lambda _: None, [12]),
        (lambda x: x.copy_to_device(np.zeros(12, np.float32)), []),
        (lambda x: x[3:7].copy_to_device(np.zeros(4, np.float32)), [8]),
        (lambda x: x[::2].copy_to_device(np.zeros(6, np.float32)), [6]),
        (lambda x: x[1::3].copy_to_device(np.zeros(4, np.float32)), [8]),
        (
            lambda x: x.reshape(3, 4)[1:, 1:3].copy_to_device(np.zeros((2, 2), "f4")),
            [8],
        ),
        (lambda x: x.view(np.int16)[:4].copy_to_device(np.zeros(4, np.int16)), [10]),
    ],
)
def test_copies_from_the_host_write_what_they_cover(build, lanes):
    assert watched(build) == lanes


def test_a_buffer_that_dies_takes_its_shadow_along(memories):
    array, _ = fresh(memories)
    fresh_size = len(memories._buffers)
    del array, _
    gc.collect()
    assert len(memories._buffers) == fresh_size - 1


def test_shared_memory_is_fresh_for_each_batch(memories):
    one, other = batch(), batch()
    tile = shared_array(one, site("tile"), (8,), np.dtype(np.float32))
    shadow = memories.of(one, tile)
    assert (shadow.size, shadow.fresh) == (2 * 8, 2 * 8)
    assert memories.of(one, tile) is shadow
    again = shared_array(other, site("tile"), (8,), np.dtype(np.float32))
    assert memories.of(other, again) is not shadow


def test_dynamic_views_have_one_shadow(memories):
    of = batch()
    of.dynamic_shared_bytes = 64
    words = shared_array(of, site("words"), (0,), np.dtype(np.int32))
    octets = shared_array(of, site("octets"), (0,), np.dtype(np.int8))
    assert memories.of(of, words) is memories.of(of, octets)


def test_local_elements_are_fresh_for_each_lane(memories):
    of = batch()
    mine = local_array(of, site("mine"), (3,), np.dtype(np.int32))
    flags = memories.fresh_of(of, mine)
    assert flags.shape == (3 * 2 * 32,)
    assert flags.all()
    flags[:] = False
    assert not memories.fresh_of(of, mine).any()


def test_fresh_memory_that_still_holds_poison_becomes_zero(memories):
    array, _ = fresh(memories, np.int16, 4)
    seen = global_array(array)
    poison = seen.storage[0]
    shape = (1, 1, 1), (1, 1, 1)
    memories.begin(LaunchStart(KernelSource("k", "k.py", 1), *shape, {"x": seen}))
    seen.storage[1] = 7
    memories.fill_fresh()
    assert poison != 0
    assert seen.storage[:4].tolist() == [0, 7, 0, 0]
