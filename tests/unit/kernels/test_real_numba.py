"""The real numba.cuda compiles every shipped kernel; needs numba and NVVM, no GPU."""

import importlib
import inspect
import pkgutil
import types
import warnings

import pytest

from tinytorch_gpu import kernels
from tinytorch_gpu.cuda.jit import Kernel

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    numba = pytest.importorskip("numba", reason="numba is not installed")
    pytest.importorskip("numba.cuda", reason="numba.cuda is not installed")
    try:
        numba.cuda.compile_ptx(lambda x: None, (numba.float32[:],), cc=(7, 5))
    except Exception as error:  # noqa: BLE001  (whatever the tool chain lacks)
        reason = f"numba.cuda compiles nothing here: {error!r:.80}"
        pytest.skip(reason, allow_module_level=True)

SCALARS = {"value", "other", "scale"}
VECTORS = {"targets", "losses"}


def shipped():
    """Return every kernel by name, each once."""
    modules = (
        importlib.import_module(f"{kernels.__name__}.{m.name}")
        for m in pkgutil.iter_modules(kernels.__path__)
    )
    members = (item for m in modules for item in vars(m).values())
    return {k.__name__: k for k in members if isinstance(k, Kernel)}


KERNELS = shipped()


def with_other_imports(function):
    """Give the kernel's code numba's `cuda` and `float32`: other import lines."""
    swapped = {"cuda": numba.cuda, "float32": numba.float32}
    space = {**function.__globals__, **swapped}
    return types.FunctionType(function.__code__, space, function.__name__)


def argument_type(kernel, name):
    if name in SCALARS:
        return numba.float32
    is_one_number = name == "grad" and kernel.startswith("cross_entropy")
    deep = "columns" in kernel or "batched" in kernel
    rank = 1 if name in VECTORS or is_one_number else 3 if deep else 2
    is_bool = name == "condition"
    return numba.types.Array(numba.boolean if is_bool else numba.float32, rank, "A")


@pytest.mark.parametrize("name", KERNELS)
def test_compiles_without_float64_arithmetic(name):
    function = KERNELS[name].py_func
    arguments = inspect.signature(function).parameters
    signature = tuple(argument_type(name, a) for a in arguments)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ptx, result = numba.cuda.compile_ptx(
            with_other_imports(function), signature, cc=(7, 5)
        )
    assert result == numba.void
    lines = [line.split("\t")[-2:] for line in ptx.splitlines() if ".f64" in line]
    wide = [line for line in lines if not line[0].startswith((".reg", "cvt"))]
    assert not wide
