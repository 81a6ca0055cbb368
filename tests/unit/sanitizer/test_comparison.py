"""Accesses race with all earlier ones that matter, not with the last one only."""

import numpy as np
import pytest

from tinytorch_gpu import cuda, settings
from tinytorch_gpu.runtime.watching import watching
from tinytorch_gpu.sanitizer import MemoryChecker
from tinytorch_gpu.sanitizer.touching import Memories


def found(kernel, launch, *arrays):
    """Launch a kernel on arrays; return races as (kind, hazard, lines apart)."""
    checker = MemoryChecker(Memories())
    with watching(checker):
        kernel[launch](*map(cuda.to_device, arrays))
    first = kernel.py_func.__code__.co_firstlineno
    return [
        (f.kind, f.hazard, f.line.line - first, f.other.line.line - first)
        for f in checker.findings()
    ]


def zeros(n, dtype=np.float32):
    return np.zeros(n, dtype)


@cuda.jit
def read_then_one_writes(x):
    v = x[0]
    cuda.syncthreads()
    if cuda.grid(1) == 95:
        x[0] = v + 1


@pytest.mark.parametrize("blocks", [2, 3])
def test_the_last_block_writes_what_the_others_still_read(blocks):
    # Block 2 is in order with its own reads, not with those of blocks 0 and 1.
    races = found(read_then_one_writes, (blocks, 96 // blocks), zeros(1))
    assert races == [("race", "WAR", 5, 2)]


def test_in_one_block_the_barrier_orders_them():
    assert found(read_then_one_writes, (1, 96), zeros(1)) == []


@cuda.jit
def count_then_set(x):
    cuda.atomic.add(x, 0, 1)
    cuda.syncthreads()
    if cuda.grid(1) == cuda.gridsize(1) - 1:
        x[0] = 5


def test_a_store_after_atomics_of_other_blocks():
    assert found(count_then_set, (2, 64), zeros(1)) == [("race", "WAW", 5, 2)]
    assert found(count_then_set, (1, 64), zeros(1)) == []


@cuda.jit
def count_then_read(x, out):
    cuda.atomic.add(x, 0, 1)
    cuda.syncthreads()
    if cuda.grid(1) == cuda.gridsize(1) - 1:
        out[0] = x[0]


def test_a_read_after_atomics_of_other_blocks():
    assert found(count_then_read, (2, 64), *[zeros(1)] * 2) == [("race", "RAW", 5, 2)]
    assert found(count_then_read, (1, 64), *[zeros(1)] * 2) == []


@cuda.jit
def all_say_one_then_last_says_two(x):
    x[0] = 1
    cuda.syncthreads()
    if cuda.grid(1) == cuda.gridsize(1) - 1:
        x[0] = 2


def test_a_second_value_races_with_equal_ones_of_other_blocks():
    races = found(all_say_one_then_last_says_two, (2, 32), zeros(1))
    assert races == [("same_value_race", "WAW", 2, 2), ("race", "WAW", 5, 2)]
    alone = found(all_say_one_then_last_says_two, (1, 32), zeros(1))
    assert alone == [("same_value_race", "WAW", 2, 2)]


@cuda.jit
def all_say_one_and_read_it(x, out):
    x[0] = 1
    cuda.syncthreads()
    out[cuda.grid(1)] = x[0]


def test_equal_values_may_be_read_behind_a_barrier():
    races = found(all_say_one_and_read_it, (1, 64), zeros(1), zeros(64))
    assert races == [("same_value_race", "WAW", 2, 2)]
    assert ("race", "RAW", 4, 2) in found(
        all_say_one_and_read_it, (2, 32), zeros(1), zeros(64)
    )


@cuda.jit
def store_atomic_atomic(x):
    if cuda.threadIdx.x == 0:
        x[0] = 0
    cuda.atomic.add(x, 0, 1)


def test_a_store_races_with_atomics_of_all_warps():
    # Warp by warp the first warp's atomic comes between the store and the second's.
    with settings.override(schedule="warps"):
        races = found(store_atomic_atomic, (1, 64), zeros(1))
    assert races == [("race", "WAW", 4, 3)]
    one_warp = found(store_atomic_atomic, (1, 32), zeros(1))
    assert one_warp == [("implicit_warp_synchrony", "WAW", 4, 3)]


@cuda.jit
def set_count_set(x):
    x[0] = 0
    cuda.syncthreads()
    cuda.atomic.add(x, 0, 1)
    cuda.syncthreads()
    x[0] = 0


def test_a_store_after_atomics_is_not_compared_with_what_was_before_them():
    races = found(set_count_set, (1, 64), zeros(1))
    assert races == [
        ("same_value_race", "WAW", 2, 2),
        ("same_value_race", "WAW", 6, 6),
    ]
