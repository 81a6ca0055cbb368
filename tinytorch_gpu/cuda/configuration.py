"""Launch configurations: `kernel[grid, block, stream, bytes]` and `kernel.forall(n)`.

Source: numba.cuda 0.30.4; `cuda_occupancy.h` of the CUDA Toolkit (the block size that
`forall` takes: the largest one of those that fill an SM most).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from tinytorch_gpu.cost import occupancy
from tinytorch_gpu.cuda.signature import convert_arguments
from tinytorch_gpu.errors import KernelTypeError, LaunchConfigError
from tinytorch_gpu.executor.shared_memory import shared_bytes
from tinytorch_gpu.runtime.arguments import check_arguments, types_of
from tinytorch_gpu.runtime.device import current_device
from tinytorch_gpu.runtime.dimensions import read_dimensions
from tinytorch_gpu.runtime.launch import Launchable, launch
from tinytorch_gpu.runtime.stream import check_stream

if TYPE_CHECKING:
    from tinytorch_gpu.arch import GpuSpec
    from tinytorch_gpu.cuda.options import Options
    from tinytorch_gpu.cuda.types import Signature

__all__ = ["ConfiguredKernel", "ForAll", "configure"]


class Configurable(Launchable, Protocol):
    """What a configuration needs of a kernel."""

    @property
    def options(self) -> Options:
        """The options of `cuda.jit`."""
        ...

    @property
    def declared(self) -> tuple[Signature, ...]:
        """The signatures that the kernel was declared with."""
        ...


class ConfiguredKernel:
    """A kernel with a launch configuration; call it to launch, as often as wanted.

    Args:
        kernel: the kernel.
        griddim: blocks, an int or a tuple.
        blockdim: threads, an int or a tuple.
        stream: a stream; 0 is the current one, that is the default stream unless
            `with simgpu.stream(...)` says otherwise.
        sharedmem: bytes of dynamic shared memory for each block.

    Raises:
        KernelTypeError: a length is no integer, or the stream is none.
        LaunchConfigError: grid or block has over three lengths, or bytes are negative.
    """

    def __init__(
        self,
        kernel: Configurable,
        griddim: Any,
        blockdim: Any,
        stream: Any = 0,
        sharedmem: int = 0,
    ) -> None:
        self.kernel = kernel
        self.griddim = read_dimensions(griddim, "grid", kernel.source)
        self.blockdim = read_dimensions(blockdim, "block", kernel.source)
        if stream:
            check_stream(stream, f"launch of {kernel.source}")
        _check_bytes(sharedmem, kernel)
        self.stream = stream
        self.sharedmem = int(sharedmem)

    def __call__(self, *arguments: Any, **named: Any) -> None:
        """Launch; see `runtime.launch.launch` for what is checked and recorded.

        Raises:
            KernelTypeError: an argument is given by name, or none of the kernel's
                signatures fits.
            LaunchConfigError: the block has more threads than `launch_bounds` allows.
        """
        kernel = self.kernel
        if named:
            raise KernelTypeError(
                f"arguments {', '.join(named)} given by name",
                where=f"launch of {kernel.source}",
                why="a launch passes its arguments by position",
                fix="write them in the order of the kernel's parameters",
            )
        _check_bounds(self.blockdim, kernel)
        if kernel.declared:
            name = kernel.source.name
            arguments = convert_arguments(name, kernel.declared, arguments)
        blocks, threads = self.griddim, self.blockdim
        launch(kernel, blocks, threads, arguments, self.sharedmem, self.stream)


class ForAll:
    """A kernel to be launched over `ntasks` threads, one-dimensional.

    Args:
        kernel: the kernel; its threads compare `cuda.grid(1)` with the number of tasks.
        ntasks: number of tasks; 0 launches nothing.
        tpb: threads of a block; 0 takes the size that fills an SM most.
        stream: a stream, or 0.
        sharedmem: bytes of dynamic shared memory for each block.

    Raises:
        LaunchConfigError: the number of tasks is negative.
    """

    def __init__(
        self, kernel: Configurable, ntasks: int, tpb: int, stream: Any, sharedmem: int
    ) -> None:
        if ntasks < 0:
            raise LaunchConfigError(
                f"forall({ntasks}) with a negative number of tasks",
                where=f"launch of {kernel.source}",
                why="each task is a thread",
                fix="kernel.forall(len(x))(x)",
            )
        self.kernel = kernel
        self.ntasks = ntasks
        self.thread_per_block = tpb
        self.stream = stream
        self.sharedmem = sharedmem

    def __call__(self, *arguments: Any) -> None:
        """Launch as many blocks as hold all tasks."""
        if self.ntasks == 0:
            return
        block = self.thread_per_block or self._fullest_block(arguments)
        grid = -(-self.ntasks // block)
        kernel, stream, sharedmem = self.kernel, self.stream, self.sharedmem
        ConfiguredKernel(kernel, grid, block, stream, sharedmem)(*arguments)

    def _fullest_block(self, arguments: tuple[Any, ...]) -> int:
        """Return the block size of highest occupancy for these arguments."""
        kernel, spec = self.kernel, current_device().spec
        if kernel.declared:
            name = kernel.source.name
            arguments = convert_arguments(name, kernel.declared, arguments)
        checked = check_arguments(kernel.source, kernel.parameters, arguments)
        arrays = list(kernel.program_for(types_of(checked)).shared)
        size = shared_bytes(arrays, spec.shared_bytes_per_block, self.sharedmem)
        return _fullest_block(spec, size)


def configure(kernel: Configurable, parts: Any) -> ConfiguredKernel:
    """Read `kernel[parts]`.

    Args:
        kernel: the kernel.
        parts: grid, block, and optionally stream and bytes of dynamic shared memory.

    Raises:
        LaunchConfigError: there are not two to four parts.
    """
    given = parts if isinstance(parts, tuple) else (parts,)
    name = kernel.source.name
    if not 2 <= len(given) <= 4:
        raise LaunchConfigError(
            f"{name}[...] with {len(given)} parts",
            where=f"launch of {kernel.source}",
            why="the launch configuration is [grid, block, stream, sharedmem]; "
            "the first two are needed",
            fix=f"{name}[blocks, threads](...)",
        )
    return ConfiguredKernel(kernel, *given)


def _fullest_block(spec: GpuSpec, size: int) -> int:
    """Return the largest block size of those with most warps on an SM."""
    sizes = range(spec.max_threads_per_block, 0, -spec.warp_size)
    fits = {n: occupancy(n, spec, shared_bytes=size).warps_per_sm for n in sizes}
    return max(fits, key=lambda n: fits[n])


def _check_bytes(sharedmem: Any, kernel: Launchable) -> None:
    if isinstance(sharedmem, (int, np.integer)) and sharedmem >= 0:
        return
    raise LaunchConfigError(
        f"{sharedmem!r} bytes of dynamic shared memory",
        where=f"launch of {kernel.source}",
        why="the fourth part of a launch configuration is a number of bytes, 0 or more",
        fix="for n float32 values: kernel[grid, block, 0, 4 * n](...)",
    )


def _check_bounds(block: tuple[int, int, int], kernel: Configurable) -> None:
    threads, bounds = math.prod(block), kernel.options.launch_bounds
    if bounds and threads > bounds[0]:
        raise LaunchConfigError(
            f"a block of {threads} threads",
            where=f"launch of {kernel.source}, block {block}",
            why=f"{threads} > {bounds[0]}, the kernel's launch_bounds",
            fix=f"use at most {bounds[0]} threads a block, or raise launch_bounds",
            threads=threads,
            limit=bounds[0],
        )
