"""The numba of those who have none: functions stay Python functions."""

import numpy as np
import pytest

from tinytorch_gpu.as_numba.minimal import NUMBA_MODULES, from_dtype, jit, vectorize
from tinytorch_gpu.as_numba.stand_in import StandIn
from tinytorch_gpu.cuda import types
from tinytorch_gpu.errors import KernelTypeError


def add(x, y):
    return x + y


@pytest.mark.parametrize(
    "decorate",
    [
        jit,
        jit(),
        jit(nopython=True, parallel=True),
        jit("int64(int64, int64)"),
        jit(types.int64(types.int64, types.int64)),
        jit([types.int64(types.int64, types.int64)], cache=True),
    ],
)
def test_jit_runs_the_python_function(decorate):
    made = decorate(add)
    assert made.py_func is add
    assert (made(1, y=2), made.__name__) == (3, "add")


@pytest.mark.parametrize("decorate", [vectorize, vectorize(["int64(int64, int64)"])])
def test_vectorize_broadcasts(decorate):
    result = decorate(add)(np.arange(3), np.array([[10], [20]]))
    assert result.tolist() == [[10, 11, 12], [20, 21, 22]]


def test_the_configuration_says_that_nothing_is_compiled():
    config = StandIn("numba.config", *NUMBA_MODULES["numba.config"])
    assert config.DISABLE_JIT
    assert not config.ENABLE_CUDASIM


@pytest.mark.parametrize("name", ["int8", "uint64", "float32", "bool"])
def test_from_dtype_gives_the_type_of_that_dtype(name):
    assert from_dtype(np.dtype(name)).dtype == np.dtype(name)


def test_from_dtype_refuses_what_kernels_do_not_hold():
    with pytest.raises(KernelTypeError, match="complex64"):
        from_dtype("complex64")
