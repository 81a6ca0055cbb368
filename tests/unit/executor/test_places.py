"""Places: the part of an index that all lanes share is added once, not per lane."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinytorch_gpu import cuda
from tinytorch_gpu.executor import Batch
from tinytorch_gpu.executor.global_memory import global_array
from tinytorch_gpu.executor.places import flat_index, split_index
from tinytorch_gpu.trace import Site, SourceLine

# Negative indices are what some of these tests are about.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*index is negative:tinytorch_gpu.errors.KernelWarning"
)
SITE = Site(SourceLine("k", "k.py", 1, "x[i, j]"))
X = np.arange(30, dtype=np.float32).reshape(5, 6)
BATCH = Batch((1, 1, 1), (32, 1, 1), first=0, count=1)
LANES = np.arange(32)[None] % 5
VIEWS = [
    lambda x: x,
    lambda x: x[::-1],
    lambda x: x[:, ::-1],
    lambda x: x[:, 1:5],
]


def split(array, *parts):
    return split_index(BATCH, BATCH.entry, array, parts, SITE, "load from")


def test_what_all_lanes_share_is_apart():
    uniform, lanes = split(global_array(cuda.to_device(X)), LANES, np.int64(2))
    assert uniform == 2
    assert lanes.tolist() == (LANES * 6).tolist()


def test_all_indices_shared():
    uniform, lanes = split(global_array(cuda.to_device(X)), np.int64(3), np.int64(-1))
    assert (uniform, lanes) == (23, 0)


def test_a_view_that_begins_elsewhere_for_each_lane():
    array = global_array(cuda.to_device(X)).view(LANES * 6, (6,), (1,))
    uniform, lanes = split(array, np.int64(4))
    assert (uniform, lanes.tolist()) == (4, (LANES * 6).tolist())


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("view", VIEWS)
@given(st.integers(-4, 3))
def test_fetch_at_agrees_with_numpy(view, axis, shared):
    parts = (LANES % 4, np.int64(shared))[:: 1 - 2 * axis]
    array = global_array(view(cuda.to_device(X)))
    got = array.fetch_at(*split(array, *parts))
    assert got.tolist() == view(X)[parts].tolist()
    flat = flat_index(BATCH, BATCH.entry, array, parts, SITE, "load from")
    assert array.fetch(flat).tolist() == got.tolist()


def test_lanes_outside_are_clipped_also_when_shifted():
    array = global_array(cuda.to_device(X))
    assert array.fetch_at(np.int64(20), np.array([[-9, 3, 99]])).tolist() == [
        [20, 23, 29]
    ]
