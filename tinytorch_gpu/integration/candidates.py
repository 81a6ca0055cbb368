"""How a method of either generation is tried: from one case to what it gave."""

from __future__ import annotations

import copy
import inspect
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.integration.cases import Case
from tinytorch_gpu.integration.contained import Root
from tinytorch_gpu.integration.expressions import KEEPING, MAKING
from tinytorch_gpu.integration.fits import Candidate
from tinytorch_gpu.integration.kinds import ARRAY, Given, unpatched
from tinytorch_gpu.integration.meanings import MEANINGS
from tinytorch_gpu.integration.trials import Trial, kept, layer_trial

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.integration.detect import TinyTorch

__all__ = [
    "function_candidate",
    "layer_candidate",
    "method_candidate",
    "name_of",
    "node_state",
]


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
    found: TinyTorch, owner: Any, op: str, names: frozenset[str], layer: Any = None
) -> Candidate:
    """Return how a Function class of generation B is tried.

    Args:
        found: the TinyTorch.
        owner: the class.
        op: what it is named after.
        names: what its nodes keep before `forward`.
        layer: the class of the layer that calls it; None for that of the op's name.
    """
    layers = (layer,) if layer else _layers(found, op)

    def run(case: Case) -> Trial | None:
        if case.layer is None:
            return _applied(found, owner, case)
        trial = layer_trial(_only(layers, op), case, _maker(found))
        if trial.node is not None and type(trial.node) is not owner:
            raise TypeError(f"the layer's node is a {type(trial.node).__name__}")
        # In a block of no_grad there is no node to look at.
        keeps = None if trial.node is None else bool(vars(trial.node).keys() - names)
        return replace(trial, keeps_state=keeps)

    made = (*_makers(found, owner), *(r for one in layers for r in _roots_of(one)))
    arrays = Given(rest=ARRAY)
    return Candidate(
        op,
        owner,
        (*made, Root(owner, "forward", KEEPING, arrays)),
        (*made, Root(owner, "backward", KEEPING, arrays)),
        run,
        lambda node, by: node.backward(by),
        lambda node: node.inputs,
        found.tensor_class,
        layers,
    )


def method_candidate(
    found: TinyTorch, owner: Any, method: str, op: str, node: str = ""
) -> Candidate:
    """Return how a method of generation A is tried.

    Args:
        found: the TinyTorch.
        owner: its class; a class derived from it is tried by itself.
        method: its name.
        op: what it is named after.
        node: the class that goes on with the gradient.
    """
    code = unpatched(inspect.getattr_static(owner, method))
    is_tensors = owner is found.tensor_class

    def run(case: Case) -> Trial | None:
        tensors = _maker(found)(case)
        given = copy.deepcopy(case.parameters)
        before = kept(tensors)
        thing = tensors[0] if is_tensors else None
        if method == "__getitem__":
            out = tensors[0][given["key"]]
        else:
            made, named = _split(owner, code, given, is_tensors)
            if named is None:
                return None
            thing = thing or owner(**made)
            out = getattr(thing, method)(*tensors[is_tensors:], **named)
        recorded = getattr(out, "_grad_fn", None)
        layer = None if is_tensors else thing
        return Trial(out.data, recorded, tensors, before, case.parameters, given, layer)

    root = Root(owner, method)
    return _of_generation_a(found, op, root, node, run)


ALIASES = {"dim": ("dim", "axis"), "axis": ("axis", "dim")}


def name_of(parameter: str, taken: Any) -> str:
    """Return what a learner calls an op's parameter; "" if it is none of theirs.

    Args:
        parameter: PyTorch's name.
        taken: the names that there are.

    Example:
        >>> name_of("dim", {"x", "axis"}), name_of("dim", {"x"})
        ('axis', '')
    """
    names = ALIASES.get(parameter, (parameter,))
    return next((name for name in names if name in taken), "")


def _split(
    owner: Any, code: Any, given: dict[str, Any], is_tensors: bool
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Tell which parameters a constructor takes, and which a method.

    The second is None where neither takes one that is not the op's default.
    """
    taken = inspect.signature(code).parameters
    by_init = {} if is_tensors else inspect.signature(owner).parameters
    made: dict[str, Any] = {}
    named: dict[str, Any] = {}
    for parameter, value in given.items():
        if own := name_of(parameter, taken):
            named[own] = value
        elif own := name_of(parameter, by_init):
            made[own] = value
        elif not any(value is default for default in (None, False)) and value != -1:
            return made, None
    return made, named


def layer_candidate(found: TinyTorch, owner: Any, op: str, node: str = "") -> Candidate:
    """Return how a layer of generation A that is an op is tried.

    Args:
        found: the TinyTorch.
        owner: the layer's class; a class derived from it is tried by itself.
        op: what it is named after.
        node: the class that goes on with the gradient.
    """

    def run(case: Case) -> Trial | None:
        return layer_trial(owner, case, _maker(found))

    return _of_generation_a(found, op, Root(owner, "forward"), node, run)


def _of_generation_a(
    found: TinyTorch,
    op: str,
    root: Root,
    node: str,
    run: Callable[[Case], Trial | None],
) -> Candidate:
    """Return how a method is tried whose node is a class of autograd, by name."""
    nodes = [c for c in found.classes() if node and c.__name__ == node]
    rules = (Root(c, "apply", KEEPING, Given(rest=ARRAY)) for c in nodes)
    forward = (*_makers(found, root.owner), Root(root.owner, "parameters"), root)
    return Candidate(
        op, root.owner, forward, (*forward, *rules), run, _apply, _saved,
        found.tensor_class,
    )  # fmt: skip


def _makers(found: TinyTorch, owner: Any) -> tuple[Root, ...]:
    """Return the constructors that a trial runs."""
    several = dict.fromkeys((found.tensor_class, owner))
    return tuple(Root(one, "__init__", MAKING) for one in several)


def _roots_of(layer: Any) -> tuple[Root, ...]:
    """Return what a trial runs of a layer, apart from the op that it calls."""
    made = Root(layer, "__init__", MAKING)
    return made, Root(layer, "parameters"), Root(layer, "forward", KEEPING)


def _applied(found: TinyTorch, owner: Any, case: Case) -> Trial:
    """Make a node, let it compute, and complete it as `apply` does."""
    made = _maker(found)
    tensors = made(case)
    given = copy.deepcopy(case.parameters)
    before = kept(tensors)
    node = owner(*tensors, **given)
    names = set(vars(node))
    out = node.forward(*(tensor.data for tensor in tensors))
    keeps_state = bool(set(vars(node)) - names)
    node.output = made(Case((out,)))[0]
    parameters = case.parameters
    return Trial(out, node, tensors, before, parameters, given, keeps_state=keeps_state)


def _apply(node: Any, by: Any) -> Any:
    return node.apply(by)


def _saved(node: Any) -> Any:
    return node.saved_tensors


def _maker(found: TinyTorch) -> Callable[[Case], tuple[Any, ...]]:
    """Return what makes Tensors of copies that require a gradient, as the case says."""

    def made(case: Case) -> tuple[Any, ...]:
        tensors = tuple(found.tensor_class(np.array(array)) for array in case.arrays)
        for place, tensor in enumerate(tensors):
            tensor.requires_grad = place != case.frozen
        return tensors

    return made


def _layers(found: TinyTorch, op: str) -> tuple[Any, ...]:
    """Return the class of the layer that calls an op."""
    name = MEANINGS[op].layer if op in MEANINGS else ""
    return tuple(c for c in found.classes() if name and c.__name__ == name)


def _only(layers: tuple[Any, ...], op: str) -> Any:
    if not layers:
        raise LookupError(f"no layer {MEANINGS[op].layer} is there to try it with")
    return layers[-1]
