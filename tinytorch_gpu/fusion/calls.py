"""`Calls`: runs a function while its launches wait, and one kernel in their place.

Whatever the function reads, draws or changes, it does so in each call; only what its
ops do on the device is left to a kernel. The kernel is known by the ops: their order,
arrays, lines of code. Numbers that are other ones in another call become parameters.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.fusion.gaps import gap_between, put_back, values_of
from tinytorch_gpu.fusion.making import program_of
from tinytorch_gpu.fusion.reasons import Reason
from tinytorch_gpu.fusion.seen import Seen
from tinytorch_gpu.runtime.device import using_device
from tinytorch_gpu.runtime.held import holding
from tinytorch_gpu.trace import CopyRecord, LaunchRecord

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.fusion.arguments import Leaf
    from tinytorch_gpu.fusion.program import Program
    from tinytorch_gpu.runtime.device import Device
    from tinytorch_gpu.runtime.held import Held

__all__ = ["Calls", "looked_at"]

TOLERANCE = 1e-6  # |fused − unfused| ÷ max(1, |unfused|) of float32 results
MOST_FORMS = 64  # of one function whose kernels are kept


@dataclass(eq=False)
class _Known:
    """What is known of one form: its kernel for the numbers met last."""

    program: Program | Reason
    numbers: tuple[Any, ...]
    varied: set[int] = field(default_factory=set)
    checked: set[str] = field(default_factory=set)  # texts of kernels


class Calls:
    """Kernels of one function, by the forms of what it did.

    Args:
        name: of the function.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._known: dict[Any, _Known] = {}

    def run(
        self, function: Callable[[], Any], given: tuple[Leaf, ...], device: Device
    ) -> tuple[Any, Program | Reason | None]:
        """Run a function, and what it does on a device as one kernel if that may be.

        Args:
            function: without arguments.
            given: leaves of its arguments.
            device: whose launches wait.

        Returns:
            Its result, and the kernel that did its work or why it ran op by op;
            None where it did nothing on a device.
        """
        with holding(device) as held:
            result = function()
        if held.was_looked_at:
            return result, looked_at(held)
        seen = Seen(held, given)
        if not seen.records and not any(leaf.array is not None for leaf in given):
            return result, None  # of host arrays: there is nothing to fuse
        with using_device(device):
            return result, self._done(seen)

    def _done(self, seen: Seen) -> Program | Reason:
        """Do what waits, as one kernel if it may be; return that, or why not."""
        try:
            known = self._of(seen)
        except BaseException:  # what waits is not lost
            seen.run()
            raise
        if isinstance(known.program, Reason):
            seen.run()
        elif known.program.kernel.source in known.checked:
            known.program.run(seen)
        else:
            self._first(known, known.program, seen)
        return known.program

    def _of(self, seen: Seen) -> _Known:
        """Return what is known of a form, for the numbers of a call."""
        known = self._known.get(seen.form)
        if known is None:
            if len(self._known) >= MOST_FORMS:
                self._known.clear()
            known = _Known(program_of(self._name, seen), seen.numbers)
            self._known[seen.form] = known
        elif not _same(known.numbers, seen.numbers):
            pairs = enumerate(zip(known.numbers, seen.numbers, strict=True))
            known.varied |= {i for i, (old, new) in pairs if not _same(old, new)}
            known.program = program_of(self._name, seen, known.varied)
            known.numbers = seen.numbers
        return known

    def _first(self, known: _Known, program: Program, seen: Seen) -> None:
        """Run op by op and as one kernel, and compare what both store."""
        gap = _unlike(program, seen)
        if gap > TOLERANCE:
            text = f"the kernel's values differ by {gap:.1e} from those of the ops"
            known.program = Reason("values", text)
        else:
            known.checked.add(program.kernel.source)


def _unlike(program: Program, seen: Seen) -> float:
    """Run what waits op by op, then as one kernel; return by how much they differ.

    Where they differ by more than `TOLERANCE`, the values of the ops are put back.

    Args:
        program: the kernel.
        seen: what waits.
    """
    arrays = [seen.array(index) for index in program.writes]
    before = values_of(arrays)
    seen.run()
    wanted = values_of(arrays)
    put_back(arrays, before)
    program.run(seen)
    gap = gap_between(values_of(arrays), wanted)
    if gap > TOLERANCE:
        put_back(arrays, wanted)
    return gap


def looked_at(held: Held) -> Reason:
    """Tell who looked at memory while the launches waited.

    Args:
        held: what waited.
    """
    cause = held.cause
    if cause is None:
        return Reason("host read", "the function looks at device memory, or measures")
    if isinstance(cause, CopyRecord):
        kind = "host read" if cause.direction == "d2h" else "no rule"
        return Reason(kind, f"the function copies {cause.bytes} B ({cause.reason})")
    if isinstance(cause, LaunchRecord) and cause.op:
        op = cause.op.rpartition("::")[2]
        text = f"something looks at device memory, or measures, before {op} runs"
        return Reason("host read", text)
    return Reason("unknown launch", "the function launches a kernel by itself")


def _same(one: Any, other: Any) -> bool:
    """Tell whether numbers are equal, NaN with itself and 0.0 not with -0.0."""
    return repr(one) == repr(other)
