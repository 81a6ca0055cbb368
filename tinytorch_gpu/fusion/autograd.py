"""Gradients of a fused function: one node of the graph, whose backward is fused, too.

The node stands where those of the ops stood: its inputs are the Tensors among the
arguments. Backward of an element-wise function is one kernel that computes what it
needs anew; gradients of broadcast inputs are summed afterwards, as TinyTorch does it.
Where there is no such kernel, the function runs op by op once more and TinyTorch's own
rules go backward.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu import cuda
from tinytorch_gpu.fusion.derivatives import backward_graph
from tinytorch_gpu.fusion.kernel import FusedKernel, fused_kernel
from tinytorch_gpu.library import call
from tinytorch_gpu.tinytorch.autograd import unbroadcast

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.fusion.arguments import Leaf
    from tinytorch_gpu.fusion.derivatives import BackwardGraph
    from tinytorch_gpu.fusion.graph import Graph
    from tinytorch_gpu.fusion.program import Program
    from tinytorch_gpu.memory import DeviceArray

__all__ = ["FusedNode", "attached", "backward_kernel", "needs_gradient"]

Backward = tuple["FusedKernel | None", "BackwardGraph"]


def needs_gradient(given: tuple[Leaf, ...]) -> bool:
    """Tell whether a call on these arguments is recorded for `backward`.

    Args:
        given: the arguments' leaves.
    """
    tensors = [leaf.value for leaf in given if leaf.is_tensor]
    return any(t.requires_grad and _is_recording(type(t)) for t in tensors)


def _is_recording(tensor_class: type) -> bool:
    package = tensor_class.__module__.rpartition(".")[0]
    autograd = sys.modules.get(f"{package}.autograd")
    is_enabled = getattr(autograd, "is_grad_enabled", None)
    return bool(is_enabled()) if is_enabled else True


def attached(
    function: Callable[..., Any],
    program: Program,
    given: tuple[Leaf, ...],
    result: Any,
    rerun: Callable[[list[Any]], Any],
) -> Any:
    """Hang the fused node on a result.

    Args:
        function: what is fused.
        program: its kernel.
        given: the arguments' leaves.
        result: a Tensor.
        rerun: runs the function op by op with other Tensors in the arguments' places.

    Returns:
        The result, which requires a gradient.
    """
    node = FusedNode(function, program, given, rerun)
    node.output = result
    result.requires_grad, result._grad_fn = True, node  # noqa: SLF001  (TinyTorch's)
    return result


def backward_kernel(program: Program, names: tuple[str, ...]) -> Backward | str:
    """Return the kernel of a program's gradient, or why there is none.

    Args:
        program: the forward step.
        names: of the parameters that need a gradient.
    """
    recipe = program.recipe
    if recipe.has_rows:
        return "a gradient through a reduction has no fused rule"
    if recipe.is_many or len(recipe.writes) > 1:
        return "the kernel stores more than one array"
    if not all(source.view.is_whole for source in program.reads):
        return "a part of an argument is read"
    found = backward_graph(recipe.plans[0].graph, names)
    if isinstance(found, str):
        return f"{found} has no gradient rule"
    name = f"{program.kernel.name}_backward"
    return fused_kernel(name, found.graph) if found.graph.stores else None, found


class FusedNode:
    """A node of TinyTorch's graph: one call of a fused function.

    Args:
        function: what is fused.
        program: its kernel.
        given: the call's arguments.
        rerun: runs the function op by op.
    """

    output: Any = None

    def __init__(
        self,
        function: Any,
        program: Program,
        given: tuple[Leaf, ...],
        rerun: Callable[[list[Any]], Any],
    ) -> None:
        tensors = [leaf.value for leaf in given if leaf.is_tensor]
        self.inputs = self.saved_tensors = tuple(tensors)
        self._function, self._program = function, program
        self._given, self._rerun = given, rerun
        self._names = tuple(leaf.name for leaf in given if leaf.is_tensor)

    def backward(self, grad: Any) -> tuple[Any, ...]:
        """Return the gradient of each input Tensor, None for one that has none.

        Args:
            grad: gradient of the output, of its shape.
        """
        found = self._function.backward_of(self._program, self._wanted())
        if isinstance(found, str):
            return self._op_by_op(grad)
        kernel, (graph, routes) = found
        made = {"grad": grad}
        if kernel is not None:
            made |= self._launched(kernel, graph, grad)
        grads = {name: made[route] for name, route in routes.items()}
        pairs = zip(self._names, self.inputs, strict=True)
        return tuple(
            unbroadcast(grads[name], tensor.data.shape) if name in grads else None
            for name, tensor in pairs
        )

    apply = backward

    def _wanted(self) -> tuple[str, ...]:
        pairs = zip(self._names, self.inputs, strict=True)
        return tuple(name for name, tensor in pairs if tensor.requires_grad)

    def _launched(
        self, kernel: FusedKernel, graph: Graph, grad: Any
    ) -> dict[str, DeviceArray]:
        """Launch the backward kernel; return what it stored."""
        arrays = {leaf.name: leaf.array for leaf in self._given}
        arrays["grad"] = grad
        values = {leaf.name: leaf.value for leaf in self._given if leaf.is_number}
        numbers = self._program.recipe.numbers
        given = [np.float32(numbers[name].compute(values)) for name in graph.numbers]
        made = {n: cuda.device_array(grad.shape, np.float32) for n in graph.stores}
        reads = [arrays[name] for name in graph.names]

        def launch() -> tuple[DeviceArray, ...]:
            kernel.launch(grad.shape, (*reads, *given, *made.values()), [])
            return tuple(made.values())

        call(f"fused::{kernel.name}", *reads, decomposition=launch)
        return made

    def _op_by_op(self, grad: Any) -> tuple[Any, ...]:
        """Run the function once more with TinyTorch's graph, and go back through it."""
        fresh = [type(t)(t.data) for t in self.inputs]
        for tensor, old in zip(fresh, self.inputs, strict=True):
            tensor.requires_grad = old.requires_grad
        self._rerun(fresh).backward(grad)
        return tuple(tensor.grad for tensor in fresh)

    def __repr__(self) -> str:
        """Name the node as graphs show it."""
        return f"Fused({self._program.kernel.name})Backward"
