"""`cuda.jit`: make a Python function a kernel that is launched over a grid.

The function is rewritten when it is first launched, so that decorating costs nothing.
"""

from __future__ import annotations

import functools
from types import FunctionType
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from tinytorch_gpu.cuda.captured import warn_of_changes
from tinytorch_gpu.cuda.configuration import ConfiguredKernel, ForAll, configure
from tinytorch_gpu.cuda.dummies import dummy_of
from tinytorch_gpu.cuda.introspection import (
    NoMachineCode,
    Overload,
    cooperative_limit,
    dummy_of_type,
)
from tinytorch_gpu.cuda.numba_types import python_function
from tinytorch_gpu.cuda.options import DEFAULT, Options, read_options
from tinytorch_gpu.cuda.rewrite import KernelFunction
from tinytorch_gpu.cuda.signature import is_signature, read_signature
from tinytorch_gpu.cuda.types import Signature, Type, void
from tinytorch_gpu.errors import (
    KernelTypeError,
    LaunchConfigError,
    UnsupportedError,
)
from tinytorch_gpu.executor.kernel_array import KernelArray
from tinytorch_gpu.trace import KernelSource

if TYPE_CHECKING:
    from tinytorch_gpu.executor.engine import LaneProgram

__all__ = ["Kernel", "jit"]


class Kernel(NoMachineCode):
    """A kernel (or device function) made by `cuda.jit`.

    Args:
        function: the Python function.
        options: those of `cuda.jit`.
        declared: signatures that it is declared with; () takes any types.

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

    def __init__(
        self,
        function: FunctionType,
        options: Options = DEFAULT,
        declared: tuple[Signature, ...] = (),
    ) -> None:
        self.py_func = function
        functools.update_wrapper(self, function)
        self.options = options
        self.declared = declared
        self.function = KernelFunction(function, function_behind, options=options)
        self._programs: dict[Any, LaneProgram] = {}

    @functools.cached_property
    def source(self) -> KernelSource:
        """Name, file and line of the Python function."""
        return KernelSource.of(self.py_func)

    @functools.cached_property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return tuple(argument.arg for argument in self.function.parameters.args)

    def program_for(self, values: tuple[Any, ...]) -> LaneProgram:
        """Return the lane program for arguments of these types, made at first need.

        It warns when a global that was compiled in stands for something else now.

        Args:
            values: arguments as the executor takes them, one for each parameter.

        Raises:
            KernelSyntaxError: a construct is outside the kernel language; says where.
            KernelTypeError: types do not fit; says where.
            KernelWarning: the reader's filters turn warnings into errors.
        """
        key = tuple(map(_type_key, values))
        if key not in self._programs:
            dummies = [dummy_of(value) for value in values]
            self._programs[key] = self.function.kernel_program(dummies)
        program = self._programs[key]
        warn_of_changes(self.function.captured[program])
        return program

    @property
    def signatures(self) -> list[tuple[Type, ...]]:
        """Parameter types of each declared signature."""
        return [signature.args for signature in self.declared]

    @property
    def overloads(self) -> dict[tuple[Type, ...], Overload]:
        """What there is to ask of each declared signature, by its parameter types."""
        return {s.args: Overload(self, s) for s in self.declared}

    def max_cooperative_grid_blocks(self, blockdim: Any, dynsmemsize: int = 0) -> int:
        """Return how many blocks a launch with a grid barrier may have.

        Args:
            blockdim: threads of a block, an int or a tuple.
            dynsmemsize: bytes of dynamic shared memory of a block.

        Limits: static shared memory counts once the kernel has been launched.
        """
        programs = self._programs.values()
        return cooperative_limit(self.source, programs, blockdim, dynsmemsize)

    def __getitem__(self, configuration: Any) -> ConfiguredKernel:
        """Configure a launch: `kernel[grid, block]`, then optionally stream, bytes.

        Raises:
            LaunchConfigError: there are not two to four parts, or one is none.
            KernelTypeError: a length is no integer, or the stream is none.
        """
        return configure(self, configuration)

    def configure(
        self, griddim: Any, blockdim: Any, stream: Any = 0, sharedmem: int = 0
    ) -> ConfiguredKernel:
        """Configure a launch, as `kernel[griddim, blockdim, stream, sharedmem]`."""
        return ConfiguredKernel(self, griddim, blockdim, stream, sharedmem)

    def forall(
        self, ntasks: int, tpb: int = 0, stream: Any = 0, sharedmem: int = 0
    ) -> ForAll:
        """Configure a one-dimensional launch of at least `ntasks` threads.

        Args:
            ntasks: threads wanted; 0 launches nothing.
            tpb: threads of a block; 0 takes the size that fills an SM most.
            stream: a stream, or 0.
            sharedmem: bytes of dynamic shared memory for each block.

        Raises:
            LaunchConfigError: `ntasks` is negative.

        Example:
            >>> from tinytorch_gpu import cuda
            >>> @cuda.jit
            ... def set_one(x):
            ...     i = cuda.grid(1)
            ...     if i < x.size:
            ...         x[i] = 1
            >>> x = cuda.device_array(3, cuda.int32)
            >>> set_one.forall(3)(x)
            >>> x.copy_to_host().tolist()
            [1, 1, 1]
        """
        return ForAll(self, ntasks, tpb, stream, sharedmem)

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


def _type_key(value: Any) -> Any:
    """Return what a program depends on of an argument: its type, not its value."""
    if isinstance(value, KernelArray):
        return value.element_dtype.char, len(value.lengths)
    if isinstance(value, tuple):
        return type(value), tuple(map(_type_key, value))
    return value.dtype.char if isinstance(value, np.generic) else value


def function_behind(callee: Any) -> KernelFunction | None:
    """Return the device function that a call in a kernel runs, or None.

    Args:
        callee: a `Kernel`, or a function that numba compiles for the CPU.
    """
    if isinstance(callee, Kernel):
        return callee.function
    function = python_function(callee)
    return None if function is None else _numbas_function(function)


@functools.cache
def _numbas_function(function: FunctionType) -> KernelFunction:
    return KernelFunction(function, function_behind)


def jit(func_or_sig: Any = None, device: bool = False, **options: Any) -> Any:
    """Make a kernel of a function; use as `@cuda.jit` or `@cuda.jit(...)`.

    Args:
        func_or_sig: the Python function, or what the kernel is declared with: a
            signature such as `"void(float32[:], int32)"`, or a list of them. Arguments
            are then cast to the declared types, or refused.
        device: the function is called from kernels.
        **options: numba's; `debug=True` checks `assert` and `raise`, `launch_bounds`
            the block. See `cuda.options` for those that change nothing.

    Returns:
        A `Kernel`, or the decorator that makes one.

    Raises:
        KernelTypeError: a signature is none, or gives a kernel a result.
        UnsupportedError: an option is refused, or what is decorated is no function.
    """
    chosen = read_options({"device": device, **options})
    if isinstance(func_or_sig, FunctionType):
        return Kernel(func_or_sig, chosen)
    declared: tuple[Signature, ...] = ()
    if isinstance(func_or_sig, list) or is_signature(func_or_sig):
        given = func_or_sig if isinstance(func_or_sig, list) else [func_or_sig]
        declared = tuple(map(read_signature, given))
    elif func_or_sig is not None:
        raise _no_function(func_or_sig)
    return functools.partial(_declared, options=chosen, declared=declared)


def _declared(
    function: Any, *, options: Options, declared: tuple[Signature, ...]
) -> Kernel:
    """Make a kernel of what stands under `@cuda.jit(...)`."""
    if not isinstance(function, FunctionType):
        raise _no_function(function)
    kernel = Kernel(function, options, declared)
    if not options.is_device:
        for signature in declared:
            _compile(kernel, signature)
    return kernel


def _compile(kernel: Kernel, signature: Signature) -> None:
    """Type a kernel for a signature at once, as numba does when it is declared."""
    name, count = kernel.source.name, len(kernel.parameters)
    if signature.return_type not in (None, void):
        raise KernelTypeError(
            f"{name} is declared as {signature}",
            where=str(kernel.source),
            why="a kernel returns nothing; its results go into arrays",
            fix=f"declare void({', '.join(map(repr, signature.args))}),\n"
            "or say device=True when kernels call it",
        )
    if len(signature.args) != count:
        raise KernelTypeError(
            f"{name} is declared as {signature}",
            where=str(kernel.source),
            why=f"it has {count} parameters: " + ", ".join(kernel.parameters),
            fix="declare one type for each parameter",
        )
    kernel.program_for(tuple(map(dummy_of_type, signature.args)))


def _no_function(given: Any) -> UnsupportedError:
    return UnsupportedError(
        f"cuda.jit of {given!r}",
        where="@cuda.jit",
        why="it makes kernels of Python functions, declared by signatures or by none",
        fix="write @cuda.jit above a def",
    )
