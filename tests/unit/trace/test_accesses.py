"""What is remembered of an access: costs by shift, found by a rule made up here."""

from __future__ import annotations

import numpy as np

from tinytorch_gpu.executor import Mask
from tinytorch_gpu.trace import AccessCost, Site, SourceLine
from tinytorch_gpu.trace.accesses import AccessTotals
from tinytorch_gpu.trace.touched import Touched

SITE = Site(SourceLine("k", "k.py", 3, "x[i]"), "x")
MASK = Mask(None, (1, 32))
ROW = np.arange(32)[None]


class Array:
    space, address, itemsize, nbytes = "global", 1000, 4, 128
    element_dtype = np.dtype("float32")


class Requests:
    """The cost is the shift in bytes, in steps of 16, and starts over at 64."""

    def __init__(self):
        self.asked = []

    def requests(self, array, kind, addresses, active):
        self.addresses = addresses
        return self

    def cost(self, shift):
        self.asked.append(shift)
        return AccessCost(sectors=shift % 64 // 16)

    def parts(self, array):
        return 1

    def shifts(self):
        return 64, [0, 16, 32, 48]


def totals_after(shifts, flat=ROW):
    rules = Requests()
    totals = AccessTotals(SITE, "load", Array, rules, Touched("x", "load", 32))
    for shift in shifts:
        totals.add(None, MASK, flat, shift)
    return totals.counts(), rules


def test_addresses_begin_at_the_array():
    _, rules = totals_after([0])
    assert rules.addresses.tolist() == [(1000 + 4 * ROW[0]).tolist()]


def test_shifts_between_two_starts_are_asked_for_once():
    counts, rules = totals_after([1, 1, 1, 2, 3, 4, 7, 20, 16])
    assert counts.sectors == sum(
        4 * s % 64 // 16 for s in [1, 1, 1, 2, 3, 4, 7, 20, 16]
    )
    assert rules.asked == [4, 8, 16]  # 1 alone; 2, 3 and 16; then 4, 7 and 20
    assert (counts.requests, counts.active_lanes) == (9, 9 * 32)


def test_other_lanes_are_asked_for_anew():
    rules = Requests()
    totals = AccessTotals(SITE, "load", Array, rules, Touched("x", "load", 32))
    totals.add(None, MASK, ROW, 0)
    totals.add(None, MASK, ROW + 0, 0)
    totals.add(None, Mask(ROW < 8, (1, 32)), ROW, 0)
    assert rules.asked == [0, 0, 0]


def test_costs_are_multiplied_part_by_part():
    assert AccessCost(1, 2, 3, 4, 5, 6).times(10) == (10, 20, 30, 40, 50, 60)
