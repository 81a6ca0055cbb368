"""`Recipe`: one kernel for one group, or one for several equal groups side by side.

The first is vertical fusion: values stay in registers from op to op. The second is
horizontal: the groups have nothing to do with each other, but one launch does the work
of all, as optimizers do it over many small parameters.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.fusion.kernel import FusedKernel, compiled, fused_kernel
from tinytorch_gpu.fusion.many_text import THREADS, many_kernel_text
from tinytorch_gpu.fusion.row_text import row_kernel_text
from tinytorch_gpu.fusion.text import kernel_text
from tinytorch_gpu.memory import ALIGNMENT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tinytorch_gpu.fusion.plan import Plan, Port
    from tinytorch_gpu.fusion.values import Step

__all__ = ["Recipe", "is_plain"]


@dataclass(frozen=True, eq=False)
class Recipe:
    """What one launch is to do.

    Args:
        plans: one, or several without a word between them.
    """

    plans: tuple[Plan, ...]

    @property
    def reads(self) -> tuple[Port, ...]:
        """The arrays that the kernel loads, in the order of its parameters."""
        return tuple(port for plan in self.plans for port in plan.reads)

    @property
    def writes(self) -> tuple[Port, ...]:
        """The arrays that it stores, in the order of its parameters."""
        return tuple(port for plan in self.plans for port in plan.writes)

    @property
    def numbers(self) -> dict[str, Any]:
        """The numbers that are parameters, by name."""
        nodes = [node for plan in self.plans for node in plan.graph.nodes]
        return {n.op: n.value for n in nodes if n.kind == "number" and n.op}

    @property
    def has_clash(self) -> bool:
        """Two numbers are called the same."""
        nodes = [node for plan in self.plans for node in plan.graph.nodes]
        named = {(n.op, repr(n.value)) for n in nodes if n.kind == "number" and n.op}
        return len(named) > len(self.numbers)

    @property
    def steps(self) -> tuple[Step, ...]:
        """All steps, in order."""
        every = [step for plan in self.plans for step in plan.group.steps]
        return tuple(sorted(every, key=lambda step: step.position))

    @property
    def form(self) -> tuple[Any, ...]:
        """All that the text and the cost depend on; equal forms are one kernel."""
        ports = (*self.reads, *self.writes)
        serials = [port.use.serial for port in ports]
        places = tuple(
            (
                port.name,
                port.level,
                port.place._replace(address=port.place.address % ALIGNMENT),
                serials.index(port.use.serial),
            )
            for port in ports
        )
        graphs = tuple((p.graph, p.group.shape) for p in self.plans)
        counts = tuple(id(n.counts) for step in self.steps for n in step.launches)
        comments = tuple(n.comment for p in self.plans for n in p.graph.nodes)
        return graphs, places, counts, comments

    @property
    def is_many(self) -> bool:
        """Tell whether several groups share the launch."""
        return len(self.plans) > 1

    @property
    def has_rows(self) -> bool:
        """Tell whether a block works on a row."""
        return self.plans[0].graph.has_rows

    def text(self, name: str) -> str:
        """Write the kernel.

        Args:
            name: the kernel's.
        """
        if self.is_many:
            return many_kernel_text(name, [plan.graph for plan in self.plans])
        write = row_kernel_text if self.has_rows else kernel_text
        return write(name, self.plans[0].graph)

    def kernel(self, name: str) -> FusedKernel:
        """Write and compile the kernel.

        Args:
            name: the kernel's.
        """
        if not self.is_many:
            return fused_kernel(name, self.plans[0].graph)
        source = self.text(name)
        return FusedKernel(name, source, has_rows=False, kernel=compiled(name, source))

    def launch(
        self,
        kernel: FusedKernel,
        reads: Sequence[Any],
        numbers: Sequence[Any],
        writes: Sequence[Any],
    ) -> None:
        """Launch the kernel.

        Args:
            kernel: that was made of this recipe.
            reads: device arrays that it loads.
            numbers: float32 numbers.
            writes: device arrays that it stores into.
        """
        if self.is_many:
            flat = [array.reshape(-1) for array in (*reads, *writes)]
            middle = len(reads)
            longest = max(array.size for array in writes)
            grid = -(-longest // THREADS)
            arguments = (*flat[:middle], *numbers, *flat[middle:])
            kernel.kernel[grid, THREADS](*arguments)
            return
        is_row = [port.level == "row" for port in self.reads]
        is_row += [False for _ in numbers]
        is_row += [port.level == "row" for port in self.writes]
        shape = self.plans[0].group.shape
        kernel.launch(shape, (*reads, *numbers, *writes), is_row)


def is_plain(plan: Plan) -> bool:
    """Tell whether all arrays of a plan lie without gaps in one order.

    Args:
        plan: the plan.
    """
    shape = plan.group.shape
    for port in (*plan.reads, *plan.writes):
        step = port.place.strides[-1] if shape else 0
        for axis in range(len(shape) - 1, -1, -1):
            length = math.prod(shape[axis + 1 :])
            if shape[axis] > 1 and port.place.strides[axis] != step * length:
                return False
        if shape and shape[-1] > 1 and not step:
            return False
    return not plan.graph.has_rows
