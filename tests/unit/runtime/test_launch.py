"""The one path of every launch: counts that can be worked out by hand, replays, copies."""

import numpy as np
import pytest

from tinytorch_gpu import cuda, settings
from tinytorch_gpu.cuda import float32
from tinytorch_gpu.runtime import current_device, launch, use_gpu

N = 65_536


@pytest.fixture(autouse=True)
def fresh():
    """Start with a T4 that has nothing to replay."""
    use_gpu("t4").replays.clear()


@pytest.fixture
def records():
    told = []
    current_device().timeline.listeners.append(told.append)
    yield told
    current_device().timeline.listeners.clear()


def run(kernel, grid, block, *arguments):
    return launch(kernel, grid, block, arguments)


def on_device(*shapes, dtype=np.float32):
    return [cuda.to_device(np.ones(shape, dtype)) for shape in shapes]


# Counts by hand.


@cuda.jit
def vector_add(x, y, out):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i] + y[i]


@cuda.jit
def strided_copy(x, out, stride):
    i = cuda.grid(1)
    if i < out.size:
        out[i] = x[i * stride]


def test_vector_add_needs_4_sectors_for_each_request():
    counts = run(vector_add, N // 256, 256, *on_device(N, N, N)).counts
    assert counts.requests == 3 * N // 32
    assert counts.sectors == 3 * N // 8
    assert counts.sectors_per_request == 4.0
    assert [a.sectors_per_request for a in counts.accesses] == [4.0] * 3
    assert [(a.array, a.kind, a.bytes_requested) for a in counts.accesses] == [
        ("x", "load", 4 * N),
        ("y", "load", 4 * N),
        ("out", "store", 4 * N),
    ] or {a.array for a in counts.accesses} == {"x", "y", "out"}
    assert counts.total("fp32") == N
    assert counts.total("fp64") == counts.total("special") == counts.barriers == 0


@pytest.mark.parametrize(
    ("stride", "sectors"), [(1, 4.0), (2, 8.0), (4, 16.0), (32, 32.0)]
)
def test_a_stride_spreads_a_request_over_sectors(stride, sectors):
    n = 2048
    x, out = on_device(n * stride, n)
    counts = run(strided_copy, n // 256, 256, x, out, stride).counts
    load = next(a for a in counts.accesses if a.kind == "load")
    assert load.sectors_per_request == sectors
    assert load.active_lanes == n


@pytest.mark.parametrize(
    ("dtype", "sectors"),
    [("int8", 1.0), ("float16", 2.0), ("float32", 4.0), ("int64", 8.0)],
)
def test_sectors_follow_the_size_of_an_element(dtype, sectors):
    counts = run(strided_copy, 8, 256, *on_device(2048, 2048, dtype=dtype), 1).counts
    assert counts.sectors_per_request == sectors


def test_a_view_that_is_not_aligned_needs_one_sector_more():
    x, out = on_device(2049, 2048)
    counts = run(strided_copy, 8, 256, x[1:], out, 1).counts
    load = next(a for a in counts.accesses if a.kind == "load")
    assert load.sectors_per_request == 5.0


@cuda.jit
def same_address(x, out):
    i = cuda.grid(1)
    out[i] = x[0] + x[cuda.blockIdx.x]


def test_one_address_is_one_sector():
    counts = run(same_address, 4, 64, *on_device(4, 256)).counts
    loads = [a for a in counts.accesses if a.kind == "load"]
    assert [(a.requests, a.sectors) for a in loads] == [(8, 8)] * 2


@cuda.jit
def diverging(out):
    t = cuda.threadIdx.x
    if t < 40:
        out[t] = 1
    else:
        out[t] = 2
    if t < 32:
        out[t] = 3


def line_of(counts, text):
    return next(line for line in counts.lines if line.line.text == text)


def test_divergence_and_active_lanes_by_hand():
    # 80 threads: warps of 32, 32 and 16. `t < 40` parts warp 1 (8 and 24 lanes).
    counts = run(diverging, 1, 80, *on_device(80)).counts
    first, second = line_of(counts, "if t < 40:"), line_of(counts, "if t < 32:")
    assert (first.branches, first.divergent_branches) == (3, 1)
    assert (second.branches, second.divergent_branches) == (3, 0)
    assert (first.instructions, first.active_lanes, first.integer) == (3, 80, 80)
    stores = {a.line.text: (a.requests, a.active_lanes) for a in counts.accesses}
    assert stores == {
        "out[t] = 1": (2, 40),
        "out[t] = 2": (2, 40),
        "out[t] = 3": (1, 32),
    }
    assert line_of(counts, "out[t] = 1").instructions == 2


@cuda.jit
def uniform_branch(out):
    if cuda.blockIdx.x == 0:
        out[cuda.grid(1)] = 1


def test_a_branch_that_whole_warps_take_does_not_diverge():
    counts = run(uniform_branch, 4, 64, *on_device(256)).counts
    assert (counts.total("branches"), counts.total("divergent_branches")) == (8, 0)


@cuda.jit
def triangle(out):
    t = cuda.threadIdx.x
    for k in range(t % 4):
        out[t] += k


def test_a_loop_of_each_lane_runs_until_the_slowest_is_done():
    counts = run(triangle, 1, 32, *on_device(32)).counts
    stores = next(a for a in counts.accesses if a.kind == "store")
    assert (stores.requests, stores.active_lanes) == (3, 24 + 16 + 8)
    loop = line_of(counts, "for k in range(t % 4):")
    assert (loop.branches, loop.divergent_branches) == (4, 3)


@cuda.jit
def arithmetic(x, out):
    i = cuda.grid(1)
    out[i] = x[i] * x[i] / 2.0 + i


def test_operations_are_counted_by_type():
    counts = run(arithmetic, 2, 32, *on_device(64, 64)).counts
    assert counts.total("fp32") == 64  # x * x
    assert counts.total("special") == 64  # the division
    assert counts.total("fp64") == 64  # + i, of a float64


@cuda.jit
def columns(out):
    tile = cuda.shared.array((32, 32), float32)
    t = cuda.threadIdx.x
    tile[0, t] = t
    tile[t, 0] = t
    cuda.syncthreads()
    out[t] = tile[0, 0]


def test_bank_conflicts_of_a_column_are_32_passes():
    counts = run(columns, 1, 32, *on_device(32)).counts
    shared = {
        (a.kind, a.line.text): a.wavefronts
        for a in counts.accesses
        if a.space == "shared"
    }
    assert shared == {
        ("store", "tile[0, t] = t"): 1,
        ("store", "tile[t, 0] = t"): 32,
        ("load", "out[t] = tile[0, 0]"): 1,
    }
    assert counts.barriers == 1


@pytest.mark.parametrize(
    "kernel", [vector_add, diverging, triangle, columns, uniform_branch]
)
def test_counts_do_not_depend_on_the_batch_size(kernel):
    arguments = on_device(*[4 * 80] * len(kernel.parameters))
    found = []
    for lanes in (32, 96, 16_384):
        with settings.override(batch_lanes=lanes, replay=False):
            block = 32 if kernel is columns else 80
            found.append(run(kernel, 4, block, *arguments).counts)
    assert found[0] == found[1] == found[2]


@cuda.jit
def loop_of_each_block(out):
    total = 0
    for k in range(-cuda.blockIdx.x % 3):
        total += k
    out[cuda.grid(1)] = total


def test_branches_of_a_loop_are_counted_whether_its_bound_is_uniform_or_not():
    found = []
    for lanes in (64, 16_384):
        with settings.override(batch_lanes=lanes, replay=False):
            found.append(run(loop_of_each_block, 2, 40, *on_device(80)).counts)
    assert found[0] == found[1]
    loop = line_of(found[0], "for k in range(-cuda.blockIdx.x % 3):")
    assert (
        loop.branches == 2 * 1 + 2 * 3
    )  # two warps: block 0 ends at once, 1 runs twice


# The record.


def test_the_record_says_what_ran():
    record = run(vector_add, (3, 2), (8, 4), *on_device(40, 40, 40))
    assert record.kernel.name == "vector_add"
    assert record.kernel.file == __file__
    assert (record.grid, record.block) == ((3, 2, 1), (8, 4, 1))
    assert (record.op, record.shared_bytes, record.is_replayed) == ("", 0, False)
    assert record.duration_ns > 0
    assert record.issue_ns == current_device().spec.launch_issue_ns
    assert record.bound


def test_shared_memory_is_in_the_record():
    assert run(columns, 1, 32, *on_device(32)).shared_bytes == 4096


def test_listeners_get_the_record_that_is_returned(records):
    x = on_device(40, 40, 40)
    records.clear()
    record = run(vector_add, 1, 64, *x)
    assert records == [record]


# Replays.


def test_the_second_equal_launch_is_replayed_with_equal_counts():
    first = run(vector_add, 8, 256, *on_device(2000, 2000, 2000))
    second = run(vector_add, 8, 256, *on_device(2000, 2000, 2000))
    assert (first.is_replayed, second.is_replayed) == (False, True)
    assert second.counts == first.counts
    assert second.duration_ns == first.duration_ns


def test_values_are_computed_in_a_replay_too():
    x, y, out = on_device(100, 100, 100)
    run(vector_add, 1, 128, x, y, out)
    x.copy_to_device(np.full(100, 41, np.float32))
    assert run(vector_add, 1, 128, x, y, out).is_replayed
    assert (out.copy_to_host() == 42).all()


def test_host_arrays_are_replayed_too():
    arrays = np.ones((3, 100), np.float32)
    run(vector_add, 1, 128, *arrays)
    assert run(vector_add, 1, 128, *arrays).is_replayed


OTHERS = {
    "shape": lambda: (8, 256, *on_device(2000, 2000, 1999)),
    "dtype": lambda: (8, 256, *on_device(2000, 2000, 2000, dtype=np.int32)),
    "grid": lambda: (9, 256, *on_device(2000, 2000, 2000)),
    "block": lambda: (8, (128, 2), *on_device(2000, 2000, 2000)),
    "alignment": lambda: (8, 256, on_device(2001)[0][1:], *on_device(2000, 2000)),
    "stride": lambda: (8, 256, on_device(4000)[0][::2], *on_device(2000, 2000)),
}


@pytest.mark.parametrize("other", OTHERS.values(), ids=OTHERS)
def test_another_launch_is_counted_anew(other):
    run(vector_add, 8, 256, *on_device(2000, 2000, 2000))
    assert not run(vector_add, *other()).is_replayed


def test_a_scalar_that_steers_is_counted_anew_and_an_equal_one_replayed():
    x, out = on_device(4096, 2048)
    first = run(strided_copy, 8, 256, x, out, 1)
    assert not run(strided_copy, 8, 256, x, out, 2).is_replayed
    again = run(strided_copy, 8, 256, x, out, 1)
    assert again.is_replayed
    assert again.counts == first.counts


@cuda.jit
def scaled(x, factor):
    i = cuda.grid(1)
    x[i] = x[i] * factor


def test_a_scalar_that_is_only_computed_with_is_replayed_but_not_another_type():
    (x,) = on_device(32)
    run(scaled, 1, 32, x, 2.0)
    assert run(scaled, 1, 32, x, 3.0).is_replayed
    other = run(scaled, 1, 32, x, np.float32(3))
    assert not other.is_replayed
    assert (other.counts.total("fp32"), other.counts.total("fp64")) == (32, 0)


@cuda.jit
def branch_on_data(x, out):
    i = cuda.grid(1)
    if x[i] > 0:
        out[i] = 1


@cuda.jit
def index_from_data(x, out):
    i = cuda.grid(1)
    j: int = int(x[i])
    out[j] = 1


@cuda.jit(device=True)
def inner(x, i):
    return x[i] if x[0] > 0 else x[0]


@cuda.jit
def data_in_a_device_function(x, out):
    i = cuda.grid(1)
    out[i] = inner(x, i)


STEERED = (branch_on_data, index_from_data, data_in_a_device_function)


@pytest.mark.parametrize("kernel", STEERED)
def test_a_kernel_that_data_steers_is_never_replayed(kernel):
    ones, zeros = on_device(32)[0], cuda.to_device(np.zeros(32, np.float32))
    out = cuda.to_device(np.zeros(32, np.float32))
    first = run(kernel, 1, 32, ones, out)
    assert not run(kernel, 1, 32, ones, out).is_replayed
    other = run(kernel, 1, 32, zeros, out)
    assert not other.is_replayed
    assert (other.counts == first.counts) == (kernel is index_from_data)


def test_replays_can_be_switched_off():
    arrays = on_device(100, 100, 100)
    run(vector_add, 1, 128, *arrays)
    with settings.override(replay=False):
        assert not run(vector_add, 1, 128, *arrays).is_replayed


def test_without_counters_there_are_no_counts_but_the_values():
    x, y, out = on_device(100, 100, 100)
    with settings.override(counters=False):
        record = run(vector_add, 1, 128, x, y, out)
    assert record.counts is None
    assert not record.is_replayed
    assert record.duration_ns > 0
    assert (out.copy_to_host() == 2).all()


def test_two_kernels_of_one_name_are_two():
    def make(value):
        @cuda.jit
        def kernel(out):
            for _ in range(value):
                out[cuda.grid(1)] += 1

        return kernel

    (out,) = on_device(32)
    run(make(1), 1, 32, out)
    record = run(make(5), 1, 32, out)
    assert not record.is_replayed
    assert record.counts.accesses[0].requests == 5


# Host arrays.


def test_host_arrays_are_copied_in_and_back(records):
    x, y, out = np.ones((3, 100), np.float32)
    run(vector_add, 1, 128, x, y, out)
    assert (out == 2).all()
    copies = [(r.direction, r.bytes) for r in records if hasattr(r, "direction")]
    assert copies == [("h2d", 400)] * 3 + [("d2h", 400)] * 3
    assert "argument `out` of vector_add" in records[-1].reason


def test_a_host_array_that_is_given_twice_is_one(records):
    x, out = np.ones((2, 100), np.float32)
    run(vector_add, 1, 128, x, x, out)
    assert [r.direction for r in records if hasattr(r, "direction")] == [
        "h2d",
        "h2d",
        "d2h",
        "d2h",
    ]
    assert (out == 2).all()


@cuda.jit
def write_first_read_second(x, same):
    i = cuda.grid(1)
    x[i] = 5
    same[i] = same[i] + 1


@pytest.mark.parametrize("place", [np.asarray, cuda.to_device])
def test_the_same_array_twice_is_one_memory(place):
    x = place(np.zeros(32, np.float32))
    run(write_first_read_second, 1, 32, x, x)
    assert (x[0], x[31]) == (6, 6)


def test_device_arrays_are_not_copied(records):
    arrays = on_device(100, 100, 100)
    records.clear()
    run(vector_add, 1, 128, *arrays)
    assert len(records) == 1


def test_a_read_only_host_array_is_copied_in_and_not_back(records):
    x, y, out = np.ones((3, 100), np.float32)
    x.flags.writeable = False
    run(vector_add, 1, 128, x, y, out)
    back = [r.reason for r in records if getattr(r, "direction", "") == "d2h"]
    assert len(back) == 2
    assert not any("`x`" in reason for reason in back)


@pytest.mark.parametrize(
    "view", [lambda a: a[::2], lambda a: a[::-1], lambda a: a.reshape(2, -1).T[:, 0]]
)
def test_strided_host_arrays_are_filled_in_place(view):
    base = np.zeros(64, np.float32)
    out = view(base)
    x = np.arange(out.size, dtype=np.float32)
    run(vector_add, 1, 64, x, x, out)
    assert (out == 2 * x).all()
    assert np.shares_memory(out, base)


def test_no_memory_stays_behind():
    before = current_device().allocator.allocated_bytes
    run(vector_add, 1, 128, *np.ones((3, 100), np.float32))
    assert current_device().allocator.allocated_bytes == before


# Scalars.


@cuda.jit
def store_scalar(out, value):
    out[0] = value * 2
    out[1] = value / 3


@pytest.mark.parametrize(
    ("value", "doubled"),
    [
        (7, 14),
        (0.5, 1.0),
        (True, 2),
        (np.int8(100), 200),
        (np.float32(0.1), 2 * float(np.float32(0.1))),
        (np.uint64(2**63), 2.0**64 - 2.0**64),
        (-(2**62), float(-(2**63))),
    ],
)
def test_scalars_have_numbas_types(value, doubled):
    out = np.zeros(2)
    run(store_scalar, 1, 1, out, value)
    assert out[0] == doubled


@pytest.mark.parametrize("grid", [2, (2,), (2, 1), [2], np.int32(2)])
def test_forms_of_a_grid(grid):
    assert run(vector_add, grid, 64, *on_device(100, 100, 100)).grid == (2, 1, 1)


@pytest.mark.parametrize("block", [1024, (32, 32), (4, 4, 64), (1024, 1, 1)])
def test_blocks_of_the_largest_size(block):
    assert run(vector_add, 1, block, *on_device(9, 9, 9)).block[0] <= 1024
