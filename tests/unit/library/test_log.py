"""The log: order, nesting, paths, reasons; the same for the same program."""

from contextlib import ExitStack
from dataclasses import replace

import numpy as np
import pytest

import tinytorch_gpu as simgpu
from tinytorch_gpu import cuda, library, profiler, tinytorch
from tinytorch_gpu.demo.digits import load_digits
from tinytorch_gpu.demo.training import Plan, train
from tinytorch_gpu.errors import DeviceMismatchError, MissingKernelError


@pytest.fixture
def x():
    return cuda.to_device(np.float32([1, 2, 3]))


def test_ops_stand_in_order_with_what_they_did(x):
    with library.log() as log:
        y = library.call("test_log::twice", x, decomposition=lambda: x + x)
        y.copy_to_host()
    kinds = [(entry.depth, entry.kind, entry.name) for entry in log.entries]
    assert kinds == [
        (0, "op", "test_log::twice"),
        (1, "op", "tinytorch::add"),
        (2, "launch", "add_kernel"),
        (0, "copy", "d2h"),
    ]
    outer, inner, launch, copy = log.entries
    assert outer.path == (
        ("Profiler", ""),
        ("SimGPU", "empty"),
        ("Decompose", "own code"),
    )
    assert inner.key == "SimGPU"
    assert inner.shapes == ((3,), (3,))
    assert inner.source.file.endswith("threads.py")
    assert (launch.grid, launch.source.name) == ((1, 1, 1), "add_kernel")
    assert (copy.bytes, copy.reason) == (12, "copy_to_host")


def test_tree_and_table(x):
    seen = library.explain("tinytorch::exp", x)
    lines = str(seen).splitlines()
    assert lines[0] == "1 exp of (3,)"
    assert lines[1].strip().startswith("Profiler → SimGPU: exp (unary.py:")
    assert lines[2].startswith("2   launch exp_kernel (unary.py:")
    row = seen.table().splitlines()[2]
    assert row.split()[:5] == ["1", "exp", "3", "PS", "1"]
    assert "<pre>1 exp" in seen._repr_html_()
    assert repr(seen) == "<OpLog: 1 ops, 1 launches, 0 copies>"


def test_lines_fit_a_page(x):
    log = demo_step()
    assert max(map(len, f"{log}\n{log.table()}".splitlines())) <= 100


def test_ranges_waits_and_an_empty_log(x):
    with library.log() as log:
        pass
    assert str(log) == log.table() == "the log is empty"
    with library.log() as log, profiler.record_function("part"):
        x + x
        simgpu.synchronize()
    kinds = [(entry.depth, entry.kind) for entry in log.entries]
    assert kinds == [(0, "range"), (1, "op"), (2, "launch"), (1, "wait")]


def test_what_a_learner_registered_is_named(x):
    def mine(x, out=None):
        return cuda.device_array_like(x)

    with library.override("exp", "simgpu", mine):
        entry = library.explain("exp", x).ops[0]
    assert (entry.source.name, entry.source.file) == ("mine", __file__)


def fails_at_once(x):
    raise ZeroDivisionError("no way")


def fails_after_a_launch(x):
    return (x + x).size // 0


def fails_without_words(x):
    raise KeyError


def gives_a_wrong_shape(x, out=None):
    return cuda.device_array(7, np.float32)


def gives_nothing(x, out=None):
    pass


def faults(x, out=None):
    too_far[1, 32](x)


@cuda.jit
def too_far(x):
    x[cuda.grid(1)] = 1.0


FAILING = {
    fails_at_once: "ZeroDivisionError: no way",
    fails_after_a_launch: "ZeroDivisionError: integer division or modulo by zero",
    fails_without_words: "KeyError",
    gives_a_wrong_shape: "ShapeError: the function registered for `tinytorch::exp` ",
    gives_nothing: "KernelTypeError: the function registered for `tinytorch::exp` ",
    faults: "OutOfBoundsError: store ",
}


@pytest.mark.parametrize("key", ["Autograd", "Profiler", "simgpu"])
@pytest.mark.parametrize("function", FAILING, ids=lambda f: f.__name__)
def test_an_op_that_raises_is_a_row_with_its_path_and_the_error(x, function, key):
    key_name = "SimGPU" if key == "simgpu" else key
    with library.log() as log, library.override("exp", key, function):
        try:
            library.call("exp", x)
        except Exception as error:  # noqa: BLE001  (each its own)
            told = str(error)
    entry = log.ops[0]
    assert entry.name == "tinytorch::exp"
    assert entry.shapes == ((3,),)
    assert entry.path[-1] == (key_name, str(entry.source))
    assert entry.source.name == function.__name__
    assert entry.key == ""
    assert entry.error.startswith(FAILING[function])
    assert told.partition("\n")[0] in entry.error
    assert entry.error.splitlines() == [entry.error]
    assert entry.to_dict()["error"] == entry.error
    lines = [line.strip() for line in str(log).splitlines()]
    assert lines[1].endswith(f"{key_name}: {entry.source}")
    assert f"raised {entry.error}"[:80] in lines[2]
    assert f"raised {entry.error}"[:40] in log.table()
    assert len(log.launches) == (function is fails_after_a_launch)


def test_an_op_that_nothing_serves_is_a_row(x):
    with library.log() as log, pytest.raises(MissingKernelError):
        library.call("test_log::nobody", x)
    (entry,) = log.entries
    assert [key for key, _ in entry.path] == ["Profiler", "SimGPU", "Decompose", "CPU"]
    assert (entry.key, entry.source) == ("", None)
    assert entry.error.startswith("MissingKernelError: op `test_log::nobody` ")


def test_operands_that_no_device_takes_are_a_row(x):
    for operands in ((x, np.ones(3)), (np.ones(3), np.ones(3))):
        with library.log() as log, pytest.raises(DeviceMismatchError):
            library.call("add", *operands)
        (entry,) = log.entries
        assert (entry.name, entry.path) == ("tinytorch::add", ())
        assert entry.error.startswith("DeviceMismatchError: `tinytorch::add` got ")
        assert "raised DeviceMismatchError" in log.table()


def test_of_ops_within_each_other_those_raise_that_did(x):
    def outer(x):
        try:
            library.call("test_log::nobody", x)
        except MissingKernelError:
            return library.call("neg", x)

    with library.log() as log:
        library.call("test_log::outer", x, decomposition=lambda: outer(x))
        with pytest.raises(MissingKernelError):
            library.call(
                "test_log::whole",
                x,
                decomposition=lambda: library.call("test_log::nobody", x),
            )
    told = [(e.depth, e.name.partition("::")[2], bool(e.error)) for e in log.ops]
    assert told == [
        (0, "outer", False),
        (1, "nobody", True),
        (1, "neg", False),
        (0, "whole", True),
        (1, "nobody", True),
    ]


def test_an_interrupt_is_a_row_too(x):
    def stopped(x):
        raise KeyboardInterrupt

    with (
        library.log() as log,
        library.override("neg", "simgpu", stopped),
        pytest.raises(KeyboardInterrupt),
    ):
        library.call("neg", x)
    assert log.ops[0].error == "KeyboardInterrupt"


def test_autograd_of_tinytorch_is_where_the_path_begins():
    with simgpu.installed("t4", package=tinytorch.__name__):
        t = tinytorch.Tensor(np.ones((2, 3), np.float32)).to("simgpu")
        with library.log() as log:
            tinytorch.ReLU()(t)
    (entry,) = [e for e in log.ops if e.name == "tinytorch::relu"]
    first, *rest = entry.path
    assert first[0] == "Autograd"
    assert first[1].startswith("TinyTorch: ReLU")
    assert first[1].endswith(".forward")
    assert [key for key, _ in rest] == ["Profiler", "SimGPU"]


def demo_step():
    """Return the log of the demo's second step; its first has no momentum yet."""
    digits = load_digits()
    two = digits.train_images[:64], digits.train_labels[:64]
    digits = replace(digits, train_images=two[0], train_labels=two[1])
    stack, logs = ExitStack(), []

    def on_step():
        if not logs:
            logs.append(stack.enter_context(library.log()))
        else:
            stack.close()

    with simgpu.installed("t4", package=tinytorch.__name__):
        train(digits, "simgpu", Plan(epochs=1), on_step)
    return logs[0]


def test_a_training_step_is_logged_alike_each_time():
    first, second = demo_step(), demo_step()
    assert first.to_dict() == second.to_dict()
    assert (len(first.launches), len(first.copies)) == (51, 3)
    reasons = [copy.reason for copy in first.copies]
    assert reasons == ["to('simgpu')", "to('simgpu')", "item()"]


def test_a_profile_tells_the_paths_too(x):
    with profiler.profile() as prof:
        library.call("test_log::once", x, decomposition=lambda: x + x)
    rows = {row.op: row for row in prof.key_averages()}
    assert rows["tinytorch::add"].paths[0].startswith("Profiler → SimGPU: add")
    assert "Decompose: own code" in rows["test_log::once"].paths[0]


def test_a_profile_tells_what_raised(x):
    with profiler.profile() as prof:
        for function in (fails_at_once, fails_at_once, fails_after_a_launch):
            override = library.override("exp", "simgpu", function)
            with override, pytest.raises(ZeroDivisionError):
                library.call("exp", x)
    row = next(row for row in prof.key_averages() if row.op == "tinytorch::exp")
    told = [FAILING[f] for f in (fails_at_once, fails_after_a_launch)]
    assert (row.calls, row.errors) == (3, tuple(told))
    assert "  raised ZeroDivisionError: no way\n" in str(prof)
    assert row.to_dict()["errors"] == row.errors
