"""What a learner's expression can be, as its text tells; and names that are safe.

Most expressions are numbers: arrays and what is computed of them. A few stand for a
thing that is known now: a module, a function, a class. Others are objects of a class
that is known. What is none of these cannot be followed.
"""

from __future__ import annotations

import ast
import builtins
import random
import sys
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from tinytorch_gpu import tinytorch as embedded

__all__ = [
    "ARRAY", "ARRAY_NAMES", "CALLED_NAMES", "GENERATORS", "OPERATORS", "OUTSIDE",
    "TENSOR", "TENSOR_STATE", "UNKNOWN", "Fixed", "Given", "Instance", "Kind",
    "is_foreign", "is_plain", "is_safe", "joined", "of_all", "unpatched",
]  # fmt: skip


@dataclass(frozen=True)
class Kind:
    """A kind of value that needs no more facts than its name."""

    name: str


ARRAY = Kind("array")  # a host array or a number, or a list of them
TENSOR = Kind("tensor")  # that, or a Tensor, or a list of them
UNKNOWN = Kind("unknown")


@dataclass(frozen=True)
class Fixed(Kind):
    """A module, function or class that is known.

    Args:
        value: the thing itself.
    """

    value: Any


@dataclass(frozen=True)
class Instance(Kind):
    """An object of a class that is known.

    Args:
        owner: the class.
        is_new: the code itself made it.
    """

    owner: Any
    is_new: bool = False


@dataclass(frozen=True)
class Given:
    """What a call gives.

    Args:
        places: what stands in the first places.
        names: what is given by name.
        rest: what all other parameters may be.
    """

    places: tuple[Kind, ...] = ()
    names: tuple[tuple[str, Kind], ...] = ()
    rest: Kind = TENSOR


PLAIN = (bool, int, float, complex, str, bytes, type(None), type(...), np.generic)
GENERATORS = (np.random.Generator, np.random.RandomState, random.Random)
BUILTINS = frozenset(
    vars(builtins)[name]
    for name in (
        "abs", "all", "any", "bool", "callable", "complex", "dict", "divmod",
        "enumerate", "float", "frozenset", "getattr", "hasattr", "int", "isinstance",
        "issubclass", "len", "list", "max", "min", "pow", "range", "repr", "reversed",
        "round", "set", "setattr", "slice", "sorted", "str", "sum", "super", "tuple",
        "type", "zip", "object", "property",
    )
)  # fmt: skip
MODULES = {"numpy", "numpy.linalg", "math", "scipy", "scipy.special"}
# What reads or changes something outside of its arguments, or calls what it is given.
OUTSIDE = frozenset({
    "apply_along_axis", "apply_over_axes", "frompyfunc", "fromfile", "genfromtxt",
    "get_include", "getbufsize", "geterr", "geterrcall", "get_printoptions", "info",
    "load", "loadtxt", "memmap", "random", "save", "savetxt", "savez",
    "savez_compressed", "setbufsize", "seterr", "seterrcall", "set_printoptions",
    "show_config", "show_runtime", "test", "vectorize",
})  # fmt: skip


def _public(*types: type) -> frozenset[str]:
    return frozenset(n for one in types for n in dir(one) if not n.startswith("_"))


ARRAY_NAMES = _public(np.ndarray, np.generic, float) - {"base", "ctypes", "tofile"}
CALLED_NAMES = ARRAY_NAMES | _public(str, list, tuple, dict, set)
TENSOR_STATE = frozenset(
    ("data", "shape", "size", "dtype", "grad", "requires_grad", "_grad_fn",
     "_graph_released")
)  # fmt: skip
OPERATORS: dict[type, tuple[str, ...]] = {
    node: tuple(f"__{way}{name}__" for way in ("", "r", "i"))
    for node, name in (
        (ast.Add, "add"), (ast.Sub, "sub"), (ast.Mult, "mul"), (ast.Div, "truediv"),
        (ast.MatMult, "matmul"), (ast.Pow, "pow"), (ast.FloorDiv, "floordiv"),
        (ast.Mod, "mod"),
    )
}  # fmt: skip
OPERATORS |= {ast.USub: ("__neg__",), ast.Invert: ("__invert__",)}


def joined(*kinds: Kind) -> Kind:
    """Return what a value is that may be any of several kinds.

    Example:
        >>> joined(ARRAY, TENSOR).name, joined(ARRAY, Fixed("module", np)).name
        ('tensor', 'unknown')
    """
    several = set(kinds)
    if len(several) == 1:
        return kinds[0]
    return TENSOR if several <= {ARRAY, TENSOR} else UNKNOWN


def of_all(*kinds: Kind) -> Kind:
    """Return what is computed of several values, or is a list of them.

    Example:
        >>> of_all(ARRAY, ARRAY).name, of_all(ARRAY, UNKNOWN).name
        ('array', 'tensor')
    """
    return ARRAY if all(kind is ARRAY for kind in kinds) else TENSOR


def is_plain(value: Any) -> bool:
    """Tell whether a value cannot change: a number or text, or a tuple of them.

    Example:
        >>> is_plain((1, "x")), is_plain([1])
        (True, False)
    """
    if type(value) is tuple:  # also of types, for isinstance
        return all(
            is_plain(one) or (isinstance(one, type) and is_foreign(one))
            for one in value
        )
    return isinstance(value, (*PLAIN, np.dtype)) and is_foreign(type(value))


def is_safe(value: Any) -> bool:
    """Tell whether Python's or NumPy's own thing reads its arguments only."""
    if isinstance(value, ModuleType):  # TinyTorch's `np` is a stand-in of ours
        return value.__name__ in MODULES
    if isinstance(value, type):
        is_own = issubclass(value, BaseException) or value in BUILTINS
        return is_foreign(value) and (is_own or value.__module__ == np.__name__)
    if isinstance(value, BuiltinFunctionType) and value in BUILTINS:
        return True
    module = getattr(value, "__module__", None) or np.__name__
    is_called = callable(value) and module.partition(".")[0] in {
        "numpy", "math", "scipy",
    }  # fmt: skip
    return is_called or isinstance(value, np.ufunc)


def is_foreign(thing: Any) -> bool:
    """Tell whether a function, class or module is Python's, NumPy's or ours.

    Args:
        thing: what the learner's code mentions.

    Example:
        >>> is_foreign(np), is_foreign(type("Mine", (), {"__module__": "mine"}))
        (True, False)
    """
    if isinstance(thing, FunctionType):  # where it was written, whatever it wraps
        module = thing.__globals__.get("__name__")
    else:
        module = thing.__name__ if isinstance(thing, ModuleType) else thing.__module__
    name = str(module or "")
    if name == embedded.__name__ or name.startswith(f"{embedded.__name__}."):
        return False
    root = name.partition(".")[0]
    ours = {"numpy", "scipy", "tinytorch_gpu", "builtins"}
    return root in ours or (root in sys.stdlib_module_names and root != "__main__")


def unpatched(function: Any) -> Any:
    """Return the learner's function beneath the wrappers that `install` put around it.

    Args:
        function: as its class or module has it now.
    """
    while isinstance(function, FunctionType) and is_foreign(function):
        if not hasattr(function, "__wrapped__"):
            break
        function = function.__wrapped__
    return function
