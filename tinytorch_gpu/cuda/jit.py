"""`cuda.jit`: make a Python function a kernel that is launched over a grid.

The function is rewritten when it is first launched, so that decorating costs nothing.
"""

from __future__ import annotations

import functools
from types import FunctionType
from typing import TYPE_CHECKING, Any, NoReturn

from tinytorch_gpu.cuda.rewrite import rewrite_device_function, rewrite_kernel
from tinytorch_gpu.errors import (
    KernelTypeError,
    LaunchConfigError,
    UnsupportedError,
)
from tinytorch_gpu.runtime.launch import launch
from tinytorch_gpu.trace import KernelSource

if TYPE_CHECKING:
    from collections.abc import Callable

    from tinytorch_gpu.executor.engine import LaneProgram

__all__ = ["ConfiguredKernel", "Kernel", "jit"]

IGNORED = frozenset({"debug", "opt", "fastmath", "inline", "cache", "lineinfo"})


class Kernel:
    """A kernel (or device function) made by `cuda.jit`.

    Args:
        function: the Python function.

    Example:
        >>> import numpy as np
        >>> from tinytorch_gpu import cuda
        >>> @cuda.jit
        ... def double(x):
        ...     i = cuda.grid(1)
        ...     if i < x.size:
        ...         x[i] = x[i] + x[i]
        >>> x = cuda.to_device(np.arange(3, dtype=np.float32))
        >>> double[1, 32](x)
        >>> x.copy_to_host().tolist()
        [0.0, 2.0, 4.0]
    """

    def __init__(self, function: FunctionType) -> None:
        self.py_func = function
        functools.update_wrapper(self, function)
        self._is_being_rewritten = False
        self._device_programs: dict[bool, tuple[Callable[..., Any], list[Any]]] = {}

    @functools.cached_property
    def program(self) -> LaneProgram:
        """The lane program; made at the first launch."""
        return rewrite_kernel(self.py_func)

    @property
    def source(self) -> KernelSource:
        """Name, file and line of the Python function."""
        return KernelSource.of(self.py_func)

    def device_program(
        self, *, is_counted: bool
    ) -> tuple[Callable[..., Any], list[Any]]:
        """Return what a kernel calls to run the function, and its shared arrays."""
        if is_counted not in self._device_programs:
            if self._is_being_rewritten:
                raise self._recursion()
            self._is_being_rewritten = True
            made = rewrite_device_function(self.py_func, is_counted=is_counted)
            self._device_programs[is_counted] = made
            self._is_being_rewritten = False
        return self._device_programs[is_counted]

    def _recursion(self) -> UnsupportedError:
        return UnsupportedError(
            f"device function {self.py_func.__name__} calls itself",
            where=str(self.source),
            why="the simulator writes each call out, and this one has no end",
            fix="write it as a loop",
        )

    def __getitem__(self, configuration: Any) -> ConfiguredKernel:
        """Configure a launch: `kernel[grid, block]`, then optionally stream, bytes.

        Raises:
            LaunchConfigError: there are not two to four parts.
            UnsupportedError: a stream or dynamic shared memory is asked for.
        """
        parts = configuration if isinstance(configuration, tuple) else (configuration,)
        if not 2 <= len(parts) <= 4:
            raise LaunchConfigError(
                f"{self.py_func.__name__}[...] with {len(parts)} parts",
                where=f"launch of {self.source}",
                why="the launch configuration is [grid, block, stream, sharedmem]; "
                "the first two are needed",
                fix=f"{self.py_func.__name__}[blocks, threads](...)",
            )
        if any(parts[2:]):
            raise UnsupportedError(
                "a launch on a stream or with dynamic shared memory",
                where=f"launch of {self.source}",
                why="the simulator has the default stream and static shared arrays",
                fix=f"{self.py_func.__name__}[blocks, threads](...)",
            )
        return ConfiguredKernel(self, parts[0], parts[1])

    def __call__(self, *_arguments: Any) -> NoReturn:
        """Refuse a launch without configuration.

        Raises:
            LaunchConfigError: always.
        """
        name = self.py_func.__name__
        raise LaunchConfigError(
            f"{name}(...) without a launch configuration",
            where=f"launch of {self.source}",
            why="a kernel runs over a grid of blocks of threads, and none was given",
            fix=f"{name}[blocks, threads](...), for example "
            f"{name}[(n + 255) // 256, 256](...)",
        )

    def __repr__(self) -> str:
        """Name the kernel, its file and line."""
        return f"<cuda kernel {self.source}>"


class ConfiguredKernel:
    """A kernel with a launch configuration; call it to launch, as often as wanted.

    Args:
        kernel: the kernel.
        grid: blocks, an int or a tuple.
        block: threads, an int or a tuple.
    """

    def __init__(self, kernel: Kernel, grid: Any, block: Any) -> None:
        self.kernel = kernel
        self.grid = grid
        self.block = block

    def __call__(self, *arguments: Any, **named: Any) -> None:
        """Launch; see `runtime.launch.launch` for what is checked and recorded.

        Raises:
            KernelTypeError: an argument is given by name.
        """
        if named:
            raise KernelTypeError(
                f"arguments {', '.join(named)} given by name",
                where=f"launch of {self.kernel.source}",
                why="a launch passes its arguments by position",
                fix="write them in the order of the kernel's parameters",
            )
        launch(self.kernel.program, self.grid, self.block, arguments)


def jit(function: Any = None, **options: Any) -> Any:
    """Make a kernel of a function; use as `@cuda.jit` or `@cuda.jit(...)`.

    Args:
        function: the Python function.
        **options: `device=True` for readability of device functions; numba's compiler
            options are accepted and change nothing.

    Returns:
        A `Kernel`, or the decorator that makes one.

    Raises:
        UnsupportedError: a signature, another option, or no function is given.
    """
    unknown = set(options) - IGNORED - {"device"}
    if unknown or not (function is None or isinstance(function, FunctionType)):
        given = ", ".join(sorted(unknown)) or f"{function!r}"
        raise UnsupportedError(
            f"cuda.jit with {given}",
            where="@cuda.jit(...)",
            why="it makes kernels of Python functions; types come from the arguments",
            fix="write @cuda.jit above a def",
        )
    return Kernel if function is None else Kernel(function)
