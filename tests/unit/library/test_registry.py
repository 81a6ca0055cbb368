"""Registrations: the last one wins, override takes it back."""

import pytest

from tinytorch_gpu import library
from tinytorch_gpu.errors import UnsupportedError
from tinytorch_gpu.library.keys import DispatchKey
from tinytorch_gpu.library.registry import find

SIGMOID = "tinytorch::sigmoid"


def mine(x):
    return x


def test_override_is_undone():
    before = find(SIGMOID, DispatchKey.SIMGPU)
    with library.override(SIGMOID, "simgpu", mine):
        assert find(SIGMOID, DispatchKey.SIMGPU).function is mine
        assert library.registered()[SIGMOID].file == __file__
    assert find(SIGMOID, DispatchKey.SIMGPU) == before


def test_override_is_undone_after_an_error():
    before = find(SIGMOID, DispatchKey.SIMGPU)
    with pytest.raises(ZeroDivisionError), library.override(SIGMOID, "simgpu", mine):
        raise ZeroDivisionError
    assert find(SIGMOID, DispatchKey.SIMGPU) == before


def test_impl_returns_the_function():
    library.define("test_registry::op", "(x)")
    assert library.impl("test_registry::op", "simgpu")(mine) is mine


def test_the_same_cell_run_again_replaces():
    library.define("test_registry::cell", "(x)")
    for _ in range(2):
        library.impl("test_registry::cell", "simgpu")(mine)
    stack = library.registry._table["test_registry::cell", DispatchKey.SIMGPU]
    assert len(stack) == 1


def test_only_functions_are_registered():
    with pytest.raises(UnsupportedError, match="allocates"):
        library.impl(SIGMOID, "simgpu")(object())


def test_only_simgpu_takes_kernels():
    with pytest.raises(ValueError, match="cuda"):
        library.impl(SIGMOID, "cuda")
