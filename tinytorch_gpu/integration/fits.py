"""Whether a kernel computes what the learner's code computes.

A class that is named after an op need not compute it: a GELU may be the tanh form, a
softmax may have a temperature, a first attempt may be wrong. Before a kernel answers
for a class, the class's own code is tried on small host arrays (`meanings`). Where it
differs, it runs itself, on the device, and the summary of `install` says so. Code that
reads what may change unnoticed is not tried: it runs itself, too (`contained`). The
trial is made at the first use, and again when the code has changed since.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from tinytorch_gpu.integration.cases import Case
from tinytorch_gpu.integration.contained import Contained
from tinytorch_gpu.integration.meanings import MEANINGS
from tinytorch_gpu.integration.trials import (
    AT_EDGES,
    SMALLEST,
    Trial,
    kept_by,
    slope_difference,
    unnoticed,
    value_difference,
)
from tinytorch_gpu.integration.verdicts import (
    NOT_RECORDED,
    Verdict,
    kind_of_call,
    kind_of_node,
    sizes_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tinytorch_gpu.integration.contained import Root
    from tinytorch_gpu.integration.detect import TinyTorch
    from tinytorch_gpu.integration.meanings import Meaning

__all__ = ["Candidate", "Fits", "Verdict"]

# What a learner's code may raise; an interrupt is the learner's own.
ERRORS = (Exception, SystemExit)


@dataclass(frozen=True)
class Candidate:
    """A method that a kernel may answer for.

    Args:
        op: the op it is named after.
        owner: its class.
        forward: the methods that its result comes by.
        backward: the methods that its gradient comes by.
        run: tries it, and gives the result; None for a case that it cannot take.
        rule: the gradient of a node, as the learner wrote it.
        inputs: the operands that the rule has gradients for.
        tensor: the class of Tensors.
        owners: the classes of layers whose code is part of it.
    """

    op: str
    owner: Any
    forward: tuple[Root, ...]
    backward: tuple[Root, ...]
    run: Callable[[Case], Trial | None]
    rule: Callable[[Any, Any], Any]
    inputs: Callable[[Any], Any]
    tensor: Any
    owners: tuple[Any, ...] = ()


class _Tried:
    """What the trials of one method had in them, one after the other."""

    def __init__(self) -> None:
        self.first: Trial | None = None
        self.state: dict[str, list[Any]] = {}
        self.parameters: dict[str, list[Any]] = {}
        self.accepted: set[Any] = set()
        self.nodes: set[type] = set()
        self.sizes: list[Any] = []

    def add(self, trial: Trial, thing: Any, kind: Any) -> None:
        """Note a trial that gave what was meant, and what its layer or node keeps."""
        self.first = self.first or trial
        for name, value in getattr(thing, "__dict__", {}).items():
            self.state.setdefault(name, []).append(value)
        for name, value in trial.parameters.items():
            self.parameters.setdefault(name, []).append(value)
        self.accepted.add(kind)
        self.nodes.add(type(trial.node))
        if thing is not None:
            self.sizes.append(sizes_of(thing))

    def verdict(self, **facts: Any) -> Verdict:
        """Return that the kernel fits, for calls like these."""
        return Verdict(
            state=self.state,
            sizes=tuple(self.sizes),
            parameters=self.parameters,
            accepted=frozenset(self.accepted),
            nodes=frozenset(self.nodes),
            **facts,
        )


# The most operands of a layer: its input, a weight and a bias.
LAYERS_OPERANDS = 3
# The last states of a method's code, such as with gradients and without.
STATES = 4
_Known = dict[Any, list[tuple[Contained, Verdict]]]
_found_out: WeakKeyDictionary[Any, _Known] = WeakKeyDictionary()


class Fits:
    """The verdicts on the classes of one TinyTorch.

    Args:
        found: the TinyTorch.
    """

    def __init__(self, found: TinyTorch) -> None:
        self._found = found

    def forward(self, one: Candidate) -> Verdict:
        """Tell whether the kernel of an op may answer for a method.

        Args:
            one: the method.
        """
        return self._verdict(one, one.forward, self._try_forward)

    def backward(self, one: Candidate) -> Verdict:
        """Tell whether the op's backward kernel may answer for the gradient rule.

        Args:
            one: the method whose rule it is.
        """
        return self._verdict(one, one.backward, self._try_backward)

    def _verdict(
        self,
        one: Candidate,
        roots: tuple[Root, ...],
        attempt: Callable[[Candidate], Verdict],
    ) -> Verdict:
        """Return what was found out, if the code is as it was then."""
        known = _found_out.setdefault(one.owner, {})
        states = known.setdefault((one.op, roots, one.owners), [])
        for contained, verdict in states:
            if contained.is_same():
                return verdict
        if one.op not in MEANINGS:
            return Verdict("not known")
        began = time.perf_counter()
        contained = Contained(roots, one.tensor, one.owners)
        verdict = Verdict(contained.reason)
        if verdict.fits:
            with unnoticed(contained.generators):
                verdict = attempt(one)
        verdict = replace(
            verdict,
            mentioned=frozenset(contained.mentioned),
            seconds=time.perf_counter() - began,
        )
        states[:] = [(contained, verdict), *states[: STATES - 1]]
        return verdict

    def _cases(self, cases: Iterable[Case]) -> list[Case]:
        generation = self._found.generation[0]
        kept = [case for case in cases if case.generation in {"", generation}]
        about = "where an operand requires no gradient"
        count = len(kept[0].arrays) if kept[0].layer is None else LAYERS_OPERANDS
        frozen = (replace(kept[0], frozen=n, about=about) for n in range(count))
        return [*kept, *frozen]

    def _try_forward(self, one: Candidate) -> Verdict:
        meaning, tried = MEANINGS[one.op], _Tried()
        for case in self._cases((*meaning.cases, *meaning.edges)):
            trial, difference = _tried(one, case)
            if trial is not None:
                kind = kind_of_call(case.arrays, trial.parameters)
                tried.add(trial, trial.layer, kind)
            if difference:
                return Verdict(_at(difference, case))
        first = tried.first
        if first is None:
            return Verdict("nothing that it takes is known")
        slope = self.backward(one) if first.keeps_state else None
        if slope is not None and not slope.fits:
            return Verdict("its backward, which runs itself, needs what forward keeps")
        options = _at_edge(meaning, one)
        if options is None:
            return Verdict("other values at infinity")
        return tried.verdict(options=options, slope=slope)

    def _try_backward(self, one: Candidate) -> Verdict:
        meaning, tried = MEANINGS[one.op], _Tried()
        for case in self._cases(meaning.cases):
            trial, difference = _tried(one, case)
            if trial is not None and trial.node is None and case.frozen is None:
                return Verdict(NOT_RECORDED)
            if trial is not None and trial.node is not None:
                tried.add(trial, trial.node, kind_of_node(trial.node))
                difference = difference or _slope_difference(meaning, one, trial)
            if difference:
                return Verdict(_at(difference, case))
        return tried.verdict()


def _tried(one: Candidate, case: Case) -> tuple[Trial | None, str]:
    """Run the learner's code on one input: what it gave, how it differs or failed."""
    try:
        if (trial := one.run(case)) is None:
            return None, ""
        meaning = MEANINGS[one.op]
        is_edge = any(case is edge for edge in meaning.edges)
        allowed = AT_EDGES if is_edge else SMALLEST
        difference = value_difference(meaning, trial, allowed)
    except ERRORS as error:  # a learner's code raises anything
        return None, _told(error) if case.is_needed else ""
    return trial, difference


def _at(difference: str, case: Case) -> str:
    return f"{difference} {case.about}" if case.about else difference


def _slope_difference(meaning: Meaning, one: Candidate, trial: Trial) -> str:
    """Let the learner's rule go on from a result, and compare its gradients."""
    several = _drawn(np.shape(trial.out))
    return next(filter(None, (_unlike(meaning, one, trial, by) for by in several)), "")


def _unlike(meaning: Meaning, one: Candidate, trial: Trial, by: Any) -> str:
    """Tell how the learner's rule differs for one gradient."""
    given, before = by.copy(), kept_by(trial.node)
    try:
        grads, inputs = one.rule(trial.node, given), one.inputs(trial.node)
        difference = slope_difference(meaning, trial, inputs, grads, by)
    except ERRORS as error:
        return _told(error)
    after = kept_by(trial.node)
    same = (
        n in after and np.array_equal(before[n], after[n], equal_nan=True)
        for n in before
    )
    if not np.array_equal(given, by) or not all(same):
        return "its gradient changes what it is given in place"
    return difference


def _drawn(shape: tuple[int, ...]) -> list[Any]:
    """Draw gradients of both signs, with some zeros and some large numbers."""
    if math.prod(shape) == 1:
        return [np.full(shape, one, np.float32) for one in (1.25, 40.0, -40.0, 0.0)]
    drawn = np.random.default_rng(5).uniform(0.5, 1.5, shape)
    places = np.arange(drawn.size).reshape(shape)
    drawn = np.where(places % 2, -drawn, drawn) * np.where(places % 5 == 3, 40, 1)
    return [np.asarray(np.where(places % 11 == 8, 0, drawn), np.float32)]


def _at_edge(meaning: Meaning, one: Candidate) -> dict[str, Any] | None:
    """Return the parameter by which the kernel gives the learner's value at infinity.

    None where it is neither 0 nor NaN: the kernel gives no other.
    """
    edge = meaning.edge
    if edge is None:
        return {}
    try:
        trial = one.run(Case((edge.array,)))
    except ERRORS:  # what raises on the CPU is no value to give
        trial = None
    if trial is None:
        return {}
    value = float(np.ravel(trial.out)[0])
    if np.isnan(value):
        return {edge.parameter: value}
    return None if value else {}


def _told(error: BaseException) -> str:
    first = str(error).split("\n")[0]
    return f"raises {type(error).__name__}: {first}"[:120]
