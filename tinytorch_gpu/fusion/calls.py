"""What is known of the calls of a function: for each form of its arguments a kernel.

A form is met for the first time: the function runs as it is, is recorded, and its
kernel is run and checked. Other numbers are met: the function is recorded once more, to
see whether the kernel can take them as parameters.
"""

from __future__ import annotations

import inspect
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
from tinytorch_gpu.integration.reachable import Reachable
from tinytorch_gpu.library.keys import DispatchKey
from tinytorch_gpu.library.registry import find

if TYPE_CHECKING:
    from collections.abc import Callable
    from inspect import BoundArguments

    from tinytorch_gpu.fusion.arguments import Leaf
    from tinytorch_gpu.fusion.recording import Recorded
    from tinytorch_gpu.trace import KernelSource

__all__ = ["TOLERANCE", "Calls", "Known"]

TOLERANCE = 1e-6  # |fused − unfused| ÷ max(1, |unfused|) of float32 results
ASKED = (DispatchKey.AUTOGRAD, DispatchKey.PROFILER, DispatchKey.SIMGPU)
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
        served: what served each of the ops when they were recorded, at each key.
        reach: what the function's code can reach, to see whether it has changed.
        is_steered: a number decides more than a result, so no other one is tried.
    """

    program: Program | Reason
    numbers: tuple[Any, ...] = ()
    are_parameters: bool = False
    others: int = 0
    is_told: bool = False
    served: tuple[tuple[str, Any], ...] = ()
    reach: Reachable | None = None
    is_steered: bool = False
    refused: Known | None = None

    @property
    def is_current(self) -> bool:
        """Tell whether the same functions serve the ops, and nothing read changed."""
        is_same = self.reach is None or self.reach.is_same()
        return is_same and all(_serving(op) == sites for op, sites in self.served)


def _serving(op: str) -> tuple[KernelSource | None, ...]:
    found = [find(op, key) for key in ASKED]
    return tuple(one.source if one else None for one in found)


def _with_state(given: tuple[Leaf, ...]) -> str:
    """Name an argument that may change unseen: an object with attributes."""
    for leaf in given:
        is_plain = leaf.array is not None or leaf.is_number
        if not is_plain and hasattr(leaf.value, "__dict__"):
            return leaf.name
    return ""


class Calls:
    """Kernels of one function, by the forms of its arguments.

    Args:
        name: of the function.
        function: what is fused.
    """

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self._name, self._function = name, function
        self._known: dict[Any, Known] = {}

    def known(self, given: tuple[Leaf, ...]) -> Known | None:
        """Return what a call with such arguments would use, if it is known."""
        form, numbers = form_of(given), numbers_of(given)
        found = self._known.get(form)
        if found is not None and not (found.are_parameters or found.numbers == numbers):
            found = self._known.get((form, numbers))
        return found if found is not None and found.is_current else None

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
        if isinstance(known.program, Reason) and not known.is_steered:
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
        if inspect.ismethod(self._function) or (name := _with_state(given)):
            what = "a method" if inspect.ismethod(self._function) else f"object {name}"
            text = f"attributes of {what} may change unseen: pass numbers and arrays"
            return Known(Reason("no rule", text), numbers), None
        reach = Reachable([self._function], [])
        restore = snapshot(arrays)
        run = record(self._function, bound)
        program = program_of(self._name, run)
        known = self._known_of(program, run, numbers, reach)
        wanted = values_of(run.result), values_of(arrays)
        restore()
        if isinstance(program, Reason):
            return known, None
        result = program.run(given)
        got = values_of(result), values_of(arrays)
        gap = max(gap_between(g, w) for g, w in zip(got, wanted, strict=True))
        if gap > TOLERANCE:
            restore()
            text = f"its values differ by {gap:.1e} from those of the ops"
            known.program = Reason("dtype", text)
            return known, None
        return known, result

    def _known_of(
        self,
        program: Program | Reason,
        run: Recorded,
        numbers: tuple[Any, ...],
        reach: Reachable | None,
    ) -> Known:
        served = tuple((op, _serving(op)) for op, _ in run.served)
        return Known(
            program, numbers, served=served, reach=reach, is_steered=run.is_steered
        )

    def _with_numbers(
        self, known: Known, bound: BoundArguments, given: tuple[Leaf, ...]
    ) -> Known:
        """Try whether the kernel takes other numbers; else make one for these."""
        if known.others >= MOST_KERNELS:
            text = f"a number of {self._name} is a part of the kernel, and is another"
            reason = Reason("no rule", f"{text} in each call: pass it as a float")
            known.refused = known.refused or Known(reason)
            return known.refused
        restore = snapshot(arrays_of(given))
        run = record(self._function, bound)
        again = program_of(self._name, run)
        restore()
        # A float that is compared with an int does not ask it, so an int may decide
        # something unseen.
        pairs = zip(known.numbers, numbers_of(given), strict=True)
        has_other_int = any(a != b and isinstance(b, int) for a, b in pairs)
        is_steered = known.is_steered or run.is_steered or has_other_int
        if (
            isinstance(again, Program)
            and isinstance(known.program, Program)
            and not is_steered
            and numbers_agree(known.program, again, given)
        ):
            known.are_parameters = True
            return known
        known.others += 1
        known.is_steered = is_steered
        fresh = self._known_of(again, run, numbers_of(given), known.reach)
        self._known[form_of(given), fresh.numbers] = fresh
        return fresh
