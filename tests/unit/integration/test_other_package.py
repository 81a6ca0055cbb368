"""A TinyTorch of one's own: another package with the same API gets the device too.

The package is the embedded core under TinyTorch's module names, in a folder of its own
and a process of its own, so that `install()` has to find it.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tinytorch_gpu import tinytorch

PROGRAM = """
import numpy as np
import tinytorch_gpu as simgpu
from tinytorch.core.layers import Linear
from tinytorch.core.losses import MSELoss
from tinytorch.core.optimizers import SGD
from tinytorch.core.tensor import Tensor

before = vars(Tensor).copy()
found = simgpu.install()
assert found.tinytorch.package == "tinytorch.core", found
layer = Linear(2, 1).to("simgpu")
x = Tensor([[0, 1], [2, 3]]).to("simgpu")
with simgpu.profiler.profile() as prof:
    for _ in range(3):
        loss = MSELoss()(layer(x), Tensor([[1], [2]]).to("simgpu"))
        loss.backward()
        SGD(layer.parameters(), lr=0.1).step()
assert layer.weight.device == "simgpu:0"
assert any("matmul" in row.op for row in prof.key_averages())

from tinytorch_gpu.tinytorch import Tensor as Embedded
assert Embedded([1.0]).to("simgpu").is_simgpu  # the embedded core has it as well
simgpu.uninstall()
assert all(vars(Tensor)[name] is value for name, value in before.items())
assert not hasattr(Tensor, "to")
print("done")
"""


@pytest.fixture
def own_tinytorch(tmp_path):
    core = tmp_path / "tinytorch" / "core"
    core.mkdir(parents=True)
    (tmp_path / "tinytorch" / "__init__.py").write_text("")
    for source in Path(tinytorch.__file__).parent.glob("*.py"):
        text = source.read_text().replace("tinytorch_gpu.tinytorch", "tinytorch.core")
        (core / source.name).write_text(text)
    return tmp_path


def test_install_finds_a_tinytorch_of_ones_own(own_tinytorch):
    root = str(Path(tinytorch.__file__).parents[2])
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([str(own_tinytorch), root])}
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.strip() == "done"
