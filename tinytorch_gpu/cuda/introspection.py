"""What can be asked of a kernel: its overloads, its limits; and what cannot.

Source: numba.cuda 0.30.4, `Dispatcher` and `Dispatcher.overloads` (names).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NoReturn

from tinytorch_gpu.cost import max_cooperative_blocks
from tinytorch_gpu.cuda.dummies import array_dummy
from tinytorch_gpu.cuda.types import ArrayType, ScalarType
from tinytorch_gpu.errors import UnsupportedError
from tinytorch_gpu.executor.shared_memory import shared_bytes
from tinytorch_gpu.runtime.device import current_device
from tinytorch_gpu.runtime.dimensions import read_dimensions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tinytorch_gpu.cuda.types import Signature, Type
    from tinytorch_gpu.executor.engine import LaneProgram
    from tinytorch_gpu.runtime.launch import Launchable
    from tinytorch_gpu.trace import KernelSource

__all__ = ["NoMachineCode", "Overload", "cooperative_limit", "dummy_of_type"]


class Overload:
    """A kernel for one signature.

    Args:
        kernel: the kernel.
        signature: the types of its parameters.
    """

    def __init__(self, kernel: Launchable, signature: Signature) -> None:
        self._kernel = kernel
        self.signature = signature

    def max_cooperative_grid_blocks(self, blockdim: Any, dynsmemsize: int = 0) -> int:
        """Return how many blocks a launch with a grid barrier may have.

        Args:
            blockdim: threads of a block, an int or a tuple.
            dynsmemsize: bytes of dynamic shared memory of a block.

        Raises:
            SharedMemoryLimitError: a block's shared memory is above the GPU's limit.
        """
        dummies = tuple(map(dummy_of_type, self.signature.args))
        program = self._kernel.program_for(dummies)
        return cooperative_limit(program.source, [program], blockdim, dynsmemsize)


def _refused(name: str) -> Callable[..., NoReturn]:
    """Make the method that refuses a question."""

    def refuse(_kernel: Any, *_given: Any, **_named: Any) -> NoReturn:
        raise UnsupportedError(
            f"{name} of a simulated kernel",
            where=f"kernel.{name}(...)",
            why="kernels run as NumPy operations; there is no machine code to look at",
            fix="run the kernel with the real numba.cuda, where this works",
        )

    refuse.__name__ = name
    refuse.__doc__ = "Refuse: there is no compiled code to answer from."
    return refuse


class NoMachineCode:
    """The questions about compiled code; each raises UnsupportedError."""

    inspect_llvm = _refused("inspect_llvm")
    inspect_asm = _refused("inspect_asm")
    inspect_sass = _refused("inspect_sass")
    inspect_types = _refused("inspect_types")
    get_regs_per_thread = _refused("get_regs_per_thread")
    get_local_mem_per_thread = _refused("get_local_mem_per_thread")


def cooperative_limit(
    source: KernelSource,
    programs: Iterable[LaneProgram],
    blockdim: Any,
    dynamic_bytes: int,
) -> int:
    """Return how many blocks of a kernel may wait at a grid barrier.

    Args:
        source: the kernel's name and place, for errors.
        programs: the kernel for each list of types; the most shared memory counts.
        blockdim: threads of a block, an int or a tuple.
        dynamic_bytes: dynamic shared memory of a block.

    Raises:
        SharedMemoryLimitError: a block's shared memory is above the GPU's limit.

    Limits: registers are an estimate, as in `cost.occupancy`.
    """
    spec = current_device().spec
    threads = math.prod(read_dimensions(blockdim, "block", source))
    layouts = [list(program.shared) for program in programs]
    limit = spec.shared_bytes_per_block
    sizes = [shared_bytes(arrays, limit, dynamic_bytes) for arrays in layouts or [[]]]
    return max_cooperative_blocks(spec, threads, max(sizes))


def dummy_of_type(declared: Type) -> Any:
    """Return a value that stands for a declared type.

    Example:
        >>> from tinytorch_gpu.cuda.types import int8
        >>> dummy_of_type(int8)
        np.int8(1)
    """
    if isinstance(declared, ArrayType):
        return array_dummy(declared.element.dtype, declared.ndim)
    return declared.dtype.type(1) if isinstance(declared, ScalarType) else None
