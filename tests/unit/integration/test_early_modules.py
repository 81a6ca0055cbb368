"""A learner's first modules, and a notebook's own Tensor: each in its own process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tinytorch_gpu

HERE = Path(__file__).parents[2] / "conformance" / "generation_a"

FIRST = """
import numpy as np
import tinytorch_gpu as simgpu
from standin_a.core.tensor import Tensor
print(simgpu.install("t4", "standin_a.core"))
x = Tensor([[1, 2], [3, 4]]).to("simgpu")
assert not hasattr(x, "requires_grad")
assert x.matmul(x).cpu().numpy().tolist() == [[7, 10], [15, 22]]
assert (x[0, 1] * 2.0).device == "simgpu:0"
print((x + x).sum().item())
"""

LATER = """
import numpy as np
import tinytorch_gpu as simgpu
from standin_a.core.tensor import Tensor
simgpu.install("t4", "standin_a.core")
write_autograd()
simgpu.install("t4", "standin_a.core")  # again, after the next module
x = Tensor([[1, 2], [3, 4]])
x.requires_grad, x.grad = True, None
x.to("simgpu").matmul(Tensor(np.ones((2, 1))).to("simgpu")).sum().backward()
assert isinstance(x.grad, np.ndarray)
simgpu.uninstall()
assert not hasattr(Tensor, "to")
print(x.grad.tolist())
"""

NOTEBOOK = """
import numpy as np
import tinytorch_gpu as simgpu

class Tensor:  # module 01, as its notebook has it
    def __init__(self, data):
        self.data = np.array(data, dtype=np.float32)
        self.shape = self.data.shape
    def numpy(self):
        return self.data
    def __mul__(self, other):
        return Tensor(self.data * (other.data if isinstance(other, Tensor) else other))

before, plain_np = dict(vars(Tensor)), np
simgpu.install("t4")
x = Tensor([1.0, 2.0]).to("simgpu")
print((x * x).device, (x * x).cpu().numpy().tolist())
simgpu.uninstall()
after = dict(vars(Tensor))
assert np is plain_np
assert before.keys() == after.keys()
assert all(before[key] is after[key] for key in before)
"""


@pytest.fixture
def run(tmp_path):
    """Run a program beside a package that has only some modules."""
    core = tmp_path / "standin_a" / "core"
    core.mkdir(parents=True)
    (core / "tensor.py").write_text((HERE / "tensor.py").read_text())

    def run_it(program, *modules):
        for name in modules:
            (core / f"{name}.py").write_text((HERE / f"{name}.py").read_text())
        script = tmp_path / "script.py"
        script.write_text(program)
        root = str(Path(tinytorch_gpu.__file__).parents[1])
        env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), root])}
        command = [sys.executable, "-W", "error", str(script)]
        done = subprocess.run(
            command, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    return run_it


def test_module_01_alone_gets_the_device(run):
    lines = run(FIRST)
    assert "generation A2, modules tensor" in lines[1]
    assert lines[-1] == "20.0"


def test_autograd_that_comes_after_the_first_install(run):
    names = ("activations", "losses", "functions", "autograd")
    texts = {name: (HERE / f"{name}.py").read_text() for name in names}
    writer = (
        "import importlib, pathlib\n"
        f"TEXTS = {texts!r}\n"
        "def write_autograd():\n"
        "    core = pathlib.Path(__file__).parent / 'standin_a' / 'core'\n"
        "    for name, text in TEXTS.items():\n"
        "        (core / (name + '.py')).write_text(text)\n"
        "    importlib.invalidate_caches()\n"
    )
    assert run(writer + LATER) == ["[[1.0, 1.0], [1.0, 1.0]]"]


def test_the_second_tensor_of_a_notebook(run):
    assert run(NOTEBOOK) == ["simgpu:0 [1.0, 4.0]"]


CELL = """
class Tensor:
    def __init__(self, data):
        self.data = np.array(data, dtype=np.float32)
    def __add__(self, other):
        return Tensor(self.data + other.data)
"""
AGAIN = f"""
import numpy as np
import tinytorch_gpu as simgpu
{CELL}
simgpu.install("t4")
first = Tensor
{CELL}
assert Tensor is not first
simgpu.install("t4")  # again, after the cell has run again
x = Tensor([1.0, 2.0]).to("simgpu")
print(x.device, (x + x).cpu().numpy().tolist())
simgpu.uninstall()
assert not hasattr(Tensor, "to") and not hasattr(Tensor, "numpy")
assert not hasattr(first, "to")
"""


def test_a_cell_that_runs_again_makes_a_tensor_that_gets_the_device(run):
    assert run(AGAIN) == ["simgpu:0 [2.0, 4.0]"]


# A module 01 in the middle of its work, and a program on it if it does that much.
HALF_WRITTEN = {
    "nothing": "class Tensor:\n    pass\n",
    "a constructor that passes": "class Tensor:\n    def __init__(self, data): pass\n",
    "a constructor to do": (
        "class Tensor:\n    def __init__(self, data): raise NotImplementedError\n"
    ),
    "no numpy()": CELL,
}


@pytest.mark.parametrize("state", HALF_WRITTEN)
def test_any_state_of_module_01_will_do(state, run, tmp_path):
    core = tmp_path / "tinytorch" / "core"
    core.mkdir(parents=True)
    for folder in (core, core.parent):
        (folder / "__init__.py").write_text("")
    source = f"import numpy as np\n{HALF_WRITTEN[state]}"
    (core / "tensor.py").write_text(source)
    program = f"""
import tinytorch_gpu as simgpu
from tinytorch.core.tensor import Tensor
text = str(simgpu.install("t4"))
assert "these ops have kernels" in text, text
{source}  # and so in a notebook
simgpu.install("t4")
if {state == "no numpy()"}:
    print((Tensor([1.0]).to("simgpu") + Tensor([2.0]).to("simgpu")).numpy.__name__)
simgpu.uninstall()
print("done")
"""
    assert run(program)[-1] == "done"
