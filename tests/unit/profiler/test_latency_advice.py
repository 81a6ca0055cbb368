"""What the verdict says of a kernel that waits."""

from __future__ import annotations

import pytest

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.profiler.cause import Judged
from tinytorch_gpu.profiler.latency_advice import fuller_advice, idle_advice

T4 = find_gpu("t4")


@pytest.fixture
def waiting(launch):
    """Give a launch of blocks of 256 threads, of which so many fit on an SM."""

    def make(blocks, resident, limiter=""):
        fits = {"theoretical_occupancy": resident / 4, "occupancy_limiter": limiter}
        return Judged.of(launch(grid=(blocks, 1, 1), **fits), T4)

    return make


@pytest.mark.parametrize(
    ("blocks", "resident", "has_room"),
    [(1, 1, False), (1, 4, True), (80, 4, True), (4096, 1, False), (4096, 4, False)],
)
def test_more_threads_are_asked_for_only_where_an_sm_has_room(
    waiting, blocks, resident, has_room
):
    told = idle_advice(waiting(blocks, resident, "registers"))
    assert ("more threads" in told) is has_room
    assert (", limited by registers. " in told) is (resident == 1)


@pytest.mark.parametrize(
    ("blocks", "limiter", "told"),
    [
        (40, "registers", "Let more threads share its loads"),
        (4096, "registers", "Use less of what limits that: registers"),
        (4096, "shared memory", "Use less of what limits that: shared memory"),
        (4096, "blocks", "Launch larger blocks"),
    ],
)
def test_what_lets_an_sm_have_more_warps(waiting, blocks, limiter, told):
    assert told in fuller_advice(waiting(blocks, 2, limiter))
