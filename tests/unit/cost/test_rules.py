"""`GpuCountRules`: totals, as the counting recorder takes them."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.cost import GpuCountRules

RULES = GpuCountRules(find_gpu("t4"))
LANES = np.arange(32)


def array(space="global", itemsize=4):
    return SimpleNamespace(space=space, itemsize=itemsize)


def cost_of(array, kind, addresses, active, rules=RULES, shift=0):
    return rules.requests(array, kind, addresses, active).cost(shift)


def test_totals_are_plain_ints():
    rows = np.stack([4 * LANES, 128 * LANES])
    active = np.ones((2, 32), bool)
    moved = cost_of(array(), "load", rows, active)
    assert (moved.sectors, moved.tags, moved.transactions) == (36, 33, 36)
    assert moved.bytes_used == 2 * 128
    passed = cost_of(array("shared"), "load", rows, active)
    assert (passed.sectors, passed.wavefronts, passed.ideal_wavefronts) == (0, 33, 2)
    assert {type(part) for part in (*moved, *passed)} == {int}


def test_masks_that_are_broadcast_views():
    rows = np.broadcast_to(4 * LANES, (3, 32))
    active = np.broadcast_to(LANES < 8, (3, 32))
    assert cost_of(array(), "load", rows, active).sectors == 3
    assert cost_of(array("shared"), "load", rows, active).wavefronts == 3


def test_constant_memory_takes_a_pass_for_each_word():
    rows, active = np.stack([4 * (LANES // 8), 0 * LANES]), np.ones((2, 32), bool)
    cost = cost_of(array("constant"), "load", rows, active)
    assert (cost.wavefronts, cost.bytes_used, cost.sectors) == (4 + 1, 20, 0)


def test_local_memory_is_taken_to_be_registers():
    rows, active = 4 * LANES[None], np.ones((1, 32), bool)
    assert not any(cost_of(array("local"), "load", rows, active))


def test_atomics_that_meet_queue_even_where_the_banks_would_not():
    rows, active = np.zeros((1, 32), int), np.ones((1, 32), bool)
    shared = cost_of(array("shared"), "atomic", rows, active)
    assert (shared.wavefronts, shared.serial_passes) == (32, 32)
    assert cost_of(array("shared"), "load", rows, active).wavefronts == 1
    conflicts = cost_of(array("shared"), "atomic", 128 * LANES[None], active)
    assert (conflicts.wavefronts, conflicts.serial_passes) == (32, 1)


@pytest.mark.parametrize("gpu", ["t4", "k20c", "c2050", "c1060", "c870"])
@pytest.mark.parametrize("space", ["global", "shared"])
@pytest.mark.parametrize("itemsize", [1, 4, 8])
@pytest.mark.parametrize("stride", [0, 1, 3, 25, 32, 64, 100])
def test_shifts_between_two_starts_cost_the_same(gpu, space, itemsize, stride):
    rules, x = GpuCountRules(find_gpu(gpu)), array(space, itemsize)
    rows, active = itemsize * (5 + stride * LANES[None]), np.ones((1, 32), bool)
    requests = rules.requests(x, "load", rows, active)
    period, starts = requests.shifts()
    costs = {}
    for shift in range(0, 2 * period, itemsize):
        cost = cost_of(x, "load", rows + shift, active, rules)
        assert requests.cost(shift) == cost
        part = int(np.searchsorted(starts, shift % period, "right")) % len(starts)
        assert costs.setdefault(part, cost) == cost


def test_elements_across_sectors_count_both():
    rows, active = 4 * LANES[None] + 2, np.ones((1, 32), bool)
    moved = cost_of(array(), "load", rows, active)
    assert (moved.sectors, moved.tags) == (5, 2)  # bytes 2 to 129
