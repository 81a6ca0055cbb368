"""Masks know their count, and agree with plain boolean arrays."""

import numpy as np
import pytest

from tinytorch_gpu.executor import Mask

SHAPE = (3, 64)
EVERYONE = Mask(None, SHAPE)
RNG = np.random.default_rng(0)
CONDITIONS = {
    "lanes": RNG.random(SHAPE) < 0.5,
    "threads": RNG.random((1, 64)) < 0.3,
    "blocks": np.array([[True], [False], [True]]),
    "all": np.ones(SHAPE, bool),
    "none": np.zeros((1, 64), bool),
    "numbers": RNG.integers(-1, 2, SHAPE),
    "scalar true": np.bool_(True),
    "scalar 0": np.int64(0),
    "one lane": np.arange(64)[None] == 63,
}
MASKS = {name: EVERYONE.split(c)[0] for name, c in CONDITIONS.items()}


def plain(condition):
    return np.broadcast_to(np.asarray(condition) != 0, SHAPE)


def warps(lanes):
    return int(lanes.reshape(-1, 32).any(axis=1).sum())


def check(mask, lanes):
    assert (mask.full() == lanes).all()
    assert mask.full().shape == SHAPE
    assert mask.count == lanes.sum()
    assert mask.warps == warps(lanes)


def test_everyone():
    check(EVERYONE, np.ones(SHAPE, bool))


def test_no_one():
    check(EVERYONE.none(), np.zeros(SHAPE, bool))


@pytest.mark.parametrize("condition", CONDITIONS.values(), ids=CONDITIONS)
@pytest.mark.parametrize("name", MASKS)
def test_split_parts_the_active_lanes(name, condition):
    mask, active = MASKS[name], plain(CONDITIONS[name])
    taken, rest = mask.split(condition)
    check(taken, active & plain(condition))
    check(rest, active & ~plain(condition))


@pytest.mark.parametrize("a", MASKS)
@pytest.mark.parametrize("b", MASKS)
def test_minus_and_plus(a, b):
    x, y = plain(CONDITIONS[a]), plain(CONDITIONS[b])
    check(MASKS[a].minus(MASKS[b]), x & ~y)
    check(MASKS[a].plus(MASKS[b]), x | y)


def test_a_condition_that_all_lanes_meet_gives_the_same_mask_back():
    assert EVERYONE.split(CONDITIONS["all"])[0] is EVERYONE
    low = MASKS["threads"]
    assert low.split(CONDITIONS["threads"])[0] is low


def test_masks_do_not_change():
    before = MASKS["lanes"].full().copy()
    for other in MASKS.values():
        MASKS["lanes"].plus(other)
        MASKS["lanes"].minus(other)
    assert (MASKS["lanes"].full() == before).all()
