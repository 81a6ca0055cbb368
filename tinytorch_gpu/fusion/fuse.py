"""`fuse`: a function of device arrays or Tensors as one kernel.

The function runs in each call, but what its ops would launch waits; then one kernel
does the work of all. The first time, and for other numbers, it is checked against the
ops. Where a rule forbids that, the ops run as they are, and `.reason` tells why.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from types import MethodType
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.errors import KernelWarning, UnsupportedError
from tinytorch_gpu.fusion.arguments import leaves
from tinytorch_gpu.fusion.calls import Calls
from tinytorch_gpu.fusion.comparing import compared
from tinytorch_gpu.fusion.kernel import kernel_name
from tinytorch_gpu.fusion.program import Program
from tinytorch_gpu.fusion.reasons import Reason
from tinytorch_gpu.memory.hooks import hooks
from tinytorch_gpu.runtime.device import current_device, using_device
from tinytorch_gpu.runtime.placement import device_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.fusion.arguments import Leaf
    from tinytorch_gpu.fusion.comparison import FusionComparison
    from tinytorch_gpu.runtime.device import Device

__all__ = ["Fused", "fuse"]


class Fused:
    """A function that runs as one kernel where it may; made by `fuse`.

    Args:
        function: of device arrays or Tensors, and of anything else.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.name = str(getattr(function, "__name__", type(function).__name__))
        self._calls = Calls(kernel_name(self.name))
        self._last: Program | Reason | None = None
        self._told: set[str] = set()

    def __call__(self, *args: Any, **options: Any) -> Any:
        """Run the function, with one kernel for its ops if they may be one.

        Raises:
            KernelWarning: once for each reason, where it is not fused and warnings are
                errors.
        """
        given = self._given(args, options)
        if hooks.held is not None:  # a part of another one
            return self.function(*args, **options)
        result, self._last = self._calls.run(
            lambda: self.function(*args, **options), given, _device(given)
        )
        self._warn()
        return result

    def __get__(self, instance: Any, owner: type) -> Any:
        """Be a method of an object."""
        return self if instance is None else MethodType(self, instance)

    def _given(self, args: Any, options: Any) -> tuple[Leaf, ...]:
        """Name the arguments by the parameters."""
        try:
            bound = inspect.signature(self.function).bind(*args, **options)
            bound.apply_defaults()
            named = dict(bound.arguments)
        except ValueError:  # a function that tells no signature
            named = {f"x{i}": value for i, value in enumerate(args)}
        return tuple(leaf for name, v in named.items() for leaf in leaves(v, name))

    def _warn(self) -> None:
        """Tell once why the function is not fused."""
        if self.reason and self.reason not in self._told:
            self._told.add(self.reason)
            warnings.warn(_not_fused(self.name, self.reason), stacklevel=3)

    @property
    def reason(self) -> str:
        """Why the last call was not fused, or ""."""
        return str(self._last) if isinstance(self._last, Reason) else ""

    @property
    def source(self) -> str:
        """The kernel of the last call, as it runs with numba on real hardware.

        Raises:
            UnsupportedError: there is none.
        """
        if isinstance(self._last, Program):
            return self._last.kernel.source
        raise UnsupportedError(
            f"{self.name} has no fused kernel",
            where=f"fuse({self.name}).source",
            why=self.reason or "it has not been called with device arrays yet",
            fix="look at .reason and fuse a part of it that may be one kernel"
            if self.reason
            else f"call it once: {self.name}(x) with x on simgpu",
        )

    def compare(self, *args: Any, **options: Any) -> FusionComparison:
        """Run the function, op by op and as one kernel, and put the bills side by side.

        Args:
            *args: as for a call; arrays that it changes in place are put back.
            **options: likewise.

        Returns:
            Launches, DRAM bytes and modelled time before, as predicted, and after.
        """
        given = self._given(args, options)
        with using_device(_device(given)):
            return compared(self.name, lambda: self.function(*args, **options), given)

    def __repr__(self) -> str:
        """Name the function."""
        return f"<fused {self.name}>"


def _device(given: tuple[Leaf, ...]) -> Device:
    """Return where a call works: where its first array is, else the current device."""
    arrays = (leaf.array for leaf in given if leaf.array is not None)
    first = next(arrays, None)
    return current_device() if first is None else device_of(first)


def fuse(function: Callable[..., Any]) -> Fused:
    """Let a function of device arrays or Tensors run as one kernel; use as a decorator.

    Op by op, each intermediate result is stored and loaded again. In one kernel it
    stays in a register, and there is one launch to wait for.

    Args:
        function: takes device arrays or Tensors, in lists, tuples and dicts too, and
            whatever else it needs. Its Python code runs in each call.

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

    Limits: what looks at values on the way (`float(x)`, `if x[0] > 0`, a copy, a
    kernel launched by hand), or measures (an event, a profile), ends the waiting: the
    ops run one by one. What autograd keeps for backward is stored as well; backward
    itself runs op by op, unless it is a part of the function. The check of a new kernel
    needs memory for all values of the ops at once.
    """
    if not callable(function):
        raise UnsupportedError(
            f"fuse of {function!r}",
            where="@simgpu.fuse",
            why="it runs a function, and one kernel for what its ops launch",
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
