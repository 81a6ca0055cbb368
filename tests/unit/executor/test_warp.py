"""Warp operations: who reads whom, votes and matches; partial warps; wrong masks."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinytorch_gpu.errors import BarrierDivergenceError, WarpMaskError
from tinytorch_gpu.executor import warp
from tinytorch_gpu.executor.lanes import Batch
from tinytorch_gpu.trace import Site, SourceLine

SITE = Site(SourceLine("k", "k.py", 3, "cuda.shfl_sync(m, v, s)"))
FULL = np.int64(0xFFFFFFFF)
LANES = np.arange(32, dtype=np.int32)[None]
SHUFFLES = ["shfl_sync", "shfl_up_sync", "shfl_down_sync", "shfl_xor_sync"]


def batch_of(blocks=1, threads=32):
    return Batch((blocks, 1, 1), (threads, 1, 1), first=0, count=blocks)


def shuffle(name, value, which, members=FULL, batch=None, mask=None):
    batch = batch or batch_of()
    return warp.shuffle(batch, mask or batch.entry, SITE, name, members, value, which)


def vote(name, predicate, members=FULL, batch=None, mask=None):
    batch = batch or batch_of()
    result = warp.vote(batch, mask or batch.entry, SITE, name, members, predicate)
    return result[0].tolist()


def only(batch, lanes):
    return batch.entry.split(np.isin(np.arange(batch.shape[1]), lanes)[None])[0]


def test_shfl_reads_one_lane_modulo_32():
    assert shuffle("shfl_sync", LANES * 10, np.int64(5))[0].tolist() == [50] * 32
    assert shuffle("shfl_sync", LANES * 10, np.int64(37))[0].tolist() == [50] * 32
    own_source = (LANES + 1) % 32
    rotated = shuffle("shfl_sync", LANES * 10, own_source)
    assert rotated[0].tolist() == [*range(10, 320, 10), 0]


def test_up_and_down_keep_their_own_at_the_end():
    up = shuffle("shfl_up_sync", LANES * 10, np.int64(2))
    assert up[0].tolist() == [0, 10, *range(0, 300, 10)]
    down = shuffle("shfl_down_sync", LANES * 10, np.int64(2))
    assert down[0].tolist() == [*range(20, 320, 10), 300, 310]


def test_the_distance_counts_modulo_32():
    assert shuffle("shfl_down_sync", LANES, np.int64(33))[0, :3].tolist() == [1, 2, 3]


def test_xor_exchanges_pairs():
    result = shuffle("shfl_xor_sync", LANES, np.int32(16))
    assert result[0].tolist() == [*range(16, 32), *range(16)]


def test_each_lane_may_have_its_own_distance():
    result = shuffle("shfl_down_sync", LANES * 10, 31 - LANES)
    assert result[0].tolist() == [310] * 32


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_the_result_has_the_values_type(dtype):
    value = LANES.astype(dtype)
    assert shuffle("shfl_sync", value, np.int64(3)).dtype == dtype


def test_warps_and_blocks_do_not_mix():
    batch = batch_of(blocks=2, threads=64)
    value = np.arange(128, dtype=np.int32).reshape(2, 64)
    result = shuffle("shfl_sync", value, np.int64(1), batch=batch)
    assert result[:, [0, 31, 32, 63]].tolist() == [[1, 1, 33, 33], [65, 65, 97, 97]]


def test_a_value_that_is_the_same_for_all_lanes():
    result = shuffle("shfl_xor_sync", np.float32(2.5), np.int64(1))
    assert result.tolist() == [[2.5] * 32]


def test_a_mask_of_minus_one_names_all():
    result = shuffle("shfl_sync", LANES, np.int64(4), members=np.int64(-1))
    assert result[0].tolist() == [4] * 32


def test_a_reduction_in_a_block_of_half_a_warp():
    batch, value = batch_of(threads=16), LANES + 1
    for distance in (8, 4, 2, 1):
        below = shuffle("shfl_down_sync", value, np.int64(distance), batch=batch)
        value = value + below
    assert value[0, 0] == sum(range(1, 17))


def test_a_lane_that_does_not_exist_gives_the_own_value_only_up_and_down():
    batch = batch_of(threads=20)
    down = shuffle("shfl_down_sync", LANES, np.int64(4), batch=batch)
    assert down[0, 14:18].tolist() == [18, 19, 16, 17]
    pair = shuffle("shfl_xor_sync", np.float32(LANES), np.int64(16), batch=batch)
    assert pair[0, :4].tolist() == [16, 17, 18, 19]
    assert np.isnan(pair[0, 4:16]).all()


def test_a_lane_that_has_returned_gives_poison():
    batch = batch_of()
    batch.live = only(batch, range(24))
    value = np.float32(LANES)
    down = shuffle("shfl_down_sync", value, np.int64(8), batch=batch, mask=batch.live)
    assert down[0, :16].tolist() == list(range(8, 24))
    assert np.isnan(down[0, 16:24]).all()


@pytest.mark.parametrize("name", SHUFFLES)
def test_a_live_lane_that_does_not_come_is_missed(name):
    batch = batch_of(blocks=2, threads=64)
    mask = only(batch, [*range(40), *range(44, 64)])
    with pytest.raises(BarrierDivergenceError) as caught:
        shuffle(name, np.int32(1), np.int64(1), batch=batch, mask=mask)
    error = caught.value
    assert error.lanes == (8, 9, 10, 11)
    assert error.threads == ((40, 0, 0), (41, 0, 0), (42, 0, 0), (43, 0, 0))
    assert (error.arrived, error.expected) == (28, 32)
    assert str(error) == (
        f"{name}() reached without lanes 8 to 11, which its mask names\n"
        "  where  k, line 3:    cuda.shfl_sync(m, v, s)\n"
        "         block (0, 0, 0), warp 1; there: lanes 0 to 7, 12 to 31\n"
        "  why    all live lanes that the mask names must call it together; hardware may hang here\n"
        "  fix    call it outside the `if` or loop, or name only the lanes that come: 0xfffff0ff"
    )
    assert max(map(len, str(error).splitlines())) <= 91


def test_lanes_that_are_not_named_may_stay_away():
    batch = batch_of()
    low = only(batch, range(16))
    result = shuffle(
        "shfl_down_sync", np.float32(LANES), np.int64(8), np.int64(0xFFFF), batch, low
    )
    assert result[0, :8].tolist() == list(range(8, 16))
    assert np.isnan(result[0, 8:16]).all()  # they read past the mask


def test_two_groups_with_masks_of_their_own():
    halves = np.where(LANES < 16, np.int64(0xFFFF), np.int64(0xFFFF0000))
    result = shuffle("shfl_xor_sync", LANES, np.int64(15), members=halves)
    assert result[0].tolist() == [*range(15, -1, -1), *range(31, 15, -1)]
    votes = vote("ballot_sync", LANES % 2 == 0, members=halves)
    assert votes[0] == 0x5555
    assert votes[31] == 0x55550000


def test_a_lane_outside_its_own_mask():
    with pytest.raises(WarpMaskError, match="lane 16, which is not in its mask"):
        warp.synchronize(batch_of(), batch_of().entry, SITE, np.int64(0xFFFF))


def test_masks_that_differ_between_lanes_that_wait_for_each_other():
    members = np.where(LANES < 16, FULL, np.int64(0xFFFF0000))
    with pytest.raises(WarpMaskError, match="different masks") as caught:
        warp.synchronize(batch_of(), batch_of().entry, SITE, members)
    assert "masks 0xffff0000, 0xffffffff" in str(caught.value)


@pytest.mark.parametrize("name", ["shfl_sync", "shfl_xor_sync"])
def test_reading_a_lane_that_the_mask_does_not_name(name):
    batch = batch_of()
    low = only(batch, range(16))
    with pytest.raises(WarpMaskError, match="reads lane 16, which the mask 0x0000ffff"):
        shuffle(name, LANES, np.int64(16), np.int64(0xFFFF), batch, low)


def test_synchronize_takes_the_lanes_that_are_left():
    batch = batch_of()
    batch.live = only(batch, range(10))
    warp.synchronize(batch, batch.live, SITE, FULL)
    with pytest.raises(BarrierDivergenceError, match="without lanes 1 to 9"):
        warp.synchronize(batch, only(batch, [0]), SITE, FULL)


def test_votes():
    assert vote("ballot_sync", np.int64(1)) == [-1] * 32  # all bits of an int32
    assert vote("ballot_sync", LANES < 3) == [7] * 32
    assert vote("all_sync", LANES >= 0) == [True] * 32
    assert vote("all_sync", LANES > 0) == [False] * 32
    assert vote("any_sync", LANES == 31) == [True] * 32
    assert vote("any_sync", LANES > 31) == [False] * 32
    assert vote("eq_sync", LANES > 31) == [True] * 32
    assert vote("eq_sync", LANES >= 0) == [True] * 32
    assert vote("eq_sync", LANES > 0) == [False] * 32


def test_votes_have_numbas_types():
    batch = batch_of()
    for name, dtype in (("ballot_sync", "int32"), ("all_sync", "bool")):
        result = warp.vote(batch, batch.entry, SITE, name, FULL, LANES)
        assert result.dtype == dtype


def test_a_vote_in_a_partial_warp_asks_only_the_lanes_that_exist():
    batch = batch_of(threads=5)
    assert vote("all_sync", LANES < 5, batch=batch)[:5] == [True] * 5
    assert vote("ballot_sync", LANES >= 0, batch=batch)[:5] == [31] * 5


def test_match():
    batch = batch_of()
    same = warp.match_any(batch, batch.entry, SITE, FULL, LANES % 2)
    assert same.dtype == np.int32
    assert same[0, :2].tolist() == [0x55555555, 0xAAAAAAAA - 2**32]
    lanes, agree = warp.match_all(batch, batch.entry, SITE, FULL, LANES % 2)
    assert (lanes.any(), agree.any()) == (False, False)
    lanes, agree = warp.match_all(batch, batch.entry, SITE, FULL, np.float64(0.5))
    assert (lanes.tolist(), agree.all()) == ([[-1] * 32], True)


def test_match_compares_bit_patterns():
    batch = batch_of()
    value = np.where(LANES == 0, np.float32(-0.0), np.float32(0.0))
    assert warp.match_any(batch, batch.entry, SITE, FULL, value)[0, 0] == 1
    nans = np.full((1, 32), np.nan)
    assert warp.match_any(batch, batch.entry, SITE, FULL, nans)[0, 0] == -1


def test_match_of_uint64_rounds_to_float64_as_numba_does():
    batch = batch_of()
    value = np.uint64(2**53) + (LANES % 2).astype(np.uint64)
    assert warp.match_any(batch, batch.entry, SITE, FULL, value)[0, 0] == -1


def test_active_and_lower_lanes():
    batch = batch_of(threads=64)
    found = warp.active_lanes(batch, only(batch, [0, 3, 63]))
    assert found.dtype == np.uint32
    assert found[0, [0, 3, 63]].tolist() == [9, 9, 2**31]
    below = warp.lower_lanes(batch)
    assert below.dtype == np.uint32
    assert below[0, [0, 1, 31, 32, 34]].tolist() == [0, 1, 2**31 - 1, 0, 3]


SOURCES = {
    "shfl_sync": lambda lane, n: n % 32,
    "shfl_up_sync": lambda lane, n: lane - n % 32,
    "shfl_down_sync": lambda lane, n: lane + n % 32,
    "shfl_xor_sync": lambda lane, n: lane ^ n % 32,
}


@given(
    name=st.sampled_from(SHUFFLES),
    which=st.lists(st.integers(0, 100), min_size=64, max_size=64),
    seed=st.integers(0, 1000),
)
def test_any_shuffle_equals_lane_by_lane(name, which, seed):
    batch = batch_of(blocks=2)
    value = np.random.default_rng(seed).integers(0, 10**9, (2, 32))
    distance = np.reshape(which, (2, 32))
    result = shuffle(name, value, distance, batch=batch)
    for row in range(2):
        for lane in range(32):
            source = SOURCES[name](lane, int(distance[row, lane]))
            source = source if 0 <= source < 32 else lane
            assert result[row, lane] == value[row, source]


@given(
    group=st.lists(st.integers(0, 3), min_size=32, max_size=32),
    value=st.lists(st.integers(0, 2), min_size=32, max_size=32),
)
def test_any_groups_vote_and_match_among_themselves(group, value):
    lanes = [sum(1 << i for i in range(32) if group[i] == g) for g in range(4)]
    members = np.array([[lanes[g] for g in group]])
    batch, values = batch_of(), np.array([value])
    ballots = vote("ballot_sync", values, members)
    matches = warp.match_any(batch, batch.entry, SITE, members, values)[0].tolist()
    for lane in range(32):
        mine = [i for i in range(32) if group[i] == group[lane]]
        ballot = sum(1 << i for i in mine if value[i])
        assert ballots[lane] % 2**32 == ballot
        match = sum(1 << i for i in mine if value[i] == value[lane])
        assert matches[lane] % 2**32 == match
