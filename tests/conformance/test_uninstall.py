"""After `uninstall` every attribute of every class and module is what it was."""

import pickle
from pathlib import Path

import numpy as np

import tinytorch_gpu as simgpu
from tests.conformance.package import host
from tinytorch_gpu import integration
from tinytorch_gpu import tinytorch as embedded
from tinytorch_gpu.integration.detect import detect

OURS = str(Path(integration.__file__).parent)
UNSAID = {"__dict__", "__weakref__", "__doc__", "__builtins__"}


def attributes(name):
    """Return each attribute of each module and class of a package and of the core."""
    found = {}
    for package in {name, embedded.__name__}:
        one = detect(package)
        owners = {c for top in one.classes() for c in top.__mro__ if c is not object}
        for owner in (*one.modules.values(), *owners):
            for key, value in vars(owner).items():
                if key not in UNSAID and not key.startswith(("_abc_", "__abstract")):
                    found[owner, key] = value
    return found


def is_ours(value):
    """Tell whether an attribute is code of `tinytorch_gpu.integration`."""
    if isinstance(value, property):
        return is_ours(value.fget)
    function = getattr(value, "__func__", value)
    code = getattr(function, "__code__", None)
    return code is not None and code.co_filename.startswith(OURS)


def use(package):
    """Train a little on the device: whatever is changed late is changed by then."""
    layer = package.get("Linear")(3, 2)
    layer.to("simgpu")
    for parameter in layer.parameters():
        parameter.requires_grad, parameter.grad = True, None
    x = package.plain(np.ones((4, 3)), "simgpu")
    out = package.get("ReLU")().forward(layer.forward(x))
    out.sum().backward()
    assert host(out).shape == (4, 2)
    assert host(layer.weight.grad).shape == (3, 2)


def test_every_attribute_is_the_original_object(package):
    use(package)
    simgpu.uninstall()
    before = attributes(package.name)
    assert not [key for key, value in before.items() if is_ours(value)]
    told = str(simgpu.install("t4", package.name))  # tries every op
    during = attributes(package.name)
    use(package)
    simgpu.uninstall()
    after = attributes(package.name)
    assert told
    assert [key for key, value in during.items() if is_ours(value)]
    assert before.keys() == after.keys()
    assert not [key for key in before if before[key] is not after[key]]


def test_modules_see_numpy_and_pickle_themselves_again(package):
    simgpu.uninstall()
    for module in package.found.modules.values():
        assert vars(module).get("np", np) is np
        assert vars(module).get("pickle", pickle) is pickle


def test_tensors_of_the_device_stay_readable(package):
    there = package.plain([1.0, 2.0], "simgpu")
    simgpu.uninstall()
    assert not hasattr(there, "to")
    assert there.data.copy_to_host().tolist() == [1.0, 2.0]
