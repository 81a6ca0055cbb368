"""A fused function is one launch, costs what was foretold, and gives the same values."""

import numpy as np
import pytest

from tests.fusion import programs
from tinytorch_gpu import cuda, fuse, profiler
from tinytorch_gpu.errors import KernelWarning, UnsupportedError
from tinytorch_gpu.fusion.arguments import leaves
from tinytorch_gpu.memory import elements_of
from tinytorch_gpu.trace import LaunchRecord

LARGE = (500, 1000)
ADAM_NUMBERS = (0.01, 0.1, 0.001)

# program, shapes, numbers
CASES = [
    ("gelu", [(64, 128)], ()),
    ("gelu", [LARGE], ()),
    ("short_gelu", [(256, 1024)], ()),  # whole batches of blocks, and no rest
    ("short_gelu", [(7, 3, 5)], ()),
    ("short_gelu", [(1,)], ()),
    ("softmax", [(64, 128)], ()),
    ("softmax", [LARGE], ()),
    ("softmax", [(3, 4, 33)], ()),
    ("softmax", [(200,)], ()),
    ("layer_norm", [(64, 128), (128,), (128,)], ()),
    ("layer_norm", [(3000, 100), (100,), (100,)], ()),
    ("layer_norm", [(4, 50, 64), (64,), (64,)], ()),
    ("bias_relu", [(64, 100), (100,)], ()),
    ("bias_relu", [(3000, 100), (100,)], ()),
    ("bias_relu", [(64, 100), (64, 1)], ()),
    ("bias_relu", [(5, 40, 60), (5, 1, 60)], ()),
    ("adam", [(50, 60)] * 4, ADAM_NUMBERS),
    ("residual_end", [(32, 64), (32, 64), (64,)], ()),
    ("square_sum", [(300, 100)], ()),
    ("normal", [(4, 6, 40), (), ()], ()),
    ("normal", [(4, 6, 40), (4, 6, 1), (40,)], ()),
    ("of_rows", [(30, 40), (30,)], ()),
    ("of_rows", [(3, 10, 40), (3, 10)], ()),
    ("of_rows", [(3, 10, 40), ()], ()),
    ("softmax_and_log", [(30, 40)], ()),
    ("masked", [(33, 70), (33, 70)], ()),
    ("masked", [(33, 70), (70,)], ()),
    ("two_roots", [(40, 50)], ()),
    ("in_place", [(40, 50), (40, 50)], ()),
    ("halves", [(40, 50)], ()),
]
TOO_LARGE = {LARGE, (3000, 100), (256, 1024)}
SMALL = [case for case in CASES if not TOO_LARGE & set(case[1])]


def check(fused, *args):
    """Check a comparison: counts exactly, time within 5 %, values to 1e-6."""
    told = fused.compare(*args)
    assert told.reason == ""
    assert told.after.launches == told.predicted.launches < told.before.launches
    assert told.after.dram_bytes == told.predicted.dram_bytes
    assert told.predicted.kernel_ns == pytest.approx(told.after.kernel_ns, rel=0.05)
    assert told.predicted.time_ns == pytest.approx(told.after.time_ns, rel=0.05)
    assert told.max_difference <= 1e-6
    return told


@pytest.mark.parametrize("gpu", ["t4", "h100", "c1060"])
@pytest.mark.parametrize(("name", "shapes", "numbers"), CASES)
def test_it_costs_what_was_foretold(on, arrays, gpu, name, shapes, numbers):
    on(gpu)
    check(fuse(getattr(programs, name)), *arrays(*shapes), *numbers)


@pytest.mark.parametrize(("name", "shapes", "numbers"), SMALL)
def test_it_costs_what_was_foretold_on_a_gpu_with_small_caches(
    on, arrays, name, shapes, numbers
):
    on("toy")
    check(fuse(getattr(programs, name)), *arrays(*shapes), *numbers)


@pytest.mark.parametrize(
    "make", [lambda x: x.T, lambda x: x[:, 3:67], lambda x: x[::2]]
)
@pytest.mark.parametrize("name", ["short_gelu", "two_roots", "masked"])
def test_views_are_walked_as_the_ops_walk_them(arrays, make, name):
    x, y = (make(a) for a in arrays((80, 70), (80, 70)))
    program = getattr(programs, name)
    check(fuse(program), *([x, y] if name == "masked" else [x]))


def test_sgd_over_many_arrays_is_one_launch(arrays):
    shapes = [(64, 32), (32,), (32, 10), (10,)]
    groups = [arrays(*shapes) for _ in range(3)]
    told = check(fuse(programs.sgd), *groups, 0.1, 0.9)
    assert (told.before.launches, told.after.launches) == (16, 1)


MANY = [
    [(64, 32), (32,), (32, 10), (10,)],
    [(20_000,), (10,), (10,), (10,)],
    [(5_000,), (300,)],
    [(64,), (64,), (64,)],
]


@pytest.mark.parametrize("gpu", ["toy", "t4", "c1060", "8800gtx", "h100"])
@pytest.mark.parametrize("shapes", MANY)
def test_several_arrays_in_one_launch_cost_what_was_foretold(on, arrays, gpu, shapes):
    """Their guard is one comparison, where rows and columns take two and an `and`."""
    on(gpu)
    groups = [arrays(*shapes) for _ in range(3)]
    told = check(fuse(programs.sgd), *groups, 0.1, 0.9)
    assert told.predicted.kernel_ns == pytest.approx(told.after.kernel_ns, rel=0.001)


DROPPED = {
    "an input": lambda x, y: (x * y, np.exp(x) + 1.0)[1],
    "a chain": lambda x, y: (np.exp(np.exp(x)), np.exp(x + y) + 1.0)[1],
    "rows": lambda x, y: (
        x - np.sum(x, axis=-1, keepdims=True), np.exp(x + y) + 1.0,
    )[1],
}  # fmt: skip


@pytest.mark.parametrize("gpu", ["toy", "t4", "gtx680"])
@pytest.mark.parametrize("name", DROPPED)
def test_what_nobody_takes_is_not_foretold(on, arrays, gpu, name):
    on(gpu)
    told = check(fuse(DROPPED[name]), *arrays((64, 75), (64, 75)))
    assert told.predicted.kernel_ns == pytest.approx(told.after.kernel_ns, rel=0.001)


@pytest.mark.parametrize("shape", [(17, 40), (40, 129)])
def test_warps_that_rows_do_not_fill_are_foretold(on, arrays, shape):
    """Two special functions an element, by warps of which the last has 8 lanes, or 1."""
    on("toy")
    (x,) = arrays(shape)
    told = check(fuse(lambda x: np.tanh(x) / 3.0), x[:, ::-1])
    assert told.predicted.kernel_ns == pytest.approx(told.after.kernel_ns, rel=0.001)


def launched(function, *args):
    with profiler.profile() as prof:
        result = function(*args)
    names = [r.kernel.name for r in prof.events() if isinstance(r, LaunchRecord)]
    return result, names


def test_from_the_second_call_on_it_is_one_launch(arrays):
    fused = fuse(programs.short_gelu)
    _, names = launched(fused, *arrays((8, 8)))
    assert len(names) == 5  # recorded op by op, then fused
    result, names = launched(fused, *arrays((8, 8)))
    assert names == ["short_gelu"]
    (x,) = arrays((8, 8))
    np.testing.assert_array_equal(
        result.copy_to_host(), programs.short_gelu(x).copy_to_host()
    )


def test_other_shapes_get_a_kernel_of_their_own(arrays):
    fused = fuse(programs.bias_relu)
    for shapes in [((8, 8), (8,)), ((4, 5), (4, 1)), ((3, 8), (8,))]:
        got = fused(*arrays(*shapes))
        wanted = programs.bias_relu(*arrays(*shapes))
        np.testing.assert_array_equal(got.copy_to_host(), wanted.copy_to_host())


def test_numbers_are_parameters_of_the_kernel(arrays):
    fused = fuse(programs.adam)
    for rate in (0.1, 0.2, 0.3):
        args = [*arrays(*[(8, 8)] * 4), rate, 1 - 0.9, 1 - 0.99]
        got, names = launched(fused, *args)
        wanted = programs.adam(*args)
        for one, other in zip(got, wanted, strict=True):
            np.testing.assert_array_equal(one.copy_to_host(), other.copy_to_host())
    assert names == ["adam"]
    assert "lr" in fused.source


def test_numbers_that_are_computed_from_arguments_are_followed(arrays):
    @fuse
    def step(x, beta, count):
        return x / (1 - beta**count) + beta

    for count in (1.0, 2.0, 3.0, 4.0):
        (x,) = arrays((8, 8))
        got, names = launched(step, x, 0.9, count)
        wanted = x / (1 - 0.9**count) + 0.9
        np.testing.assert_array_equal(got.copy_to_host(), wanted.copy_to_host())
    assert names == ["step"]


def test_a_number_that_steers_the_function_is_a_part_of_the_kernel(arrays):
    @fuse
    def power(x, count):
        y = x * 1.0
        for _ in range(count):
            y = y * x
        return y

    for count in (3, 2, 5, 2):
        (x,) = arrays((8, 8))
        got = power(x, count).copy_to_host()
        np.testing.assert_allclose(got, x.copy_to_host() ** (count + 1), rtol=1e-6)
    _, names = launched(power, x, 5)
    assert names == ["power"]


def test_in_place_changes_reach_the_arguments_once(arrays):
    x, y = arrays((8, 8), (8, 8))
    wanted = (x.copy_to_host() + 2 * y.copy_to_host()) * np.float32(0.5)
    fused = fuse(programs.in_place)
    result = fused(x, y)
    assert result is x
    np.testing.assert_allclose(x.copy_to_host(), wanted, rtol=1e-6)
    _, names = launched(fused, x, y)
    assert names == ["in_place"]


def test_arguments_that_share_memory_are_told_apart(arrays):
    @fuse
    def shifted(x, y):
        np.multiply(x * 2.0, y, out=y)
        return y

    (x,) = arrays((100,))
    base = elements_of(x).copy()
    shifted(*arrays((99,), (99,)))
    with pytest.warns(KernelWarning, match="alias"):
        shifted(x[:-1], x[1:])
    np.testing.assert_allclose(
        x.copy_to_host()[1:], base[:-1] * 2 * base[1:], rtol=1e-6
    )
    assert shifted.reason.startswith("alias")


def test_results_come_in_the_form_of_the_functions(arrays):
    @fuse
    def program(pair):
        total = pair["a"] + pair["b"]
        return {"sum": total, "twice": [total * 2.0, pair["a"]], "none": None}

    for _ in range(2):
        a, b = arrays((8, 8), (8, 8))
        got = program({"a": a, "b": b})
        assert list(got) == ["sum", "twice", "none"]
        assert got["twice"][1] is a
        assert got["none"] is None
        np.testing.assert_array_equal(
            got["twice"][0].copy_to_host(), 2 * got["sum"].copy_to_host()
        )


def test_a_result_may_be_a_view(arrays):
    @fuse
    def program(x):
        return np.exp(x * 2.0).reshape(-1)[3:]

    (x,) = arrays((8, 8))
    for _ in range(2):
        got = program(x).copy_to_host()
        np.testing.assert_allclose(
            got, np.exp(2 * x.copy_to_host()).ravel()[3:], rtol=1e-6
        )


# function: what its reason says
REFUSED = [
    (programs.gelu_with_host, "host read"),
    (programs.gelu_with_consumer, "no rule for matmul"),
    (programs.softmax_over_columns, "barrier"),
    (lambda x: x * 2.0, "1 launch: there is nothing to fuse"),
    (lambda x: x, "no launch of an op: there is nothing to fuse"),
    (lambda x: float(np.exp(x * 2.0)[0, 0]), "host read"),
    (lambda x: x * 2.0 + cuda.to_device(np.ones(8, np.float32)), "copies 32 B"),
]


@pytest.mark.parametrize(("function", "text"), REFUSED)
def test_what_may_not_be_fused_runs_as_it_is_and_says_why(arrays, function, text):
    fused = fuse(function)
    (x,), (y,) = arrays((8, 8)), arrays((8, 8))
    named = f"{function.__name__} is not fused(.|\n)*{text}"
    with pytest.warns(KernelWarning, match=named):
        got = fused(x)
    wanted = function(y)
    for one, other in zip(leaves(got, "got"), leaves(wanted, "wanted"), strict=True):
        if one.array is None:
            assert one.value == other.value
        else:
            pair = [leaf.array.copy_to_host() for leaf in (one, other)]
            np.testing.assert_array_equal(*pair)
    assert text in fused.reason
    fused(x)  # warned once
    told = fused.compare(x)
    assert (told.predicted, told.after, told.reason) == (None, None, fused.reason)
    assert "not fused" in str(told)
    with pytest.raises(UnsupportedError, match="no fused kernel"):
        fused.source  # noqa: B018


def test_host_arrays_are_left_alone():
    x = np.float32([1, 2])
    fused = fuse(programs.short_gelu)
    np.testing.assert_array_equal(fused(x), programs.short_gelu(x))
    assert fused.reason == ""


def test_only_a_function_can_be_fused():
    with pytest.raises(UnsupportedError, match="fuse of 3"):
        fuse(3)


def test_the_source_is_a_numba_kernel_with_one_line_for_each_op(arrays):
    fused = fuse(programs.bias_relu)
    fused(*arrays((64, 100), (100,)))
    assert fused.source == (
        "from numba import cuda, float32\n"
        "\n"
        "\n"
        "@cuda.jit\n"
        "def bias_relu(x, bias, out):\n"
        "    col, row = cuda.grid(2)\n"
        "    if row < out.shape[0] and col < out.shape[1]:\n"
        "        x_i = x[row, col]\n"
        "        bias_i = bias[row, col]\n"
        "        add_1 = x_i + bias_i"
        "  # programs.py:30  return np.maximum(x + bias, 0.0)\n"
        "        maximum_2 = float32(0.0) if add_1 < float32(0.0) else add_1\n"
        "        out[row, col] = maximum_2\n"
    )


def test_no_float64_appears(arrays):
    for name, shapes, numbers in SMALL:
        fused = fuse(getattr(programs, name))
        with profiler.profile() as prof:
            fused(*arrays(*shapes), *numbers)
            fused(*arrays(*shapes), *numbers)
        assert prof.notes() == [], name


def test_the_comparison_is_told_as_text_html_and_dict(arrays):
    told = fuse(programs.short_gelu).compare(*arrays((64, 128)))
    assert str(told).splitlines()[:3] == [
        "short_gelu on Tesla T4, times modelled",
        "                    before   predicted       after",
        "launches                 4           1           1",
    ]
    assert "x as fast" in str(told)
    assert told._repr_html_().startswith("<pre>")
    assert told.to_dict()["after"]["launches"] == 1
    assert told.speedup == told.before.time_ns / told.after.time_ns


def test_nothing_is_kept_alive(arrays):
    fused = fuse(programs.short_gelu)
    (x,) = arrays((8, 8))
    buffer = x.buffer
    fused(x)
    import gc
    import weakref

    alive = weakref.ref(buffer)
    del x, buffer
    gc.collect()
    assert alive() is None
