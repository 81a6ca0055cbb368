"""The counting recorder, fed by hand: two blocks of 64 threads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.cost import GpuCountRules
from tinytorch_gpu.executor import Mask
from tinytorch_gpu.trace import CountingRecorder, Site, SourceLine

SHAPE = (2, 64)  # blocks, threads: four warps
EVERYONE = Mask(None, SHAPE)
THREADS = np.arange(64)[None]
SITE = Site(SourceLine("k", "k.py", 3, "out[i] = x[i]"), "x")
LATER = Site(SourceLine("k", "k.py", 4, "out[i] = y[i]"), "y")


class Array:
    space, address, itemsize, nbytes = "global", 512, 4, 4000
    element_dtype = np.dtype("float32")


class Shared(Array):
    space = "shared"


class Rules:
    """Sectors are active lanes, passes are ten for each request."""

    sector_bytes = 32

    def sectors(self, addresses, itemsize, active):
        assert addresses.shape == active.shape == (len(active), 32)
        return int(active.sum())

    def passes(self, addresses, itemsize, active):
        return 10 * len(active)


@pytest.fixture
def recorder():
    return CountingRecorder(Rules())


def first(lanes):
    return EVERYONE.split(lanes > THREADS)[0]


def test_a_load_of_all_lanes(recorder):
    recorder.access(None, SITE, EVERYONE, "load", Array, np.arange(128).reshape(SHAPE))
    (access,) = recorder.counts().accesses
    assert (access.requests, access.sectors, access.active_lanes) == (4, 128, 128)
    assert (access.bytes_requested, access.array_bytes) == (512, 4000)
    assert (access.array, access.kind, access.space) == ("x", "load", "global")
    assert access.dtype == "float32"


def test_a_warp_without_active_lanes_makes_no_request(recorder):
    recorder.access(None, SITE, first(8), "load", Array, np.arange(128).reshape(SHAPE))
    (access,) = recorder.counts().accesses
    assert (access.requests, access.sectors, access.active_lanes) == (2, 16, 16)


def test_one_address_for_all_lanes_is_one_sector_for_each_warp(recorder):
    recorder.access(None, SITE, first(40), "load", Array, np.int64(7))
    recorder.access(None, SITE, first(40), "load", Array, np.array([[7], [8]]))
    (access,) = recorder.counts().accesses
    assert (access.requests, access.sectors) == (8, 8)


def test_addresses_that_are_the_same_in_every_block_are_counted_for_each(recorder):
    recorder.access(None, SITE, first(40), "load", Array, THREADS)
    (access,) = recorder.counts().accesses
    assert (access.requests, access.sectors) == (4, 80)


def test_shared_memory_is_counted_in_passes(recorder):
    recorder.access(
        None, SITE, EVERYONE, "store", Shared, THREADS + np.array([[0], [64]])
    )
    counts = recorder.counts()
    assert counts.accesses[0].sectors == 40
    assert counts.sectors == 0


def test_accesses_add_up_by_place_and_kind_in_source_order(recorder):
    recorder.access(None, LATER, EVERYONE, "load", Array, THREADS)
    for _ in range(3):
        recorder.access(None, SITE, EVERYONE, "store", Array, THREADS)
    recorder.access(None, SITE, EVERYONE, "load", Array, THREADS)
    accesses = recorder.counts().accesses
    assert [(a.array, a.kind, a.requests) for a in accesses] == [
        ("x", "load", 4),
        ("x", "store", 12),
        ("y", "load", 4),
    ]


@pytest.mark.parametrize(
    ("kind", "value", "counter"),
    [
        ("arithmetic", np.float32(1), "fp32"),
        ("arithmetic", np.float16(1), "fp32"),
        ("arithmetic", np.float64(1), "fp64"),
        ("arithmetic", np.int64(1), "integer"),
        ("arithmetic", np.bool_(True), "integer"),
        ("compare", np.float64(1), "integer"),
        ("special", np.float32(1), "special"),
        ("convert", np.float64(1), "fp64"),
    ],
)
def test_operations_are_counted_by_the_dtype_of_their_result(
    recorder, kind, value, counter
):
    assert recorder.operation(None, SITE, first(40), kind, value) is value
    (line,) = recorder.counts().lines
    assert getattr(line, counter) == 80
    assert (line.instructions, line.active_lanes) == (4, 80)
    others = {"fp32", "fp64", "integer", "special"} - {counter}
    assert not any(getattr(line, name) for name in others)


def test_a_branch_diverges_in_the_warps_that_part(recorder):
    recorder.branch(None, SITE, EVERYONE, first(8))
    recorder.branch(None, SITE, EVERYONE, first(32))
    recorder.branch(None, SITE, EVERYONE, EVERYONE)
    recorder.branch(None, SITE, EVERYONE, first(0))
    (line,) = recorder.counts().lines
    assert (line.branches, line.divergent_branches) == (16, 2)


def test_lanes_that_were_inactive_before_do_not_diverge(recorder):
    recorder.branch(None, SITE, first(8), first(8))
    recorder.branch(None, SITE, first(40), first(32))
    (line,) = recorder.counts().lines
    assert (line.branches, line.divergent_branches) == (6, 0)


def test_barriers_are_counted_by_warp(recorder):
    recorder.arrive(None, SITE, first(40), "block")
    assert recorder.counts().barriers == 4


def test_nothing_recorded_is_nothing_counted(recorder):
    counts = recorder.counts()
    assert (counts.accesses, counts.lines, counts.barriers) == ((), (), 0)


@pytest.mark.parametrize("name", ["local", "constant"])
def test_local_and_constant_memory_take_instructions_but_no_traffic(recorder, name):
    class Other(Array):
        space = name

    recorder.access(None, SITE, first(40), "load", Other, np.arange(128).reshape(SHAPE))
    counts = recorder.counts()
    (access,) = counts.accesses
    assert (access.space, access.requests, access.sectors) == (name, 4, 0)
    assert access.active_lanes == 80
    assert counts.total("instructions") == 4
    assert (counts.requests, counts.sectors) == (0, 0)


def test_a_launch_that_begins_anew_has_counted_nothing(recorder):
    recorder.access(None, SITE, EVERYONE, "load", Array, np.int64(7))
    recorder.arrive(None, SITE, EVERYONE, "block")
    recorder.begin(None)
    assert recorder.counts() == CountingRecorder(Rules()).counts()


# The same lanes again, shifted.

LANES = {
    "row": np.arange(128).reshape(SHAPE),
    "columns": np.arange(128).reshape(SHAPE) * 7 % 50,
    "blocks": THREADS * 3,
    "shared by a block": np.array([[7], [8]]),
    "one": np.int64(5),
}


class Wide(Shared):
    itemsize, element_dtype = 8, np.dtype("float64")


def cost(recorder, *accesses):
    for array, mask, flat, shift in accesses:
        recorder.access(None, SITE, mask, "load", array, flat, shift)
    return sum(access.sectors for access in recorder.counts().accesses)


@given(
    st.lists(
        st.tuples(
            st.sampled_from([Array, Shared, Wide]),
            st.sampled_from([EVERYONE, first(8), first(40)]),
            st.sampled_from(list(LANES.values())),
            st.integers(0, 100),
        ),
        min_size=1,
        max_size=8,
    )
)
def test_a_repeated_access_costs_what_it_costs_alone(accesses):
    rules = GpuCountRules(find_gpu("toy"))
    alone = [
        cost(CountingRecorder(rules), (array, mask, flat + shift, 0))
        for array, mask, flat, shift in accesses
    ]
    assert cost(CountingRecorder(rules), *accesses) == sum(alone)


def test_few_iterations_of_a_loop_over_a_row_are_looked_at(monkeypatch):
    rules = Rules()
    looked_at = []
    monkeypatch.setattr(rules, "sectors", lambda *a: looked_at.append(a) or 1)
    rows = np.arange(128).reshape(SHAPE) * 100
    accesses = [(Array, EVERYONE, rows, np.int64(k)) for k in range(40)]
    assert cost(CountingRecorder(rules), *accesses) == 40
    assert len(looked_at) == 8  # a sector has 8 elements of 4 bytes
