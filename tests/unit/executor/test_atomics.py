"""Atomics: lanes that meet take turns in lane order; each gets what it found."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinytorch_gpu.errors import KernelTypeError, OutOfBoundsError
from tinytorch_gpu.executor.atomics import ATOMICS, atomic
from tinytorch_gpu.executor.global_memory import global_array
from tinytorch_gpu.executor.journal import Journal
from tinytorch_gpu.executor.kernel_array import KernelArray
from tinytorch_gpu.executor.lanes import Batch
from tinytorch_gpu.executor.shared_memory import shared_array
from tinytorch_gpu.runtime import copy
from tinytorch_gpu.trace import Site, SourceLine

# Negative indices are what some of these tests are about.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*index is negative:tinytorch_gpu.errors.KernelWarning"
)
SITE = Site(SourceLine("k", "k.py", 3, "cuda.atomic.add(x, i, 1)"), "x")
NAN = float("nan")


def batch_of(blocks=1, threads=32, **options):
    grid, block = (blocks, 1, 1), (threads, 1, 1)
    return Batch(grid, block, first=0, count=blocks, **options)


def array_of(values, dtype):
    storage = np.array(values, dtype)
    return KernelArray(storage.ravel(), np.int64(0), storage.shape, _steps(storage))


def _steps(storage):
    return tuple(stride // storage.itemsize for stride in storage.strides)


def run(name, memory, index, *operands, dtype="int32"):
    """Run for lanes 0 to n - 1 of one warp; return old values and memory."""
    batch = batch_of()
    count = len(index)
    mask, _ = batch.entry.split(np.arange(32)[None] < count)
    array = array_of(memory, dtype)
    lanes = [
        np.array([list(values) + [0] * (32 - count)])
        for values in (index, *(np.array(o, dtype) for o in operands))
    ]
    old = atomic(batch, mask, SITE, name, array, *lanes)
    assert old.dtype == array.storage.dtype
    return old[0, :count].tolist(), array.storage.tolist()


@pytest.mark.parametrize(
    ("name", "memory", "values", "old", "after"),
    [
        ("add", 5, [1, 2, 3], [5, 6, 8], 11),
        ("sub", 5, [1, 2, 3], [5, 4, 2], -1),
        ("max", 5, [4, 9, 7], [5, 5, 9], 9),
        ("min", 5, [9, 2, 3], [5, 5, 2], 2),
        ("nanmax", 5, [4, 9, 7], [5, 5, 9], 9),
        ("nanmin", 5, [9, 2, 3], [5, 5, 2], 2),
        ("and_", 0b1111, [0b1101, 0b0111, 0b1111], [15, 13, 5], 5),
        ("or_", 0b0001, [0b0100, 0b0000, 0b1000], [1, 5, 5], 13),
        ("xor", 0b0001, [0b0011, 0b0011, 0b1000], [1, 2, 1], 9),
        ("exch", 5, [1, 2, 3], [5, 1, 2], 3),
    ],
)
def test_lanes_that_meet_take_turns_in_lane_order(name, memory, values, old, after):
    assert run(name, [memory], [0, 0, 0], values) == (old, [after])


def test_lanes_that_do_not_meet():
    result = run("add", [10, 20, 30], [2, 0, 1], [1, 2, 3])
    assert result == ([30, 10, 20], [12, 23, 31])


def test_some_lanes_meet():
    old, after = run("add", [10, 20], [1, 0, 1, 1], [1, 2, 3, 4])
    assert (old, after) == ([20, 10, 21, 24], [12, 28])


@pytest.mark.parametrize(
    ("name", "start", "limits", "old", "after"),
    [
        ("inc", 0, [2, 2, 2, 2], [0, 1, 2, 0], 1),  # 0 where it was the limit or more
        ("inc", 9, [2, 2], [9, 0], 1),
        ("inc", 3, [5, 1, 5], [3, 4, 0], 1),
        ("dec", 2, [2, 2, 2, 2], [2, 1, 0, 2], 1),  # the limit where it was 0
        ("dec", 9, [4, 4], [9, 4], 3),  # or above the limit
        ("dec", 0, [2**32 - 1, 7], [0, 2**32 - 1], 7),
    ],
)
def test_inc_and_dec_wrap(name, start, limits, old, after):
    index = [0] * len(limits)
    assert run(name, [start], index, limits, dtype="uint32") == (old, [after])


def test_inc_and_dec_of_lanes_that_do_not_meet():
    spread = run("inc", [0, 4, 9], [0, 1, 2], [4, 4, 4], dtype="uint64")
    assert spread == ([0, 4, 9], [1, 0, 0])
    spread = run("dec", [0, 4, 9], [0, 1, 2], [4, 4, 4], dtype="uint64")
    assert spread == ([0, 4, 9], [4, 3, 4])


def test_cas_lets_one_lane_win():
    old, after = run("cas", [0], [0, 0, 0], [0, 0, 0], [11, 12, 13])
    assert (old, after) == ([0, 11, 11], [11])


def test_cas_in_a_chain():
    old, after = run("cas", [0], [0, 0, 0], [0, 11, 11], [11, 12, 13])
    assert (old, after) == ([0, 11, 12], [12])


def test_cas_of_lanes_that_do_not_meet():
    assert run("cas", [5, 6], [1, 0], [6, 0], [8, 9]) == ([6, 5], [5, 8])


@pytest.mark.parametrize("name", ATOMICS)
def test_drawn_turns_are_those_of_one_lane_at_a_time(name):
    cells = np.random.default_rng(1).integers(0, 3, 32)
    values = np.random.default_rng(2).integers(
        0, 9, (1 + (name == "cas"), 32), "uint32"
    )
    array, serial = array_of([3, 4, 5], "uint32"), np.uint32([3, 4, 5])
    batch = batch_of(random=np.random.default_rng(5))
    old = atomic(batch, batch.entry, SITE, name, array, cells[None], *values[:, None])
    for lane in np.random.default_rng(5).permutation(32):
        one = slice(lane, lane + 1)
        found = ATOMICS[name](serial, cells[one], *values[:, one])
        assert old[0, lane] == found[0]
    assert array.storage.tolist() == serial.tolist()


def test_drawn_turns_leave_out_inactive_lanes():
    array, batch = array_of([7], "int64"), batch_of(random=np.random.default_rng(0))
    few, _ = batch.entry.split(np.arange(32)[None] >= 29)
    old = atomic(batch, few, SITE, "add", array, np.int64(0), np.int64(1))
    assert array.storage[0] == 10
    assert sorted(old[0].tolist()) == [*[0] * 29, 7, 8, 9]
    assert not old[0, :29].any()


def test_integers_wrap():
    assert run("add", [2**31 - 1], [0], [1]) == ([2**31 - 1], [-(2**31)])
    assert run("sub", [0], [0], [1], dtype="uint32") == ([0], [2**32 - 1])


def test_operands_become_the_element_type():
    array = array_of([0.0], "float32")
    batch = batch_of(threads=32)
    lanes, _ = batch.entry.split(np.arange(32)[None] < 2)
    atomic(batch, lanes, SITE, "add", array, np.int64(0), np.float64(0.1))
    assert array.storage[0] == np.float32(0.1) + np.float32(0.1)


def test_a_float_sum_rounds_at_each_step():
    start = float(2**24)  # the next float32 is two further
    old, after = run("add", [start], [0, 0, 0], [1, 1, 2], dtype="float32")
    assert (old, after) == ([start, start, start], [start + 2])


def test_long_and_short_runs_of_floats_round_alike():
    rng = np.random.default_rng(7)
    values = rng.normal(size=(4, 64)).astype(np.float32)
    cells = np.where(rng.random((4, 64)) < 0.5, 0, rng.integers(1, 90, (4, 64)))
    array = array_of(np.zeros(90), "float32")
    batch = batch_of(blocks=4, threads=64)
    old = atomic(batch, batch.entry, SITE, "add", array, cells, values)
    expected = np.zeros(90, np.float32)
    for i, cell in enumerate(cells.ravel()):
        assert old.ravel()[i] == expected[cell]
        expected[cell] += values.ravel()[i]
    assert array.storage.tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("name", "memory", "values", "old", "after"),
    [
        ("max", 1.0, [NAN, 3.0], [1.0, 1.0], 3.0),  # a NaN is never written
        ("max", NAN, [5.0, NAN], [NAN, NAN], NAN),  # and one in memory stays
        ("min", NAN, [5.0, 2.0], [NAN, NAN], NAN),
        ("nanmax", NAN, [5.0, 7.0], [NAN, 5.0], 7.0),  # here a number replaces it
        ("nanmin", NAN, [NAN, 7.0], [NAN, NAN], 7.0),
        ("nanmin", 1.0, [NAN, 7.0], [1.0, 1.0], 1.0),
    ],
)
def test_max_and_min_of_nan(name, memory, values, old, after):
    result = run(name, [memory], [0, 0], values, dtype="float64")
    np.testing.assert_equal(result, (old, [after]))


def test_of_equal_zeros_the_old_one_stays():
    _, after = run("max", [-0.0], [0, 0], [0.0, 0.0], dtype="float32")
    assert np.signbit(after[0])


def one_by_one(name, memory, cells, values):
    """The same in plain Python: an oracle for integer operations."""
    turns = {
        "add": lambda a, b: a + b,
        "sub": lambda a, b: a - b,
        "max": max,
        "min": min,
        "and_": lambda a, b: a & b,
        "or_": lambda a, b: a | b,
        "xor": lambda a, b: a ^ b,
        "exch": lambda a, b: b,
        "inc": lambda a, b: 0 if a >= b else a + 1,
        "dec": lambda a, b: b if a == 0 or a > b else a - 1,
    }
    memory, old = list(memory), []
    for cell, value in zip(cells, values, strict=True):
        old.append(memory[cell])
        memory[cell] = turns[name](memory[cell], value) % 2**32
    return old, memory


@given(
    name=st.sampled_from(sorted(set(ATOMICS) - {"cas", "nanmax", "nanmin"})),
    lanes=st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 2**32 - 1)), min_size=1, max_size=32
    ),
    memory=st.lists(st.integers(0, 2**32 - 1), min_size=5, max_size=5),
)
def test_any_lanes_equal_one_after_another(name, lanes, memory):
    cells, values = zip(*lanes, strict=True)
    result = run(name, memory, cells, values, dtype="uint32")
    assert result == one_by_one(name, memory, cells, values)


def test_inactive_lanes_do_nothing():
    batch = batch_of(threads=40)  # 24 lanes only fill up the second warp
    array = array_of([0], "int64")
    old = atomic(batch, batch.entry, SITE, "add", array, np.int64(0), np.int64(1))
    assert array.storage.tolist() == [40]
    assert old[0].tolist() == [*range(40), *[0] * 24]
    atomic(batch, batch.entry.none(), SITE, "add", array, np.int64(0), np.int64(1))
    assert array.storage.tolist() == [40]


def test_blocks_take_turns_in_order():
    batch = batch_of(blocks=3, threads=32)
    array = array_of([0], "int32")
    lanes, _ = batch.entry.split(np.arange(32)[None] == 0)
    old = atomic(batch, lanes, SITE, "add", array, np.int64(0), np.int32(5))
    assert old[:, 0].tolist() == [0, 5, 10]


def test_each_block_has_its_own_shared_element():
    batch = batch_of(blocks=3, threads=32)
    array = shared_array(batch, SITE, (2,), np.dtype("int32"))
    array.storage[:] = 0
    old = atomic(batch, batch.entry, SITE, "add", array, np.int64(1), np.int32(1))
    assert old.tolist() == [list(range(32))] * 3
    assert array.storage.tolist() == [0, 32] * 3


def test_dynamic_shared_memory_of_any_type():
    batch = batch_of(blocks=2, dynamic_shared_bytes=20)  # 5 int32, or 2 int64
    words = shared_array(batch, SITE, (0,), np.dtype("int32"))
    wide = shared_array(batch, Site(SITE.line, "y"), (0,), np.dtype("int64"))
    for block in range(2):
        only = np.arange(2)[:, None] == block
        mask, _ = batch.entry.split(np.broadcast_to(only, batch.shape))
        words.put(batch, mask, np.arange(32)[None] % 5, np.int32(0))
        value = np.int64(2**32 + block)
        atomic(batch, mask, SITE, "add", wide, np.int64(1), value)
    assert words.fetch(np.int64(2)).ravel().tolist() == [0, 32]
    assert words.fetch(np.int64(3)).ravel().tolist() == [32, 32]


def test_several_axes_and_negative_indices():
    array = array_of([[1, 2, 3], [4, 5, 6]], "int32")
    batch = batch_of()
    lane, _ = batch.entry.split(np.arange(32)[None] == 0)
    index = (np.int64(1), np.int64(-1))
    atomic(batch, lane, SITE, "add", array, index, np.int32(10))
    assert array.storage.tolist() == [1, 2, 3, 4, 5, 16]


def test_out_of_bounds_is_told_as_for_a_store():
    array = array_of([0] * 4, "int32")
    batch = batch_of()
    lanes = np.arange(32, dtype=np.int32)[None]
    with pytest.raises(
        OutOfBoundsError, match="store to past the end of `x`"
    ) as caught:
        atomic(batch, batch.entry, SITE, "add", array, lanes, np.int32(1))
    assert caught.value.index == (4, 31)
    assert array.storage.tolist() == [0] * 4


def test_only_one_element_of_shared_or_global_memory_can_be_changed():
    batch = batch_of()
    zero, one = np.int64(0), np.int32(1)
    with pytest.raises(KernelTypeError, match="on a int32"):
        atomic(batch, batch.entry, SITE, "add", one, zero, one)
    with pytest.raises(
        KernelTypeError, match=r"1 indices into an array of shape \(2, 1\)"
    ):
        atomic(
            batch, batch.entry, SITE, "add", array_of([[1], [2]], "int32"), zero, one
        )
    private = array_of([1], "int32")
    private.space = "local"
    with pytest.raises(KernelTypeError, match="local memory"):
        atomic(batch, batch.entry, SITE, "add", private, zero, one)


class Recorder:
    """Notes the accesses that it is told."""

    def __init__(self):
        self.seen = []

    def access(self, batch, site, mask, kind, array, flat, shift, value):
        self.seen.append((site.expression, mask.count, kind, array.space, int(flat)))


def test_it_is_counted_as_one_atomic_access():
    recorder = Recorder()
    batch = batch_of(threads=20, recorder=recorder)
    array = array_of([0, 0], "int32")
    atomic(batch, batch.entry, SITE, "add", array, np.int64(-1), np.int32(1))
    assert recorder.seen == [("x", 20, "atomic", "global", 1)]


def test_the_journal_keeps_what_an_atomic_overwrites():
    device = copy.to_device(np.zeros(4, np.int32))
    journal = Journal()
    batch = batch_of(journal=journal)
    array = global_array(device)
    atomic(batch, batch.entry, SITE, "add", array, np.int64(2), np.int32(1))
    assert array.storage[2] == 32
    journal.roll_back()
    assert array.storage[2] == 0


def test_only_a_changed_element_counts_as_a_change():
    batch, array = batch_of(), array_of([3], "int32")
    atomic(batch, batch.entry, SITE, "add", array, np.int64(0), np.int32(0))
    atomic(batch, batch.entry, SITE, "max", array, np.int64(0), np.int32(2))
    assert batch.changes == 0
    atomic(batch, batch.entry, SITE, "max", array, np.int64(0), np.int32(4))
    assert batch.changes == 1
