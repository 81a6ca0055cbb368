"""`record`: run a function as it is, and keep what the device did meanwhile."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from inspect import BoundArguments
from typing import TYPE_CHECKING, Any

from tinytorch_gpu import profiler
from tinytorch_gpu.fusion.arguments import Leaf, leaves, rebuilt
from tinytorch_gpu.fusion.scalars import LOOKED_AT, traced
from tinytorch_gpu.runtime.device import current_device
from tinytorch_gpu.trace import LaunchRecord, OpRecord

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.trace import KernelSource, Record

__all__ = ["Recorded", "given_leaves", "record"]


@dataclass(frozen=True, eq=False)
class Recorded:
    """One unfused run of a function.

    Args:
        given: the leaves of its arguments.
        result: what it returned.
        records: what the device did.
        first_serial: of the allocations that it made.
        is_steered: a number decided more than a result: a branch, an index, a text.
    """

    given: tuple[Leaf, ...]
    result: Any
    records: tuple[Record, ...]
    first_serial: int
    is_steered: bool = False

    @property
    def served(self) -> tuple[tuple[str, KernelSource | None], ...]:
        """What served each of the ops, None where its own code became other ops."""
        ops = (r for r in self.records if isinstance(r, OpRecord))
        return tuple(dict.fromkeys((op.op, op.implementation) for op in ops))

    @property
    def launches(self) -> tuple[LaunchRecord, ...]:
        """The launches."""
        return tuple(r for r in self.records if isinstance(r, LaunchRecord))


def given_leaves(bound: BoundArguments) -> tuple[Leaf, ...]:
    """Return the leaves of a call's arguments, named by the parameters.

    Args:
        bound: the arguments.
    """
    named = bound.arguments.items()
    return tuple(leaf for name, value in named for leaf in leaves(value, name))


def record(function: Callable[..., Any], bound: BoundArguments) -> Recorded:
    """Run a function as it is, and keep what the device did.

    Args:
        function: the function.
        bound: its arguments.

    Returns:
        The run; Tensors took part without their gradients.
    """
    given = given_leaves(bound)
    names = iter(given)

    def prepared(value: Any) -> Any:
        leaf = next(names)
        if leaf.is_tensor:
            return type(value)(leaf.array)  # the same data, in no graph
        return traced(leaf.name, value) if leaf.is_number else value

    made = {name: rebuilt(value, prepared) for name, value in bound.arguments.items()}
    again = BoundArguments(bound.signature, OrderedDict(made))
    serial = current_device().allocator.next_serial
    LOOKED_AT.clear()
    with profiler.profile(with_stack=True) as prof:
        result = function(*again.args, **again.kwargs)
    return Recorded(given, result, prof.events(), serial, bool(LOOKED_AT))
