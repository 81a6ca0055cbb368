"""numba's own compiler takes every generated kernel; it needs no GPU.

It runs in a process of its own; see tests/semantics/test_numba_simulator.py for how to
name a Python that has numba-cuda.
"""

import json
import subprocess

import pytest

from tests.fusion import programs
from tests.fusion.test_fuse import SMALL
from tests.semantics.test_numba_simulator import python_with_numba
from tinytorch_gpu import fuse, installed
from tinytorch_gpu.tinytorch import GELU, Tensor

COMPILE = """
import importlib.util, inspect, json, sys, warnings
warnings.simplefilter("ignore")
from types import SimpleNamespace
from numba import cuda, types
from numba.cuda import dispatcher
# Device functions are compiled for the GPU at hand; there is none.
dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=(7, 5))
found = {}
for name, (file, kernel) in json.load(open(sys.argv[1])).items():
    spec = importlib.util.spec_from_file_location("generated", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    function = getattr(module, kernel).py_func
    text = open(file).read()
    kinds = []
    for p in inspect.signature(function).parameters:
        is_array = f"{p}[" in text
        axes = 1 if f"{p}[i]" in text else 2
        kinds.append(types.float32[(slice(None),) * axes] if is_array else types.float32)
    ptx, _ = cuda.compile_ptx(function, tuple(kinds), cc=(7, 5))
    found[name] = [line for line in ptx.splitlines() if ".f64" in line]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def python():
    """Return a Python whose numba compiles kernels, or skip."""
    found = python_with_numba()
    probe = "from numba import cuda, types; "
    probe += "cuda.compile_ptx(lambda x: None, (types.float32[:],), cc=(7, 5))"
    command = [found, "-W", "ignore", "-c", probe]
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        pytest.skip(f"its numba compiles nothing: {done.stderr[-80:]!r}")
    return found


def sources(arrays):
    for number, (name, shapes, numbers) in enumerate(SMALL):
        fused = fuse(getattr(programs, name))
        fused(*arrays(*shapes), *numbers)
        yield f"{name}_{number}", name, fused.source
    fused = fuse(programs.sgd)
    fused(*(arrays((64, 32), (32,)) for _ in range(3)), 0.1, 0.9)
    yield "sgd", "sgd", fused.source
    with installed(package="tinytorch_gpu.tinytorch"):
        fused = fuse(_gelu_of_tensor)
        fused(Tensor([[1.0, -2.0]]).to("simgpu"))
    yield "tensor", "_gelu_of_tensor", fused.source


def _gelu_of_tensor(x):
    return GELU()(x * 2.0) / 3.0


def test_numba_compiles_what_is_generated_without_float64(python, arrays, tmp_path):
    files = {}
    for key, kernel, source in sources(arrays):
        file = tmp_path / f"{key}.py"
        file.write_text(source)
        files[key] = [str(file), kernel]
    listed = tmp_path / "files.json"
    listed.write_text(json.dumps(files))
    done = subprocess.run(
        [python, "-c", COMPILE, str(listed)],
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {key: [] for key in files}
