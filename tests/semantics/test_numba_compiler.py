"""Random functions have the result types that numba's compiler finds.

The compiler runs in a process of its own and needs no GPU; see test_numba_simulator.py
for how to name a Python that has numba-cuda.
"""

import importlib.util
import json
import subprocess

import numpy as np
import pytest

from tests.semantics.random_versions import Writer
from tests.semantics.test_numba_simulator import python_with_numba
from tinytorch_gpu.cuda.jit import function_behind
from tinytorch_gpu.cuda.rewrite import KernelFunction

COUNT = 200
COMPILE = """
import json, sys
from numba import cuda, types
sys.path.insert(0, sys.argv[1])
import versions
found = {}
for name, names in versions.TYPES.items():
    parameters = tuple(getattr(types, "boolean" if n == "bool" else n) for n in names)
    function = getattr(versions, name)
    try:
        _, result = cuda.compile(function, parameters, device=True, abi="numba", cc=(8, 0))
        found[name] = str(getattr(result, "literal_type", result))
    except Exception as error:
        found[name] = "" if "driver" in str(error) else repr(error)
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def versions(tmp_path_factory):
    """Return a module of functions, and the folder that it lies in."""
    folder = tmp_path_factory.mktemp("versions")
    writer = Writer(seed=1)
    lines = ["TYPES = {}\n"]
    for number in range(COUNT):
        name = f"f{number}"
        lines += [f"TYPES[{name!r}] = {writer.types()}", writer.function(name)]
    path = folder / "versions.py"
    path.write_text("\n".join(lines))
    spec = importlib.util.spec_from_file_location("versions", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module, folder


def ours(module, name):
    dummies = [np.dtype(t).type(1) for t in module.TYPES[name]]
    function = KernelFunction(getattr(module, name), function_behind)
    return function.device_program(dummies).returned.dtype.name


def test_every_function_has_a_type(versions):
    module, _ = versions
    widths = {"int8", "int32", "int64", "uint32", "uint64", "float32", "float64"}
    assert {ours(module, name) for name in module.TYPES} <= {"bool", *widths}


def test_the_types_are_those_of_numbas_compiler(versions):
    module, folder = versions
    command = [python_with_numba(), "-W", "ignore", "-c", COMPILE, str(folder)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=100
    )
    assert done.returncode == 0, done.stderr
    theirs = {name: t for name, t in json.loads(done.stdout).items() if t}
    assert len(theirs) > COUNT * 0.8  # the rest needs a driver to link
    others = {
        n: (t, ours(module, n)) for n, t in theirs.items() if t != ours(module, n)
    }
    # Its typing goes round until nothing changes, and rarely keeps a type of an early
    # round (2 of 1,250 functions): `d % a` after nested loops that widen `a`.
    assert len(others) <= COUNT * 0.01, others
