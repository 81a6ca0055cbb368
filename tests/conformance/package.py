"""The packages that the suite runs over, and how a test gets at what is in them.

The embedded core is always one. Two are stand-ins for packages that are not here: of
generation B with the later modules (`generation_b/`, beside the core's own), and of
generation A (`generation_a/`). Then there is the learner's own: TINYTORCH_PATH names the
folder that holds their `tinytorch`. Names move between releases, so a class is looked
for by name in all modules of the package.
"""

import importlib
import os
import sys
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tinytorch_gpu import tinytorch as embedded
from tinytorch_gpu.integration.detect import detect

HOW = "set TINYTORCH_PATH=folder-with-your-tinytorch to run this over your own package"
OWN = "tinytorch.core"
# Stand-ins: their own modules, and those of the embedded core that they take over.
STAND_INS = {
    "standin_a.core": (
        "generation_a",
        {"optimizers.py", "training.py", "dataloader.py"},
    ),
    "standin_b.core": ("generation_b", None),
}


def packages():
    """Return a parameter for each package; the learner's own is skipped if not there."""
    skip = pytest.mark.skip(reason=HOW)
    return [
        pytest.param(embedded.__name__, id="embedded"),
        pytest.param("standin_a.core", id="stand-in-A"),
        pytest.param("standin_b.core", id="stand-in-B"),
        pytest.param(
            OWN, id="own", marks=() if "TINYTORCH_PATH" in os.environ else skip
        ),
    ]


@cache
def stand_in(name):
    """Write a stand-in package; return the folder that it is in."""
    folder, taken = STAND_INS[name]
    core = Path(tempfile.mkdtemp(prefix="standin-")) / name.replace(".", "/")
    core.mkdir(parents=True)
    (core.parent / "__init__.py").write_text("")
    (core / "__init__.py").write_text("")
    for source in Path(embedded.__file__).parent.glob("*.py"):
        if (taken is None or source.name in taken) and source.name != "__init__.py":
            text = source.read_text().replace(embedded.__name__, name)
            (core / source.name).write_text(text)
    for source in (Path(__file__).parent / folder).glob("*.py"):
        (core / source.name).write_text(source.read_text())
    return str(core.parent.parent)


class Package:
    """A TinyTorch under test.

    Args:
        name: the package of its tensor module.
    """

    def __init__(self, name):
        path = stand_in(name) if name in STAND_INS else os.environ.get("TINYTORCH_PATH")
        if name != embedded.__name__ and path not in sys.path:
            sys.path.insert(0, path)
            importlib.invalidate_caches()
        self.name = name
        self.is_complete = name in {embedded.__name__, "standin_b.core"}
        self.found = detect(name)
        self.Tensor = self.found.tensor_class

    def get(self, name):
        """Return a class or function; skip the test where the learner has none yet."""
        for module in self.found.modules.values():
            if callable(getattr(module, name, None)):
                return getattr(module, name)
        return pytest.skip(f"{self.found.package} has no {name} yet")

    def needs(self, thing, *names):
        """Skip the test where an object or class has no method of a name."""
        kind = thing if isinstance(thing, type) else type(thing)
        for name in names:
            if not hasattr(thing, name):
                pytest.skip(f"{self.found.package}: {kind.__name__} has no {name}")

    def seed(self, number=7):
        """Let the package's generators of random numbers begin anew."""
        np.random.seed(number)  # noqa: NPY002  (generation A draws from it)
        for module in self.found.modules.values():
            rng = getattr(module, "rng", None)
            if isinstance(rng, np.random.Generator):
                state = np.random.default_rng(number).bit_generator.state
                rng.bit_generator.state = state

    def leaf(self, values, device="cpu"):
        """Make a Tensor that requires a gradient, on a device."""
        tensor = self.Tensor(np.array(values, np.float32))
        tensor.requires_grad = True
        tensor.grad = None
        if device != "cpu":  # moved as a layer's parameter is: it stays a leaf
            tensor.data = tensor.to(device).data
        return tensor

    def plain(self, values, device="cpu"):
        """Make a Tensor without a gradient, on a device."""
        return self.Tensor(np.array(values, np.float32)).to(device)


def host(value):
    """Copy a Tensor's data, a gradient or an array to the host."""
    array = value.data if hasattr(value, "requires_grad") else value
    return array.copy_to_host() if hasattr(array, "copy_to_host") else np.asarray(array)


def same(mine, theirs):
    """Check float32 results to 1e-5 of the larger of value and 1."""
    np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-5)
