"""Versions of a kernel's variables, path by path, and where paths meet.

Follows the compiler that students meet: an assignment makes a new *version* of a
variable, and where paths meet, a variable that is read later gets one type, the unified
one. Which conversion stands at the end of which path is kept in `conversions`;
`versions` says which types a variable has, and each name's node says its own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.cuda.dummies import join_dummies, key_of
from tinytorch_gpu.cuda.infer_expressions import ExpressionTypes, UnknownTypeError
from tinytorch_gpu.errors import SimGPUError, UninitializedReadError

if TYPE_CHECKING:
    import ast

    from tinytorch_gpu.cuda.kernel_source import KernelText
    from tinytorch_gpu.cuda.names import Names

__all__ = ["Conversion", "Edge", "State", "VariableTypes"]

# "if", "head" or "exit", the identity of the statement, and the variable.
Join = tuple[str, int, str]


@dataclass(frozen=True)
class Conversion:
    """`name` of one type becomes another at the end of a path.

    Args:
        name: the variable.
        old: key of the type that it has on the path.
        new: dummy of the type that it has where paths meet.
    """

    name: str
    old: str
    new: Any


@dataclass(frozen=True)
class _Meeting:
    """A variable whose types differ where paths meet, and which nobody has read yet."""

    joins: frozenset[Join]
    types: dict[str, Any]


@dataclass
class State:
    """What is known of variables at one point of a path."""

    types: dict[str, Any] = field(default_factory=dict)
    maybe: set[str] = field(default_factory=set)  # not assigned on every path

    def copy(self) -> State:
        """Return a state that can go another way."""
        return State(dict(self.types), set(self.maybe))

    def keys(self) -> dict[str, str]:
        """Name the type of each variable."""
        return {name: _meeting_key(dummy) for name, dummy in self.types.items()}


@dataclass(frozen=True)
class Edge:
    """The end of a path: where its conversions go, and what is known there."""

    place: str  # "before" the statement, or at the end of its "body" or "orelse"
    node: ast.stmt
    state: State


class VariableTypes(ExpressionTypes):
    """Finds the types of variables; `StatementTypes` follows the statements.

    Args:
        text: the kernel's source.
        names: its names.
    """

    def __init__(self, text: KernelText, names: Names) -> None:
        super().__init__(text, names)
        self.conversions: dict[tuple[str, int], dict[str, Conversion]] = {}
        self.versions: dict[str, dict[str, Any]] = {}
        self.state: State | None = None
        self.has_changed = False
        self.unknown: list[SimGPUError] = []
        self._unified: set[Join] = set()

    def ask_again(self, unknown: UnknownTypeError) -> None:
        """Note that a type is not known yet; if it never is, that is the error."""
        self.unknown.append(unknown.error)

    def variable(self, node: ast.Name) -> Any:
        """Return the dummy of a variable, unifying its types if they met before."""
        state = self.state
        if state is None or node.id not in state.types:
            raise UnknownTypeError(_never_assigned(node.id, self.text.line_of(node)))
        dummy = self._settled(state.types[node.id])
        state.types[node.id] = dummy
        node.version = key_of(dummy)  # type: ignore[attr-defined]
        node.is_maybe_undefined = node.id in state.maybe  # type: ignore[attr-defined]
        return dummy

    def _settled(self, dummy: Any) -> Any:
        """Return a variable's one type; types that met are unified from now on."""
        if not isinstance(dummy, _Meeting):
            return dummy
        self.has_changed |= not dummy.joins <= self._unified
        self._unified |= dummy.joins
        return join_dummies(list(dummy.types.values()))

    def edge(self, place: str, node: ast.stmt) -> list[Edge]:
        """Return the path that ends here, if it can be reached."""
        return [] if self.state is None else [Edge(place, node, self.state.copy())]

    def join(self, kind: str, node: ast.stmt, edges: list[Edge]) -> State | None:
        """Return what is known where paths meet."""
        if not edges:
            return None
        joined = State(maybe=set().union(*(e.state.maybe for e in edges)))
        for name in dict.fromkeys(n for e in edges for n in e.state.types):
            having = [e for e in edges if name in e.state.types]
            if len(having) < len(edges):
                joined.maybe.add(name)
            joined.types[name] = self._met((kind, id(node), name), having)
        return joined

    def _met(self, join: Join, edges: list[Edge]) -> Any:
        """Return a variable's type where paths meet; note who has to convert."""
        name = join[2]
        parts = [edge.state.types[name] for edge in edges]
        if join not in self._unified:
            others = [part for part in parts if part is not parts[0]]
            kept = _meeting_key(parts[0]) if others else ""
            is_alike = all(_meeting_key(part) == kept for part in others)
            return parts[0] if is_alike else _meeting(join, parts)
        settled = [self._settled(part) for part in parts]
        common = join_dummies(settled)
        self._note_version(name, common)
        for edge, part in zip(edges, settled, strict=True):
            place = self.conversions.setdefault((edge.place, id(edge.node)), {})
            place.pop(name, None)
            if key_of(part) != key_of(common):
                place[name] = Conversion(name, key_of(part), common)
        return common

    def give(self, name: str, dummy: Any) -> None:
        """Assign a variable on this path."""
        assert self.state is not None  # noqa: S101  (statements run on a path)
        self.state.types[name] = dummy
        self.state.maybe.discard(name)
        self._note_version(name, dummy)

    def _note_version(self, name: str, dummy: Any) -> None:
        self.versions.setdefault(name, {})[key_of(dummy)] = dummy


def _meeting(join: Join, parts: list[Any]) -> _Meeting:
    """Return the meeting of several types, some of which may be meetings."""
    joins: set[Join] = {join}
    types: dict[str, Any] = {}
    for part in parts:
        is_nested = isinstance(part, _Meeting)
        joins |= part.joins if is_nested else set()
        types |= part.types if is_nested else {key_of(part): part}
    return _Meeting(frozenset(joins), types)


def _meeting_key(dummy: Any) -> str:
    """Name a type, or all that meet."""
    return "|".join(
        sorted(dummy.types if isinstance(dummy, _Meeting) else [key_of(dummy)])
    )


def _never_assigned(name: str, line: Any) -> UninitializedReadError:
    return UninitializedReadError(
        f"`{name}` is read before anything is assigned to it",
        where=str(line),
        why="no path that leads here assigns it",
        fix=f"give `{name}` a value first",
    )
