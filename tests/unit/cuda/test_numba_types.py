"""numba's own objects are known by their module and shape; numba is not imported."""

import types as python_types

import numpy as np
import pytest

from tinytorch_gpu.cuda import types
from tinytorch_gpu.cuda.numba_types import CPUFunction, from_numba, python_function


def numbas(**attributes):
    """Make an object whose class says that it comes from numba."""
    told = {"__module__": "numba.core.types.scalars", "__repr__": lambda made: spelled}
    spelled = f"numba's {attributes}"
    made = type("Made", (), told)()
    vars(made).update(attributes)
    return made


F4, I4, VOID = numbas(name="float32"), numbas(name="int32"), numbas(name="none")
F4_1D = numbas(dtype=F4, ndim=1, layout="C", name="array(float32, 1d, C)")


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (F4, types.float32),
        (numbas(name="bool"), types.boolean),
        (VOID, types.void),
        (F4_1D, types.float32[::1]),
        (numbas(dtype=I4, ndim=2, layout="A"), types.int32[:, :]),
        (numbas(dtype=I4, ndim=2, layout="F"), types.int32[::1, :]),
        ((F4_1D, I4), (types.float32[::1], types.int32)),
        (
            numbas(args=(F4_1D, I4), return_type=VOID),
            types.void(types.float32[::1], types.int32),
        ),
    ],
    ids=str,
)
def test_numbas_types_become_ours(given, expected):
    assert from_numba(given) == expected


@pytest.mark.parametrize(
    "value", [7, "float32", np.float32, types.float32, numbas(name="complex64")]
)
def test_other_objects_stay_themselves(value):
    assert from_numba(value) is value


def test_a_compiled_function_gives_its_python_function():
    def add(x, y):
        return x + y

    assert python_function(numbas(py_func=add)) is add
    assert python_function(CPUFunction(add)) is add
    assert python_function(python_types.SimpleNamespace(py_func=add)) is None
    assert python_function(numbas(py_func=3)) is None


def test_the_real_numbas_objects():
    numba = pytest.importorskip("numba")
    assert from_numba(numba.float32) == types.float32
    assert from_numba(numba.boolean) == types.boolean
    signature = numba.void(numba.float32[:, ::1], numba.int32)
    assert from_numba(signature) == types.void(types.float32[:, ::1], types.int32)
    assert python_function(numba.njit(abs_of)) is abs_of


def abs_of(x):
    return abs(x)
