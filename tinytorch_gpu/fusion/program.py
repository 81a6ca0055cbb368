"""`Program`: a function whose ops were recorded once, as one kernel.

It runs with other arrays of the same shapes, by one launch. `making.py` makes it.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu import cuda
from tinytorch_gpu.fusion.arguments import Leaf, View, rebuilt
from tinytorch_gpu.fusion.scalars import Remembered
from tinytorch_gpu.library import call

if TYPE_CHECKING:
    from tinytorch_gpu.fusion.kernel import FusedKernel
    from tinytorch_gpu.fusion.plan import Port
    from tinytorch_gpu.fusion.recipe import Recipe
    from tinytorch_gpu.memory import DeviceArray

__all__ = ["Made", "Program", "Source", "numbers_agree"]


@dataclass(frozen=True)
class Source:
    """Where a kernel's array comes from: a leaf of the arguments, or a part of it."""

    leaf: int
    view: View


@dataclass(frozen=True)
class Made:
    """Where an array of the result comes from: what the kernel wrote."""

    write: int
    view: View


@dataclass(frozen=True, eq=False)
class Program:
    """A function as one kernel.

    Args:
        recipe: what the kernel does.
        kernel: the kernel.
        reads: where each array that it loads comes from.
        targets: for each array that it stores, the argument that is changed in place;
            None where a new one is made.
        result: the form of the result, with `Made` or `Source` for arrays.
        kinds: for each leaf of the result the class of Tensor that it was, or None.
    """

    recipe: Recipe
    kernel: FusedKernel
    reads: tuple[Source, ...]
    targets: tuple[Source | None, ...]
    result: Any
    kinds: tuple[type | None, ...]

    @property
    def gives_a_tensor(self) -> bool:
        """Tell whether the function returned one Tensor and nothing else."""
        return len(self.kinds) == 1 and self.kinds[0] is not None

    def run(self, given: tuple[Leaf, ...]) -> Any:
        """Run the kernel on arguments of the recorded shapes.

        Args:
            given: their leaves.

        Returns:
            What the function returns, with device arrays in place of Tensors.
        """
        reads = [self._array(source, given) for source in self.reads]
        values = {leaf.name: leaf.value for leaf in given if leaf.is_number}
        numbers = [np.float32(n.compute(values)) for n in self.recipe.numbers.values()]
        targets = zip(self.targets, self.recipe.writes, strict=True)
        writes = [self._target(source, port, given) for source, port in targets]

        def launch() -> tuple[DeviceArray, ...]:
            self.recipe.launch(self.kernel, reads, numbers, writes)
            return tuple(writes)

        call(f"fused::{self.kernel.name}", *reads, decomposition=launch)
        return rebuilt(self.result, lambda part: self._result(part, given, writes))

    def _array(self, source: Source, given: tuple[Leaf, ...]) -> DeviceArray:
        array = given[source.leaf].array
        if array is None:  # the arguments' form is a part of the key
            raise AssertionError(source)
        return source.view.of(array)

    def _target(
        self, source: Source | None, port: Port, given: tuple[Leaf, ...]
    ) -> DeviceArray:
        if source is not None:
            return self._array(source, given)
        made: DeviceArray = cuda.device_array(port.use.shape, np.dtype(port.use.dtype))
        return made

    def _result(
        self, part: Any, given: tuple[Leaf, ...], writes: list[DeviceArray]
    ) -> Any:
        if isinstance(part, Made):
            return part.view.of(writes[part.write])
        return self._array(part, given) if isinstance(part, Source) else part


def numbers_agree(program: Program, again: Program, given: tuple[Leaf, ...]) -> bool:
    """Tell whether a second run, with other numbers, is the same kernel.

    Args:
        program: made of the first run.
        again: made of the second run.
        given: the second run's arguments.
    """
    values = {leaf.name: leaf.value for leaf in given if leaf.is_number}
    if _edges(program) != _edges(again) or values.keys() - _used(program):
        return False
    ours = [plan.graph for plan in program.recipe.plans]
    theirs = [plan.graph for plan in again.recipe.plans]
    for one, other in zip(ours, theirs, strict=True):
        if len(one.nodes) != len(other.nodes) or one.outputs != other.outputs:
            return False
        for a, b in zip(one.nodes, other.nodes, strict=True):
            if (a.kind, a.op, a.args) != (b.kind, b.op, b.args):
                return False
            if a.kind == "number" and _value(a.value, values) != float(b.value):
                return False
    return True


def _edges(program: Program) -> tuple[Any, ...]:
    """What the kernel reads and changes, and what the function returns of it."""
    plans = tuple((p.group.shape, p.graph.parameters) for p in program.recipe.plans)
    edges = program.reads, program.targets, repr(program.result), program.kinds
    return plans, *edges


def _used(program: Program) -> set[str]:
    """Name the number arguments that parameters of the kernel are computed from."""
    found: set[str] = set()

    class Names(dict[str, Any]):
        def __missing__(self, name: str) -> float:
            found.add(name)
            return 1.0

    for number in program.recipe.numbers.values():
        with contextlib.suppress(ArithmeticError, ValueError):
            number.compute(Names())
    return found


def _value(number: Any, values: dict[str, Any]) -> float:
    return float(number.compute(values) if isinstance(number, Remembered) else number)
