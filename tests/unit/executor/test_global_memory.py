"""A device array inside a kernel: its place in the allocation, gather and scatter."""

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.executor import Batch, Mask
from tinytorch_gpu.executor.global_memory import global_array, scatter
from tinytorch_gpu.executor.journal import Journal

BASE = np.arange(24, dtype=np.float32).reshape(4, 6)


@pytest.fixture
def array():
    return cuda.to_device(BASE)


def test_a_whole_array_starts_at_its_allocation(array):
    seen = global_array(array)
    assert (seen.offset, seen.lengths, seen.steps) == (0, (4, 6), (6, 1))
    assert (seen.address, seen.nbytes, seen.space) == (
        array.buffer.address,
        96,
        "global",
    )


@pytest.mark.parametrize(
    ("view", "offset", "steps"),
    [
        (lambda a: a[1:, 2:], 8, (6, 1)),
        (lambda a: a.T, 0, (1, 6)),
        (lambda a: a[::-1], 18, (-6, 1)),
        (lambda a: a[2, ::3], 12, (3,)),
        (lambda a: a[:1].broadcast_to((3, 6)), 0, (0, 1)),
    ],
)
def test_a_view_has_offset_and_steps_in_elements(array, view, offset, steps):
    seen = global_array(view(array))
    assert (seen.offset, seen.steps) == (offset, steps)
    assert seen.address == array.buffer.address


def test_a_row_keeps_what_is_left(array):
    row = global_array(array).view(np.int64(6), (6,), (1,))
    assert (row.lengths, row.steps, row.offset) == ((6,), (1,), 6)


def test_fetch_clips_the_indices_of_inactive_lanes(array):
    seen = global_array(array)
    assert seen.fetch(np.array([[-5, 3, 99]])).tolist() == [[0, 3, 23]]
    assert seen.fetch(np.int64(7)) == 7


SHAPE = (2, 64)
EVERYONE = Mask(None, SHAPE)
T = np.arange(64)[None]
MASKS = {
    "all": EVERYONE,
    "some threads": EVERYONE.split(T % 3 == 0)[0],
    "one block": EVERYONE.split(np.array([[False], [True]]))[0],
    "any": EVERYONE.split(np.random.default_rng(0).random(SHAPE) < 0.4)[0],
    "one": EVERYONE.split((T == 63) & np.array([[True], [False]]))[0],
}
FLAT = {
    "own": T + np.array([[0], [64]]),
    "of the thread": T,
    "of the block": np.array([[3], [5]]),
    "backwards": 127 - T - np.array([[0], [64]]),
    "colliding": T // 7,
    "colliding across blocks": T // 7 + np.array([[0], [1]]),
    "one": np.int64(9),
    "one as lanes": np.array([[9]]),
}
VALUES = {
    "own": T * 10 + np.array([[1], [2]]),
    "of the thread": T * 10,
    "of the block": np.array([[1], [2]]),
    "one": np.int64(5),
}


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("flat", FLAT)
@pytest.mark.parametrize("value", VALUES)
def test_scatter_writes_lane_after_lane(mask, flat, value):
    found, expected = np.zeros((2, 128), np.int64)
    places = np.broadcast_to(FLAT[flat], SHAPE)
    values = np.broadcast_to(VALUES[value], SHAPE)
    for lane in np.argwhere(MASKS[mask].full()):
        expected[places[tuple(lane)]] = values[tuple(lane)]
    scatter(found, MASKS[mask], FLAT[flat], VALUES[value])
    assert found.tolist() == expected.tolist()


def test_the_journal_keeps_the_allocation_before_a_change(array):
    batch = Batch((1, 1, 1), (32, 1, 1), first=0, count=1, journal=Journal())
    seen = global_array(array)
    seen.will_change(batch)
    seen.storage[:] = 0
    batch.journal.roll_back()
    assert (array.copy_to_host() == BASE).all()
