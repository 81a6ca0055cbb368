"""TinyTorch's ops on the device: each `Function` asks the dispatcher first.

`forward` and `backward` of every Function class are wrapped. With host arrays they do
what they did. With device arrays they become one op: a registered kernel serves it, or
its own NumPy code runs and becomes further ops.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.library import call
from tinytorch_gpu.memory import DeviceArray

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.integration.detect import TinyTorch
    from tinytorch_gpu.integration.patches import Patches

__all__ = ["op_name", "patch_functions", "patch_optimizers"]


def _inputs(node: Any) -> tuple[Any, ...]:
    return tuple(t.data for t in node.inputs)


@dataclass(frozen=True)
class Binding:
    """How a Function class's call becomes an op's call.

    Args:
        parameters: attributes of the node that the op takes by name.
        saved: what the backward kernel takes beside the gradient.
        inputs: how many inputs the Function has; those past the first get gradient
            None from the backward kernel.
    """

    parameters: tuple[str, ...] = ()
    saved: Callable[[Any], tuple[Any, ...]] = _inputs
    inputs: int = 1


def _input(node: Any) -> tuple[Any, ...]:
    return (node.inputs[0].data,)


def _output(node: Any) -> tuple[Any, ...]:
    return (node.output.data,)


_AXES = Binding(("axis", "keepdims"))
BINDINGS = {
    "sum": _AXES,
    "mean": _AXES,
    "max": _AXES,
    "relu": Binding(saved=_input),
    "gelu": Binding(saved=_input),
    "sigmoid": Binding(saved=_output),
    "tanh": Binding(saved=_output),
    "softmax": Binding(("dim",), saved=_output),
    "log_softmax": Binding(("dim",), saved=_output),
    "cross_entropy": Binding(inputs=2),
}
SPECIAL_NAMES = {"MatMul": "matmul", "ReLUFunction": "relu"}


def op_name(class_name: str) -> str:
    """Return the op of a Function class: PyTorch's name for it.

    Example:
        >>> op_name("LogSoftmax"), op_name("ReLUFunction"), op_name("MatMul")
        ('log_softmax', 'relu', 'matmul')
    """
    if class_name in SPECIAL_NAMES:
        return SPECIAL_NAMES[class_name]
    plain = class_name.removesuffix("Function")
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", plain).lower()


def patch_functions(patches: Patches, found: TinyTorch) -> None:
    """Wrap `forward` and `backward` of every Function class of the package.

    Args:
        patches: where originals are kept.
        found: the TinyTorch to change.
    """
    prefix = found.package + "."
    for function_class in _subclasses(found.function_class):
        if not function_class.__module__.startswith(prefix):
            continue
        op = op_name(function_class.__name__)
        for method, wrap in (("forward", _forward), ("backward", _backward)):
            if method in vars(function_class):
                original = patches.original(function_class, method)
                patches.set(function_class, method, wrap(original, op))


def patch_optimizers(patches: Patches, found: TinyTorch) -> None:
    """Label what an optimizer's `step` launches: one op, decomposed."""
    module = found.modules.get("optimizers")
    for thing in list(vars(module).values()) if module else []:
        if isinstance(thing, type) and "step" in vars(thing):
            original = patches.original(thing, "step")
            patches.set(thing, "step", _step(original))


def _subclasses(base: type) -> list[type]:
    direct: list[type] = base.__subclasses__()
    return [*direct, *(c for d in direct for c in _subclasses(d))]


def _is_on_device(values: tuple[Any, ...]) -> bool:
    return any(isinstance(value, DeviceArray) for value in values)


def _forward(original: Any, op: str) -> Any:
    """Wrap a `forward`: device arrays go through the dispatcher."""
    binding = BINDINGS.get(op, Binding())

    @functools.wraps(original)
    def forward(self: Any, *arrays: Any) -> Any:
        if not _is_on_device(arrays):
            return original(self, *arrays)
        parameters = {name: getattr(self, name) for name in binding.parameters}

        def decomposition() -> Any:
            if op == "slice":  # an element of a tensor stays on the device, 0-d
                return arrays[0].part(self.key)
            return original(self, *arrays)

        return call(op, *arrays, decomposition=decomposition, **parameters)

    return forward


def _backward(original: Any, op: str) -> Any:
    """Wrap a `backward`: a backward kernel where there is one, else its own code."""
    binding = BINDINGS.get(op, Binding())
    name = f"{op}_backward"

    @functools.wraps(original)
    def backward(self: Any, grad_output: Any) -> Any:
        if not _is_on_device((grad_output,)):
            return original(self, grad_output)

        def decomposition() -> Any:
            return original(self, grad_output)

        operands = (grad_output, *binding.saved(self))
        parameters = {n: getattr(self, n) for n in binding.parameters}
        grads = call(name, *operands, decomposition=decomposition, **parameters)
        is_tuple = isinstance(grads, tuple)
        return grads if is_tuple else (grads, *[None] * (binding.inputs - 1))

    return backward


def _step(original: Any) -> Any:
    """Wrap an optimizer's `step`: `SGD` gives the op `sgd_step`."""

    @functools.wraps(original)
    def step(self: Any, *args: Any) -> Any:
        if not _is_on_device(tuple(p.data for p in self.params)):
            return original(self, *args)
        name = f"{type(self).__name__.lower()}_step"
        return call(name, decomposition=lambda: original(self, *args))

    return step
