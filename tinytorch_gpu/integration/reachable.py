"""What a learner's method is made of: the code and the values that it can reach.

From a method, by the names in its code: functions through globals, closures and
defaults, methods through the classes' bases, attributes of modules and objects, and
what lists, dicts and small arrays hold. Each is remembered with what it was, so that a
change is seen by looking again, and what a trial changed can be put back.
"""

from __future__ import annotations

import builtins
import dis
import random
import sys
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu import tinytorch as embedded
from tinytorch_gpu.integration.snapshots import Snapshot, is_container

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["Reachable", "names_of"]

ABSENT = object()
# What is called without a name in the code that calls it.
UNNAMED = ("__init__", "__call__", "forward", "backward", "apply")
DEPTH = 12  # functions that call functions
GENERATORS = (np.random.Generator, np.random.RandomState, random.Random)


def names_of(code: Any) -> set[str]:
    """Return the names that a code mentions, and the functions within it.

    Example:
        >>> sorted(names_of((lambda self: abs(self.x)).__code__))
        ['abs', 'x']
    """
    if not isinstance(code, CodeType):
        return set()
    return set(code.co_names).union(*(names_of(c) for c in code.co_consts))


class Reachable:
    """What methods of some classes are made of.

    Args:
        methods: as they stand in their classes.
        owners: the classes whose attributes `self.name` may be.

    Attributes:
        mentioned: the names in the code, constructors left out.
        generators: the generators of random numbers that the code can reach.
    """

    def __init__(self, methods: Iterable[Any], owners: Iterable[type]) -> None:
        self.mentioned: set[str] = set()
        self.generators: list[Any] = []
        self._owners = list(owners)
        self._named: dict[tuple[int, str], tuple[Any, str, Any]] = {}
        self._functions: dict[int, tuple[FunctionType, tuple[Any, ...]]] = {}
        self._snapshots: dict[int, Snapshot] = {}
        self._seen: set[tuple[int, frozenset[str]]] = set()
        chains = {c: None for owner in self._owners for c in owner.__mro__}
        self._classes = [(c, set(vars(c))) for c in chains if not _is_foreign(c)]
        for owner in self._owners:
            self._look_up(owner, frozenset(UNNAMED), 0)
        for method in methods:
            self._visit(method, frozenset(), 0)

    def is_same(self) -> bool:
        """Tell whether all is as it was."""
        return (
            all(_held(o).get(n, ABSENT) is v for o, n, v in self._named.values())
            and all(_is_as(_parts(f), seen) for f, seen in self._functions.values())
            and all(one.is_same() for one in self._snapshots.values())
            and all(len(vars(c)) == len(names) for c, names in self._classes)
        )

    def put_back(self) -> None:
        """Give names and containers the values that they had."""
        for owner, name, value in self._named.values():
            if _held(owner).get(name, ABSENT) is value:
                continue
            if value is not ABSENT:
                setattr(owner, name, value)
            else:
                delattr(owner, name)
        for one in self._snapshots.values():
            one.put_back()
        for owner, names in self._classes:
            for name in vars(owner).keys() - names:
                delattr(owner, name)

    def _visit(
        self, thing: Any, names: frozenset[str], depth: int, home: Any = None
    ) -> None:
        """Follow a value that code with these names can reach, as a class has it."""
        for plain in _within(thing):
            if isinstance(plain, FunctionType):
                self._follow(plain, depth, home)
            elif isinstance(plain, GENERATORS):
                self.generators.append(plain)
            elif is_container(plain):
                self._remember(plain, names, depth)
            elif not _is_foreign(plain) and hasattr(plain, "__dict__"):
                self._look_up(plain, names, depth)

    def _remember(self, container: Any, names: frozenset[str], depth: int) -> None:
        if id(container) in self._snapshots:
            return
        snapshot = self._snapshots[id(container)] = Snapshot(container)
        for value in snapshot.values() if depth < DEPTH else ():
            self._visit(value, names, depth + 1)

    def _follow(self, function: FunctionType, depth: int, home: Any) -> None:
        """Look at a function, and at what the names in it stand for."""
        if id(function) in self._functions or depth > DEPTH:
            return
        below = getattr(function, "__wrapped__", None)
        if below is not None:
            self._visit(below, frozenset(), depth, home)
        if _is_foreign(function):
            return
        parts = _parts(function)
        self._functions[id(function)] = function, parts
        names = frozenset(names_of(function.__code__))
        if function.__name__ not in {"__init__", "__repr__"}:
            self.mentioned |= names
        for part in parts[1:]:
            self._visit(part, names, depth + 1)
        module, makes_any = _Globals(function.__globals__), _has_store(function)
        for name in names:
            is_there = name in function.__globals__ or hasattr(builtins, name)
            if is_there or makes_any:
                self._look_at(module, name, names, depth + 1)
        for owner in (*self._owners, *([home] if home else [])):
            self._look_up(owner, names, depth + 1)

    def _look_up(self, owner: Any, names: frozenset[str], depth: int) -> None:
        """Look at the attributes that these names may be of a class or an object."""
        key = id(owner), names
        if key in self._seen or depth > DEPTH:
            return
        self._seen.add(key)
        is_class = isinstance(owner, type)
        chain = owner.__mro__ if is_class else (owner,)
        wanted = names | frozenset(UNNAMED) if is_class else names
        for name in wanted:
            place = next((i for i, one in enumerate(chain) if name in _held(one)), -1)
            for one in chain[: place + 1]:  # a class above may come to override it
                if not _is_foreign(one):
                    home = owner if is_class else None
                    self._look_at(one, name, wanted, depth, home)
        if not is_class and not isinstance(owner, ModuleType):
            self._look_up(type(owner), names, depth)

    def _look_at(
        self,
        owner: Any,
        name: str,
        names: frozenset[str],
        depth: int,
        home: Any = None,
    ) -> None:
        key = id(_held(owner) if isinstance(owner, _Globals) else owner), name
        if key not in self._named:
            value = _held(owner).get(name, ABSENT)
            self._named[key] = owner, name, value
        self._visit(self._named[key][2], names, depth, home)


class _Globals:
    """A function's globals as an object whose attributes they are."""

    def __init__(self, names: dict[str, Any]) -> None:
        self.__dict__ = names


def _held(owner: Any) -> Mapping[str, Any]:
    held: Mapping[str, Any] = vars(owner)
    return held


def _within(thing: Any) -> tuple[Any, ...]:
    """Return what a method, a property or a partial function is made of."""
    if isinstance(thing, (staticmethod, classmethod, MethodType)):
        return (thing.__func__,)
    if isinstance(thing, property):
        return thing.fget, thing.fset
    below = getattr(thing, "func", None) if callable(thing) else None
    return (thing,) if below is None else (below, thing)


def _parts(function: FunctionType) -> tuple[Any, ...]:
    """Return what a function's meaning hangs on, apart from names."""
    cells = function.__closure__ or ()
    return (
        function.__code__,
        function.__defaults__,
        function.__kwdefaults__,
        *(_content(cell) for cell in cells),
    )


def _has_store(function: FunctionType) -> bool:
    """Tell whether a function makes a global."""
    return dis.opmap["STORE_GLOBAL"] in function.__code__.co_code[::2]


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # empty as yet
        return ABSENT


def _is_as(parts: tuple[Any, ...], seen: tuple[Any, ...]) -> bool:
    return all(a is b for a, b in zip(parts, seen, strict=True))


def _is_foreign(thing: Any) -> bool:
    """Tell whether something is Python's, NumPy's or ours, and not the learner's."""
    if isinstance(thing, FunctionType):  # where it was written, whatever it wraps
        module = thing.__globals__.get("__name__")
    else:
        module = (thing if isinstance(thing, type) else type(thing)).__module__
    name = str(thing.__name__ if isinstance(thing, ModuleType) else module or "")
    if name == embedded.__name__ or name.startswith(f"{embedded.__name__}."):
        return False
    if name == "types":  # SimpleNamespace
        return False
    root = name.partition(".")[0]
    ours = {"numpy", "tinytorch_gpu", "builtins"}
    return root in ours or (root in sys.stdlib_module_names and root != "__main__")
