"""A global that stands for something else than it was compiled with is told, once."""

import warnings

import numpy as np
import pytest

from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import int64

TILE = 4
OFFSET = 0.5
SHAPE = (2, 3)
TABLE = np.arange(3)
UNUSED = 1
MEMORY = None  # a device array


@cuda.jit(device=True)
def scaled(x):
    return x * TILE


def launcher(body):
    """Return a function that launches a new kernel and gives what it stores and warns."""
    kernel = cuda.jit(body)

    def launch(kind=np.float64):
        out = np.zeros(1, kind)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            kernel[1, 1](out)
        return out[0], [w.message for w in told]

    return launch


@pytest.fixture
def rebind(monkeypatch):
    return lambda name, value: monkeypatch.setitem(globals(), name, value)


def test_it_is_told_once_for_each_change(rebind):
    def kernel(out):
        out[0] = TILE

    launch = launcher(kernel)
    assert launch() == (4, [])
    rebind("TILE", 5)
    value, (told,) = launch()
    assert value == 4
    assert told.what == "`TILE` is 5 now; kernel was compiled with 4"
    assert (told.name, told.compiled, told.now) == ("TILE", 4, 5)
    assert told.line == kernel.__code__.co_firstlineno
    assert "def kernel(out):" in told.where
    assert launch() == (4, [])
    rebind("TILE", 6)
    assert len(launch()[1]) == 1
    rebind("TILE", 4)
    assert launch() == (4, [])  # as it was


def test_other_types_are_other_programs_with_values_of_their_own(rebind):
    def kernel(out):
        out[0] = TILE

    launch = launcher(kernel)
    assert launch() == (4, [])
    rebind("TILE", 5)
    assert launch(np.int32) == (5, [])
    assert launch()[0] == 4
    rebind("TILE", 4)
    assert launch() == (4, [])
    assert len(launch(np.int32)[1]) == 1


@pytest.mark.parametrize(
    ("name", "value", "is_told"),
    [
        ("OFFSET", 1.0 / 2, False),
        ("OFFSET", np.float64(0.5), True),
        ("OFFSET", 2, True),
        ("SHAPE", SHAPE[:1] + SHAPE[1:], False),
        ("SHAPE", (2, 4), True),
        ("SHAPE", (2, 3, 4), True),
        ("TABLE", np.arange(3), False),
        ("TABLE", np.arange(3.0), True),
        ("TABLE", np.arange(4), True),
        ("TABLE", np.array([0, 1, 3]), True),
        ("UNUSED", 7, False),
    ],
)
def test_what_counts_as_a_change(rebind, name, value, is_told):
    def kernel(out):
        out[0] = OFFSET + SHAPE[1] + TABLE[1]

    launch = launcher(kernel)
    before = launch()
    assert before[1] == []
    rebind(name, value)
    after = launch()
    assert after[0] == before[0]
    assert [told.name for told in after[1]] == [name] * is_told


def test_the_shape_of_a_shared_array(rebind):
    def kernel(out):
        tile = cuda.shared.array(TILE, int64)
        out[0] = tile.size

    launch = launcher(kernel)
    assert launch() == (4, [])
    rebind("TILE", 8)
    value, (told,) = launch()
    assert (value, told.name) == (4, "TILE")


def test_what_device_functions_read(rebind):
    def kernel(out):
        out[0] = scaled(2)

    launch = launcher(kernel)
    assert launch() == (8, [])
    rebind("TILE", 5)
    value, (told,) = launch()
    assert (value, told.name, told.kernel) == (8, "TILE", "scaled")
    # A kernel compiled now takes the function as it was compiled; that has been told.
    assert launcher(kernel)() == (8, [])
    rebind("TILE", 6)
    assert len(launch()[1]) == 1


def test_a_device_function_of_the_same_text_is_the_same(rebind):
    def kernel(out):
        out[0] = scaled(2)

    launch = launcher(kernel)
    assert launch() == (8, [])
    rebind("scaled", cuda.jit(device=True)(scaled.py_func))
    assert launch() == (8, [])
    rebind("scaled", cuda.jit(device=True)(lambda x: x + 1))
    value, (told,) = launch()
    assert (value, told.name) == (8, "scaled")


def test_a_closure_variable():
    size = 3

    def kernel(out):
        out[0] = size

    launch = launcher(kernel)
    assert launch() == (3, [])
    size = 4
    value, (told,) = launch()
    assert value == 3
    assert told.what == "`size` is 4 now; kernel was compiled with 3"
    del size
    assert launch() == (3, [])


def test_a_device_array_is_told_of_by_its_shape(rebind):
    rebind("MEMORY", cuda.to_device(np.array([7, 8])))

    def kernel(out):
        out[0] = MEMORY[0]

    launch = launcher(kernel)
    assert launch() == (7, [])
    rebind("MEMORY", cuda.to_device(np.array([9, 9])))
    value, (told,) = launch()
    assert value == 7
    assert told.what == (
        "`MEMORY` is not the int64 array (2,) that kernel was compiled with"
    )


def test_a_name_that_is_gone_is_not_a_change(monkeypatch):
    def kernel(out):
        out[0] = TILE

    launch = launcher(kernel)
    assert launch() == (4, [])
    monkeypatch.delitem(globals(), "TILE")
    assert launch() == (4, [])


def test_a_host_array_changed_in_place_is_not_noticed(rebind):
    rebind("TABLE", np.arange(3))

    def kernel(out):
        out[0] = TABLE[1]

    launch = launcher(kernel)
    assert launch() == (1, [])
    TABLE[1] = 9
    assert launch() == (1, [])
