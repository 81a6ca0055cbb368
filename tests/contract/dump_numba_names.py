"""Print the public names of numba.cuda and their parameters as JSON.

A program for the interpreter that has numba-cuda; it imports nothing of ours, and needs
no GPU. Parameters are null for a value, or for a function whose parameters cannot be
read; `unreadable` lists the latter. They are read from:

- functions and classes: `inspect.signature`;
- intrinsics made with numba's decorator: the same, without the typing context;
- stubs (classes without code): the call in the first line of their docstring;
- `fp16`: nothing, since its functions are made from C++ headers and lose their names.
"""

import ast
import importlib
import importlib.metadata
import inspect
import json
import re
import sys
import textwrap
import warnings

COMMAND = (
    "python tests/contract/dump_numba_names.py > tests/contract/numba_cuda_names.json"
)
NAMESPACES = ("atomic", "cg", "const", "fp16", "local", "random", "shared", "types")
UNLISTED = ("types.float16", "types.f2")  # there, but not in the module's __all__
OBJECTS = {
    "Context": ("numba.cuda.cudadrv.driver", "Context"),
    "Device": ("numba.cuda.cudadrv.driver", "Device"),
    "DeviceList": ("numba.cuda.cudadrv.devices", "_DeviceList"),
    "DeviceNDArray": ("numba.cuda.cudadrv.devicearray", "DeviceNDArray"),
    "Event": ("numba.cuda.cudadrv.driver", "Event"),
    "ForAll": ("numba.cuda.dispatcher", "ForAll"),
    "GridGroup": ("numba.cuda.cg", "GridGroup"),
    "Kernel": ("numba.cuda.dispatcher", "CUDADispatcher"),
    "Overload": ("numba.cuda.dispatcher", "_Kernel"),
    "Reduce": ("numba.cuda", "Reduce"),
    "Stream": ("numba.cuda.cudadrv.driver", "Stream"),
}
STARS = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}


def of_signature(function, without=""):
    """Return the parameters' names; `*` and `**` stand before the catch-alls."""
    told = inspect.signature(function).parameters.values()
    return [STARS.get(p.kind, "") + p.name for p in told if p.name != without]


def of_docstring(stub):
    """Return the parameters in the first line, `name(a, b=1)`, or None."""
    call = rf'[\s"]*{re.escape(stub.__name__)}\(([^)]*)\)'
    found = re.match(call, stub.__doc__ or "")
    parts = found[1].split(",") if found else []
    names = [part.partition("=")[0].strip() for part in parts]
    return [name for name in names if name] if found else None


def parameters(item, path):
    """Return a list of names, None for a value, or "?" if it cannot be read."""
    if type(item).__name__ == "_Intrinsic":
        return of_signature(item, "typingctx")
    if inspect.isclass(item) and item.__module__ == "numba.cuda.stubs":
        found = of_docstring(item)
        return "?" if found is None else found
    if path.startswith("fp16."):
        return "?"
    if inspect.isfunction(item) or hasattr(item, "py_func"):
        return of_signature(item)
    try:
        return of_signature(item) if inspect.isclass(item) else None
    except ValueError:
        return "?"


def members(owner, prefix):
    """Return path -> parameters of what a namespace defines or lists."""
    listed = getattr(owner, "__all__", None)
    found = {}
    for name in dir(owner):
        item, path = getattr(owner, name), prefix + name
        if listed is not None:
            keeps = name in listed or path in UNLISTED
        else:  # a class, numba.cuda itself, or a module with imports among its names
            is_own = getattr(item, "__module__", "") == owner.__name__
            keeps = inspect.isclass(owner) or not prefix or is_own
        if keeps and not name.startswith("_") and not inspect.ismodule(item):
            found[path] = parameters(item, path)
    return found


def attributes_set(owner):
    """Return the public names that the class's methods assign to `self`."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(owner)))
    return {
        node.attr
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.ctx, ast.Store)
        and ast.unparse(node.value) == "self"
        and not node.attr.startswith("_")
    }


def object_members(owner, prefix):
    """Return path -> parameters of a class's public members, `self` left out."""
    found = {}
    for kind in owner.__mro__:
        if kind.__module__.startswith("numba.cuda"):
            found |= dict.fromkeys((prefix + n for n in attributes_set(kind)), None)
    for name in dir(owner):
        item = inspect.getattr_static(owner, name)
        item = getattr(item, "__func__", item)
        if not name.startswith("_") or name == "__call__":
            is_plain = inspect.isfunction(item)
            found[prefix + name] = of_signature(item, "self") if is_plain else None
    return dict(sorted(found.items()))


def submodules(package):
    """Return the modules that importing numba.cuda leaves on it."""
    return sorted(
        name
        for name, item in vars(package).items()
        if inspect.ismodule(item)
        and item.__name__ == f"numba.cuda.{name}"
        and not name.startswith("_")
    )


def dump():
    """Return everything that the contract compares."""
    warnings.simplefilter("ignore")
    cuda = importlib.import_module("numba.cuda")
    for name in ("bf16", "fp16", "libdevice", "random"):
        importlib.import_module(f"numba.cuda.{name}")
    driver = importlib.import_module("cuda.bindings.driver")
    found = members(cuda, "")
    for space in NAMESPACES:
        found |= members(getattr(cuda, space), f"{space}.")
    for prefix, (module, name) in OBJECTS.items():
        owner = getattr(importlib.import_module(module), name)
        found |= object_members(owner, f"{prefix}.")
    stem = "CU_DEVICE_ATTRIBUTE_"
    device = [name.removeprefix(stem) for name in driver.CUdevice_attribute.__members__]
    packages = ("numba-cuda", "numba")
    return {
        "command": COMMAND,
        "versions": {name: importlib.metadata.version(name) for name in packages},
        "unreadable": sorted(path for path, names in found.items() if names == "?"),
        "modules": submodules(cuda),
        "device_attributes": sorted(device),
        "names": {p: None if names == "?" else names for p, names in found.items()},
    }


if __name__ == "__main__":
    # One name a line: a new version of numba-cuda shows as a readable difference.
    text = json.dumps(dump(), indent=1)
    text = re.sub(r"\[\s+([^\]]*?)\s+\]", lambda m: f"[{' '.join(m[1].split())}]", text)
    sys.stdout.write(text + "\n")
