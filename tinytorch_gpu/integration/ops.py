"""TinyTorch's ops on the device: each `Function` asks the dispatcher first.

`forward` and `backward` of every Function class are wrapped. With host arrays they do
what they did. With device arrays they become one op: a registered kernel serves it, or
its own NumPy code runs and becomes further ops.
"""

from __future__ import annotations

import functools
import inspect
import re
from dataclasses import replace
from functools import partial
from types import FunctionType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from tinytorch_gpu.integration.bindings import BINDINGS, Binding, element_of
from tinytorch_gpu.integration.candidates import function_candidate, node_state
from tinytorch_gpu.integration.fits import Fits, Verdict
from tinytorch_gpu.integration.home import at_home
from tinytorch_gpu.integration.own_code import own_code
from tinytorch_gpu.integration.patches import wrapped
from tinytorch_gpu.integration.staying import check_stayed
from tinytorch_gpu.integration.verdicts import NOT_RECORDED
from tinytorch_gpu.library import DispatchKey, call, has_kernel
from tinytorch_gpu.library.registry import find
from tinytorch_gpu.memory import DeviceArray

if TYPE_CHECKING:
    from tinytorch_gpu.integration.detect import TinyTorch
    from tinytorch_gpu.integration.fits import Candidate
    from tinytorch_gpu.integration.patches import Patches

__all__ = [
    "BoundOp",
    "accepted",
    "function_candidates",
    "op_name",
    "patch_functions",
    "patch_optimizers",
]


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


def function_candidates(found: TinyTorch) -> dict[str, Candidate]:
    """Return how each Function class of a TinyTorch of generation B is tried, by op.

    Args:
        found: the TinyTorch.
    """
    owners = _functions(found)
    bound = [BoundOp(found, op_name(owner.__name__)) for owner in owners]
    pairs = zip(bound, owners, strict=True)
    return {one.op: one.candidate(owner) for one, owner in pairs}


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
        bound = BoundOp(found, op_name(function_class.__name__))
        for method, wrap in (("forward", _forward), ("backward", _backward)):
            original = vars(function_class).get(method)
            label = f"{function_class.__name__}.{method}"
            made = wrapped(original, partial(at_home, name=label))
            if made is not None:  # a static method knows no node: it runs itself
                is_plain = isinstance(original, FunctionType)
                made = wrap(made, bound) if is_plain else made
                patches.set(function_class, method, made)
    patches.set(found.function_class, "apply", _apply(found.function_class))


def _apply(function_class: Any) -> Any:
    """Wrap `Function.apply`: operands on a device give a result there."""
    original = inspect.getattr_static(function_class, "apply").__func__

    @functools.wraps(original)
    def apply(cls: Any, *inputs: Any, **params: Any) -> Any:
        out = original(cls, *inputs, **params)
        arrays = tuple(getattr(tensor, "data", None) for tensor in inputs)
        if _is_on_device(arrays) and not getattr(cls, "moves", False):
            check_stayed(f"{cls.__name__}.forward", arrays, out)
        return out

    return classmethod(apply)


def patch_optimizers(patches: Patches, found: TinyTorch) -> None:
    """Label what an optimizer's `step` launches: one op, decomposed."""
    for owner in found.classes():
        if {"step", "__init__"} <= set(vars(owner)) and "forward" not in vars(owner):
            patches.wrap(owner, "step", _step)


def _is_on_device(values: tuple[Any, ...]) -> bool:
    return any(isinstance(value, DeviceArray) for value in values)


class BoundOp:
    """What a Function class is named after, and whether a kernel may answer for it.

    Args:
        found: the TinyTorch.
        op: the op's name.
    """

    def __init__(self, found: TinyTorch, op: str) -> None:
        self.op, self.binding = op, BINDINGS.get(op, Binding())
        self._found, self._fits = found, Fits(found)
        self._plain = node_state(found)
        self._candidates: dict[tuple[Any, Any], Candidate] = {}
        self._with: WeakKeyDictionary[Any, Verdict] = WeakKeyDictionary()

    def candidate(self, owner: Any, layer: Any = None) -> Candidate:
        """Return how a class is tried, by itself or with the class of its layer."""
        if (owner, layer) not in self._candidates:
            names = self._plain | self.binding.names
            made = function_candidate(self._found, owner, self.op, names, layer)
            self._candidates[owner, layer] = made
        return self._candidates[owner, layer]

    def verdict(self, node: Any, arrays: tuple[Any, ...]) -> Verdict:
        """Tell whether the forward kernel computes what a node does with operands."""
        if self.op not in BINDINGS:
            return Verdict("its parameters are not known")
        if vars(node).keys() - self._plain - self.binding.names:
            return Verdict("it has further parameters")
        try:
            parameters = self.binding.parameters(node)
        except AttributeError as error:
            return Verdict(str(error))
        found_out = self._fits.forward(self._tried(node))
        layer = getattr(node, "layer", None)
        named = {name: getattr(node, name) for name in self.binding.names} | parameters
        given = self.binding.given(node) or arrays
        is_like = not found_out.fits or found_out.takes(given, named, layer)
        return found_out if is_like else Verdict("it is called as it was not tried")

    def slope_verdict(self, node: Any) -> Verdict:
        """Tell whether the backward kernel computes what a node does."""
        arrays = tuple(tensor.data for tensor in node.inputs)
        forward = self.verdict(node, arrays)
        if not forward.fits or not self.binding.suits(arrays):
            return Verdict(forward.difference or "its operands have other axes")
        found = self._fits.backward(self._tried(node))
        is_noted = type(node).__hash__ is not None
        if found.difference == NOT_RECORDED and is_noted:  # backward within no_grad
            found = self._with.get(node, found)
        of_rule = replace(forward, mentioned=found.mentioned)
        layer, names = getattr(node, "layer", None), self.binding.names
        is_like = not found.fits or of_rule.takes_state(layer, names)
        return found if is_like else Verdict("its layer keeps what was not tried")

    def note(self, node: Any, verdict: Verdict) -> None:
        """Note that the kernel answered, and so keeps nothing for the learner's rule.

        Args:
            node: whose `forward` it was.
            verdict: why.
        """
        if verdict.slope is not None and type(node).__hash__ is not None:
            self._with[node] = verdict.slope

    def _tried(self, node: Any) -> Candidate:
        """Return how a node's class is tried: with the very class of its layer."""
        has_layer = "layer" in self.binding.names
        return self.candidate(type(node), type(node.layer) if has_layer else None)


def _forward(original: Any, bound: BoundOp) -> Any:
    """Wrap a `forward`: device arrays go through the dispatcher."""
    op, binding = bound.op, bound.binding

    @functools.wraps(original)
    def forward(self: Any, *arrays: Any) -> Any:
        if not _is_on_device(arrays):
            return original(self, *arrays)

        def code() -> Any:
            return original(self, *arrays)

        above = f"{type(self).__name__}.forward"
        if op != "slice" and not has_kernel(op):
            return call(op, *arrays, decomposition=code, autograd=above)
        verdict = bound.verdict(self, arrays)
        if not verdict.fits or not binding.suits(arrays):
            return own_code(op, arrays, code, above)
        if op == "slice":
            part = element_of(arrays[0], self.key)
            return own_code(op, arrays, code, above) if part is None else part
        bound.note(self, verdict)
        parameters = {**binding.parameters(self), **accepted(op, verdict.options)}
        return call(op, *arrays, *binding.more(self), autograd=above, **parameters)

    return forward


def accepted(op: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that the op's kernel takes; the learner's own may not.

    Args:
        op: the op's name.
        options: parameters of the shipped kernel.
    """
    found = find(f"tinytorch::{op}", DispatchKey.SIMGPU) if options else None
    taken = inspect.signature(found.function).parameters if found else {}
    return {name: value for name, value in options.items() if name in taken}


def _backward(original: Any, bound: BoundOp) -> Any:
    """Wrap a `backward`: a backward kernel where there is one, else its own code."""
    op, binding = bound.op, bound.binding
    name = f"{op}_backward"

    @functools.wraps(original)
    def backward(self: Any, grad_output: Any) -> Any:
        if not _is_on_device((grad_output,)):
            return original(self, grad_output)

        def code() -> Any:
            return original(self, grad_output)

        has_rule = binding.rule is not None and _has_rule(op)
        above = f"{type(self).__name__}.backward"
        if not has_rule and not has_kernel(name):
            return call(name, grad_output, decomposition=code, autograd=above)
        if not bound.slope_verdict(self).fits:
            return own_code(name, (grad_output,), code, above)
        if has_rule and binding.rule is not None:
            return (binding.rule(self, grad_output, above),)
        named = (binding.backward_parameters or binding.parameters)(self)
        saved = binding.saved(self)
        grads = call(name, grad_output, *saved, autograd=above, **named)
        several = grads if isinstance(grads, tuple) else (grads,)
        missing = len(self.inputs) - len(several)
        return (*several, *[None] * missing)[: len(self.inputs)]

    return backward


def _has_rule(op: str) -> bool:
    """Tell whether the kernels of a pooling's gradient are there."""
    wanted = {"max_pool2d": "max_pool2d_with_indices"}.get(op, op)
    return has_kernel(f"{wanted}_backward")


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
