"""Registers of a thread: given by the learner, or estimated, as no compiler runs here.

The estimate is `OVERHEAD` plus a register for each 32 bits of the kernel's variables
and local arrays. A compiler reuses the registers of variables that are no longer
needed, and needs more where it writes loops out.

Source: numba.cuda 0.30.4, `cuda.jit` (`max_registers`, `launch_bounds`); CUDA C++
Programming Guide, "Launch Bounds"; `OVERHEAD`: NVIDIA's assembler, ptxas 12.9, which
gives to the kernels of this library 12 to 64 registers for a T4; the estimate is 0.63
to 2.25 times that, 1.13 in the median (`tests/unit/kernels/test_real_numba.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tinytorch_gpu.cuda.options import Options

__all__ = ["Registers", "estimated_registers"]

OVERHEAD = 12  # addresses, results that are on their way, the stack pointer
UNIT = 8  # compilers and hardware count a thread's registers in eights
MOST = 255  # registers of a thread (Programming Guide, from 3.5 on)
MOST_IN_REGISTERS = 4 * MOST  # bytes of local arrays; larger ones stay in memory
# 32-bit registers of an SM from compute capability 3.0 on. Simplified: a kernel is
# compiled before a GPU is chosen, so `launch_bounds` leave a thread up to 8 x too many
# on 1.x and 2.x, which have 8,192 to 32,768; a launch takes what one block may have.
FILE = 65_536


def estimated_registers(variables: Iterable[Any], local_bytes: int) -> int:
    """Estimate the 32-bit registers that a compiler would give to a thread.

    Args:
        variables: a value of each variable's type; what is not a number takes two.
        local_bytes: bytes of the local arrays that one thread makes.

    Returns:
        Registers, a multiple of 8.

    Example:
        >>> index, total = np.int64(0), np.float32(0.0)
        >>> estimated_registers([index, total], local_bytes=64)     # 12 + 2 + 1 + 16
        32

    Limits: device functions' own variables are left out.
    Source: as for the module.
    """
    # Simplified: all variables are taken to be alive at the same time.
    words = sum(_words(value) for value in variables)
    in_registers = local_bytes if local_bytes <= MOST_IN_REGISTERS else 0
    return -(-(OVERHEAD + words + in_registers // 4) // UNIT) * UNIT


def _words(value: Any) -> int:
    if isinstance(value, tuple):
        return sum(map(_words, value))
    return max(1, value.itemsize // 4) if isinstance(value, np.generic) else 2


class Registers(NamedTuple):
    """Registers of a thread.

    Args:
        number: 32-bit registers.
        are_given: the learner told them; else they are an estimate.
    """

    number: int
    are_given: bool

    @classmethod
    def of(
        cls, options: Options, variables: Iterable[Any], local_bytes: int
    ) -> Registers:
        """Take `max_registers`, or estimate within what `launch_bounds` leaves.

        Args:
            options: of `cuda.jit`; `launch_bounds` of threads and blocks leaves to a
                thread what lets so many blocks be resident.
            variables: as for `estimated_registers`.
            local_bytes: as for `estimated_registers`.

        Example:
            >>> from tinytorch_gpu.cuda.options import Options
            >>> sums = {"variables": [], "local_bytes": 512}
            >>> Registers.of(Options(), **sums).number           # 12 + 128
            144
            >>> Registers.of(Options(launch_bounds=(256, 4)), **sums).number
            64
            >>> Registers.of(Options(max_registers=37), **sums)
            Registers(number=37, are_given=True)

        Source: as for the module.
        """
        if options.max_registers:
            return cls(options.max_registers, are_given=True)
        estimate = estimated_registers(variables, local_bytes)
        threads, blocks = (*options.launch_bounds, 1, 1)[:2]
        left = FILE // (threads * max(1, blocks)) // UNIT * UNIT
        return cls(min(estimate, left, MOST), are_given=False)
