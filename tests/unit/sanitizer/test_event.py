"""What an access says of single lanes, elements and places."""

import numpy as np

from tinytorch_gpu import cuda
from tinytorch_gpu.executor.global_memory import global_array
from tinytorch_gpu.executor.lanes import Batch
from tinytorch_gpu.executor.shared_memory import shared_array
from tinytorch_gpu.sanitizer.event import Event, place
from tinytorch_gpu.trace import KernelSource, LaunchStart, Site, SourceLine

SITE = Site(SourceLine("k", "k.py", 3, "x[i]"), "x")
SHAPE = (4, 1, 1), (32, 1, 1)


def launch(**arguments):
    return LaunchStart(KernelSource("k", "k.py", 1), *SHAPE, arguments)


def event(array, value=0, granule=None, first=0):
    of = Batch(*SHAPE, first=first, count=2)
    told = "store", array, of, of.entry, value, granule or array.itemsize
    return Event(SITE, *told)


def device(values, dtype=np.float32):
    return global_array(cuda.to_device(np.asarray(values, dtype)))


def test_values_by_thread_whatever_the_lanes_share():
    x = device(np.zeros(64))
    by_lane = event(x, np.arange(32)[None] * 2, first=1)
    assert by_lane.values(np.array([32, 34, 95])).tolist() == [0, 4, 62]
    by_block = event(x, np.array([[5], [6]]), first=1)
    assert by_block.values(np.array([33, 64])).tolist() == [5, 6]
    assert event(x, 9).values(np.array([1, 2])).tolist() == [9, 9]


def test_cells_of_a_finer_shadow_lie_in_elements():
    x = event(device(np.arange(8) * 1.5), granule=1)
    assert x.elements(np.array([0, 3, 4, 31])).tolist() == [0, 0, 1, 7]
    assert x.stored(np.array([1, 7])).tolist() == [1.5, 10.5]


def test_a_store_changes_what_has_other_bits():
    of = event(device([1, 2, np.nan, 4]), np.float32([[1, 9, np.nan, 4] * 8]))
    changes = of.changes(np.arange(4), np.arange(4))
    assert changes.tolist() == [False, True, False, False]


def test_a_store_may_change_a_part_of_an_element_only():
    of = event(device([0x0102] * 4, np.int16), np.full((1, 32), 0x0103, np.int16), 1)
    # Little-endian: of each element the first byte differs.
    assert of.changes(np.zeros(4, int), np.arange(4)).tolist() == [True, False] * 2


def test_indices_are_as_the_learner_writes_them():
    whole = cuda.to_device(np.zeros((4, 6), np.float32))
    one = event(global_array(whole)), launch()
    assert one[0].index(15, one[1]) == (2, 3)
    turned = event(global_array(whole.T))
    assert turned.index(15, launch()) == (3, 2)
    part = event(global_array(whole[1:, 2:]))
    assert part.index(15, launch()) == (1, 1)
    plain = event(global_array(whole.reshape(24)[3:]))
    assert plain.index(15, launch()) == (12,)


def test_an_element_of_shared_memory_is_in_its_own_block():
    of = Batch(*SHAPE, first=0, count=2)
    tile = shared_array(of, SITE, (3, 5), np.dtype(np.int32))
    assert event(tile).index(15 + 7, launch()) == (1, 2)


def test_of_a_view_that_differs_by_lane_the_whole_array_is_told():
    whole = device(np.zeros((4, 6)))
    row = whole.view(np.arange(32)[None] % 4 * 6, (6,), (1,))
    assert event(row).index(15, launch(x=whole)) == (2, 3)
    assert event(row).index(15, launch()) == (15,)  # nobody knows the array


def test_places_in_grids_and_blocks():
    start = LaunchStart(KernelSource("k", "k.py", 1), (3, 2, 1), (8, 5, 1), {})
    assert place(4 * 64 + 11, start) == ((1, 1, 0), (3, 1, 0))
