"""Slices in kernels are views: NumPy's basic indexing is the oracle."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from tinytorch_gpu import cuda
from tinytorch_gpu.errors import KernelTypeError, OutOfBoundsError
from tinytorch_gpu.executor import Batch
from tinytorch_gpu.executor.global_memory import global_array
from tinytorch_gpu.executor.indexing import get_attribute, load, store
from tinytorch_gpu.trace import Site, SourceLine

# Negative indices are what some of these tests are about.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*index is negative:tinytorch_gpu.errors.KernelWarning"
)
SITE = Site(SourceLine("k", "lesson.py", 3, "y = x[a:b]"), "x")
T = np.arange(32)[None]
HOST = np.arange(5 * 6 * 7, dtype=np.int32).reshape(5, 6, 7)
LINE = np.arange(40, dtype=np.int32)
INDEX = hnp.basic_indices(HOST.shape, allow_newaxis=True)


def new_batch():
    return Batch((1, 1, 1), (32, 1, 1), first=0, count=1)


def device(host):
    return global_array(cuda.to_device(host))


def lane_values(index):
    """Return an index as a lane program has it: NumPy scalars for numbers."""
    if isinstance(index, tuple):
        return tuple(map(lane_values, index))
    if isinstance(index, slice):
        return slice(*map(lane_values, (index.start, index.stop, index.step)))
    return index if index is None or index is ... else np.int64(index)


def contents(view, batch):
    """Read a view of uniform shape element by element."""
    found = np.empty(view.lengths, np.int32)
    for place in np.ndindex(view.lengths):
        value = load(batch, batch.entry, view, lane_values(place), SITE)
        found[place] = value if np.ndim(value) == 0 else value[0, 0]
    return found


@given(INDEX)
def test_a_view_holds_what_numpy_holds(index):
    batch, array = new_batch(), device(HOST)
    found = load(batch, batch.entry, array, lane_values(index), SITE)
    expected = HOST[index]
    if np.ndim(expected) or not isinstance(found, np.generic):
        assert found.lengths == expected.shape
        assert (contents(found, batch) == expected).all()
    else:
        assert found == expected


@given(st.data())
def test_views_of_views(data):
    batch, array = new_batch(), device(HOST)
    first = data.draw(hnp.basic_indices(HOST.shape, min_dims=2))
    middle = HOST[first]
    second = data.draw(hnp.basic_indices(middle.shape, min_dims=1))
    view = load(batch, batch.entry, array, lane_values(first), SITE)
    view = load(batch, batch.entry, view, lane_values(second), SITE)
    assert view.lengths == middle[second].shape
    assert (contents(view, batch) == middle[second]).all()


def attribute(view, name):
    return get_attribute(view, name, SITE)


def test_attributes_of_a_view_are_numpys():
    batch, array = new_batch(), device(HOST)
    index = (slice(None, None, np.int64(-2)), np.int64(1), slice(np.int64(2), None))
    view = load(batch, batch.entry, array, index, SITE)
    expected = HOST[::-2, 1, 2:]
    for name in ("shape", "size", "ndim", "strides", "dtype", "itemsize", "nbytes"):
        assert attribute(view, name) == getattr(expected, name)
    assert (contents(attribute(view, "T"), batch) == expected.T).all()


def test_an_unknown_attribute_is_refused():
    with pytest.raises(KernelTypeError, match="not known"):
        attribute(device(HOST), "flat")


START = (T * 7) % 45 - 3  # some before the start, some beyond the end
STOP = START + T % 6


@pytest.mark.parametrize("step", [None, 1, 2, -1, -3])
def test_lanes_with_bounds_of_their_own_have_lengths_of_their_own(step):
    batch, array = new_batch(), device(LINE)
    start, stop = (START, STOP) if (step or 1) > 0 else (STOP, START)
    view = load(batch, batch.entry, array, slice(start, stop, lane_values(step)), SITE)
    size = np.broadcast_to(attribute(view, "size"), (1, 32))[0]
    assert (attribute(view, "shape")[0] == size).all()
    for lane in range(32):
        expected = LINE[start[0, lane] : stop[0, lane] : step]
        assert size[lane] == len(expected)
        me, _ = batch.entry.split(lane == T)
        for k in range(len(expected)):
            value = load(batch, me, view, np.int64(k), SITE)
            assert value[0, lane] == expected[k]
            value = load(batch, me, view, np.int64(k - len(expected)), SITE)
            assert value[0, lane] == expected[k]
        with pytest.raises(OutOfBoundsError) as caught:
            load(batch, me, view, np.int64(len(expected)), SITE)
        assert caught.value.shape == (len(expected),)
        assert caught.value.threads == ((lane, 0, 0),)


def test_rows_of_each_lane():
    batch, array = new_batch(), device(HOST)
    rows = load(batch, batch.entry, array, (T % 5, slice(None), T % 7), SITE)
    assert rows.lengths == (6,)
    found = load(batch, batch.entry, rows, T % 6, SITE)
    assert (found == HOST[T % 5, T % 6, T % 7]).all()


@given(hnp.basic_indices((5, 6, 7), allow_newaxis=True))
def test_a_number_is_stored_to_all_elements_of_a_view(index):
    batch, host = new_batch(), HOST.copy()
    on_device = cuda.to_device(host)
    array = global_array(on_device)
    store(batch, batch.entry, array, lane_values(index), np.float64(-3.7), SITE)
    host[index] = -3
    assert (on_device.copy_to_host() == host).all()


PAIRS = {
    "overlap to the right": (slice(1, 9), slice(0, 8)),
    "overlap to the left": (slice(0, 8), slice(1, 9)),
    "reversed": (slice(0, 10), slice(9, None, -1)),
    "one for all": (slice(0, 5), slice(3, 4)),
}


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_an_array_is_stored_to_a_view(pair):
    target, source = pair
    batch, host = new_batch(), np.arange(10)
    on_device = cuda.to_device(host)
    array = global_array(on_device)
    value = load(batch, batch.entry, array, lane_values(source), SITE)
    store(batch, batch.entry, array, lane_values(target), value, SITE)
    host[target] = host[source].copy()
    assert (on_device.copy_to_host() == host).all()


def test_a_row_is_stored_to_every_row():
    batch, on_device = new_batch(), cuda.to_device(HOST[0].copy())
    array, row = global_array(on_device), device(HOST[4, 1])
    store(batch, batch.entry, array, ..., row, SITE)
    assert (on_device.copy_to_host() == HOST[4, 1]).all()


def test_each_lane_stores_to_a_part_of_its_own():
    batch, on_device = new_batch(), cuda.to_device(np.zeros(100, np.int32))
    array = global_array(on_device)
    store(batch, batch.entry, array, slice(T * 3, T * 3 + T % 4), T + 1, SITE)
    expected = np.zeros(100, np.int32)
    for lane in range(32):
        expected[lane * 3 : lane * 3 + lane % 4] = lane + 1
    assert (on_device.copy_to_host() == expected).all()


@pytest.mark.parametrize("shape", [(3,), (2, 4), (1, 1, 4)])
def test_an_array_that_does_not_fit_is_refused(shape):
    batch, array = new_batch(), device(LINE)
    with pytest.raises(KernelTypeError, match="stored to"):
        store(batch, batch.entry, array, slice(None), device(np.zeros(shape)), SITE)


def test_too_many_parts_are_refused():
    batch, array = new_batch(), device(LINE)
    for index in ((slice(None), np.int64(0)), (np.int64(0), ..., np.int64(0))):
        with pytest.raises(KernelTypeError, match="2 indices"):
            load(batch, batch.entry, array, index, SITE)


def test_masked_lanes_may_be_outside():
    batch, array = new_batch(), device(HOST)
    low, _ = batch.entry.split(T < 5)
    column = load(batch, low, array, (T, slice(None), T), SITE)
    found = load(batch, low, column, np.int64(2), SITE)
    assert found[0, :5].tolist() == [HOST[t, 2, t] for t in range(5)]
    with pytest.raises(OutOfBoundsError):
        load(batch, batch.entry, array, (T, slice(None), np.int64(0)), SITE)


def test_an_index_seen_before_is_checked_against_a_shorter_array():
    batch, long, short = new_batch(), device(LINE), device(LINE[:20])
    assert (load(batch, batch.entry, long, T, SITE) == T).all()
    assert (load(batch, batch.entry, long, T, SITE) == T).all()
    with pytest.raises(OutOfBoundsError):
        load(batch, batch.entry, short, T, SITE)


def test_an_index_seen_before_is_checked_for_lanes_that_join():
    batch, array = new_batch(), device(LINE[:20])
    low, _ = batch.entry.split(T < 20)
    assert (load(batch, low, array, T, SITE)[0, :20] == LINE[:20]).all()
    with pytest.raises(OutOfBoundsError):
        load(batch, batch.entry, array, T, SITE)


def test_an_index_seen_before_steps_as_the_next_array_does():
    batch, array = new_batch(), device(HOST[:, :, 0].copy())
    rows = T % 5
    for view in (array, attribute(array, "T")):
        cut = load(
            batch, batch.entry, view, (slice(np.int64(5)), slice(np.int64(5))), SITE
        )
        found = load(batch, batch.entry, cut, (rows, np.int64(1)), SITE)
        expected = HOST[:5, :5, 0] if view is array else HOST[:5, :5, 0].T
        assert (found == expected[rows, 1]).all()


def test_every_store_counts_as_a_change():
    batch, array = new_batch(), device(LINE)
    store(batch, batch.entry, array, np.int64(0), np.int64(1), SITE)
    store(batch, batch.entry, array, slice(np.int64(3)), np.int64(1), SITE)
    assert batch.changes == 4
