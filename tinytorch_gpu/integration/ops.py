"""TinyTorch's ops on the device: each `Function` asks the dispatcher first.

`forward` and `backward` of every Function class are wrapped. With host arrays they do
what they did. With device arrays they become one op: a registered kernel serves it, or
its own NumPy code runs and becomes further ops.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.integration.bindings import BINDINGS, Binding, sliced
from tinytorch_gpu.integration.home import at_home
from tinytorch_gpu.library import call, registered
from tinytorch_gpu.memory import DeviceArray

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tinytorch_gpu.integration.detect import TinyTorch
    from tinytorch_gpu.integration.patches import Patches

__all__ = ["op_name", "ops_of", "own_code", "patch_functions", "patch_optimizers"]


SPECIAL_NAMES = {
    "MatMul": "matmul",
    "ReLUFunction": "relu",
    "ReLU": "relu",
    "GELU": "gelu",
    "BatchNorm2dFunction": "batch_norm",
}


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


def own_code(op: str, arrays: Sequence[Any], code: Callable[[], Any]) -> Any:
    """Run the learner's own code as an op, though a kernel may be there for the op.

    Args:
        op: the op's name; where it has a kernel that does not fit, the name gets a
            suffix, so that no report says that the kernel ran.
        arrays: what the report tells the shapes of.
        code: the learner's code.
    """
    name = f"{op}_own_code" if f"tinytorch::{op}" in registered() else op
    return call(name, *arrays, decomposition=code)


def ops_of(found: TinyTorch) -> list[str]:
    """Return the names of all ops of a TinyTorch of generation B.

    Args:
        found: the TinyTorch.
    """
    return sorted(op_name(function.__name__) for function in _functions(found))


def _functions(found: TinyTorch) -> list[type]:
    base = found.function_class
    own = found.classes()
    return [c for c in own if issubclass(c, base) and c is not base]


def patch_functions(patches: Patches, found: TinyTorch) -> None:
    """Wrap `forward` and `backward` of every Function class of the package.

    Args:
        patches: where originals are kept.
        found: the TinyTorch to change.
    """
    for function_class in _functions(found):
        op = op_name(function_class.__name__)
        for method, wrap in (("forward", _forward), ("backward", _backward)):
            if method in vars(function_class):
                original = patches.original(function_class, method)
                label = f"{function_class.__name__}.{method}"
                patches.set(function_class, method, wrap(at_home(original, label), op))


def patch_optimizers(patches: Patches, found: TinyTorch) -> None:
    """Label what an optimizer's `step` launches: one op, decomposed."""
    for owner in found.classes():
        if {"step", "__init__"} <= set(vars(owner)) and "forward" not in vars(owner):
            patches.set(owner, "step", _step(patches.original(owner, "step")))


def _is_on_device(values: tuple[Any, ...]) -> bool:
    return any(isinstance(value, DeviceArray) for value in values)


def _forward(original: Any, op: str) -> Any:
    """Wrap a `forward`: device arrays go through the dispatcher."""
    binding = BINDINGS.get(op, Binding())

    @functools.wraps(original)
    def forward(self: Any, *arrays: Any) -> Any:
        if not _is_on_device(arrays):
            return original(self, *arrays)

        def decomposition() -> Any:
            if op == "slice":  # an element of a tensor stays on the device, 0-d
                return sliced(arrays[0], self.key)
            return original(self, *arrays)

        if f"tinytorch::{op}" not in registered():
            return call(op, *arrays, decomposition=decomposition)
        more, parameters = binding.more(self), binding.parameters(self)
        return call(op, *arrays, *more, **parameters)

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

        if binding.rule is not None and _has_rule(op):
            return (binding.rule(self, grad_output),)
        if f"tinytorch::{name}" not in registered():
            return call(name, grad_output, decomposition=decomposition)
        named = binding.backward_parameters or binding.parameters
        grads = call(name, grad_output, *binding.saved(self), **named(self))
        several = grads if isinstance(grads, tuple) else (grads,)
        missing = len(self.inputs) - len(several)
        return (*several, *[None] * missing)[: len(self.inputs)]

    return backward


def _has_rule(op: str) -> bool:
    """Tell whether the kernels of a pooling's gradient are there."""
    wanted = {"max_pool2d": "max_pool2d_with_indices"}.get(op, op)
    return f"tinytorch::{wanted}_backward" in registered()


def _step(original: Any) -> Any:
    """Wrap an optimizer's `step`: `SGD` gives the op `sgd_step`."""

    @functools.wraps(original)
    def step(self: Any, *args: Any) -> Any:
        parameters = getattr(self, "params", ())
        if not _is_on_device(tuple(getattr(p, "data", None) for p in parameters)):
            return original(self, *args)
        name = f"{type(self).__name__.lower()}_step"
        return call(name, decomposition=lambda: original(self, *args))

    return step
