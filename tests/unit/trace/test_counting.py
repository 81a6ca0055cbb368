"""The counting recorder, fed by hand: two blocks of 64 threads."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tinytorch_gpu.arch import find_gpu
from tinytorch_gpu.cost import GpuCountRules
from tinytorch_gpu.cost.spans import Spans
from tinytorch_gpu.executor import Mask
from tinytorch_gpu.executor.lanes import SharedArrays
from tinytorch_gpu.trace import AccessCost, CountingRecorder, Site, SourceLine

SHAPE = (2, 64)  # blocks, threads: four warps
EVERYONE = Mask(None, SHAPE)
THREADS = np.arange(64)[None]
SITE = Site(SourceLine("k", "k.py", 3, "out[i] = x[i]"), "x")
BATCH = SimpleNamespace(first=0)
LATER = Site(SourceLine("k", "k.py", 4, "out[i] = y[i]"), "y")


class Array:
    space, address, itemsize, nbytes = "global", 512, 4, 4000
    element_dtype = np.dtype("float32")


class Shared(Array):
    space = "shared"


class Rules:
    """Sectors are active lanes, wavefronts are ten for each request."""

    looked = 0

    def requests(self, array, kind, addresses, active):
        assert addresses.shape == active.shape == (len(active), 32)
        if array.space == "shared":
            self.one = AccessCost(wavefronts=10 * len(active))
        else:
            self.one = AccessCost(sectors=int(active.sum()))
        return self

    def cost(self, shift):
        self.looked += 1
        return self.one

    def parts(self, array):
        return 2

    def shifts(self):
        return 32, [0, 8, 16, 24]

    def unit(self, kind):
        return 32


@pytest.fixture
def recorder():
    return CountingRecorder(Rules())


def first(lanes):
    return EVERYONE.split(lanes > THREADS)[0]


def test_a_load_of_all_lanes(recorder):
    recorder.access(BATCH, SITE, EVERYONE, "load", Array, np.arange(128).reshape(SHAPE))
    (access,) = recorder.counts().accesses
    assert (access.requests, access.sectors, access.active_lanes) == (4, 128, 128)
    assert (access.bytes_requested, access.array_bytes) == (512, 4000)
    assert (access.array, access.kind, access.space) == ("x", "load", "global")
    assert access.dtype == "float32"


def test_a_warp_without_active_lanes_makes_no_request(recorder):
    recorder.access(BATCH, SITE, first(8), "load", Array, np.arange(128).reshape(SHAPE))
    (access,) = recorder.counts().accesses
    assert (access.requests, access.sectors, access.active_lanes) == (2, 16, 16)


def test_one_address_for_all_lanes_is_one_sector_for_each_warp():
    recorder = CountingRecorder(GpuCountRules(find_gpu("toy")))
    recorder.access(BATCH, SITE, first(40), "load", Array, np.int64(7))
    recorder.access(BATCH, SITE, first(40), "load", Array, np.array([[7], [8]]))
    (access,) = recorder.counts().accesses
    assert (access.requests, access.sectors) == (8, 8)
    assert (access.tags, access.bytes_used) == (8, 32)


def test_addresses_that_are_the_same_in_every_block_are_counted_for_each(recorder):
    recorder.access(BATCH, SITE, first(40), "load", Array, THREADS)
    (access,) = recorder.counts().accesses
    assert (access.requests, access.sectors) == (4, 80)


def test_shared_memory_is_counted_in_passes(recorder):
    recorder.access(
        BATCH, SITE, EVERYONE, "store", Shared, THREADS + np.array([[0], [64]])
    )
    counts = recorder.counts()
    assert (counts.accesses[0].wavefronts, counts.accesses[0].sectors) == (40, 0)
    assert counts.sectors == 0


def test_accesses_add_up_by_place_and_kind_in_source_order(recorder):
    recorder.access(BATCH, LATER, EVERYONE, "load", Array, THREADS)
    for _ in range(3):
        recorder.access(BATCH, SITE, EVERYONE, "store", Array, THREADS)
    recorder.access(BATCH, SITE, EVERYONE, "load", Array, THREADS)
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
    assert (line.instructions, line.active_lanes, line.executions) == (4, 80, 4)
    others = {"fp32", "fp64", "integer", "special"} - {counter}
    assert not any(getattr(line, name) for name in others)


# `//` and `%`: integer operations of each lane, by what is known of the divisor.
@pytest.mark.parametrize(
    ("kind", "unsigned", "signed"),
    [
        ("division_by_power", 1, 3),
        ("division_by_constant", 5, 5),
        ("division", 20, 20),
    ],
)
@pytest.mark.parametrize("is_pair", [False, True])
def test_an_integer_division_is_several_integer_operations(
    recorder, kind, unsigned, signed, is_pair
):
    for site, number, times in (
        (SITE, np.uint64(1), unsigned),
        (LATER, np.int64(1), signed),
    ):
        value = (number, number) if is_pair else number
        assert recorder.operation(None, site, first(40), kind, value) is value
        line = recorder.counts().lines[-1]
        assert (line.integer, line.instructions) == (80 * times, 4 * times)
        assert (line.active_lanes, line.executions) == (80 * times, 4)
        assert line.warp_execution_efficiency == 80 / 128
        assert line.fp32 == line.fp64 == line.special == line.special_warps == 0


@pytest.mark.parametrize(
    "kind", ["division_by_power", "division_by_constant", "division"]
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_division_of_floats_is_special(recorder, kind, dtype):
    recorder.operation(None, SITE, first(40), kind, np.dtype(dtype).type(1))
    (line,) = recorder.counts().lines
    assert (line.special, line.special_warps, line.integer) == (80, 4, 0)
    assert (line.instructions, line.executions) == (4, 4)


@pytest.mark.parametrize(("lanes", "warps"), [(1, 2), (32, 2), (33, 4), (64, 4)])
@pytest.mark.parametrize(
    ("kind", "value", "field"),
    [
        ("arithmetic", np.float32(1), "fp32"),
        ("convert", np.float16(1), "fp32"),
        ("arithmetic", np.float64(1), "fp64"),
        ("special", np.float32(1), "special"),
    ],
)
def test_warps_that_issue_are_counted_beside_lanes(
    recorder, kind, value, field, lanes, warps
):
    recorder.operation(None, SITE, first(lanes), kind, value)
    recorder.operation(None, LATER, EVERYONE, kind, value)
    here, later = recorder.counts().lines
    assert (getattr(here, field), getattr(here, f"{field}_warps")) == (2 * lanes, warps)
    assert (getattr(later, field), getattr(later, f"{field}_warps")) == (128, 4)
    others = {"fp32_warps", "fp64_warps", "special_warps"} - {f"{field}_warps"}
    assert not any(getattr(here, name) for name in others)


@pytest.mark.parametrize(
    ("value", "field"), [(np.float32(1), "fp32"), (np.float64(1), "fp64")]
)
def test_what_is_fused_issues_no_warp_of_its_own(recorder, value, field):
    recorder.operation(None, SITE, first(8), "arithmetic", value)
    recorder.operation(None, SITE, first(8), "arithmetic", value, "fused")
    (line,) = recorder.counts().lines
    assert (getattr(line, field), getattr(line, f"fused_{field}")) == (32, 16)
    assert (getattr(line, f"{field}_warps"), line.fused_instructions) == (2, 2)
    assert line.instructions == 4


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
def test_local_and_constant_memory_take_instructions_but_no_traffic(name):
    recorder = CountingRecorder(GpuCountRules(find_gpu("toy")))

    class Other(Array):
        space = name

    recorder.access(
        BATCH, SITE, first(40), "load", Other, np.arange(128).reshape(SHAPE)
    )
    counts = recorder.counts()
    (access,) = counts.accesses
    assert (access.space, access.requests, access.sectors) == (name, 4, 0)
    assert access.active_lanes == 80
    assert counts.total("instructions") == 4
    assert (counts.requests, counts.sectors) == (0, 0)


def test_a_launch_that_begins_anew_has_counted_nothing(recorder):
    recorder.access(BATCH, SITE, EVERYONE, "load", Array, np.int64(7))
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
        recorder.access(BATCH, SITE, mask, "load", array, flat, shift)
    accesses = recorder.counts().accesses
    return [sum(getattr(a, name) for a in accesses) for name in AccessCost._fields]


@given(
    st.sampled_from(["toy", "t4", "k20c", "c2050", "c1060", "c870"]),
    st.lists(
        st.tuples(
            st.sampled_from([Array, Shared, Wide]),
            st.sampled_from([EVERYONE, first(8), first(40)]),
            st.sampled_from(list(LANES.values())),
            st.integers(0, 100),
        ),
        min_size=1,
        max_size=8,
    ),
)
def test_a_repeated_access_costs_what_it_costs_alone(gpu, accesses):
    rules = GpuCountRules(find_gpu(gpu))
    alone = [
        cost(CountingRecorder(rules), (array, mask, flat + shift, 0))
        for array, mask, flat, shift in accesses
    ]
    together = cost(CountingRecorder(rules), *accesses)
    assert together == [sum(part) for part in zip(*alone, strict=True)]


def test_few_iterations_of_a_loop_over_a_row_are_looked_at():
    rules = Rules()
    rows = np.arange(128).reshape(SHAPE) * 100
    accesses = [(Array, EVERYONE, rows, np.int64(k)) for k in range(40)]
    assert cost(CountingRecorder(rules), *accesses)[0] == 40 * 128
    assert rules.looked == 1 + 4  # the first, and 4 kinds of shift


def test_a_loop_over_rows_that_lie_alike_is_looked_at_twice(monkeypatch):
    looked_at = []
    cost_of = Spans.segments
    monkeypatch.setattr(
        Spans, "segments", lambda *a: looked_at.append(a) or cost_of(*a)
    )
    rows = np.arange(128).reshape(SHAPE) * 1024
    accesses = [(Array, EVERYONE, rows, np.int64(k)) for k in range(40)]
    recorder = CountingRecorder(GpuCountRules(find_gpu("toy")))
    found = AccessCost(*cost(recorder, *accesses))
    assert (found.sectors, found.tags) == (40 * 128, 40 * 128)
    assert len(looked_at) == 2 * 2  # sectors and lines, at shift 0 and at another


# Lines: how often a warp ran one.


def test_a_line_is_executed_as_often_as_its_busiest_place(recorder):
    twice = Site(SITE.line, "x + 1")
    recorder.access(BATCH, SITE, EVERYONE, "load", Array, THREADS)
    recorder.access(BATCH, SITE, first(8), "store", Array, THREADS)
    recorder.operation(None, twice, EVERYONE, "arithmetic", np.float32(1))
    recorder.operation(None, twice, EVERYONE, "arithmetic", np.float32(1))
    (line,) = recorder.counts().lines
    assert (line.instructions, line.executions) == (4 + 2 + 8, 8)
    assert line.warp_execution_efficiency == (128 + 16 + 256) / (32 * 14)


def test_a_loop_head_is_executed_at_each_decision(recorder):
    for lanes in (64, 40, 0):
        recorder.branch(None, SITE, EVERYONE, first(lanes))
    (line,) = recorder.counts().lines
    assert (line.branches, line.executions) == (12, 12)
    assert line.branch_efficiency == 1 - 2 / 12  # in both blocks one warp parts once


# Atomics: lanes that meet.


class Blocks(Shared):
    """Shared memory of two blocks, 10 elements each."""

    storage = np.zeros(20)

    def cells(self, flat):
        return flat + np.array([[0], [10]])


def atomic(recorder, array, flat, mask=EVERYONE, batch=None):
    recorder.access(batch or a_batch(), SITE, mask, "atomic", array, flat)
    (access,) = recorder.counts().accesses
    return access.serial_passes, access.hottest_address


def a_batch():
    return SimpleNamespace(first=0, shared=SharedArrays())


@pytest.fixture
def counting():
    return CountingRecorder(GpuCountRules(find_gpu("toy")))


@pytest.mark.parametrize(
    ("flat", "mask", "serial", "hottest"),
    [
        (np.int64(3), EVERYONE, 4 * 32, 128),  # every lane of 4 warps at one element
        (np.int64(3), first(40), 2 * (32 + 8), 80),
        (THREADS, EVERYONE, 4, 2),  # no two lanes of a warp; both blocks
        (THREADS % 8, EVERYONE, 4 * 4, 16),
        (np.array([[0], [1]]), EVERYONE, 4 * 32, 64),  # an element for each block
    ],
)
def test_lanes_that_meet_in_global_memory(counting, flat, mask, serial, hottest):
    assert atomic(counting, Array, flat, mask) == (serial, hottest)


def test_each_block_has_shared_elements_of_its_own(counting):
    assert atomic(counting, Blocks(), np.int64(3)) == (4 * 32, 64)


def test_meetings_add_up_over_a_launch_but_not_over_blocks(counting):
    batch, other = a_batch(), a_batch()
    atomic(counting, Blocks(), np.int64(3), batch=batch)
    atomic(counting, Blocks(), THREADS % 8, batch=batch)
    assert atomic(counting, Blocks(), np.int64(3), batch=other)[1] == 64 + 8


def test_loads_do_not_meet(counting):
    counting.access(BATCH, SITE, EVERYONE, "load", Array, np.int64(3))
    (access,) = counting.counts().accesses
    assert (access.serial_passes, access.hottest_address) == (0, 0)


def test_a_sum_that_takes_a_product_is_told_apart(recorder):
    value = np.float32(1)
    recorder.operation(BATCH, SITE, first(40), "arithmetic", value)
    recorder.operation(BATCH, SITE, first(40), "arithmetic", value, "fused")
    index = np.int64(1)
    recorder.operation(BATCH, LATER, first(40), "arithmetic", index, "fused")
    line, later = recorder.counts().lines
    assert (line.instructions, line.fused_instructions) == (8, 4)
    assert (line.fp32, line.fused_fp32, line.fused_fp64) == (160, 80, 0)
    assert (later.fused_instructions, later.fused_fp32) == (4, 0)


def test_what_comes_again_is_told_by_array_and_kind():
    recorder = CountingRecorder(GpuCountRules(find_gpu("t4")))
    row = np.arange(128).reshape(SHAPE)  # a block touches 8 sectors
    for shift in (0, 0, 8):  # again, and one sector on
        recorder.access(BATCH, SITE, EVERYONE, "load", Array, row, shift)
    recorder.access(BATCH, LATER, EVERYONE, "store", Array, THREADS)
    assert recorder.counts().reuse == recorder.counts().reuse
    load, store = recorder.counts().reuse
    assert (load.array, load.kind, load.array_bytes) == ("x", "load", 4000)
    assert (load.sectors, load.block_sectors, load.together_sectors) == (48, 18, 17)
    assert (store.sectors, store.block_sectors, store.together_sectors) == (16, 16, 8)


def test_blocks_that_run_later_are_taken_to_do_the_same():
    recorder = CountingRecorder(GpuCountRules(find_gpu("t4")))
    for first_block in (0, 2, 4):
        later = SimpleNamespace(first=first_block)
        for _ in range(2):
            row = np.arange(128).reshape(SHAPE)
            recorder.access(later, SITE, EVERYONE, "load", Array, row)
    (reuse,) = recorder.counts().reuse
    assert (reuse.sectors, reuse.block_sectors, reuse.together_sectors) == (96, 48, 48)
