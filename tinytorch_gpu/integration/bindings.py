"""How the call of a generation B `Function` becomes the call of an op.

A `Function` keeps its parameters as attributes and its operands in `inputs`; the op
wants arrays first and parameters by name. One line here for each op that takes more
than the inputs themselves.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.integration.moving import copied
from tinytorch_gpu.library import call
from tinytorch_gpu.memory.array import is_advanced

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.memory import DeviceArray

__all__ = ["BINDINGS", "Binding", "element_of", "max_pool2d_backward"]


def _inputs(node: Any) -> tuple[Any, ...]:
    return tuple(t.data for t in node.inputs)


def _no_parameters(node: Any) -> dict[str, Any]:
    del node
    return {}


@dataclass(frozen=True)
class Binding:
    """How a Function class's call becomes an op's call.

    Args:
        names: what its nodes keep that the op knows of; a node that keeps more is
            another op's.
        given: what its layer was given, where that is none of its inputs.
        suits: whether the kernel takes these operands.
        parameters: what the op takes by name.
        more: what the op takes after the inputs.
        saved: what the backward kernel takes beside the gradient.
        rule: the whole gradient, where it is more than one call; takes node, gradient,
            and what of autograd calls.
        backward_parameters: what the backward kernel takes by name, where it is not
            what the op takes.
    """

    names: frozenset[str] = frozenset()
    parameters: Callable[[Any], dict[str, Any]] = _no_parameters
    more: Callable[[Any], tuple[Any, ...]] = lambda _: ()
    given: Callable[[Any], tuple[Any, ...]] = lambda _: ()
    saved: Callable[[Any], tuple[Any, ...]] = _inputs
    backward_parameters: Callable[[Any], dict[str, Any]] | None = None
    rule: Callable[[Any, Any, str], Any] | None = None
    suits: Callable[[tuple[Any, ...]], bool] = lambda _: True


def _named(*names: str) -> Callable[[Any], dict[str, Any]]:
    return lambda node: {name: getattr(node, name) for name in names}


def _of_layer(*names: str) -> Callable[[Any], dict[str, Any]]:
    return lambda node: {name: getattr(node.layer, name) for name in names}


def _input(node: Any) -> tuple[Any, ...]:
    return (node.inputs[0].data,)


def _output(node: Any) -> tuple[Any, ...]:
    return (node.output.data,)


def _statistics(node: Any) -> tuple[Any, ...]:
    return node.mean.reshape(-1), node.var.reshape(-1)


def element_of(array: DeviceArray, key: Any) -> Any:
    """Return the one element that a key names, as a 0-d view; None if it names more.

    `array[key]` would read it: a copy to the host, where a Tensor's data is to stay.

    Args:
        array: device array.
        key: what stands in the brackets.
    """
    shape = np.broadcast_to(np.float32(0.0), array.shape)
    try:
        if is_advanced(key) or np.ndim(shape[key]):
            return None
    except IndexError:
        return None
    return copied("slice", array, partial(array.part, key), "View")


def max_pool2d_backward(
    grad: Any, x: Any, window: dict[str, Any], autograd: str = ""
) -> Any:
    """Find again where each maximum stood, and send the gradient there.

    Args:
        grad: device array (N, C, H', W').
        x: what was pooled, device array (N, C, H, W).
        window: kernel_size, stride and padding.
        autograd: what of TinyTorch's autograd calls, as in `call`.
    """
    op, shape = "max_pool2d_with_indices", x.shape
    _, places = call(op, x, autograd=autograd, **window)
    return call(f"{op}_backward", grad, places, autograd=autograd, input_shape=shape)


def _max_pool2d_rule(node: Any, grad: Any, autograd: str) -> Any:
    return max_pool2d_backward(grad, node.inputs[0].data, _WINDOW(node), autograd)


def _avg_pool2d_rule(node: Any, grad: Any, autograd: str) -> Any:
    named = {"input_shape": node.inputs[0].data.shape, **_WINDOW(node)}
    return call("avg_pool2d_backward", grad, autograd=autograd, **named)


_WINDOW = _of_layer("kernel_size", "stride", "padding")
_OF_LAYER = frozenset({"layer"})
_STATISTICS = frozenset({"mean", "var", "eps", "training"})


def _with(*names: str, saved: Callable[[Any], tuple[Any, ...]] = _inputs) -> Binding:
    """Return the binding of an op whose parameters are attributes of their names."""
    return Binding(frozenset(names), _named(*names), saved=saved)


PLAIN = (
    "add", "sub", "mul", "div", "matmul", "copy", "exp", "log", "sqrt", "abs", "neg",
    "square",
)  # fmt: skip
BINDINGS = {
    **dict.fromkeys(PLAIN, Binding()),
    "slice": Binding(frozenset({"key"})),
    "sum": _with("axis", "keepdims"),
    "mean": _with("axis", "keepdims"),
    "max": _with("axis", "keepdims"),
    "min": _with("axis", "keepdims"),
    "relu": Binding(saved=_input),
    "gelu": Binding(saved=_input),
    "sigmoid": Binding(saved=_output),
    "tanh": Binding(saved=_output),
    "softmax": _with("dim", saved=_output),
    "log_softmax": _with("dim", saved=_output),
    "cross_entropy": Binding(suits=lambda arrays: arrays[0].ndim == 2),
    "masked_fill": Binding(
        frozenset({"mask", "value"}), more=lambda node: (node.mask, node.value)
    ),
    "conv2d": Binding(
        _OF_LAYER,
        _of_layer("stride", "padding"),
        saved=lambda node: _inputs(node)[:2],
    ),
    "max_pool2d": Binding(_OF_LAYER, _WINDOW, rule=_max_pool2d_rule),
    "avg_pool2d": Binding(_OF_LAYER, _WINDOW, rule=_avg_pool2d_rule),
    "embedding": Binding(
        frozenset({"indices"}),
        more=lambda node: (node.indices,),
        given=lambda node: (node.indices,),
        saved=lambda node: (node.indices,),
        backward_parameters=lambda node: {"num_embeddings": len(node.inputs[0].data)},
    ),
    "layer_norm": _with("eps", saved=lambda node: _inputs(node)[:2]),
    "batch_norm": Binding(
        _STATISTICS,
        _named("eps"),
        more=_statistics,
        saved=lambda node: (*_inputs(node)[:2], *_statistics(node)),
        backward_parameters=_named("eps", "training"),
    ),
}
