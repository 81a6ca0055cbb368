"""numcheck: arithmetic of lanes that goes wrong without a sound.

Heard of are integer divisions, shifts, conversions and stores; judged are the lanes
that take part. Rounding is no fault, and neither is what a shift leaves behind.

Source: the kinds are ours; what the values become is measured (`executor.conversion`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.executor.faults import place_facts, place_of
from tinytorch_gpu.sanitizer.finding import Finding
from tinytorch_gpu.trace import Recorder

if TYPE_CHECKING:
    from tinytorch_gpu.trace import LaunchStart, Site, SourceLine
    from tinytorch_gpu.trace.recorder import ActiveMask, Lanes, RecordedArray

__all__ = ["NumberChecks"]

OPERATORS = {"floordiv": "//", "mod": "%", "lshift": "<<", "rshift": ">>"}
MASK_BYTES = 4  # of a mask of lanes
BITS = 64  # a shift computes at 64 bits, whatever its operands
NUMBERS = (np.ndarray, np.generic)


@dataclass
class _Fault:
    """What went wrong at a line: told of its first lane, counted for all."""

    what: str
    why: str
    fix: str
    text: str
    facts: dict[str, Any]
    array: str = ""
    space: str = ""
    count: int = 0


class NumberChecks(Recorder):
    """Collects divisions by zero, wild shifts and conversions that lose the value.

    Example:
        >>> checks = NumberChecks()
        >>> checks.findings()
        []
    """

    def __init__(self) -> None:
        self._faults: dict[tuple[SourceLine, str], _Fault] = {}

    def begin(self, launch: LaunchStart) -> None:
        """Start to listen to a launch."""
        del launch
        self._faults.clear()

    def findings(self) -> list[Finding]:
        """Return one finding for each line and kind of the last launch."""
        return [_finding(kind, f) for (_, kind), f in self._faults.items()]

    def operation(
        self,
        batch: Lanes,
        site: Site,
        mask: ActiveMask,
        kind: str,
        value: Any,
        name: str = "",
        operand: Any = None,
        needed: ActiveMask | None = None,
    ) -> Any:
        """Judge a division, a shift or a conversion, and return its value."""
        del kind
        mask = mask if needed is None else needed
        if name == "convert":
            self._converted(batch, site, mask, operand, value)
        elif name in {"lshift", "rshift"}:
            wrong = (operand < 0) | (operand >= BITS)
            if np.any(wrong):
                self._add(batch, site, mask, "shift_count", wrong, operand, value, name)
        elif name and np.any(operand == 0) and value.dtype.kind in "iu":
            kind = "division_by_zero"
            self._add(batch, site, mask, kind, operand == 0, operand, value, name)
        return value

    def access(
        self,
        batch: Lanes,
        site: Site,
        mask: ActiveMask,
        kind: str,
        array: RecordedArray,
        flat: Any,
        shift: Any = 0,
        value: Any = None,
        given: Any = None,
    ) -> None:
        """Judge what a store makes of its value."""
        del flat, shift
        if kind == "store" and given is not value:
            self._converted(batch, site, mask, given, value, array)

    def _converted(
        self,
        batch: Lanes,
        site: Site,
        mask: ActiveMask,
        given: Any,
        value: Any,
        array: RecordedArray | None = None,
    ) -> None:
        """Judge a conversion; `array` is what a store writes to."""
        if not isinstance(given, NUMBERS) or not isinstance(value, NUMBERS):
            return
        kind, wrong = _loss(given, value, is_stored=array is not None)
        if np.any(wrong):
            self._add(batch, site, mask, kind, wrong, given, value, "", array)

    def _add(
        self,
        batch: Lanes,
        site: Site,
        mask: ActiveMask,
        kind: str,
        wrong: Any,
        given: Any,
        value: Any,
        name: str,
        array: RecordedArray | None = None,
    ) -> None:
        """Count the lanes at fault; of the first ones of a line keep what to tell."""
        lanes = mask.full() & wrong
        count = int(np.count_nonzero(lanes))
        if not count:
            return
        key = (site.line, kind)
        if key not in self._faults:
            row, threads, text = place_of(batch, lanes)
            first = [_at(v, batch, row, threads[0]) for v in (given, value)]
            target = np.result_type(value)
            target_name = f"`{site.expression}`, {target}" if array else str(target)
            subject = OPERATORS.get(name, target_name)
            what, why, fix = _TOLD[kind](subject, target, *first)
            facts = place_facts(batch, site.line, row, threads)
            fault = _Fault(what, why, fix, text, facts)
            if array is not None:
                fault.array, fault.space = site.expression, array.space
            self._faults[key] = fault
        self._faults[key].count += count


def _loss(given: Any, value: Any, *, is_stored: bool) -> tuple[str, Any]:
    """Return the kind of fault that a conversion may be, and the lanes that have it.

    Args:
        given: before it.
        value: after it.
        is_stored: a store converts; else the learner's code does. To uint32 it means
            to drop the upper digits, as hashes and random generators do.
    """
    source, target = given.dtype, value.dtype
    if source == target or target.kind == "b":
        return "", False
    if target.kind == "f":  # rounding is meant; a number that becomes infinite is not
        return "narrowing_loss", np.isinf(value) & np.isfinite(given)
    if source.kind != "f":
        # The 32 bits of a ballot are stored as int32 and as uint32.
        is_mask = source.itemsize == target.itemsize == MASK_BYTES
        is_hash = target == np.uint32 and not is_stored
        return "narrowing_loss", not (is_mask or is_hash) and value != given
    whole = given.astype(np.float64)
    whole = np.rint(whole) if source == np.float16 else np.trunc(whole)
    limits = np.iinfo(target)
    is_inside = (whole >= float(limits.min)) & (whole < float(limits.max) + 1)
    return "conversion_out_of_range", ~is_inside


def _at(value: Any, batch: Lanes, row: int, thread: Any) -> Any:
    """Return one lane's number as Python prints it."""
    return np.broadcast_to(value, batch.shape)[row, thread].item()


def _range(dtype: np.dtype[Any]) -> str:
    if dtype.kind == "f":
        return f"{dtype} holds up to {float(np.finfo(dtype).max):.3g}"
    limits = np.iinfo(dtype)
    return f"{dtype} holds {limits.min} to {limits.max}"


def _division(operator: str, _: Any, _divisor: Any, value: Any) -> tuple[str, str, str]:
    return (
        f"integer `{operator}` by zero",
        f"this lane gets {value}; Python would raise, and a GPU gives any number",
        "guard it with an `if`, or compute `x // max(d, 1)`",
    )


def _shift(operator: str, _: Any, count: Any, value: Any) -> tuple[str, str, str]:
    return (
        f"`{operator}` by a count that is not 0 to {BITS - 1}",
        f"this lane shifts by {count} and gets {value}; C++ leaves it undefined",
        f"bring the count into the range, for example with `& {BITS - 1}`",
    )


def _narrowing(target: str, dtype: Any, given: Any, value: Any) -> tuple[str, str, str]:
    return (
        f"a number is too large for {target}",
        f"{given} becomes {value};\n{_range(dtype)}",
        "take a wider type, or bring the number into the range first",
    )


def _out_of_range(
    target: str, dtype: Any, given: Any, value: Any
) -> tuple[str, str, str]:
    return (
        f"a float that {target} cannot hold",
        f"{given} becomes {value};\n{_range(dtype)}",
        "look where it comes from, or clamp it first: min(max(x, low), high)",
    )


_TOLD = {
    "division_by_zero": _division,
    "shift_count": _shift,
    "narrowing_loss": _narrowing,
    "conversion_out_of_range": _out_of_range,
}


def _finding(kind: str, fault: _Fault) -> Finding:
    facts, threads = fault.facts, fault.facts["threads"]
    more = fault.count - len(threads)
    others = f"; {fault.count} times in the launch" if more > 0 else ""
    return Finding(
        tool="numcheck",
        kind=kind,
        level="warning",
        what=fault.what,
        where=f"{facts['source_line']}\n{fault.text}{others}",
        why=fault.why,
        fix=fault.fix,
        line=facts["source_line"],
        array=fault.array,
        space=fault.space,
        block=facts["block"],
        threads=threads,
        count=fault.count,
    )
