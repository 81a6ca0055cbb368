"""A learner's code tried on small host arrays: what it gives, and what was meant.

Nothing of a trial is seen outside: the code runs on the host, on copies, what it prints
is dropped, and random numbers that it drew are drawn again by whoever comes next.
"""

from __future__ import annotations

import contextlib
import copy
import io
import logging
import random
import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.integration.home import away_from_home

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tinytorch_gpu.integration.cases import Case
    from tinytorch_gpu.integration.meanings import Meaning

__all__ = [
    "AT_EDGES",
    "SMALLEST",
    "Trial",
    "kept",
    "kept_by",
    "layer_trial",
    "slope_difference",
    "unnoticed",
    "value_difference",
]

TOLERANCE = 1e-5  # float32 code against float64 formulas
SMALLEST = 1e-6  # what float32 sums of numbers near 1 differ by
AT_EDGES = 1e-37  # there the numbers may be small
STEP = 1e-6  # of central differences, in float64
IN_PLACE = "it changes its operands in place"


@dataclass(frozen=True)
class Trial:
    """What the code gave for one case.

    Args:
        out: the result's array.
        node: what goes on with the gradient; None if nothing was recorded.
        tensors: the operands, as the learner's Tensors.
        before: their arrays as they were given.
        parameters: what the op was given by name.
        given: the parameters' own copies that the code had.
        layer: the layer that was called; None if there is none.
        keeps_state: the node keeps something that its `forward` found; None: unknown.
    """

    out: Any
    node: Any
    tensors: tuple[Any, ...]
    before: tuple[Any, ...]
    parameters: dict[str, Any]
    given: dict[str, Any]
    layer: Any = None
    keeps_state: bool | None = False

    def is_in_place(self) -> bool:
        """Tell whether the operands are not what they were."""
        now, then = dict(self.given), dict(self.parameters)
        now |= enumerate(kept(self.tensors))  # type: ignore[arg-type]
        then |= enumerate(self.before)  # type: ignore[arg-type]
        return any(not _is_equal(now[key], then[key]) for key in now)


def kept(tensors: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return copies of the arrays of Tensors."""
    return tuple(np.array(tensor.data) for tensor in tensors)


def kept_by(node: Any) -> dict[str, Any]:
    """Return copies of the arrays that a node keeps, by name."""
    found: dict[str, Any] = {}
    for name, value in vars(node).items():
        several = value if isinstance(value, (tuple, list)) else (value,)
        for i, one in enumerate(several):
            array = one if isinstance(one, np.ndarray) else getattr(one, "data", None)
            if isinstance(array, np.ndarray):
                found[f"{name}[{i}]"] = array.copy()
    return found


def _is_equal(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) and a.dtype.kind in "fc":
        return np.array_equal(a, b, equal_nan=True)
    return bool(np.array_equal(a, b)) if isinstance(a, np.ndarray) else True


@contextlib.contextmanager
def unnoticed(generators: list[Any]) -> Iterator[None]:
    """Keep what a learner's code does in the `with` block from being noticed.

    Args:
        generators: the generators of random numbers that it may draw from.
    """
    states = [copy.deepcopy(_state(g)) for g in generators]
    legacy, plain = np.random.get_state(), random.getstate()  # noqa: NPY002
    disabled = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        with (
            away_from_home(),
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
            warnings.catch_warnings(),
            np.errstate(all="ignore"),
        ):
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(disabled)
        random.setstate(plain)
        np.random.set_state(legacy)  # noqa: NPY002
        for generator, state in zip(generators, states, strict=True):
            _put_back(generator, state)


def _state(generator: Any) -> Any:
    if isinstance(generator, np.random.Generator):
        return generator.bit_generator.state
    is_legacy = isinstance(generator, np.random.RandomState)
    return generator.get_state() if is_legacy else generator.getstate()


def _put_back(generator: Any, state: Any) -> None:
    if isinstance(generator, np.random.Generator):
        generator.bit_generator.state = state
    elif isinstance(generator, np.random.RandomState):
        generator.set_state(state)
    else:
        generator.setstate(state)


def layer_trial(owner: Any, case: Case, made: Callable[[Any], Any]) -> Trial:
    """Make a layer, give it weights, call it.

    Args:
        owner: the layer's class.
        case: the arguments and the input.
        made: makes the Tensors of a case.
    """
    arguments, options = case.layer or ((), {})
    layer = owner(*arguments, **options)
    rng = np.random.default_rng(11)
    for parameter in layer.parameters():
        parameter.data[...] = rng.uniform(-1.5, 1.5, parameter.data.shape)
    if case.is_eval:
        layer.eval()
        layer.running_mean[...] = rng.uniform(-1.0, 1.0, layer.running_mean.shape)
        layer.running_var[...] = rng.uniform(0.5, 1.5, layer.running_var.shape)
    tensors = (*made(case), *layer.parameters())
    for place, tensor in enumerate(tensors):
        tensor.requires_grad = place != case.frozen
    before = kept(tensors)
    out = layer.forward(tensors[0])
    parameters = _of(layer, case)
    node = getattr(out, "_grad_fn", None)
    return Trial(out.data, node, tensors, before, parameters, {}, layer)


def _of(layer: Any, case: Case) -> dict[str, Any]:
    """Read from a layer what its op takes by name."""
    read = {n: getattr(layer, n) for n in case.read if hasattr(layer, n)}
    if case.is_eval:
        read |= {"mean": layer.running_mean, "var": layer.running_var}
    return read


def value_difference(meaning: Meaning, trial: Trial, smallest: float = SMALLEST) -> str:
    """Tell how a result differs from what the op means; "" if it does not.

    Args:
        meaning: the op.
        trial: what the learner's code gave.
        smallest: a difference that counts for nothing.
    """
    if trial.is_in_place():
        return IN_PLACE
    expected = np.asarray(_reference(meaning, trial)(*_operands(trial)), np.float32)
    try:
        got = np.asarray(trial.out, float)
    except (TypeError, ValueError):
        return "no array"
    if got.shape != expected.shape:
        return f"shape {got.shape}, not {expected.shape}"
    got = got.astype(np.float32)  # as on the device: 1e300 is infinite
    if np.allclose(got, expected, rtol=TOLERANCE, atol=smallest, equal_nan=True):
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
        is_left_out = grad is None and not tensor.requires_grad
        if is_left_out or not first <= i < meaning.learned:
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
        return np.allclose(grad, expected[i], rtol=TOLERANCE, atol=SMALLEST)
    reference = _reference(meaning, trial)
    direction = np.random.default_rng(i).uniform(0.5, 1.5, grad.shape)
    up, down = list(operands), list(operands)
    up[i], down[i] = operands[i] + STEP * direction, operands[i] - STEP * direction
    change = float(np.sum((reference(*up) - reference(*down)) * by)) / (2 * STEP)
    allowed = TOLERANCE * float(np.abs(grad * direction).sum()) + SMALLEST
    return abs(float(np.sum(grad * direction)) - change) <= allowed


def _operands(trial: Trial) -> list[Any]:
    return [array.astype(float) for array in trial.before]


def _reference(meaning: Meaning, trial: Trial) -> Callable[..., Any]:
    return lambda *arrays: meaning.reference(*arrays, **trial.parameters)
