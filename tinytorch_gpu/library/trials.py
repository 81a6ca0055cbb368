"""Trials: run an op on one case, and tell who wrote an element of its result.

Comes in: an op, a case. Goes out: the result with everything that was seen: the error,
the records, what the sanitizer found, the memory of the operands afterwards.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.library.dispatcher import call
from tinytorch_gpu.library.results import parts_of
from tinytorch_gpu.runtime.device import current_device
from tinytorch_gpu.runtime.sanitize import sanitize
from tinytorch_gpu.runtime.tracing import tracing
from tinytorch_gpu.trace import CopyRecord, LaunchRecord
from tinytorch_gpu.trace.queries import touches

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tinytorch_gpu.library.cases import Case, Given, OpFacts
    from tinytorch_gpu.memory import DeviceArray
    from tinytorch_gpu.sanitizer import Finding
    from tinytorch_gpu.trace import LaunchTrace, Record
    from tinytorch_gpu.trace.lane_records import LaneRecord

__all__ = ["Trial", "reference_of", "trial_again", "trial_of", "writer_of"]

WRITES = ("store", "atomic")


@dataclass
class Trial:
    """What one case showed.

    Args:
        case: the case.
        operands: what the op was called with.
        parameters: likewise, by name.
        bases: the memory of each array operand, in the order of `case.arrays()`.
        arrays: the array operands themselves, in the same order.
        result: what the op gave.
        error: what it raised, or None.
        records: what the timeline told.
        findings: what the sanitizer found.
        is_second: the arrays held other values in a call before.
    """

    case: Case
    operands: tuple[Any, ...]
    parameters: dict[str, Any]
    bases: list[DeviceArray]
    arrays: list[DeviceArray]
    result: Any = None
    error: Exception | None = None
    records: list[Record] = field(default_factory=list)
    findings: tuple[Finding, ...] = ()
    is_second: bool = False

    @property
    def launches(self) -> list[LaunchRecord]:
        """The launches."""
        return [r for r in self.records if isinstance(r, LaunchRecord)]

    @property
    def copies_to_host(self) -> list[CopyRecord]:
        """The copies from device to host."""
        copies = [r for r in self.records if isinstance(r, CopyRecord)]
        return [copy for copy in copies if copy.direction == "d2h"]


def trial_of(op: str, case: Case) -> Trial:
    """Run an op on a case, watched.

    Args:
        op: qualified name.
        case: the operands.
    """
    return _ran(op, _prepared(case))


def trial_again(op: str, first: Trial) -> Trial:
    """Run an op again on the very arrays of a trial, which hold other values now.

    Args:
        op: qualified name.
        first: the trial.
    """
    case = first.case.with_other_values()
    for base, given in zip(first.bases, case.arrays(), strict=True):
        base.copy_to_device(given.base)
    again = Trial(case, first.operands, first.parameters, first.bases, first.arrays)
    again.is_second = True
    return _ran(op, again)


def _ran(op: str, trial: Trial) -> Trial:
    listeners = current_device().timeline.listeners
    with warnings.catch_warnings(), sanitize(show=False) as report:
        warnings.simplefilter("ignore")
        listeners.append(trial.records.append)
        try:
            trial.result = call(op, *trial.operands, **trial.parameters)
        except Exception as error:  # noqa: BLE001  (whatever the learner's code raises)
            trial.error = error
        finally:
            listeners.pop()
    trial.findings = report.findings
    return trial


def reference_of(facts: OpFacts, case: Case) -> tuple[Any, list[Any]]:
    """Compute a case in NumPy.

    Args:
        facts: the op's.
        case: the operands.

    Returns:
        The result, and the array operands afterwards, floats in float64.
    """
    hosts: list[Any] = []

    def on_host(given: Given) -> Any:
        host = given.on_host()
        is_float = host.dtype.kind == "f"
        hosts.append(host.astype(np.float64) if is_float else host.copy())
        return hosts[-1]

    operands, named = case.made(on_host)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # means of nothing
        return facts.reference(*operands, **named), hosts


def writer_of(
    op: str, case: Case, part: int, index: tuple[int, ...], *, is_operand: bool = False
) -> LaneRecord | None:
    """Run a case again with everything kept, and ask who wrote an element last.

    Args:
        op: qualified name.
        case: the operands.
        part: which of the results, or of the array operands.
        index: the element.
        is_operand: it is an element of an operand's memory.

    Returns:
        The access, or None.
    """
    trial = _prepared(case)
    with warnings.catch_warnings(), tracing() as traces:
        warnings.simplefilter("ignore")
        try:
            result = call(op, *trial.operands, **trial.parameters)
        except Exception:  # noqa: BLE001  (told by the trial already)
            return None
    results = [each for each in parts_of(result) if each is not None]
    arrays = trial.bases if is_operand else results
    if part >= len(arrays):  # a function that does not do the same again
        return None
    array = arrays[part]
    place = array.address + sum(
        i * step for i, step in zip(index, array.strides, strict=True)
    )
    found = (write for trace in reversed(traces) for write in _writes(trace, place))
    return next(found, None)


def _prepared(case: Case) -> Trial:
    made: dict[int, tuple[DeviceArray, DeviceArray]] = {}
    bases: list[DeviceArray] = []
    arrays: list[DeviceArray] = []

    def on_device(given: Given) -> DeviceArray:
        # What a case names twice, as x and as `out`, is one array.
        if id(given) not in made:
            made[id(given)] = given.on_device()
        base, view = made[id(given)]
        bases.append(base)
        arrays.append(view)
        return view

    return Trial(case, *case.made(on_device), bases, arrays)


def _writes(trace: LaunchTrace, place: int) -> Sequence[LaneRecord]:
    """Return the writes of a launch to the element at an address, the last first."""
    for array in trace.arrays:
        cell, rest = divmod(place - array.address, array.itemsize)
        if array.space == "global" and not rest and 0 <= cell < array.length:
            seen = touches(trace, array, cell, None, None)
            return [write for write in seen if write.kind in WRITES][::-1]
    return []
