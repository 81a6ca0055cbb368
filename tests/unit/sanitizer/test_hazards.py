"""Races are kept by pairs of lines, with the gravest example."""

import numpy as np

from tinytorch_gpu import cuda
from tinytorch_gpu.runtime.watching import watching
from tinytorch_gpu.sanitizer import MemoryChecker
from tinytorch_gpu.sanitizer.touching import Memories


def races(kernel, launch, *arrays):
    checker = MemoryChecker(Memories())
    with watching(checker):
        kernel[launch](*map(cuda.to_device, arrays))
    return checker.findings()


@cuda.jit
def neighbour(x):
    i = cuda.grid(1)
    v = x[(i + 1) % x.size]
    x[i] = v


def test_the_farthest_example_stays_and_all_lanes_count():
    # 31 lanes of each warp race within it, the last one with the other warp.
    (race,) = races(neighbour, (1, 64), np.arange(64, dtype=np.float32))
    assert (race.kind, race.level, race.hazard) == ("race", "error", "WAR")
    assert race.count == 64
    assert race.index in [(32,), (0,)]
    assert "different warps" in race.why


def test_within_a_warp_it_is_a_warning():
    (race,) = races(neighbour, (1, 32), np.arange(32, dtype=np.float32))
    assert (race.kind, race.level) == ("implicit_warp_synchrony", "warning")
    assert race.count == 32
    assert race.threads == tuple((t, 0, 0) for t in range(32))
    assert race.block == race.other.block == (0, 0, 0)


def test_between_blocks_the_threads_of_one_block_are_named():
    (race,) = races(neighbour, (2, 32), np.arange(64, dtype=np.float32))
    assert race.level == "error"
    assert race.block != race.other.block
    assert "different blocks" in race.why


@cuda.jit
def collide(x, values):
    i = cuda.grid(1)
    x[0] = values[i]


def collided(*values):
    return races(collide, (1, len(values)), np.zeros(1), np.array(values))


def test_stores_of_one_instruction():
    (race,) = collided(1.0, 2.0, 3.0)
    assert (race.kind, race.level, race.hazard) == ("race", "error", "WAW")
    assert (race.count, race.other.thread, race.other.value) == (2, (2, 0, 0), 3.0)
    assert race.threads == ((0, 0, 0), (1, 0, 0))
    assert race.index == (0,)


def test_equal_values_are_a_note_a_nan_too():
    for value in (4.0, np.nan):
        (race,) = collided(value, value)
        assert (race.kind, race.level) == ("same_value_race", "note")


def test_one_other_value_is_enough():
    (race,) = collided(*[7.0] * 31, 8.0)
    assert (race.level, race.count) == ("error", 31)
