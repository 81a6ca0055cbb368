"""How a method of either generation is tried: from one case to what it gave."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.integration.fits import Candidate
from tinytorch_gpu.integration.meanings import MEANINGS
from tinytorch_gpu.integration.trials import Trial, layer_trial

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.integration.detect import TinyTorch
    from tinytorch_gpu.integration.meanings import Case

__all__ = ["function_candidate", "layer_candidate", "method_candidate", "node_state"]


def node_state(found: TinyTorch) -> frozenset[str]:
    """Return what every node of generation B keeps, whatever its op.

    Args:
        found: the TinyTorch.
    """
    try:
        kept = set(vars(found.function_class()))
    except Exception:  # noqa: BLE001  (half-written)
        kept = set()
    return frozenset(kept | {"inputs", "output"})


def function_candidate(
    found: TinyTorch, owner: Any, op: str, names: frozenset[str]
) -> Candidate:
    """Return how a Function class of generation B is tried.

    Args:
        found: the TinyTorch.
        owner: the class.
        op: what it is named after.
        names: what its nodes keep before `forward`.
    """
    layers = _layers(found, op)

    def run(case: Case) -> Trial | None:
        if case.layer is None:
            return _applied(found, owner, case)
        trial = layer_trial(_only(layers, op), case, _maker(found))
        if trial.node is not None and type(trial.node) is not owner:
            raise TypeError(f"the layer's node is a {type(trial.node).__name__}")
        # In a block of no_grad there is no node to look at.
        keeps = None if trial.node is None else bool(vars(trial.node).keys() - names)
        return replace(trial, keeps_state=keeps)

    return Candidate(
        op,
        owner,
        inspect.unwrap(owner.forward),
        run,
        lambda node, by: node.backward(by),
        lambda node: node.inputs,
        layers,
    )


def method_candidate(found: TinyTorch, owner: Any, method: str, op: str) -> Candidate:
    """Return how a method of generation A is tried.

    Args:
        found: the TinyTorch.
        owner: its class.
        method: its name.
        op: what it is named after.
    """
    code = inspect.unwrap(vars(owner)[method])
    is_tensors = owner is found.tensor_class

    def run(case: Case) -> Trial | None:
        tensors = tuple(map(_maker(found), case.arrays))
        if method == "__getitem__":
            out = tensors[0][case.parameters["key"]]
            return _recorded(out, tensors, case)
        taken = inspect.signature(code).parameters
        given = {n: v for n, v in case.parameters.items() if n in taken}
        others = (v for n, v in case.parameters.items() if n not in given)
        if any(value not in {None, False} for value in others):
            return None
        bound = getattr(tensors[0] if is_tensors else owner(), method)
        out = bound(*tensors[is_tensors:], **given)
        return _recorded(out, tensors, case, None if is_tensors else bound.__self__)

    return Candidate(op, owner, code, run, _apply, _saved)


def layer_candidate(found: TinyTorch, owner: Any, op: str) -> Candidate:
    """Return how a layer of generation A that is an op is tried.

    Args:
        found: the TinyTorch.
        owner: the layer's class.
        op: what it is named after.
    """

    def run(case: Case) -> Trial | None:
        return layer_trial(owner, case, _maker(found))

    code = inspect.unwrap(vars(owner)["forward"])
    return Candidate(op, owner, code, run, _apply, _saved)


def _applied(found: TinyTorch, owner: Any, case: Case) -> Trial:
    """Make a node, let it compute, and complete it as `apply` does."""
    made = _maker(found)
    tensors = tuple(map(made, case.arrays))
    node = owner(*tensors, **case.parameters)
    before = set(vars(node))
    out = node.forward(*(tensor.data for tensor in tensors))
    keeps_state = bool(set(vars(node)) - before)
    node.output = made(out)
    parameters = case.parameters
    return Trial(out, node, tensors, parameters, keeps_state=keeps_state)


def _recorded(
    out: Any, tensors: tuple[Any, ...], case: Case, layer: Any = None
) -> Trial:
    node = getattr(out, "_grad_fn", None)
    return Trial(out.data, node, tensors, case.parameters, layer)


def _apply(node: Any, by: Any) -> Any:
    return node.apply(by)


def _saved(node: Any) -> Any:
    return node.saved_tensors


def _maker(found: TinyTorch) -> Callable[[Any], Any]:
    """Return what makes a Tensor that requires a gradient."""

    def made(array: Any) -> Any:
        tensor = found.tensor_class(array)
        tensor.requires_grad = True
        return tensor

    return made


def _layers(found: TinyTorch, op: str) -> tuple[Any, ...]:
    """Return the class of the layer that calls an op."""
    name = MEANINGS[op].layer if op in MEANINGS else ""
    return tuple(c for c in found.classes() if name and c.__name__ == name)


def _only(layers: tuple[Any, ...], op: str) -> Any:
    if not layers:
        raise LookupError(f"no layer {MEANINGS[op].layer} is there to try it with")
    return layers[-1]
