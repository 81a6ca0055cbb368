"""Questions to a trace, with answers worked out by hand."""

from pathlib import Path

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tests.unit.trace.trace_kernels import mixed, reverse, trace_mixed, trace_reverse
from tinytorch_gpu import cuda, errors, settings
from tinytorch_gpu.cuda import float32, int32


def line_of(kernel, text):
    """Return the number of the first line of a kernel's file that holds a text."""
    lines = Path(kernel.py_func.__code__.co_filename).read_text("utf-8").split("\n")
    return next(n for n, line in enumerate(lines, 1) if text in line)


@pytest.fixture(scope="module")
def trace():
    return trace_reverse()


@pytest.fixture(scope="module")
def varied():
    return trace_mixed()


def test_everything_that_touched_an_element(trace):
    (row,) = trace.touching("out", 64 + 5)
    assert (row.kind, row.block, row.thread) == ("store", (1, 0, 0), (5, 0, 0))
    assert row.value == 64 + 58
    assert row.line.line == line_of(reverse, "out[i] = tile")
    assert row.line.text == "out[i] = tile[63 - t]"
    assert trace.touching("out", 64 + 40).rows == ()  # threads from 40 on store nothing


def test_shared_arrays_are_told_by_block(trace):
    rows = trace.touching("tile", 60).rows
    assert [(r.kind, r.block[0], r.thread[0], r.value) for r in rows] == [
        *(("store", b, 60, 64 * b + 60) for b in range(3)),
        *(("load", b, 3, 64 * b + 60) for b in range(3)),
    ]
    assert trace.touching("tile", 60, block=2).rows == (rows[2], rows[5])


def test_one_thread(trace):
    steps = [
        (r.step, r.kind, r.element or r.detail, r.value) for r in trace.thread(1, 2)
    ]
    assert steps == [
        (0, "load", "x[66]", 66),
        (1, "store", "tile[2]", 66),
        (2, "barrier", "block", None),
        (3, "branch", "taken", None),
        (4, "load", "tile[61]", 125),
        (5, "store", "out[66]", 125),
    ]
    (*_, last) = trace.thread((2, 0, 0), (63, 0, 0))
    assert (last.kind, last.detail) == ("branch", "not taken")


def test_one_warp(trace):
    *_, branch, load, store = trace.warp(0, 1)
    assert (branch.active, branch.taken) == ("#" * 32, "#" * 8 + "." * 24)
    assert branch.detail == "8 of 32 take it"
    assert load.active == store.active == branch.taken
    assert (load.detail, store.detail) == ("tile", "out")


def test_matrix_of_a_line(trace):
    line = line_of(reverse, "out[i] = tile")
    matrix = trace.matrix(line, block=1)
    assert [step.kind for step in matrix.steps] == ["load", "store"]
    t = np.arange(64)
    expected = np.stack([63 - t, 64 + t], axis=1)
    expected[40:] = -1
    assert (matrix.elements == expected).all()
    assert trace.matrix(line, 1, array="out").elements[:3].tolist() == [
        [64],
        [65],
        [66],
    ]
    assert trace.matrix(matrix.steps[0].line, 1).elements.tolist() == expected.tolist()


def test_first_touch(trace):
    first = trace.first_touch("out")
    i = np.arange(3 * 64)
    is_touched = i % 64 < 40
    assert (first.step == np.where(is_touched, 5, -1)).all()
    assert (first.block == np.where(is_touched, i // 64, -1)).all()
    assert (first.thread == np.where(is_touched, i % 64, -1)).all()
    assert (first.kinds == np.where(is_touched, "store", "")).all()
    tile = trace.first_touch("tile", block=2)
    assert (tile.thread == np.arange(64)).all()
    assert (tile.block == 2).all()


def test_lines_are_the_counts_of_the_launch(trace):
    assert trace.lines().rows == trace.counts.lines
    assert "if t < 40:" in str(trace.lines())


def test_indices_are_those_of_the_parameter(varied):
    # m is the transpose of a 3 x 2 array: m[1] holds its odd numbers.
    rows = varied.thread(0, 2).rows
    told = [(r.kind, r.element, r.value) for r in rows if r.array and r.kind == "load"]
    assert told == [("load", "m[1, 0]", 1), ("load", "m[1, 1]", 3)]
    stores = varied.touching("m", (0, 1)).rows
    assert (
        stores == varied.touching("target", (0, 1)).rows
    )  # the device function's name
    assert {r.thread[0] for r in stores} == set(range(1, 30, 2))
    assert {(r.kind, r.value, r.line.kernel) for r in stores} == {("store", 7.0, "put")}


def test_local_arrays_are_told_by_thread(varied):
    rows = varied.touching("own", (1, 1), block=1, thread=5).rows
    assert [(r.kind, r.value) for r in rows] == [("store", 3)]
    assert len(varied.touching("own", (1, 1))) == 20  # t % 3 == 2: 10 threads, 2 blocks


def test_atomics_tell_what_was_there_before(varied):
    rows = varied.touching("counts", 0).rows
    assert [(r.kind, r.thread[0], r.value) for r in rows] == [
        ("atomic", 30, 0), ("atomic", 31, 5), ("atomic", 30, 10), ("atomic", 31, 15)
    ]  # fmt: skip


def test_lanes_that_leave_a_loop(varied):
    # Lane t goes round t % 3 times: a third of the 32 lanes 0, 1 and 2 times.
    tests = [r for r in varied.warp(0, 0) if r.kind == "branch"][:3]
    assert [r.active.count("#") for r in tests] == [32, 21, 10]
    assert tests[0].taken == ".##" * 10 + ".#"
    assert tests[1].taken == "..#" * 10 + ".."


def test_warp_operations_and_fences(varied):
    told = [
        (r.kind, r.detail) for r in varied.thread(0, 0) if r.kind in ("warp", "fence")
    ]
    assert told == [("warp", "shfl_sync"), ("fence", "threadfence_block")]


@cuda.jit
def rows_of_a_tile(out):
    tile = cuda.shared.array((2, 32), float32)
    t = cuda.threadIdx.x
    tile[1][t] = t
    row = tile[1]
    out[t] = row[31 - t]


def test_a_row_of_a_shared_array():
    with simgpu.tracing() as traces:
        rows_of_a_tile[1, 32](np.zeros(32, np.float32))
    rows = traces[0].touching("tile", (1, 30)).rows
    told = [(r.kind, r.thread[0], r.array, r.index) for r in rows]
    assert told == [("store", 30, "tile", (1, 30)), ("load", 1, "tile", (1, 30))]
    assert traces[0].touching("row", (1, 30)).rows == rows


@cuda.jit
def two_dynamic_arrays(out):
    ints = cuda.shared.array(0, int32)
    floats = cuda.shared.array(0, float32)
    t = cuda.threadIdx.x
    floats[t] = 1
    out[t] = ints[t]


def test_two_arrays_over_the_same_shared_memory():
    with simgpu.tracing() as traces:
        two_dynamic_arrays[1, 32, 0, 128](np.zeros(32, np.float32))
    for name in ("ints", "floats"):
        rows = traces[0].touching(name, 3).rows
        told = [(r.kind, r.element, r.value) for r in rows]
        assert told == [("store", "floats[3]", 1), ("load", "ints[3]", 0x3F800000)]


def test_two_parameters_over_the_same_memory():
    x = cuda.to_device(np.zeros(64, np.float32))
    with simgpu.tracing() as traces:
        reverse[1, 64](x, x)
    kinds = [r.kind for r in traces[0].touching("out", 5)]
    assert kinds == ["load", "store"]  # also what came through x
    assert traces[0].thread(0, 5).rows[-1].element == "out[5]"


def test_a_view_as_a_parameter():
    x = cuda.to_device(np.arange(200, dtype=np.float32))
    with simgpu.tracing() as traces:
        reverse[1, 64](x[2:130:2], x[130:])
    (row,) = traces[0].touching("x", 3)
    assert row.value == 8
    assert traces[0].touching("out", 3).rows[0].value == 2 + 2 * 60


@pytest.mark.parametrize("schedule", ["warps", "reversed", "shuffled"])
def test_other_orders_of_warps(schedule):
    with settings.override(schedule=schedule):
        trace = trace_reverse()
    rows = trace.touching("tile", 60, block=1).rows
    assert [(r.kind, r.thread[0], r.value) for r in rows] == [
        ("store", 60, 124), ("load", 3, 124)
    ]  # fmt: skip
    *_, branch, _, store = trace.warp(0, 1)
    assert branch.taken == store.active == "#" * 8 + "." * 24
    line = line_of(reverse, "tile[t] = x[i]")
    matrix = trace.matrix(line, array="x")
    assert (matrix.elements.max(axis=1) == np.arange(64)).all()
    assert ((matrix.elements >= 0).sum(axis=1) == 1).all()


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda t: t.touching("y", 0), "it knows x, out, tile"),
        (
            lambda t: t.touching("out", 192),
            "it has shape (192,); its last element is [191]",
        ),
        (lambda t: t.touching("out", -1), "shape (192,)"),
        (lambda t: t.touching("out", (1, 2)), "shape (192,)"),
        (lambda t: t.touching("tile", 0, block=3), "it has 3: 3 x 1 x 1"),
        (lambda t: t.touching("tile", 0, thread=64), "it has 64: 64 x 1 x 1"),
        (lambda t: t.thread(0, (0, 1, 0)), "it has 64: 64 x 1 x 1"),
        (lambda t: t.warp(0, 2), "it has 2: 2 x 1 x 1"),
        (lambda t: t.matrix(1), "lines that touch memory:"),
        (lambda t: t.matrix("x"), "lines that touch memory:"),
        (lambda t: t.touching("out", "a"), "shape (192,)"),
        (lambda t: t.touching("out", 1.5), "shape (192,)"),
        (lambda t: t.thread(0, "a"), "it has 64: 64 x 1 x 1"),
        (lambda t: t.thread(0.5, 0), "it has 3: 3 x 1 x 1"),
        (lambda t: t.first_touch("y"), "it knows x, out, tile"),
    ],
)
def test_questions_without_an_answer(trace, ask, told):
    with pytest.raises(errors.TraceQueryError) as caught:
        ask(trace)
    assert told in caught.value.why
    assert caught.value.fix


def test_an_empty_answer_of_a_trace_that_lacks_something_is_an_error():
    whole = trace_reverse()
    first = trace_reverse(budget=whole.steps[0].where.blocks.nbytes + 4096)
    assert 0 < len(first.steps) < first.seen
    chosen = trace_reverse(blocks=[1], warps=[0])
    asked = [
        *(lambda: first.touching("out", 5), lambda: first.first_touch("out")),
        *(lambda: trace_reverse(budget=0).thread(0, 3),),
        *(lambda: trace_reverse(budget=0).warp(0, 1),),
        *(lambda: chosen.touching("x", 5), lambda: chosen.touching("x", 99, block=1)),
    ]
    for ask in asked:
        with pytest.raises(errors.TraceQueryError, match="holds nothing of") as caught:
            ask()
        assert "kept" in caught.value.why
        assert max(map(len, str(caught.value).split("\n"))) <= 91
    # Of what was chosen and is kept in full an empty answer is true.
    assert trace_reverse(blocks=[1]).touching("x", 5, block=1).rows == ()


def test_lines_of_a_launch_that_stopped():
    @cuda.jit
    def past_the_end(x):
        x[cuda.grid(1)] = 1

    x = np.zeros(5)
    with simgpu.tracing() as traces, pytest.raises(errors.OutOfBoundsError):
        past_the_end[1, 32](x)
    with pytest.raises(errors.TraceQueryError) as caught:
        traces[0].lines()
    assert "OutOfBoundsError" in caught.value.why
    assert "counters" not in caught.value.fix


def test_lines_of_a_launch_without_counts():
    with settings.override(counters=False):
        trace = trace_reverse()
    with pytest.raises(errors.TraceQueryError, match="no counts"):
        trace.lines()


def test_tables_have_at_most_100_columns(trace, varied):
    answers = [
        trace.touching("tile", 60), trace.thread(1, 2), trace.warp(0, 1),
        trace.matrix(line_of(reverse, "out[i] = tile")), trace.first_touch("out"),
        trace.lines(), varied.touching("m", (0, 1)), varied.warp(0, 0),
        varied.matrix(line_of(mixed, "own[1, k] =")),
    ]  # fmt: skip
    lines = [line for answer in answers for line in str(answer).split("\n")]
    assert max(map(len, lines)) <= 100
    assert "... 152 more rows, all of them in .rows" in lines  # 192 elements of out


def test_an_empty_answer_says_nothing(trace):
    assert str(trace.touching("out", 63)) == "everything that touched out[63]\nnothing"
