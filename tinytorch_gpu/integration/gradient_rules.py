"""Generation A's gradient rules on the device: the `apply` of autograd's nodes.

Each becomes one op, `relu_backward` for `ReLUBackward.apply`: a kernel serves it where
one computes just what the rule says, else its own NumPy code becomes further ops.
"""

from __future__ import annotations

from functools import partial, wraps
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.integration.bindings import max_pool2d_backward
from tinytorch_gpu.integration.fits import Fits
from tinytorch_gpu.integration.home import at_home
from tinytorch_gpu.integration.layer_ops import layer_candidates, window_of
from tinytorch_gpu.integration.ops import op_name
from tinytorch_gpu.integration.own_code import own_code
from tinytorch_gpu.integration.tracked import tracked_candidates
from tinytorch_gpu.library import call, has_kernel
from tinytorch_gpu.memory import DeviceArray

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.integration.detect import TinyTorch
    from tinytorch_gpu.integration.fits import Candidate
    from tinytorch_gpu.integration.patches import Patches

    Launches = Callable[..., Any]  # takes `autograd`, as `call` does
    Rule = Callable[[Any, Any], Launches]

__all__ = ["RULES", "method_candidates", "patch_gradient_rules"]


def _output(name: str) -> Rule:
    """Return the rule of an element-wise op whose gradient needs the output."""

    def rule(node: Any, grad: Any) -> Launches:
        _check_shape(node.output_data, grad)
        return partial(call, name, grad, node.output_data)

    return rule


def _relu(node: Any, grad: Any) -> Launches:
    x = node.saved_tensors[0].data
    _check_shape(x, grad)
    return partial(call, "relu_backward", grad, x)


def _gelu(node: Any, grad: Any) -> Launches:
    x = node.saved_tensors[0].data
    _check_shape(x, grad)
    return partial(call, "gelu_backward", grad, x)


def _softmax(node: Any, grad: Any) -> Launches:
    _check_shape(node.output_data, grad)
    return partial(call, "softmax_backward", grad, node.output_data, dim=node.dim)


def _cross_entropy(node: Any, grad: Any) -> Launches:
    logits = node.saved_tensors[0].data
    return partial(call, "cross_entropy_backward", grad, logits, node.targets_data)


def _conv2d(node: Any, grad: Any) -> Launches:
    window = {"stride": node.stride, "padding": node.padding}
    arrays = (grad, node.x.data, node.weight.data)
    return partial(call, "conv2d_backward", *arrays, **window)


def _max_pool2d(node: Any, grad: Any) -> Launches:
    return partial(max_pool2d_backward, grad, node.x.data, window_of(node))


def _embedding(node: Any, grad: Any) -> Launches:
    numbers, rows = node.indices.data, node.saved_tensors[0].shape[0]

    def launches(autograd: str) -> Any:
        indices, more = numbers.astype(np.int64), {"num_embeddings": rows}
        return call("embedding_backward", grad, indices, autograd=autograd, **more)

    return launches


class _OtherNodeError(Exception):
    """The learner's node is not what the kernel computes."""


def _check_shape(saved: Any, grad: Any) -> None:
    """Find a gradient of another shape than the output's: a slip that NumPy broadcasts.

    The learner's own rule then does on the device what it does on the CPU.
    """
    if saved.shape != grad.shape:
        raise _OtherNodeError


# The gradient by kernels, for rules that compute just that.
RULES: dict[str, Rule] = {
    "relu_backward": _relu,
    "sigmoid_backward": _output("sigmoid_backward"),
    "tanh_backward": _output("tanh_backward"),
    "gelu_backward": _gelu,
    "softmax_backward": _softmax,
    "cross_entropy_backward": _cross_entropy,
    "conv2d_backward": _conv2d,
    "max_pool2d_backward": _max_pool2d,
    "embedding_backward": _embedding,
}
KERNELS = {"max_pool2d_backward": "max_pool2d_with_indices_backward"}


def method_candidates(found: TinyTorch) -> dict[str, Candidate]:
    """Return how each method and each layer that is an op is tried, by op.

    Args:
        found: a TinyTorch of generation A.
    """
    return {**tracked_candidates(found), **layer_candidates(found)}


def patch_gradient_rules(patches: Patches, found: TinyTorch) -> None:
    """Send the `apply` of every node class to the dispatcher on device gradients.

    Args:
        patches: where originals are kept.
        found: a TinyTorch of generation A.
    """
    base = found.function_class
    tried = method_candidates(found)
    for node in found.classes() if base else []:
        original = vars(node).get("apply")
        if not issubclass(node, base) or not isinstance(original, FunctionType):
            continue
        if node is not base:
            op = op_name(node.__name__.lstrip("_").removesuffix("Backward"))
            rule = at_home(original, f"{node.__name__}.apply")
            patches.set(node, "apply", _rule(rule, op, tried.get(op), Fits(found)))


def _rule(
    original: Callable[..., Any], op: str, candidate: Candidate | None, fits: Fits
) -> Callable[..., Any]:
    name = f"{op}_backward"

    @wraps(original)
    def apply(self: Any, grad_output: Any) -> Any:
        if not isinstance(grad_output, DeviceArray):
            return original(self, grad_output)
        above = f"{type(self).__name__}.apply"
        try:
            launches = _launches(name, self, grad_output)
            _check_is_tried(fits, candidate, self)
            grads = launches(autograd=above)
        except _OtherNodeError:
            code = partial(original, self, grad_output)
            return own_code(name, [grad_output], code, above)
        return grads if isinstance(grads, tuple) else (grads,)

    return apply


def _check_is_tried(fits: Fits, candidate: Candidate | None, node: Any) -> None:
    """Find a rule that is not the kernel's, or a node that keeps more than those tried.

    Raises:
        _OtherNodeError: the learner's rule has to run.
    """
    if candidate is None or not fits.forward(candidate).fits:
        raise _OtherNodeError
    verdict = fits.backward(candidate)
    if not verdict.fits or not verdict.takes_node(node):
        raise _OtherNodeError


def _launches(name: str, node: Any, grad: Any) -> Launches:
    """Read from the node what its kernel takes; a fault of the kernel comes later."""
    rule = RULES.get(name)
    if rule is None or not has_kernel(KERNELS.get(name, name)):
        raise _OtherNodeError
    try:
        return rule(node, grad)
    except (AttributeError, IndexError):
        raise _OtherNodeError from None
