"""Every example in a docstring of the package is true."""

import doctest
import importlib
import pkgutil
import sys
import types

import pytest

import tinytorch_gpu

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
SILENT = ("_modidx", "__main__")  # nbdev's table; a program
SET_UP = {"tinytorch_gpu.trace.launch_trace.LaunchTrace"}  # its methods go on from it


def module_names(package: types.ModuleType) -> list[str]:
    """List a package's modules, its own name first."""
    inner = pkgutil.walk_packages(package.__path__, package.__name__ + ".")
    names = [package.__name__, *(module.name for module in inner)]
    return [name for name in names if name.rpartition(".")[2] not in SILENT]


def failures(name: str) -> str:
    """Run one module's examples; return doctest's report of those that fail."""
    report: list[str] = []
    made: dict[str, dict[str, object]] = {}
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    # Sorted by name: a class comes before its methods.
    for test in doctest.DocTestFinder().find(importlib.import_module(name), name):
        test.globs |= made.get(test.name.rpartition(".")[0], {})
        sets_up = test.name in SET_UP
        runner.run(test, out=report.append, clear_globs=not sets_up)
        if sets_up:
            made[test.name] = test.globs
    return "".join(report)


@pytest.mark.parametrize("name", module_names(tinytorch_gpu))
def test_examples_are_true(name):
    assert not failures(name)


def test_a_false_example_is_found(monkeypatch):
    module = types.ModuleType("example", '"""\n>>> 1 + 1\n3\n"""')
    monkeypatch.setitem(sys.modules, "example", module)
    assert "Got:\n    2" in failures("example")
