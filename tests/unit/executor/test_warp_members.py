"""Member masks: lane bits, equal lanes, and how lanes are told in errors."""

import numpy as np
import pytest

from tinytorch_gpu.errors import WarpMaskError
from tinytorch_gpu.executor import warp_members
from tinytorch_gpu.executor.lanes import Batch
from tinytorch_gpu.trace import Site, SourceLine

SITE = Site(SourceLine("k", "k.py", 3, "cuda.syncwarp(m)"))


def test_bit_i_is_lane_i():
    lanes = np.zeros((3, 32), bool)
    lanes[0, [0, 4]] = lanes[1] = lanes[2, 31] = True
    assert warp_members.as_lane_bits(lanes).tolist() == [17, 2**32 - 1, 2**31]


def test_alike_lanes_name_each_other():
    values = np.zeros((2, 32), np.int64)
    values[1, 5:7] = 9
    same = warp_members.alike(values)
    assert same[0].tolist() == [2**32 - 1] * 32
    assert same[1, 4:8].tolist() == [2**32 - 97, 96, 96, 2**32 - 97]


@pytest.mark.parametrize(
    ("lanes", "text"),
    [
        ([3], "3"),
        ([0, 1, 2, 9, 30, 31], "0 to 2, 9, 30 to 31"),
        (list(range(0, 32, 2)), "0, 2, 4, 6, ..."),
    ],
)
def test_lanes_are_told_as_ranges(lanes, text):
    assert warp_members._ranges(lanes) == text


def test_everyone_is_there():
    batch = Batch((1, 1, 1), (64, 1, 1), first=0, count=1)
    full = warp_members.take_part(batch, batch.entry, SITE, "syncwarp", np.int32(-1))
    assert full.is_everyone
    low = np.where(np.arange(64)[None] % 32 < 16, 0xFFFF, 0xFFFF0000)
    halves = warp_members.take_part(batch, batch.entry, SITE, "syncwarp", low)
    assert not halves.is_everyone
    assert halves.bits[:, [0, 31]].tolist() == [[0xFFFF, 0xFFFF0000]] * 2


def test_a_mask_error_tells_where_and_what_to_do():
    batch = Batch((8, 1, 1), (64, 1, 1), first=4, count=1)
    with pytest.raises(WarpMaskError) as caught:
        warp_members.take_part(batch, batch.entry, SITE, "syncwarp", np.int64(0xFF))
    assert str(caught.value) == (
        "syncwarp() called by lane 8, which is not in its mask 0x000000ff\n"
        "  where  k, line 3:    cuda.syncwarp(m)\n"
        "         block (4, 0, 0), warp 0\n"
        "  why    a lane that calls it must be named in its own mask\n"
        "  fix    set bit 8 of the mask for this lane, or guard the call with an `if`"
    )


class Recorder:
    """Notes what it is told."""

    def __init__(self):
        self.seen = []

    def converge(self, batch, site, mask, name, members):
        self.seen.append((site, mask.count, name, members.tolist()))


def test_the_recorder_hears_who_takes_part():
    recorder = Recorder()
    batch = Batch((1, 1, 1), (32, 1, 1), first=0, count=1, recorder=recorder)
    warp_members.take_part(batch, batch.entry, SITE, "syncwarp", np.int32(-1))
    assert recorder.seen == [(SITE, 32, "syncwarp", [[2**32 - 1]])]
