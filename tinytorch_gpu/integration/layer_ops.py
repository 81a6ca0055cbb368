"""Generation A's layers that are ops: convolution, pooling, embedding.

Their `forward` is a Python loop over elements, or a gather, on `.data`; the learner's
own node (`Conv2dBackward(x, weight, ...)`) then goes on with the gradient. On device
operands a kernel computes, and that node is made with the arguments it asks for.
"""

from __future__ import annotations

import functools
import inspect
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.integration.candidates import layer_candidate
from tinytorch_gpu.integration.fits import Fits
from tinytorch_gpu.integration.kinds import unpatched
from tinytorch_gpu.integration.own_code import hangs_node, tensor_by_own_code
from tinytorch_gpu.library import call, has_kernel
from tinytorch_gpu.memory import DeviceArray

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.integration.detect import TinyTorch
    from tinytorch_gpu.integration.fits import Candidate, Verdict
    from tinytorch_gpu.integration.patches import Patches

__all__ = [
    "LAYER_OPS",
    "LayerOp",
    "layer_candidates",
    "patch_layer_ops",
    "window_of",
]


@dataclass(frozen=True)
class LayerOp:
    """How a layer of generation A is an op.

    Args:
        owner: the layer's class.
        op: PyTorch's name.
        node: the class that goes on with the gradient.
        arrays: the op's operands, of the layer and its input Tensor.
        parameters: what the op takes by name, of the layer.
    """

    owner: str
    op: str
    node: str
    arrays: Callable[[Any, Any], tuple[Any, ...]]
    parameters: Callable[[Any], dict[str, Any]]


def window_of(layer: Any) -> dict[str, Any]:
    """Return the window of a pooling layer, or of its node, as ops take it."""
    names = ("kernel_size", "stride", "padding")
    return {name: getattr(layer, name) for name in names}


def _convolved(layer: Any, x: Any) -> tuple[Any, ...]:
    bias = None if layer.bias is None else layer.bias.data
    return x.data, layer.weight.data, bias


def _pooled(layer: Any, x: Any) -> tuple[Any, ...]:
    del layer
    return (x.data,)


def _looked_up(layer: Any, indices: Any) -> tuple[Any, ...]:
    return layer.weight.data, indices.data  # float32; the kernel takes whole numbers


LAYER_OPS = (
    LayerOp(
        "Conv2d",
        "conv2d",
        "Conv2dBackward",
        _convolved,
        lambda layer: {"stride": layer.stride, "padding": layer.padding},
    ),
    LayerOp("MaxPool2d", "max_pool2d", "MaxPool2dBackward", _pooled, window_of),
    LayerOp("AvgPool2d", "avg_pool2d", "AvgPool2dBackward", _pooled, window_of),
    LayerOp("Embedding", "embedding", "EmbeddingBackward", _looked_up, lambda _: {}),
)


def layer_candidates(found: TinyTorch) -> dict[str, Candidate]:
    """Return how each layer that is an op is tried, by op.

    Args:
        found: a TinyTorch of generation A.
    """
    return {
        one.op: layer_candidate(found, owner, one.op, one.node)
        for one, owner in _layers(found)
    }


def patch_layer_ops(patches: Patches, found: TinyTorch) -> None:
    """Send the layers of the table to the dispatcher on device operands.

    Args:
        patches: where originals are kept.
        found: a TinyTorch of generation A.
    """
    classes = {owner.__name__: owner for owner in reversed(found.classes())}
    for layer_op, owner in _layers(found):
        original = patches.original(owner, "forward")
        node = classes.get(layer_op.node)
        forward = _forward(original, layer_op, node, found)
        patches.set(owner, "forward", forward)


def _layers(found: TinyTorch) -> list[tuple[LayerOp, Any]]:
    """Return the layers of the table that are there, with a `forward` of their own."""
    pairs = ((one, found.owner_of(one.owner, "forward")) for one in LAYER_OPS)
    return [(one, owner) for one, owner in pairs if owner is not None]


def _forward(
    original: Callable[..., Any],
    layer_op: LayerOp,
    node: type | None,
    found: TinyTorch,
) -> Callable[..., Any]:
    wanted, fits = set(unpatched(original).__code__.co_names), Fits(found)
    tried: dict[type, Candidate] = {}
    is_autograds = hangs_node(original)

    def verdict_on(kind: type) -> Verdict:
        if kind not in tried:  # a class derived from the layer is tried by itself
            tried[kind] = layer_candidate(found, kind, layer_op.op, layer_op.node)
        return fits.forward(tried[kind])

    @functools.wraps(original)
    def forward(self: Any, x: Any, *args: Any, **options: Any) -> Any:
        tensors = [x, *self.parameters()]
        if not any(isinstance(t.data, DeviceArray) for t in tensors):
            return original(self, x, *args, **options)
        verdict, above = None, f"{type(self).__name__}.forward" if is_autograds else ""
        if has_kernel(layer_op.op) and not args and not options:
            verdict = verdict_on(type(self))
        if verdict is None or not _is_served(layer_op, node, verdict, self, x):
            code = partial(original, self, x, *args, **options)
            arrays = [t.data for t in tensors]
            return tensor_by_own_code(layer_op.op, arrays, code, above)
        operands, named = layer_op.arrays(self, x), layer_op.parameters(self)
        data = call(layer_op.op, *operands, autograd=above, **named)
        out = found.tensor_class(data)
        hangs = layer_op.node in wanted or node in verdict.nodes
        if "requires_grad" in wanted or hangs:
            needs = (getattr(t, "requires_grad", False) for t in tensors)
            out.requires_grad = any(needs)
        if hangs and node is not None and found.is_recorded(*tensors):
            out._grad_fn = _node(node, self, x, out)  # noqa: SLF001
        return out

    return forward


def _is_served(
    layer_op: LayerOp, node: type | None, verdict: Verdict, layer: Any, x: Any
) -> bool:
    """Tell whether a kernel answers for a layer, and its node goes on."""
    if not verdict.fits or verdict.nodes - {node, type(None)}:
        return False
    try:
        layer_op.arrays(layer, x)
        parameters = layer_op.parameters(layer)
    except AttributeError:  # it keeps no padding, or a bias that is no Tensor
        return False
    return verdict.takes((x.data,), parameters, layer)


def _node(node: Any, layer: Any, x: Any, out: Any) -> Any:
    """Make the learner's node with the arguments it asks for by name."""
    padding = getattr(layer, "padding", 0)
    height, width = (
        (n + 2 * padding for n in x.shape[-2:]) if len(x.shape) == 4 else (0, 0)
    )
    known = {
        **vars(layer),
        "x": x,
        "input": x,
        "indices": x,
        "output_shape": out.shape,
        "padded_shape": (*x.shape[:2], height, width),
    }
    wanted = list(inspect.signature(node.__init__).parameters)[1:]
    return node(**{name: known[name] for name in wanted})
