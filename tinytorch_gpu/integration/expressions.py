"""The expressions of a learner's function: what they read and call, without running.

Each gets a kind (`kinds`). Names are looked up, and functions followed, by the world
that is given (`contained`). What cannot be followed is refused with the reason.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, NoReturn, Protocol

from tinytorch_gpu.integration.kinds import (
    ARRAY,
    ARRAY_NAMES,
    CALLED_NAMES,
    OPERATORS,
    TENSOR,
    TENSOR_STATE,
    UNKNOWN,
    Fixed,
    Given,
    Instance,
    Kind,
    joined,
    of_all,
)

if TYPE_CHECKING:
    from types import FunctionType
__all__ = [
    "GENERATOR",
    "KEEPING",
    "LOCAL",
    "MAKING",
    "STRICT",
    "Expressions",
    "Unfollowed",
    "World",
]

STRICT = "strict"  # nothing outside of the call may change
KEEPING = "keeping"  # the object may keep what it finds, as a node does
MAKING = "making"  # a constructor: it may draw random numbers, too
LOCAL, GENERATOR, SUPER = Kind("local"), Kind("generator"), Kind("super")
ANY = Given()
NEW_GENERATORS = {"default_rng", "RandomState", "Generator"}
SETTABLE = {"requires_grad", "grad", "_grad_fn", "_graph_released"}


class Unfollowed(Exception):  # noqa: N818  (no error: the learner's code runs itself)
    """What stands in a learner's code that cannot be followed."""


class World(Protocol):
    """What a `Walk` asks about names; `contained.Contained` is one."""

    def name(self, function: FunctionType, name: str, mode: str) -> Kind:
        """Return what a free or a global name stands for."""

    def module(self, name: str) -> Kind:
        """Return what the name of a module that was imported stands for."""

    def member(self, owner: Any, name: str, mode: str) -> Kind | None:
        """Return what an attribute of a module or class stands for; None if absent."""

    def method(self, me: Kind, name: str, given: Given, mode: str) -> Kind | None:
        """Follow a method of an object or Tensor; None if its class has none."""

    def call(
        self, thing: Fixed, given: Given, mode: str, me: Kind | None = None
    ) -> Kind:
        """Follow the call of a function or class."""

    def above(self, me: Kind, name: str, function: FunctionType, mode: str) -> Kind:
        """Follow what `super().name` may be."""


class Expressions:
    """The expressions of one function's text.

    Args:
        world: looks names up.
        function: whose text it is.
        me: what its first parameter is; None if it is no method.
        given: what the other parameters are.
        mode: what it may change.
    """

    def __init__(
        self,
        world: World,
        function: FunctionType,
        me: Kind | None,
        given: Given,
        mode: str,
    ) -> None:
        self._world, self._function, self._mode = world, function, mode
        self._me, self._given = me, given
        self._local = set(function.__code__.co_varnames)
        self._local |= set(function.__code__.co_cellvars)
        self._kinds: dict[str, Kind] = {}
        self._self = ""
        self._gives: list[Kind] = []

    def _visit(self, node: ast.AST) -> Kind:
        """Return the kind of an expression; statements have none that counts."""
        own = getattr(self, f"_at_{type(node).__name__.lower()}", None)
        if own is not None:
            found: Kind = own(node)
            return found
        kinds = [self._visit(child) for child in ast.iter_child_nodes(node)]
        return of_all(*kinds)

    def _refuse(self, node: ast.AST, verb: str = "reads") -> NoReturn:
        raise Unfollowed(f"it {verb} `{ast.unparse(node)}`"[:80])

    # Names and attributes

    def _at_name(self, node: ast.Name) -> Kind:
        kind = self._named(node)
        if isinstance(kind, Fixed) and kind.name == "function":
            self._world.call(kind, ANY, self._called_mode())  # whoever may call it
        return kind

    def _named(self, node: ast.Name) -> Kind:
        if node.id in self._kinds:
            return self._kinds[node.id]
        if node.id in self._local:
            return UNKNOWN
        if node.id == "super":
            return SUPER
        return self._world.name(self._function, node.id, self._mode)

    def _base(self, node: ast.expr) -> Kind:
        """Return what stands before a dot."""
        is_super = (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "super"
        )
        if is_super:
            return SUPER
        return self._named(node) if isinstance(node, ast.Name) else self._visit(node)

    def _at_attribute(self, node: ast.Attribute) -> Kind:
        return self._read(node, self._base(node.value), node.attr)

    def _read(self, node: ast.AST, base: Kind, name: str) -> Kind:
        """Return what an attribute is that is not called."""
        if name == "__name__":
            return ARRAY
        found: Kind | None
        if isinstance(base, Fixed):
            found = self._world.member(base.value, name, self._mode)
            if isinstance(found, Fixed) and found.name == "function":
                self._world.call(found, ANY, self._called_mode())
        elif isinstance(base, Instance):
            found = self._own(base, name)
        else:
            found = self._of_values(base, name)
        if found is None:
            self._refuse(node)
        return found

    def _own(self, base: Instance, name: str) -> Kind:
        """Return what an object's own attribute is."""
        if name == "__class__":
            return UNKNOWN
        if name == "__dict__" and base == self._me and self._mode is MAKING:
            return ARRAY
        mode = self._method_mode(base)
        return self._world.method(base, name, ANY, mode) or TENSOR

    def _of_values(self, base: Kind, name: str) -> Kind | None:
        """Return what an attribute of an array or a Tensor is; None if nobody knows."""
        found: Kind | None = None
        if base is TENSOR:  # it may be a property
            found = self._world.method(base, name, ANY, self._called_mode())
        if base not in {ARRAY, TENSOR} or name not in ARRAY_NAMES | TENSOR_STATE:
            return found
        if name == "_grad_fn":
            return UNKNOWN
        return ARRAY if name in TENSOR_STATE | {"ndim"} else base

    # Calls

    def _at_call(self, node: ast.Call) -> Kind:
        function = node.func
        if isinstance(function, ast.Name) and function.id in {
            "getattr", "hasattr", "setattr",
        }:  # fmt: skip
            return self._by_string(node, function.id)
        given = self._given_to(node)
        if isinstance(function, ast.Attribute):
            return self._method(function, given)
        if isinstance(function, ast.Name):
            called = self._named(function)
        else:
            called = self._visit(function)
        if called is LOCAL:
            return TENSOR
        if not isinstance(called, Fixed):
            self._refuse(node.func, "calls")
        if node.args and self._is_me(node.args[0]):  # as a method: f(self, ...)
            rest = Given(given.places[1:], given.names, given.rest)
            return self._world.call(called, rest, self._mode, self._me)
        return self._world.call(called, given, self._called_mode())

    def _given_to(self, node: ast.Call) -> Given:
        """Return what the arguments of a call are."""
        places = [self._visit(one) for one in node.args]
        names = [(one.arg, self._visit(one.value)) for one in node.keywords]
        kinds = [*places, *(kind for _, kind in names)]
        rest = of_all(*kinds)
        stars = [isinstance(one, ast.Starred) for one in node.args]
        known = places[: stars.index(True)] if any(stars) else places
        named = tuple((name, kind) for name, kind in names if name is not None)
        return Given(tuple(known), named, rest)

    def _method(self, node: ast.Attribute, given: Given) -> Kind:
        base, name = self._base(node.value), node.attr
        found: Kind | None = None
        if base is SUPER and self._me is not None:
            return self._world.above(self._me, name, self._function, self._mode)
        if base is GENERATOR:
            return GENERATOR if name in NEW_GENERATORS else ARRAY
        if isinstance(base, Fixed):
            thing = self._world.member(base.value, name, self._mode)
            if isinstance(thing, Fixed):
                mode = self._mode if base == self._me else self._called_mode()
                return self._world.call(thing, given, mode)
            if thing is GENERATOR or base.name == "numpy":
                return ARRAY
        elif isinstance(base, Instance):
            mode = self._method_mode(base)
            found = self._world.method(base, name, given, mode)
        elif base is TENSOR:
            found = self._world.method(base, name, given, self._called_mode())
        if found is None and base in {ARRAY, TENSOR} and name in CALLED_NAMES:
            found = base
        if found is None:
            self._refuse(node, "calls")
        return found

    def _by_string(self, node: ast.Call, called: str) -> Kind:
        """Read `getattr(x, "name")` as `x.name`, and so on."""
        owner, name, *rest = node.args
        if not (isinstance(name, ast.Constant) and isinstance(name.value, str)):
            if called == "setattr" and self._mode is MAKING and self._is_me(owner):
                return ARRAY
            self._refuse(node, "calls")
        if called == "setattr":
            self._set(owner, name.value, node)
            return ARRAY
        others = [self._visit(one) for one in rest]
        return joined(self._read(node, self._base(owner), name.value), *others)

    def _called_mode(self) -> str:
        return MAKING if self._mode is MAKING else STRICT

    def _method_mode(self, base: Instance) -> str:
        if base.is_new:
            return MAKING if self._mode is MAKING else KEEPING
        return self._mode if base == self._me else self._called_mode()

    # What stands for other code: operators on Tensors, functions within functions

    def _operate(self, kinds: list[Kind], names: tuple[str, ...]) -> Kind:
        if TENSOR in kinds:
            for name in names:
                self._world.method(TENSOR, name, ANY, self._called_mode())
        return of_all(*kinds)

    def _at_binop(self, node: ast.BinOp) -> Kind:
        kinds = [self._visit(node.left), self._visit(node.right)]
        return self._operate(kinds, OPERATORS.get(type(node.op), ()))

    def _at_unaryop(self, node: ast.UnaryOp) -> Kind:
        kinds = [self._visit(node.operand)]
        return self._operate(kinds, OPERATORS.get(type(node.op), ()))

    def _at_subscript(self, node: ast.Subscript) -> Kind:
        kinds = [self._visit(node.value)]
        self._visit(node.slice)
        return self._operate(kinds, ("__getitem__",))

    def _at_ifexp(self, node: ast.IfExp) -> Kind:
        self._visit(node.test)
        return joined(self._visit(node.body), self._visit(node.orelse))

    def _set(self, owner: ast.expr, name: str, target: ast.AST) -> None:
        """Check that an attribute may be set."""
        base = self._base(owner)
        is_own = self._is_me(owner) and self._mode is not STRICT
        is_new = isinstance(base, Instance) and base.is_new
        if not (is_own or is_new or (base is TENSOR and name in SETTABLE)):
            self._refuse(target, "changes")

    def _is_me(self, node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and bool(self._self) and node.id == self._self
