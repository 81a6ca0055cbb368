"""What is found in TinyTorch's own code is what these tables list, and nothing else."""

import re
from itertools import pairwise

import numpy as np
import pytest

from tests.fusion import programs
from tinytorch_gpu import cuda, fusion, installed, library, profiler
from tinytorch_gpu.tinytorch import SGD, Adam, Linear, ReLU, Tensor

SIGMOID = "mul abs neg exp ge where add div"
ADAM = "mul mul add mul mul mul add div div sqrt add div mul sub"

# program, shapes: (kind, ops, arrays stored)
LEGAL = [
    ("gelu", [(64, 128)], "element-wise chain", f"maximum {SIGMOID} mul", 1),
    ("short_gelu", [(64, 128)], "element-wise chain", "mul exp add div", 1),
    ("softmax", [(64, 128)], "row reduction", "max maximum sub exp sum maximum div", 1),
    (
        "layer_norm",
        [(64, 128), (128,), (128,)],
        "row reduction",
        "mean sub mul mean add sqrt div mul add",
        1,
    ),
    ("bias_relu", [(64, 100), (100,)], "bias + activation", "add maximum", 1),
    (
        "residual",
        [(32, 64), (64, 64), (64,)],
        "element-wise chain",
        "add maximum add",
        1,
    ),
    ("two_roots", [(40, 50)], "repeated reads", "exp tanh", 2),
    ("square_sum", [(40, 50)], "row reduction", "mul sum", 1),
    ("in_place", [(40, 50), (40, 50)], "element-wise chain", "mul add mul", 1),
]

# program, shapes: the rule that forbids it, between which ops
ILLEGAL = [
    ("gelu_with_host", [(64, 128)], "host read", "mul", "div"),
    ("gelu_with_host", [(64, 128)], "barrier", "mul", "max"),
    ("gelu_with_consumer", [(64, 64)], "consumer", "exp", "add"),
    ("gelu_in_other_order", [(64, 128)], "shape", "exp", "mul"),
    ("gelu_on_shifted", [(1000,)], "alias", "mul", "add"),
    ("softmax", [(64, 10)], "shape", "exp", "sum"),
    ("softmax", [(4, 5000)], "barrier", "exp", "sum"),
    ("softmax_over_columns", [(64, 128)], "barrier", "exp", "sum"),
    ("of_rows", [(3, 10, 40), (10,)], "shape", "mul", "add"),
    ("normal", [(4, 6, 40), (), (4, 1, 1)], "shape", "sub", "mul"),
    ("layer_norm_over_all", [(64, 128)], "barrier", "mean", "sub"),
    ("bias_of_rows", [(64, 100), (100,)], "shape", "mul", "add"),
    ("adam_with_host", [(50, 60)] * 3, "host read", "add", "mul"),
    ("residual_with_consumer", [(64, 64), (64, 64)], "consumer", "maximum", "mul"),
]


def stores(one):
    """Count the lines of a kernel that store into an array."""
    return len(re.findall(r"^ +out\w*\[.*\] = ", one.source, re.MULTILINE))


@pytest.mark.parametrize(("name", "shapes", "kind", "ops", "stored"), LEGAL)
def test_found_is_what_the_table_lists(found, arrays, name, shapes, kind, ops, stored):
    told = found(getattr(programs, name), *arrays(*shapes))
    assert [(one.kind, " ".join(one.ops)) for one in told] == [(kind, ops)]
    assert told[0].before.launches == len(ops.split())
    assert told[0].after.launches == 1
    assert stores(told[0]) == stored
    assert told[0].saved_ns == told[0].before.time_ns - told[0].after.time_ns > 0


@pytest.mark.parametrize(("name", "shapes", "kind", "maker", "reader"), ILLEGAL)
def test_what_is_illegal_is_refused_with_the_rule(
    found, arrays, name, shapes, kind, maker, reader
):
    told = found(getattr(programs, name), *arrays(*shapes))
    assert (kind, maker, reader) in [(r.kind, r.maker, r.reader) for r in told.refused]
    pairs = [pair for one in told for pair in pairwise(one.ops)]
    assert (maker, reader) not in pairs


@pytest.mark.parametrize("dtype", ["float64", "int64"])
def test_float64_and_integers_are_refused(found, arrays, dtype):
    told = found(programs.bias_relu, *arrays((64, 100), (100,), dtype=dtype))
    assert not len(told)
    assert [r.kind for r in told.refused] == ["dtype"]


def test_a_learners_own_kernel_is_refused(found, arrays):
    def exp(x, out=None):
        return x + 1.0

    with library.override("tinytorch::exp", "simgpu", exp):
        told = found(programs.short_gelu, *arrays((8, 8)))
    assert [(r.kind, r.maker, r.reader) for r in told.refused] == [
        ("no rule", "mul", "exp"),
        ("no rule", "exp", "add"),
    ]
    assert "not by our kernel" in told.refused[0].text
    assert [one.ops for one in told] == [("add", "div")]


def test_a_kernel_that_no_op_launched_is_a_wall(found, arrays):
    @cuda.jit
    def touch(x):
        x[0, 0] = x[0, 0]

    def program(x):
        y = x * 2.0
        touch[1, 1](y)
        return y + 1.0

    told = found(program, *arrays((8, 8)))
    assert [(r.kind, r.maker, r.reader) for r in told.refused] == [
        ("unknown launch", "mul", "add")
    ]


def test_an_input_that_is_overwritten_before_the_end_is_refused(found, arrays):
    def program(x, y):
        a = np.exp(x)
        np.matmul(y, y, out=x)  # where the fused kernel would stand, x is another
        return a * 2.0

    told = found(program, *arrays((8, 8), (8, 8)))
    assert ("alias", "exp", "mul") in [
        (r.kind, r.maker, r.reader) for r in told.refused
    ]
    assert not len(told)


def test_a_value_that_others_read_later_is_stored_too(found, arrays):
    def program(x, weight):
        y = np.exp(x)
        z = y * 2.0
        return z, y @ weight

    told = found(program, *arrays((32, 32), (32, 32)))
    assert [(one.ops, stores(one)) for one in told] == [(("exp", "mul"), 2)]
    assert "1 more value is stored, for matmul" in told[0].why


def test_freed_memory_that_is_used_again_is_another_value(found, arrays):
    def program(x):
        y = x @ x
        del y
        return (x * 2.0) @ x  # lies where y lay

    assert not len(found(program, *arrays((32, 32))))


def test_the_users_lines_are_told_where_the_profile_keeps_them(found, arrays):
    (one,) = found(programs.bias_relu, *arrays((64, 100), (100,)))
    assert one.lines == ("programs.py:30  return np.maximum(x + bias, 0.0)",)
    with profiler.profile() as prof:
        kept = programs.bias_relu(*arrays((64, 100), (100,)))
    assert fusion.opportunities(prof)[0].lines == ()
    del kept


@pytest.fixture
def parameters():
    """Parameters of a 64-32-10 network on simgpu, with gradients."""
    rng = np.random.default_rng(1)

    def array(*shape):
        return rng.standard_normal(shape).astype(np.float32)

    with installed(package="tinytorch_gpu.tinytorch"):
        made = []
        for shape in [(64, 32), (32,), (32, 10), (10,)]:
            tensor = Tensor(array(*shape), requires_grad=True).to("simgpu")
            tensor.grad = cuda.to_device(array(*shape))
            made.append(tensor)
        yield made


def step_twice(optimizer):
    """Take the first step, which makes the buffers, then one that is looked at."""
    optimizer.step()
    with profiler.profile() as prof:
        optimizer.step()
    return fusion.opportunities(prof)


def test_adams_step_of_one_parameter(parameters):
    (one,) = step_twice(Adam(parameters[:1]))
    assert (one.kind, " ".join(one.ops)) == ("element-wise chain", ADAM)
    assert one.before.launches == 14


def test_adams_step_of_many_parameters_is_one_launch(parameters):
    (one,) = step_twice(Adam(parameters))
    assert (one.kind, " ".join(one.ops)) == ("several arrays", " ".join([ADAM] * 4))
    assert (one.before.launches, one.after.launches) == (4 * 14, 1)


def test_steps_that_are_fused_for_each_parameter_can_share_a_launch(parameters):
    def step():
        for p in parameters:
            library.call("fused_sgd", p.data, p.grad, lr=0.1)

    with profiler.profile() as prof:
        step()
    (one,) = fusion.opportunities(prof)
    assert (one.kind, one.ops) == ("several arrays", ("fused_sgd",) * 4)
    assert (one.before.launches, one.after.launches) == (4, 1)
    assert one.before.dram_bytes == one.after.dram_bytes


def test_a_training_step_of_a_residual_block(parameters):
    layer = Linear(64, 64)
    layer.to("simgpu")
    x = Tensor(np.ones((32, 64), np.float32)).to("simgpu")
    with profiler.profile() as prof:
        kept = x + ReLU()(layer(x))
    (one,) = fusion.opportunities(prof)
    assert one.ops == ("add", "relu", "add")
    # the graph keeps what it needs to go backward: both sums
    assert stores(one) == 3
    del kept


def test_copies_in_a_row_could_be_one():
    with profiler.profile() as prof:
        kept = [cuda.to_device(np.ones(n, np.float32)) for n in (10, 20)]
    (one,) = fusion.opportunities(prof)
    assert (one.kind, one.before.launches, one.after.launches) == ("copies", 2, 1)
    assert one.before.dram_bytes == one.after.dram_bytes == 120
    assert one.after.time_ns < one.before.time_ns
    del kept


def test_copies_with_a_launch_in_between_stay_apart(arrays):
    (x,) = arrays((8, 8))
    with profiler.profile() as prof:
        x.copy_to_host()
        y = x * 2.0
        y.copy_to_host()
    assert not len(fusion.opportunities(prof))


def test_equal_opportunities_are_told_once(found, arrays):
    def program(x, b):
        return [programs.bias_relu(x, b).copy_to_host() for _ in range(3)]

    (one,) = found(program, *arrays((64, 100), (100,)))
    assert one.times == 3
    assert one.saved_ns == 3 * (one.before.time_ns - one.after.time_ns)


def test_the_report_is_told_as_text_html_and_dict(found, arrays):
    told = found(programs.gelu_with_host, *arrays((64, 128)))
    text = str(told)
    assert "1 fusion opportunity on Tesla T4" in text
    assert "mul → div: host read" in text
    assert told._repr_html_().startswith("<pre>")
    plain = told.to_dict()
    assert plain["found"][0]["before"]["launches"] == 2
    assert {r["kind"] for r in plain["refused"]} == {"host read", "barrier"}
    assert "div, add" in told.table()


def test_sgd_of_a_training_loop_is_found_in_each_step(parameters):
    optimizer = SGD(parameters, lr=0.1, momentum=0.9)
    (one,) = step_twice(optimizer)
    assert " ".join(one.ops) == " ".join(["mul add mul sub"] * 4)
