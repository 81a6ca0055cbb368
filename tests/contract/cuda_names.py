"""Our names of `cuda`, and numba.cuda's as frozen in numba_cuda_names.json.

A name is told by its path: `jit`, `atomic.add`, `types.int32`, and for the members of
objects numba's class, `DeviceNDArray.reshape`.
"""

import json
from pathlib import Path

from tinytorch_gpu import cuda
from tinytorch_gpu.cuda import random, types

DATA = Path(__file__).parent / "numba_cuda_names.json"
FROZEN = json.loads(DATA.read_text(encoding="utf-8"))
THEIRS = FROZEN["names"]  # path -> names of the parameters, or None
MODULES = FROZEN["modules"]

NAMESPACES = {
    "atomic": cuda.atomic,
    "cg": cuda.cg,
    "const": cuda.const,
    "fp16": cuda.fp16,
    "local": cuda.local,
    "random": random,
    "shared": cuda.shared,
}


@cuda.jit("(int64[:],)")
def one_kernel(x):
    x[0] = 1


OBJECTS = {  # numba's class -> an object of ours
    "Context": cuda.current_context(),
    "Device": cuda.get_current_device(),
    "DeviceList": cuda.gpus,
    "DeviceNDArray": cuda.to_device([1]),
    "Event": cuda.event(),
    "ForAll": one_kernel.forall(1),
    "Kernel": one_kernel,
    "Overload": next(iter(one_kernel.overloads.values())),
    "Reduce": cuda.Reduce(lambda a, b: a + b),
    "Stream": cuda.stream(),
}
SPELLED = {"GridGroup.sync"}  # the rewriter reads it off the source: on no object


def public(owner):
    """Return the public names of a namespace: what it lists, or has."""
    listed = getattr(owner, "__all__", dir(owner))
    return sorted(name for name in listed if not name.startswith("_"))


def our_names():
    """Return path -> what stands there, for cuda, its namespaces and type names."""
    found = {name: getattr(cuda, name) for name in cuda.__all__}
    for space, owner in NAMESPACES.items():
        found |= {f"{space}.{name}": getattr(owner, name) for name in public(owner)}
    typed = [name for name in types.__all__ if name.islower()]  # no classes
    return found | {f"types.{name}": getattr(types, name) for name in typed}


def our_members():
    """Return path -> member, for what our objects have in common with numba's."""
    paths = (path.partition(".") for path in THEIRS)
    return {
        f"{kind}.{name}": getattr(OBJECTS[kind], name)
        for kind, _, name in paths
        if kind in OBJECTS and hasattr(OBJECTS[kind], name)
    }


OURS = our_names()
MEMBERS = our_members()
LACKING = sorted(THEIRS.keys() - OURS.keys() - MEMBERS.keys() - SPELLED)
