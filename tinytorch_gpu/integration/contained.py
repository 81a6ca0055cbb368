"""Whether all that a learner's code reads is known, and whether it has changed since.

A kernel may answer for code that reads its arguments, numbers and NumPy, and nothing
else: then the same operands give the same result, whenever it is called. `Contained`
follows a method through the functions, methods and classes that it calls. At the first
thing that it cannot follow it stops, and the learner's code runs itself: an object that
somebody may change, a global list, a counter, a cache, `os.environ`, a file, a random
number, a text that is not to be read. What it went by, it remembers.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.integration.expressions import (
    GENERATOR,
    MAKING,
    STRICT,
    Unfollowed,
)
from tinytorch_gpu.integration.kinds import (
    ARRAY,
    GENERATORS,
    OUTSIDE,
    TENSOR,
    UNKNOWN,
    Fixed,
    Given,
    Instance,
    Kind,
    is_foreign,
    is_plain,
    is_safe,
    unpatched,
)
from tinytorch_gpu.integration.sources import tree_of
from tinytorch_gpu.integration.walk import Walk
from tinytorch_gpu.integration.watched import ABSENT, Watched

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Contained", "Root"]

ANY = Given()
TAKES_OVER = ("__new__", "__getattr__", "__getattribute__", "__setattr__")


@dataclass(frozen=True)
class Root:
    """A method from which code is followed.

    Args:
        owner: the class.
        name: the method; one that the class has not is left out.
        mode: what it may change (`expressions`).
        given: what its operands are.
    """

    owner: Any
    name: str
    mode: str = STRICT
    given: Given = ANY


class Contained(Watched):
    """What some methods read and call.

    Args:
        roots: the methods.
        tensor: the class of Tensors.
        layers: what an attribute `layer` of a node may be.

    Attributes:
        reason: what could not be followed; "" if all could.
        mentioned: the attributes that the code reads of its own objects.
        generators: the generators of random numbers that constructors draw from.
    """

    def __init__(
        self, roots: Iterable[Root], tensor: Any, layers: tuple[Any, ...] = ()
    ) -> None:
        super().__init__()
        self.reason = ""
        self.mentioned: set[str] = set()
        self.generators: list[Any] = []
        self._tensor, self._layers = tensor, layers
        self._followed: dict[Any, Kind] = {}
        try:
            for root in roots:
                self._start(root)
        except (Unfollowed, RecursionError) as found:
            self.reason = str(found) or "its calls go too deep"

    def _start(self, root: Root) -> None:
        self._check_class(root.owner)
        is_tensor = issubclass(root.owner, self._tensor)
        me = TENSOR if is_tensor else Instance("object", root.owner)
        self.method(me, root.name, root.given, root.mode, root.owner)

    # What `Walk` asks

    def name(self, function: FunctionType, name: str, mode: str) -> Kind:
        """Return what a free or a global name stands for."""
        if name in function.__code__.co_freevars:
            cells = function.__closure__ or ()
            cell = cells[function.__code__.co_freevars.index(name)]
            try:
                return self._kind(cell.cell_contents, name, mode)
            except ValueError:  # empty as yet
                return UNKNOWN
        value = self.look_up(function.__globals__, name)
        if value is ABSENT:
            built = function.__globals__.get("__builtins__", {})
            held = built if isinstance(built, dict) else vars(built)
            value = self.look_up(held, name)
        return self._kind(value, name, mode)

    def module(self, name: str) -> Kind:
        """Return what the name of a module that was imported stands for."""
        module = sys.modules.get(name)
        if module is None:
            raise Unfollowed(f"it imports {name}")
        return self._kind(module, name, STRICT)

    def member(self, owner: Any, name: str, mode: str) -> Kind | None:
        """Return what an attribute of a module or class stands for; None if absent."""
        if isinstance(owner, ModuleType) and is_safe(owner):
            return self._of_numpy(owner, name, mode)
        if isinstance(owner, ModuleType):
            value = self.look_up(vars(owner), name)
        elif isinstance(owner, type) and not is_foreign(owner):
            value = self._in_class(owner, name)
        else:
            return ARRAY if is_safe(owner) else None  # np.add.at, np.float32.__name__
        if value is ABSENT:
            return None
        if isinstance(value, classmethod):
            return Fixed("function", (unpatched(value.__func__), owner))
        plain = value.__func__ if isinstance(value, staticmethod) else value
        return self._kind(plain, name, mode)

    def method(
        self, me: Kind, name: str, given: Given, mode: str, owner: Any = None
    ) -> Kind | None:
        """Follow a method of an object or Tensor; None if its class has none."""
        is_own = isinstance(me, Instance)
        owner = owner or (me.owner if isinstance(me, Instance) else self._tensor)
        if is_own:
            self.mentioned.add(name)
        if is_own and name == "layer" and self._layers:
            return Instance("object", self._layers[-1])
        value = self._in_class(owner, name)
        code = value.fget if isinstance(value, property) else value
        code = unpatched(getattr(code, "__func__", code))
        if isinstance(code, FunctionType):
            if is_foreign(code) and not is_own:  # ours: `data`, `to`
                return None
            if isinstance(value, (staticmethod, classmethod)):
                is_class = isinstance(value, classmethod)
                me_there = Fixed("class", owner) if is_class else None
                return self._follow(code, me_there, given, mode)
            return self._follow(code, me, given, mode)
        if value is ABSENT:
            return None
        kind = self._kind(value, f"{owner.__name__}.{name}", mode)
        return TENSOR if isinstance(kind, Fixed) and kind.name == "numpy" else kind

    def call(
        self, thing: Fixed, given: Given, mode: str, me: Kind | None = None
    ) -> Kind:
        """Follow the call of a function or class."""
        value = thing.value
        if thing.name == "numpy":
            return self._built_in(value, given)
        if isinstance(value, tuple):  # a class method, and its class
            return self._follow(value[0], Fixed("class", value[1]), given, mode)
        if isinstance(value, FunctionType):
            return self._follow(value, me, given, mode)
        if not isinstance(value, type):
            raise Unfollowed(f"it calls a {type(value).__name__}")
        if is_foreign(value):
            return self._built_in(value, given)
        self._check_class(value)
        is_tensor = issubclass(value, self._tensor)
        me = TENSOR if is_tensor else Instance("object", value, is_new=True)
        self.method(me, "__init__", given, MAKING, value)
        return me

    def above(self, me: Kind, name: str, function: FunctionType, mode: str) -> Kind:
        """Follow what `super().name` may be."""
        owner = me.owner if isinstance(me, Instance) else self._tensor
        for one in owner.__mro__:
            value = self.look_up(one, name) if not is_foreign(one) else ABSENT
            value = getattr(value, "__func__", value)
            if isinstance(value, FunctionType) and unpatched(value) is not function:
                self._follow(unpatched(value), me, Given(), mode)
        return TENSOR

    # What things are

    def _kind(self, value: Any, name: str, mode: str) -> Kind:
        """Return what a thing that code mentions is, if it cannot change unnoticed."""
        if is_plain(value):
            return ARRAY
        value = unpatched(value)
        if isinstance(value, GENERATORS) and mode is MAKING:
            self.generators.append(value)
            return GENERATOR
        is_code = isinstance(value, (FunctionType, ModuleType, type))
        if is_code and not is_foreign(value):
            if isinstance(value, FunctionType):
                return Fixed("function", value)
            return Fixed("class" if isinstance(value, type) else "module", value)
        if is_safe(value):
            return Fixed("module" if isinstance(value, ModuleType) else "numpy", value)
        kind = "" if is_code or callable(value) else f", a {type(value).__name__}"
        raise Unfollowed(f"it reads `{name}`{kind}")

    def _of_numpy(self, module: ModuleType, name: str, mode: str) -> Kind | None:
        if name == "random" and mode is MAKING:
            return GENERATOR
        if name in OUTSIDE:
            raise Unfollowed(f"it calls np.{name}")
        real = np if module.__name__ == np.__name__ else module
        value = getattr(real, name, ABSENT)
        return None if value is ABSENT else self._kind(value, f"np.{name}", mode)

    def _built_in(self, value: Any, given: Given) -> Kind:
        """Return what a call of Python's or NumPy's own gives."""
        if value is type:
            first = given.places[0] if given.places else UNKNOWN
            owner = first.owner if isinstance(first, Instance) else self._tensor
            return UNKNOWN if first is UNKNOWN else Fixed("class", owner)
        is_builtin = isinstance(value, (BuiltinFunctionType, type))
        return given.rest if is_builtin and value.__module__ == "builtins" else ARRAY

    def _in_class(self, owner: Any, name: str) -> Any:
        """Return what a class or a base of it holds under a name."""
        for one in owner.__mro__[:-1]:
            value = self.look_up(one, name)
            if value is not ABSENT:
                return value
        return ABSENT

    def _check_class(self, owner: Any) -> None:
        """Refuse a class that decides by itself what its attributes are."""
        for name in TAKES_OVER:
            if self._in_class(owner, name) is not ABSENT:
                raise Unfollowed(f"{owner.__name__} has its own {name}")

    def _follow(self, function: Any, me: Kind | None, given: Given, mode: str) -> Kind:
        """Read a function's text; return what it gives."""
        key = function, me, given, mode
        if key in self._followed:
            return self._followed[key]
        self._followed[key] = TENSOR  # while it calls itself
        name = getattr(function, "__qualname__", type(function).__name__)
        if not isinstance(function, FunctionType) or is_foreign(function):
            raise Unfollowed(f"it calls {name}")
        for default in self.look_into(function):
            if not is_plain(default):
                raise Unfollowed(f"a default of {name} is a {type(default).__name__}")
        tree = tree_of(function)
        if tree is None:
            raise Unfollowed(f"the text of {name} is not to be read")
        found = Walk(self, function, me, given, mode).run(tree)
        self._followed[key] = found
        return found
