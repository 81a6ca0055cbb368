"""Our names and parameters are numba.cuda's: a kernel changes its import line only.

What numba.cuda has is frozen in numba_cuda_names.json, whose first line tells how it
was made. Where numba is installed, or TINYTORCH_GPU_NUMBA_PYTHON names an interpreter
that has it, the frozen names are compared with the real ones as well.
"""

import importlib.util
import inspect
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contract.cuda_names import FROZEN, MEMBERS, MODULES, OURS, THEIRS
from tinytorch_gpu.cuda.device_attributes import ATTRIBUTES
from tinytorch_gpu.cuda.intrinsics import Intrinsic
from tinytorch_gpu.cuda.types import ScalarType

DUMP = Path(__file__).parent / "dump_numba_names.py"
VARIABLE = "TINYTORCH_GPU_NUMBA_PYTHON"
SECONDS = 100


def parameters(item):
    """Return the names that an argument can be given by, and whether `**` takes more.

    None for what is not called.
    """
    if isinstance(item, Intrinsic):
        return [each.arg for each in item.parameters.args], False
    if isinstance(item, ScalarType) or not callable(item):
        return None
    told = list(inspect.signature(item).parameters.values())
    named = [p.name for p in told if p.kind is p.POSITIONAL_OR_KEYWORD]
    takes_more = any(p.kind is p.VAR_KEYWORD for p in told)
    return [n for n in named if n != "self" and n[0] != "_"], takes_more


def differs(path, item):
    """Tell how the parameters of a name of ours differ from numba's; "" if not."""
    ours, theirs = parameters(item), THEIRS[path]
    if ours is None or theirs is None:
        return ""
    named, takes_more = ours
    needed = [name for name in theirs if not name.startswith("*")]
    if named == (needed[: len(named)] if takes_more else needed):
        return ""
    return f"{path}({', '.join(named)}), numba has ({', '.join(theirs)})"


@pytest.mark.parametrize("path", sorted(OURS))
def test_name_and_parameters_are_numbas(path):
    if path not in MODULES:
        assert path in THEIRS, f"numba.cuda has no {path}"
        assert not differs(path, OURS[path])


@pytest.mark.parametrize("path", sorted(MEMBERS))
def test_member_has_numbas_parameters(path):
    assert not differs(path, MEMBERS[path])


def test_device_attributes_are_cudas():
    assert set(ATTRIBUTES) - set(FROZEN["device_attributes"]) == set()


def test_the_parameters_of_most_functions_are_compared():
    compared = [p for p in [*OURS, *MEMBERS] if THEIRS.get(p) is not None]
    assert len(compared) > 100
    assert {"atomic.cas", "jit", "shfl_sync", "DeviceNDArray.view"} < set(compared)


def test_a_name_that_numba_lacks_and_a_wrong_parameter_are_found():
    def popc(number):
        return number

    assert "popcount" not in THEIRS
    assert differs("popc", popc) == "popc(number), numba has (x)"
    assert not differs("popc", lambda x: x)


def interpreter():
    """Return the interpreter that has numba.cuda, or None."""
    if VARIABLE in os.environ:
        return os.environ[VARIABLE]
    has_it = importlib.util.find_spec("numba") and importlib.util.find_spec("cuda")
    return sys.executable if has_it else None


def test_frozen_names_are_those_of_the_installed_numba():
    python = interpreter()
    if python is None:
        pytest.skip(
            "numba-cuda is not installed: `pip install numba-cuda==0.30.4` in a venv, "
            f"and set {VARIABLE} to that venv's python"
        )
    done = subprocess.run(
        [python, str(DUMP)], capture_output=True, check=False, text=True,
        timeout=SECONDS,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    real = json.loads(done.stdout)
    if real["versions"] != FROZEN["versions"]:
        pytest.skip(f"frozen from {FROZEN['versions']}, installed {real['versions']}")
    assert real == FROZEN
