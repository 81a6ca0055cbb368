"""Whether a kernel computes what the learner's code computes.

A class that is named after an op need not compute it: a GELU may be the tanh form, a
softmax may have a temperature, a first attempt may be wrong. Before a kernel answers
for a class, the class's own code is tried on small host arrays (`meanings`). Where it
differs, it runs itself, on the device, and the summary of `install` says so. The trial
is made at the first use, and again when the code has changed since.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, field
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from tinytorch_gpu.integration.meanings import MEANINGS, Case
from tinytorch_gpu.integration.trials import (
    Trial,
    slope_difference,
    unseen,
    value_difference,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.integration.detect import TinyTorch
    from tinytorch_gpu.integration.meanings import Meaning

__all__ = ["Candidate", "Fits", "Verdict"]

SIMPLE = (bool, int, float, str, tuple)
# What a layer keeps that the op's cases vary, or that only its constructor needs.
KNOWN = {
    "kernel_size", "stride", "padding", "eps", "weight", "bias", "gamma", "beta",
    "in_channels", "out_channels", "num_features", "normalized_shape", "vocab_size",
    "embed_dim", "momentum", "training", "running_mean", "running_var",
}  # fmt: skip


@dataclass(frozen=True)
class Candidate:
    """A method that a kernel may answer for.

    Args:
        op: the op it is named after.
        owner: its class.
        code: the method as the learner wrote it.
        run: tries it, and gives the result; None for a case that it cannot take.
        rule: the gradient of a node, as the learner wrote it.
        inputs: the operands that the rule has gradients for.
        owners: the classes of layers whose code is part of it.
    """

    op: str
    owner: Any
    code: Any
    run: Callable[[Case], Trial | None]
    rule: Callable[[Any, Any], Any]
    inputs: Callable[[Any], Any]
    owners: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Verdict:
    """What trying a learner's code showed.

    Args:
        difference: how it differs from the op; "" if a kernel may answer for it.
        options: parameters by which the shipped kernel gives what it gives at infinity.
        state: what the layer keeps when it is made, or the node when it is tried.
        mentioned: the names that its code mentions.
        is_final: it holds as long as the code is the same.
    """

    difference: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    state: dict[str, Any] = field(default_factory=dict)
    mentioned: frozenset[str] = frozenset()
    is_final: bool = True

    @property
    def fits(self) -> bool:
        """Whether a kernel computes the same."""
        return not self.difference

    def takes(self, layer: Any) -> bool:
        """Tell whether a layer differs from those tried in what is known of it only.

        Args:
            layer: the layer, or None.
        """
        for name, value in getattr(layer, "__dict__", {}).items():
            if name in KNOWN or "bias" in name or name not in self.mentioned:
                continue
            if isinstance(value, SIMPLE) and self.state.get(name) != value:
                return False
        return True


_found_out: WeakKeyDictionary[Any, dict[Any, tuple[Any, Verdict]]] = WeakKeyDictionary()


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
        return self._verdict("forward", one, self._try_forward)

    def backward(self, one: Candidate) -> Verdict:
        """Tell whether the op's backward kernel may answer for the gradient rule.

        Args:
            one: the method whose rule it is.
        """
        return self._verdict("backward", one, self._try_backward)

    def _verdict(
        self, kind: str, one: Candidate, attempt: Callable[[Candidate], Verdict]
    ) -> Verdict:
        """Return what was found out, if the code is still the same."""
        known = _found_out.setdefault(one.owner, {})
        print_now = _fingerprint(one)
        before = known.get((one.op, kind))
        if before is not None and _is_same(before[0], print_now):
            return before[1]
        if one.op not in MEANINGS:
            return Verdict("not known")
        with unseen(self._found):
            verdict = attempt(one)
        if verdict.is_final:
            known[one.op, kind] = (print_now, verdict)
        return verdict

    def _try_forward(self, one: Candidate) -> Verdict:
        meaning, first = MEANINGS[one.op], None
        for case in meaning.cases:
            trial, difference = _tried(one, case)
            if trial is not None:
                difference = value_difference(meaning, trial)
            if difference:
                return Verdict(difference)
            first = first or trial
        if first is not None and first.keeps_state and not self.backward(one).fits:
            return Verdict("its backward, which runs itself, needs what forward keeps")
        options = _at_edge(meaning, one)
        if options is None:
            return Verdict("other values at infinity")
        is_final = first is None or first.keeps_state is not None
        state, mentioned = _layer_state(one, first)
        return Verdict("", options, state, mentioned, is_final)

    def _try_backward(self, one: Candidate) -> Verdict:
        meaning = MEANINGS[one.op]
        kept: dict[str, Any] = {}
        for case in meaning.cases:
            trial, difference = _tried(one, case)
            if trial is not None and trial.node is None:
                return Verdict("nothing recorded", is_final=False)
            if trial is not None:
                difference = value_difference(meaning, trial)
                difference = difference or _slope_difference(meaning, one, trial)
                kept |= vars(trial.node)
            if difference:
                return Verdict(difference)
        return Verdict(state=kept)


def _tried(one: Candidate, case: Case) -> tuple[Trial | None, str]:
    """Run the learner's code on one input: what it gave, or how it failed."""
    try:
        return one.run(case), ""
    except Exception as error:  # noqa: BLE001  (a learner's code raises anything)
        return None, _told(error) if case.is_needed else ""


def _slope_difference(meaning: Meaning, one: Candidate, trial: Trial) -> str:
    """Let the learner's rule go on from a result, and compare its gradients."""
    drawn = np.random.default_rng(5).uniform(0.5, 1.5, np.shape(trial.out))
    by = np.asarray(drawn, np.float32)
    try:
        grads, inputs = one.rule(trial.node, by), one.inputs(trial.node)
        return slope_difference(meaning, trial, inputs, grads, by)
    except Exception as error:  # noqa: BLE001
        return _told(error)


def _at_edge(meaning: Meaning, one: Candidate) -> dict[str, Any] | None:
    """Return the parameter by which the kernel gives the learner's value at infinity.

    None where it is neither 0 nor NaN: the kernel gives no other.
    """
    edge = meaning.edge
    if edge is None:
        return {}
    try:
        trial = one.run(Case((edge.array,)))
    except Exception:  # noqa: BLE001  (what raises on the CPU is no value to give)
        trial = None
    if trial is None:
        return {}
    value = float(np.ravel(trial.out)[0])
    if np.isnan(value):
        return {edge.parameter: value}
    return None if value else {}


def _layer_state(
    one: Candidate, trial: Trial | None
) -> tuple[dict[str, Any], frozenset[str]]:
    """Return what a layer of the cases keeps, and the names that its code mentions."""
    functions = [
        f for owner in (one.owner, *one.owners) for f in vars(owner).values()
        if isinstance(f, FunctionType) and f.__name__ not in {"__init__", "__repr__"}
    ]  # fmt: skip
    plain = [inspect.unwrap(f) for f in (*functions, one.code)]
    names = frozenset(n for f in plain for n in _names(getattr(f, "__code__", None)))
    return dict(getattr(trial.layer if trial else None, "__dict__", {})), names


def _names(code: Any) -> set[str]:
    """Return the names that a code mentions, and the functions within it."""
    if not isinstance(code, CodeType):
        return set()
    return set(code.co_names).union(*(_names(c) for c in code.co_consts))


def _fingerprint(one: Candidate) -> list[Any]:
    """Return what the code is made of: the classes, the code, the globals it names."""
    parts = [v for owner in (one.owner, *one.owners) for v in vars(owner).values()]
    code = getattr(one.code, "__code__", None)
    if code is not None:
        known = one.code.__globals__
        parts += [code, *(known.get(name) for name in code.co_names)]
    return parts


def _is_same(a: list[Any], b: list[Any]) -> bool:
    return len(a) == len(b) and all(x is y for x, y in zip(a, b, strict=True))


def _told(error: Exception) -> str:
    first = str(error).split("\n")[0]
    return f"raises {type(error).__name__}: {first}"[:120]
