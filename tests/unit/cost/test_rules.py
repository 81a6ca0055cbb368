"""`GpuCountRules`: totals, as the counting recorder takes them."""

from __future__ import annotations

import numpy as np

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.cost import GpuCountRules

RULES = GpuCountRules(find_gpu("t4"))
LANES = np.arange(32)


def test_totals_are_plain_ints():
    rows = np.stack([4 * LANES, 128 * LANES])
    active = np.ones((2, 32), bool)
    sectors, passes = RULES.sectors(rows, 4, active), RULES.passes(rows, 4, active)
    assert (sectors, passes) == (4 + 32, 1 + 32)
    assert type(sectors) is type(passes) is int


def test_masks_that_are_broadcast_views():
    rows = np.broadcast_to(4 * LANES, (3, 32))
    active = np.broadcast_to(LANES < 8, (3, 32))
    assert RULES.sectors(rows, 4, active) == 3
    assert RULES.passes(rows, 4, active) == 3
