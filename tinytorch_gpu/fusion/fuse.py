"""`fuse`: a function of device arrays or Tensors as one kernel.

The function runs once as it is; its ops are recorded, one kernel is written for them,
run, and checked against what the ops gave. From then on a call is one launch. Where a
rule forbids that, the function runs as it is, and `.reason` tells why.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.errors import KernelWarning, UnsupportedError
from tinytorch_gpu.fusion.arguments import rebuilt
from tinytorch_gpu.fusion.autograd import (
    Backward,
    attached,
    backward_kernel,
    needs_gradient,
)
from tinytorch_gpu.fusion.calls import Calls, Known
from tinytorch_gpu.fusion.comparing import compared
from tinytorch_gpu.fusion.forms import arrays_of
from tinytorch_gpu.fusion.kernel import kernel_name
from tinytorch_gpu.fusion.program import Program
from tinytorch_gpu.fusion.reasons import Reason
from tinytorch_gpu.fusion.recording import given_leaves
from tinytorch_gpu.runtime.device import current_device, using_device
from tinytorch_gpu.runtime.placement import device_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.fusion.arguments import Leaf
    from tinytorch_gpu.fusion.comparison import FusionComparison

__all__ = ["Fused", "fuse"]

SEVERAL = Reason("no rule", "it has more than one result, and one of them a gradient")


class Fused:
    """A function that runs as one kernel where it may; made by `fuse`.

    Args:
        function: of device arrays or Tensors, in lists and dicts too, and numbers.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.name = kernel_name(getattr(function, "__name__", ""))
        self.backward_reason = ""
        self._signature = inspect.signature(function)
        self._calls = Calls(self.name, function)
        self._backward: dict[Any, Backward | str] = {}
        self._last: Program | Reason | None = None

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Run the function: as one kernel, or as it is.

        Raises:
            KernelWarning: once, where it may not be fused and warnings are errors.
        """
        bound = self._bound(args, options)
        given = given_leaves(bound)
        arrays = arrays_of(given)
        if not arrays:
            return self.function(*args, **options)
        with using_device(device_of(arrays[0])):
            known, result = self._calls.find(bound, given)
            program = self._last = known.program
            if isinstance(program, Program) and needs_gradient(given):
                self._last = program if program.gives_a_tensor else SEVERAL
            if isinstance(program, Reason) or isinstance(self._last, Reason):
                self._warn(known)
                return self.function(*args, **options)
            made = program.run(given) if result is None else result
            return self._finished(program, bound, given, made)

    def _bound(self, args: Any, options: Any) -> inspect.BoundArguments:
        bound = self._signature.bind(*args, **options)
        bound.apply_defaults()
        return bound

    def _finished(
        self,
        program: Program,
        bound: inspect.BoundArguments,
        given: tuple[Leaf, ...],
        result: Any,
    ) -> Any:
        """Make Tensors of arrays where the function gave Tensors, with a gradient."""
        kinds = iter(program.kinds)

        def dressed(part: Any) -> Any:
            kind = next(kinds)
            return part if kind is None else kind(part)

        made = rebuilt(result, dressed)
        if not needs_gradient(given):
            return made

        def rerun(tensors: list[Any]) -> Any:
            fresh, old = iter(tensors), iter(given)
            values = {
                name: rebuilt(v, lambda x: next(fresh) if next(old).is_tensor else x)
                for name, v in bound.arguments.items()
            }
            again = inspect.BoundArguments(bound.signature, OrderedDict(values))
            return self.function(*again.args, **again.kwargs)

        return attached(self, program, given, made, rerun)

    def backward_of(self, program: Program, names: tuple[str, ...]) -> Backward | str:
        """Return the kernel of a program's gradient, or why there is none.

        Args:
            program: of a call.
            names: of the parameters that need a gradient.
        """
        key = program, names
        if key not in self._backward:
            self._backward[key] = backward_kernel(program, names)
        found = self._backward[key]
        self.backward_reason = found if isinstance(found, str) else ""
        return found

    def _warn(self, known: Known) -> None:
        """Tell once why the function is not fused."""
        if not known.is_told:
            known.is_told = True
            warnings.warn(_not_fused(self.name, self.reason), stacklevel=3)

    @property
    def reason(self) -> str:
        """Why the last call was not fused, or ""; see also `backward_reason`."""
        return str(self._last) if isinstance(self._last, Reason) else ""

    @property
    def source(self) -> str:
        """The kernel of the last call, as it runs with numba on real hardware.

        Raises:
            UnsupportedError: there is none.
        """
        return self._program().kernel.source

    @property
    def backward_sources(self) -> tuple[str, ...]:
        """The kernels of the gradients so far."""
        found = (f for f in self._backward.values() if not isinstance(f, str))
        return tuple(kernel.source for kernel, _ in found if kernel is not None)

    def compare(self, *args: Any, **options: Any) -> FusionComparison:
        """Run the function both ways and put the bills side by side.

        Args:
            *args: as for a call; arrays that it changes in place are put back.
            **options: likewise.

        Returns:
            Launches, DRAM bytes and modelled time before, as predicted, and after.
        """
        bound = self._bound(args, options)
        given = given_leaves(bound)
        arrays = arrays_of(given)
        device = device_of(arrays[0]) if arrays else current_device()
        with using_device(device):
            known = self._calls.known(given) if arrays else None
            used = known.program if known else None
            return compared(self.name, self.function, bound, used)

    def _program(self) -> Program:
        if isinstance(self._last, Program):
            return self._last
        raise UnsupportedError(
            f"{self.name} has no fused kernel",
            where=f"fuse({self.name}).source",
            why=self.reason or "it has not been called with device arrays yet",
            fix=f"call it once: {self.name}(x) with x on simgpu",
        )

    def __repr__(self) -> str:
        """Name the function."""
        return f"<fused {self.name}>"


def fuse(function: Callable[..., Any]) -> Fused:
    """Let a function of device arrays or Tensors run as one kernel; use as a decorator.

    Op by op, each intermediate result is stored and loaded again. In one kernel it
    stays in a register, and there is one launch to wait for.

    Args:
        function: takes and returns device arrays or Tensors, in lists, tuples and dicts
            too; its floats become the kernel's parameters. An int, or a float that
            decides a branch, an index or a text, is a part of the kernel: for other
            ones another is written, up to eight.

    Returns:
        The function, with `.source`, `.reason` and `.compare(...)`.

    Raises:
        UnsupportedError: it is no function.

    Example:
        >>> import numpy as np
        >>> from tinytorch_gpu import cuda
        >>> @fuse
        ... def bias_relu(x, bias):
        ...     return np.maximum(x + bias, 0.0)
        >>> x = cuda.to_device(np.float32([[-1, 2], [3, -4]]))
        >>> bias_relu(x, cuda.to_device(np.float32([2, 2]))).copy_to_host().tolist()
        [[1.0, 4.0], [5.0, 0.0]]

    Limits: the function runs as it is once for each form of its arguments, to record
    it, and again when something has changed that its code reads. What it prints or
    keeps elsewhere is not done again. Objects with attributes are refused.
    """
    if not callable(function):
        raise UnsupportedError(
            f"fuse of {function!r}",
            where="@simgpu.fuse",
            why="it records the ops of a function",
            fix="write @simgpu.fuse above a def, or fuse(function)(x)",
        )
    return Fused(function)


def _not_fused(name: str, reason: str) -> KernelWarning:
    return KernelWarning(
        f"{name} is not fused; it runs op by op",
        where=f"fuse({name})",
        why=reason,
        fix=f"fuse a part of {name} that may be one kernel, or keep it as it is",
        kind=reason.partition(":")[0],
    )
