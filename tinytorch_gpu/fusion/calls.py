"""What is known of the calls of a function: for each form of its arguments a kernel.

A form is met for the first time: the function runs as it is, is recorded, and its
kernel is run and checked. Other numbers are met: the function is recorded once more, to
see whether the kernel can take them as parameters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.fusion.arguments import snapshot
from tinytorch_gpu.fusion.forms import (
    arrays_of,
    form_of,
    gap_between,
    numbers_of,
    values_of,
)
from tinytorch_gpu.fusion.making import program_of
from tinytorch_gpu.fusion.program import Program, numbers_agree
from tinytorch_gpu.fusion.reasons import Reason
from tinytorch_gpu.fusion.recording import record
from tinytorch_gpu.library.keys import DispatchKey
from tinytorch_gpu.library.registry import find

if TYPE_CHECKING:
    from collections.abc import Callable
    from inspect import BoundArguments

    from tinytorch_gpu.fusion.arguments import Leaf
    from tinytorch_gpu.trace import KernelSource

__all__ = ["TOLERANCE", "Calls", "Known"]

TOLERANCE = 1e-6  # |fused − unfused| ÷ max(1, |unfused|) of float32 results
MOST_KERNELS = 8  # written anew because a number is a part of the kernel


@dataclass(eq=False)
class Known:
    """What is known of one form of arguments.

    Args:
        program: the kernel, or why there is none.
        numbers: values of the number arguments that it was made with.
        are_parameters: other numbers were tried, and the kernel takes them.
        others: kernels written anew for other numbers.
        is_told: the reason was told.
        served: what served each of the ops when they were recorded.
    """

    program: Program | Reason
    numbers: tuple[Any, ...] = ()
    are_parameters: bool = False
    others: int = 0
    is_told: bool = False
    served: tuple[tuple[str, KernelSource | None], ...] = ()

    @property
    def is_current(self) -> bool:
        """Tell whether the same functions still serve the ops."""
        return all(_serving(op) == source for op, source in self.served)


def _serving(op: str) -> KernelSource | None:
    found = find(op, DispatchKey.SIMGPU)
    return found.source if found else None


class Calls:
    """Kernels of one function, by the forms of its arguments.

    Args:
        name: of the function.
        function: what is fused.
    """

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self._name, self._function = name, function
        self._known: dict[Any, Known] = {}

    def find(self, bound: BoundArguments, given: tuple[Leaf, ...]) -> tuple[Known, Any]:
        """Return what is known of such arguments, made if they are new.

        Args:
            bound: the call's arguments.
            given: their leaves.

        Returns:
            What is known, and the kernel's result if it was just made and run.
        """
        form, numbers = form_of(given), numbers_of(given)
        known = self._known.get(form)
        if known is None or not known.is_current:
            known, result = self._made(bound, given)
            self._known[form] = known
            return known, result
        if known.numbers == numbers or known.are_parameters:
            return known, None
        exact = self._known.get((form, numbers))
        if exact is not None and exact.is_current:
            return exact, None
        return self._with_numbers(known, bound, given), None

    def _made(
        self, bound: BoundArguments, given: tuple[Leaf, ...]
    ) -> tuple[Known, Any]:
        """Record the function, write its kernel, run and check it."""
        arrays, numbers = arrays_of(given), numbers_of(given)
        restore = snapshot(arrays)
        run = record(self._function, bound)
        program = program_of(self._name, run)
        wanted = values_of(run.result), values_of(arrays)
        restore()
        if isinstance(program, Reason):
            return Known(program, numbers, served=run.served), None
        result = program.run(given)
        got = values_of(result), values_of(arrays)
        gap = max(gap_between(g, w) for g, w in zip(got, wanted, strict=True))
        if gap > TOLERANCE:
            restore()
            text = f"its values differ by {gap:.1e} from those of the ops"
            return Known(Reason("dtype", text), numbers, served=run.served), None
        return Known(program, numbers, served=run.served), result

    def _with_numbers(
        self, known: Known, bound: BoundArguments, given: tuple[Leaf, ...]
    ) -> Known:
        """Try whether the kernel takes other numbers; else make one for these."""
        if isinstance(known.program, Reason):
            return known
        if known.others >= MOST_KERNELS:
            text = f"a number of {self._name} is a part of the kernel, and is another"
            return Known(Reason("no rule", f"{text} in each call: pass it as a float"))
        restore = snapshot(arrays_of(given))
        run = record(self._function, bound)
        again = program_of(self._name, run)
        restore()
        if isinstance(again, Program) and numbers_agree(known.program, again, given):
            known.are_parameters = True
            return known
        known.others += 1
        fresh = Known(again, numbers_of(given), served=run.served)
        self._known[form_of(given), fresh.numbers] = fresh
        return fresh
