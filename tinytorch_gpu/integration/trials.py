"""A learner's code tried on small host arrays: what it gives, and what was meant.

Nothing of a trial is seen outside: the code runs on the host, prints into the void, and
random numbers that it drew are drawn again by whoever comes next.
"""

from __future__ import annotations

import contextlib
import copy
import io
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.integration.home import away_from_home

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tinytorch_gpu.integration.detect import TinyTorch
    from tinytorch_gpu.integration.meanings import Case, Meaning

__all__ = ["Trial", "layer_trial", "slope_difference", "unseen", "value_difference"]

TOLERANCE = 1e-4  # float32 code against float64 formulas
STEP = 1e-6  # of central differences, in float64


@dataclass(frozen=True)
class Trial:
    """What the code gave for one case.

    Args:
        out: the result's array.
        node: what goes on with the gradient; None if nothing was recorded.
        tensors: the operands, as the learner's Tensors.
        parameters: what the op was given by name.
        layer: the layer that was called; None if there is none.
        keeps_state: the node keeps something that its `forward` found; None: unknown.
    """

    out: Any
    node: Any
    tensors: tuple[Any, ...]
    parameters: dict[str, Any]
    layer: Any = None
    keeps_state: bool | None = False


@contextlib.contextmanager
def unseen(found: TinyTorch) -> Iterator[None]:
    """Keep what a learner's code does in the `with` block from being noticed.

    Args:
        found: the TinyTorch, whose generators of random numbers are put back.
    """
    drawn = [v for m in found.modules.values() for v in vars(m).values()]
    generators = [v for v in drawn if isinstance(v, np.random.Generator)]
    states = [copy.deepcopy(g.bit_generator.state) for g in generators]
    legacy = np.random.get_state()  # noqa: NPY002  (the learner's own generator)
    try:
        with (
            away_from_home(),
            contextlib.redirect_stdout(io.StringIO()),
            warnings.catch_warnings(),
            np.errstate(all="ignore"),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        np.random.set_state(legacy)  # noqa: NPY002
        for generator, state in zip(generators, states, strict=True):
            generator.bit_generator.state = state


def layer_trial(owner: Any, case: Case, made: Callable[[Any], Any]) -> Trial:
    """Make a layer, give it weights, call it.

    Args:
        owner: the layer's class.
        case: the arguments and the input.
        made: makes a Tensor that requires a gradient.
    """
    arguments, options = case.layer or ((), {})
    layer = owner(*arguments, **options)
    rng = np.random.default_rng(11)
    for parameter in layer.parameters():
        parameter.data[...] = rng.uniform(0.5, 1.5, parameter.data.shape)
        parameter.requires_grad = True
    if case.is_eval:
        layer.eval()
        layer.running_mean[...] = rng.uniform(-1.0, 1.0, layer.running_mean.shape)
        layer.running_var[...] = rng.uniform(0.5, 1.5, layer.running_var.shape)
    x = made(case.arrays[0])
    out = layer.forward(x)
    parameters = _of(layer, case)
    node = getattr(out, "_grad_fn", None)
    return Trial(out.data, node, (x, *layer.parameters()), parameters, layer)


def _of(layer: Any, case: Case) -> dict[str, Any]:
    """Read from a layer what its op takes by name."""
    read = {n: getattr(layer, n) for n in case.read if hasattr(layer, n)}
    if case.is_eval:
        read |= {"mean": layer.running_mean, "var": layer.running_var}
    return read


def value_difference(meaning: Meaning, trial: Trial) -> str:
    """Tell how a result differs from what the op means; "" if it does not.

    Args:
        meaning: the op.
        trial: what the learner's code gave.
    """
    expected = np.asarray(_reference(meaning, trial)(*_operands(trial)))
    try:
        got = np.asarray(trial.out, float)
    except (TypeError, ValueError):
        return "no array"
    if got.shape != expected.shape:
        return f"shape {got.shape}, not {expected.shape}"
    if np.allclose(got, expected, rtol=TOLERANCE, atol=TOLERANCE / 10):
        return ""
    return "other values"


def slope_difference(
    meaning: Meaning, trial: Trial, inputs: Any, grads: Any, by: Any
) -> str:
    """Tell how gradients differ from the op's; "" if they do not.

    A gradient is compared along one direction, with the difference quotient there.

    Args:
        meaning: the op.
        trial: what the learner's `forward` gave.
        inputs: the operands that the learner's rule has gradients for.
        grads: what the rule gave.
        by: the gradient that it was given.
    """
    operands = _operands(trial)
    places = {id(tensor): i for i, tensor in enumerate(trial.tensors)}
    first = 1 if meaning.is_by_weights else 0
    if len(grads) < len(inputs):
        return f"{len(grads)} gradients for {len(inputs)} inputs"
    for tensor, grad in zip(inputs, grads, strict=False):
        i = places.get(id(tensor))
        if i is None:
            return "another input"
        if not first <= i < meaning.learned:
            continue
        if np.shape(grad) != operands[i].shape:
            return f"a gradient of shape {np.shape(grad)}"
        if not _is_slope(meaning, trial, operands, i, np.asarray(grad, float), by):
            return "other values"
    return ""


def _is_slope(
    meaning: Meaning, trial: Trial, operands: list[Any], i: int, grad: Any, by: Any
) -> bool:
    """Tell whether a gradient is the one by operand i."""
    if meaning.gradient is not None:
        expected = meaning.gradient(by.astype(float), *operands, **trial.parameters)
        return np.allclose(grad, expected[i], rtol=TOLERANCE, atol=TOLERANCE / 10)
    reference = _reference(meaning, trial)
    direction = np.random.default_rng(i).uniform(0.5, 1.5, grad.shape)
    up, down = list(operands), list(operands)
    up[i], down[i] = operands[i] + STEP * direction, operands[i] - STEP * direction
    change = float(np.sum((reference(*up) - reference(*down)) * by)) / (2 * STEP)
    scale = max(1.0, float(np.abs(grad * direction).sum()))
    return abs(float(np.sum(grad * direction)) - change) <= 10 * TOLERANCE * scale


def _operands(trial: Trial) -> list[Any]:
    return [np.asarray(tensor.data, float) for tensor in trial.tensors]


def _reference(meaning: Meaning, trial: Trial) -> Callable[..., Any]:
    return lambda *arrays: meaning.reference(*arrays, **trial.parameters)
