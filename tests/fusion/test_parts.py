"""The parts of the search: places, values, numbers that remember, graphs, bills."""

import numpy as np
import pytest

from tinytorch_gpu import cuda, library, profiler
from tinytorch_gpu.fusion.arguments import leaves, lies_in
from tinytorch_gpu.fusion.bill import Bill
from tinytorch_gpu.fusion.flow import flow_of
from tinytorch_gpu.fusion.graph import GraphBuilder
from tinytorch_gpu.fusion.row_text import row_kernel_text
from tinytorch_gpu.fusion.scalars import derived, labelled
from tinytorch_gpu.fusion.space import Place, placed
from tinytorch_gpu.fusion.text import kernel_text, number_text
from tinytorch_gpu.library.uses import use_of
from tinytorch_gpu.trace import ArrayUse


def flow(function, *args):
    with profiler.profile() as prof:
        kept = function(*args)
    found = flow_of(prof.events())
    del kept
    return found


def test_each_step_knows_who_made_what_it_reads(arrays):
    found = flow(lambda x: np.exp(x * 2.0) + x, *arrays((4, 4)))
    mul, exp, add = found.steps
    assert [step.op for step in found.steps] == ["mul", "exp", "add"]
    assert exp.reads[0].made_by is mul
    assert [v.made_by for v in add.reads] == [exp, None]
    assert [reader.op for reader, _ in mul.made[0].readers] == ["exp"]
    assert mul.reads[0] is add.reads[1]


def test_in_place_a_new_value_begins(arrays):
    def program(x):
        x += 1.0
        return x * 2.0

    add, mul = flow(program, *arrays((4, 4))).steps
    assert add.is_in_place
    assert add.over == (add.reads[0],)
    assert mul.reads[0] is add.made[0]


def test_freed_memory_is_no_value_of_the_next_array(arrays):
    def program(x):
        for _ in range(2):
            y = x * 2.0
            del y
        return x + 1.0

    first, second, _ = flow(program, *arrays((4, 4))).steps
    assert first.made[0].use.address == second.made[0].use.address
    assert second.over == ()
    assert not second.is_in_place


def test_a_copy_to_the_host_is_a_read(arrays):
    def program(x):
        y = x * 2.0
        y.copy_to_host()
        return y

    found = flow(program, *arrays((4, 4)))
    assert len(found.steps[0].made[0].host_reads) == 1
    assert len(found.copies) == 1


def test_fill_reads_nothing():
    def program():
        x = cuda.device_array(4, np.float32)
        library.call("fill", x, 1.0)
        return x

    (fill,) = flow(program).steps
    assert fill.every_read == ()


@pytest.mark.parametrize(
    ("shape", "strides", "space", "wanted"),
    [
        ((2, 3), (12, 4), (2, 3), (12, 4)),
        ((3,), (4,), (2, 3), (0, 4)),
        ((2, 1), (4, 4), (2, 3), (4, 0)),
        ((), (), (2, 3), (0, 0)),
        ((2,), (4,), (2, 3), None),
        ((1, 2, 3), (24, 12, 4), (2, 3), None),
    ],
)
def test_an_array_is_placed_as_numpy_broadcasts(shape, strides, space, wanted):
    found = placed(ArrayUse(512, shape, strides, "float32"), space)
    assert found == (None if wanted is None else Place(512, wanted, "float32"))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.1, "float32(0.1)"),
        (np.float32(1.702), "float32(1.702)"),
        (3, "float32(3.0)"),
        (-2, "float32(-2.0)"),
        (1e-8, "float32(1.0e-08)"),
        (float("nan"), "float32(math.nan)"),
        (float("inf"), "float32(math.inf)"),
        (0, "float32(0.0)"),
    ],
)
def test_numbers_are_written_as_float32(value, text):
    assert number_text(value) == text
    number = eval(text, {"float32": np.float32, "math": __import__("math")})
    assert number == np.float32(value) or np.isnan(number)


def test_leaves_have_names():
    value = {"w": [1.0, (2.0, None)]}
    assert [leaf.name for leaf in leaves(value, "p")] == ["p_w_0", "p_w_1_0", "p_w_1_1"]


def test_a_view_lies_in_the_memory_of_its_array(arrays):
    x, y = arrays((6, 8), (6, 8))
    assert lies_in(use_of(x[1::2, 2:5]), x)
    assert lies_in(use_of(x), x[1:])
    assert not lies_in(use_of(y), x)


def test_numbers_that_are_made_of_named_ones_have_names():
    named = labelled("step", 2)
    assert derived("rate", lambda b, n: 1 - b**n, 0.5, named) == 0.75
    assert derived("rate", lambda b, n: 1 - b**n, 0.5, named).label == "rate"
    assert not hasattr(derived("rate", lambda b: b, 0.5), "label")


def test_equal_nodes_are_one_line():
    build = GraphBuilder()
    x = build.read("x")
    twice = build.apply("add", x, x)
    again = build.apply("add", x, x)
    graph = build.graph([build.apply("mul", twice, again)], ["x"], ["out"])
    assert kernel_text("f", graph).count("x_i + x_i") == 1


def test_a_row_kernel_has_a_pass_for_each_reduction():
    build = GraphBuilder()
    x = build.read("x")
    total = build.reduce("sum", build.apply("exp", x))
    graph = build.graph([build.apply("div", x, total)], ["x"], ["out"])
    text = row_kernel_text("f", graph)
    assert text.count("for k in range(tid, n, cuda.blockDim.x):") == 2
    assert text.count("block_sum(") == 2  # defined, and called once
    assert text.startswith("import math\n\nfrom numba import cuda, float32\n")


def test_a_bill_counts_what_kernels_wait_for():
    assert Bill.of([2.0, 9.0, 2.0], 96, 5.0).time_ns == 5 + 5 + 9 + 2
    assert str(Bill.of([2000.0], 96, 5000.0)) == (
        "1 launch, 96 B of DRAM traffic, modelled 7.00 µs"
    )
