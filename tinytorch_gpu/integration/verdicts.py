"""What trying a learner's code showed, and the calls that it holds for.

A kernel answers for calls of the kinds that were tried: the same ranks, the same axes,
a stride with a padding. Any other kind, a layer that keeps another value, a parameter
that was not varied: in doubt the learner's own code runs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["NOT_RECORDED", "Verdict", "kind_of_call", "kind_of_node", "sizes_of"]

# What a layer keeps its operands in: they go to the kernel as they are.
OPERANDS = {"weight", "bias"}
NOT_RECORDED = "nothing recorded"  # as in a block of no_grad
Shapes = tuple[tuple[int, ...], ...]
CallKind = tuple[tuple[int, ...], tuple[Any, ...]]


def _is_number(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_axis(value: Any) -> bool:
    several = value if isinstance(value, tuple) else (value,)
    return value is None or all(map(_is_number, several))


def _is_pair(value: Any) -> bool:
    several = value if isinstance(value, tuple) and len(value) == 2 else (value,)
    return all(map(_is_number, several))


# The parameters of ops, and what a kernel takes for each.
TAKEN = {
    "axis": _is_axis,
    "dim": _is_number,
    "keepdims": lambda value: isinstance(value, (bool, np.bool_)),
    "eps": lambda value: isinstance(value, Real) and not isinstance(value, bool),
    "kernel_size": _is_pair,
    "stride": _is_pair,
    "padding": _is_pair,
}


@dataclass(frozen=True)
class Verdict:
    """What trying a learner's code showed.

    Args:
        difference: how it differs from the op; "" if a kernel may answer for it.
        options: parameters by which the shipped kernel gives what it gives at infinity.
        state: what the layers kept that were tried, or the nodes, by name.
        sizes: of each layer that was tried, the shapes of its parameters; of each node,
            those of what it has saved.
        parameters: what the op was tried with, by name.
        mentioned: the attributes that its code reads of its layer or node.
        accepted: the kinds of calls, or of nodes, that it gave a result for.
        nodes: the classes of the nodes that were tried.
        slope: that on the gradient rule, where it needs what `forward` keeps.
        seconds: how long it took to find out.
    """

    difference: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    state: dict[str, list[Any]] = field(default_factory=dict)
    sizes: tuple[Shapes, ...] = ()
    parameters: dict[str, list[Any]] = field(default_factory=dict)
    mentioned: frozenset[str] = frozenset()
    accepted: frozenset[CallKind] = frozenset()
    nodes: frozenset[type] = frozenset()
    slope: Verdict | None = None
    seconds: float = 0.0

    @property
    def fits(self) -> bool:
        """Whether a kernel computes the same."""
        return not self.difference

    def takes(
        self, arrays: tuple[Any, ...], parameters: dict[str, Any], layer: Any = None
    ) -> bool:
        """Tell whether a call is like those that were tried.

        Args:
            arrays: the operands.
            parameters: what the op takes by name.
            layer: the layer that calls it, if one does.
        """
        return (
            self._is_accepted(kind_of_call(arrays, parameters))
            and all(self._takes_parameter(n, v) for n, v in parameters.items())
            and self.takes_state(layer, parameters.keys())
        )

    def takes_state(self, layer: Any, parameters: Iterable[str]) -> bool:
        """Tell whether a layer keeps what those kept that were tried.

        Args:
            layer: the layer; None is like any.
            parameters: the names of what the op takes of it.
        """
        known = OPERANDS | set(parameters)
        known |= {"axis", "dim"} if known & {"axis", "dim"} else set()
        for name, value in getattr(layer, "__dict__", {}).items():
            if name in known or name not in self.mentioned:
                continue
            if not self._is_like(value, self.state.get(name, ()), layer):
                return False
        return True

    def takes_node(self, node: Any) -> bool:
        """Tell whether a node is like those that were tried, apart from its operands.

        Args:
            node: what goes on with the gradient.
        """
        kept = vars(node)
        if type(node) not in self.nodes or kept.keys() - self.state.keys():
            return False
        if kind_of_node(node) not in self.accepted:
            return False
        for name, value in kept.items():
            if name in TAKEN:
                is_like = TAKEN[name](value)
            else:
                tried = self.state[name]
                is_like = _is_operand(name, value) or self._is_like(value, tried, node)
            if not is_like:
                return False
        return True

    def _takes_parameter(self, name: str, value: Any) -> bool:
        """Tell whether a kernel takes a value, and trials have varied it or had it."""
        if name not in TAKEN:
            return True
        tried = self.parameters.get(name, [])
        if _is_one_of(value, tried):
            return bool(TAKEN[name](value))
        is_varied = any(not _is_alike(one, tried[0]) for one in tried)
        return is_varied and bool(TAKEN[name](value))

    def _is_accepted(self, call: CallKind) -> bool:
        """Tell whether a kind was tried; a layer's trial names its first operands."""
        ranks, kinds = call
        parts = (ranks[:count] for count in range(1, len(ranks) + 1))
        return any((part, kinds) in self.accepted for part in parts)

    def _is_like(self, value: Any, tried: Sequence[Any], thing: Any) -> bool:
        """Tell whether a value was tried, or is the size that it was in each trial.

        What was a size in all of them has to be one: nobody tried it otherwise.
        """
        is_varied = any(not _is_alike(one, tried[0]) for one in tried)
        if _is_one_of(value, tried) and not (is_varied and self._is_size(tried)):
            return True
        return _is_pair(value) and self._is_size((*tried, value), sizes_of(thing))

    def _is_size(self, numbers: Sequence[Any], *here: Shapes) -> bool:
        """Tell whether numbers are a length of a parameter, in each trial and here."""
        sizes = (*self.sizes, *here)
        if len(numbers) != len(sizes) or not all(map(_is_pair, numbers)):
            return False
        pairs = [_as_pair(number) for number in numbers]
        return all(_is_one_axis(side, sizes) for side in zip(*pairs, strict=True))


def kind_of_call(arrays: Sequence[Any], parameters: dict[str, Any]) -> CallKind:
    """Return what a trial has in common with the calls that it stands for.

    Args:
        arrays: the operands.
        parameters: what the op takes by name.
    """
    ranks = (len(getattr(array, "shape", ())) for array in arrays)
    return tuple(ranks), _kinds(parameters)


def kind_of_node(node: Any) -> CallKind:
    """Return what a node that was tried has in common with others.

    Args:
        node: what goes on with the gradient.
    """
    return tuple(map(len, sizes_of(node))), _kinds(vars(node))


def sizes_of(thing: Any) -> Shapes:
    """Return the shapes of a layer's parameters, or of what a node has saved.

    Args:
        thing: any object; one with neither has none.
    """
    asked = getattr(thing, "parameters", None)
    several = asked() if callable(asked) else getattr(thing, "saved_tensors", ())
    return tuple(tuple(np.shape(getattr(one, "data", one))) for one in several)


def _kinds(parameters: dict[str, Any]) -> tuple[Any, ...]:
    """Return the very axes, the rank of a mask, and how windows lie.

    A parameter that is not given is the default, and as good as that.
    """
    axis, dim = parameters.get("axis"), parameters.get("dim", -1)
    mask = np.ndim(parameters["mask"]) if "mask" in parameters else None
    eps = type(parameters.get("eps"))
    is_kept = bool(parameters.get("keepdims"))
    return axis, dim, is_kept, mask, eps, _kind_of_window(parameters)


def _kind_of_window(parameters: dict[str, Any]) -> tuple[Any, ...]:
    """Return the types, and on which sides windows overlap, part or stand outside."""
    names = ("kernel_size", "stride", "padding")
    given = [parameters.get(name) for name in names]
    types = tuple(map(type, given))
    if not all(_is_pair(value) for value in given if value is not None):
        return types
    size, stride, padding = (_as_pair(value) for value in given)
    usual = (1, 1) if given[0] is None else size  # a convolution's, a pooling's
    steps = tuple(map(_compared, stride, usual))
    outside = tuple(_compared(count, 0) for count in padding)
    return *types, size[0] == size[1], steps, outside


def _compared(a: Any, b: Any) -> int | None:
    return None if a is None or b is None else int(a > b) - int(a < b)


def _is_operand(name: str, value: Any) -> bool:
    """Tell whether a node keeps this of its operands, whatever they are."""
    is_link = name in {"next_functions", "key"} or isinstance(value, tuple)
    return is_link or bool(getattr(value, "shape", ())) or hasattr(value, "grad")


def _is_one_axis(numbers: tuple[Any, ...], layers: tuple[Shapes, ...]) -> bool:
    """Tell whether one axis of one parameter has each number in each layer."""
    axes = ((i, a) for i, shape in enumerate(layers[0]) for a in range(len(shape)))
    pairs = list(zip(numbers, layers, strict=True))
    return any(
        all(
            i < len(shapes) and a < len(shapes[i]) and shapes[i][a] == n
            for n, shapes in pairs
        )
        for i, a in axes
    )


def _as_pair(value: Any) -> tuple[Any, Any]:
    return value if isinstance(value, tuple) else (value, value)


def _is_one_of(value: Any, tried: Iterable[Any]) -> bool:
    return any(_is_alike(value, one) for one in tried)


def _is_alike(a: Any, b: Any) -> bool:
    """Tell whether two values are plain and equal: of another one only Python knows."""
    a, b = (v.item() if isinstance(v, np.generic) else v for v in (a, b))
    if type(a) is not type(b):
        return False
    if a is None or isinstance(a, (bool, int, float, str)):
        return bool(a == b)
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(_is_alike, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_is_alike(a[k], b[k]) for k in a)
    return isinstance(a, np.ndarray) and np.array_equal(a, b)
