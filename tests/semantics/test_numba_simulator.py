"""Kernels give what numba's own simulator gives, where that one is right.

The simulator runs in a process of its own, with the Python that has numba-cuda:
`TINYTORCH_GPU_NUMBA_PYTHON`, or this one.
"""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FILE = Path(__file__).with_name("simulator_kernels.py")
NAMES = ("tree_sum", "histogram", "sorted_by_each", "rows", "counted", "dynamic")


def python_with_numba():
    """Return the Python to run numba with, or skip."""
    given = os.environ.get("TINYTORCH_GPU_NUMBA_PYTHON")
    if given:
        return given
    if importlib.util.find_spec("numba") is None:
        pytest.skip("no numba here, and TINYTORCH_GPU_NUMBA_PYTHON names no Python")
    return sys.executable


@pytest.fixture(scope="module")
def of_numba():
    """Run the kernels' file on numba's simulator; return each result by name."""
    done = subprocess.run(
        [python_with_numba(), str(FILE)],
        env=os.environ | {"PEER": "numba.cuda", "NUMBA_ENABLE_CUDASIM": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("name", NAMES)
def test_a_kernel_gives_what_numbas_simulator_gives(of_numba, monkeypatch, name):
    monkeypatch.setenv("PEER", "tinytorch_gpu.cuda")
    spec = importlib.util.spec_from_file_location("kernels_on_ours", FILE)
    ours = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(ours)
    assert ours.run(name) == of_numba[name]
