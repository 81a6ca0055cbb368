"""What `simgpu.breakeven` refuses before anything runs, in four parts.

Comes in: its arguments. Goes out: an error, or nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tinytorch_gpu.cost.breakeven import Host
from tinytorch_gpu.errors import UnsupportedError
from tinytorch_gpu.units import is_whole

__all__ = ["check_request"]

MOST = 2**63 - 1


def check_request(what: Any, sizes: Any, host: Any, arguments: Any) -> None:
    """Refuse what is no op, no kernel, no sizes, no host or no maker of arguments.

    Raises:
        UnsupportedError: one of them is not.
    """
    if not callable(what) and not _are_names(what):
        raise _refused(
            f"{what!r} is neither an op nor a kernel",
            why='it is the name of an op such as "matmul", a list of names, or a '
            "function",
            fix='simgpu.breakeven("matmul", [64, 512, 4096])',
        )
    if isinstance(what, (list, tuple, str)) and arguments is not None:
        raise _refused(
            f"arguments={arguments!r} for an op by name",
            why="an op by name is priced on paper, from the size alone",
            fix='simgpu.breakeven("matmul", [64, 512, 4096])',
        )
    _check_sizes(sizes)
    if not isinstance(host, (str, Host)):
        raise _refused(
            f"host={host!r} of type {type(host).__name__}",
            why="a host is told by its name or as a Host",
            fix='host="laptop", or host="measure" for this machine',
        )
    if arguments is not None and not callable(arguments):
        raise _refused(
            f"arguments={arguments!r} is no function",
            why="it makes the arguments of the kernel for each size N",
            fix="arguments=lambda n: (np.ones(n, np.float32), ...)",
        )


def _are_names(what: Any) -> bool:
    if isinstance(what, (list, tuple)):
        return bool(what) and all(isinstance(name, str) for name in what)
    return isinstance(what, str)


def _check_sizes(sizes: Any) -> None:
    is_list = isinstance(sizes, (list, tuple, range, np.ndarray))
    if is_list and len(sizes) and all(map(_is_size, sizes)):
        return
    raise _refused(
        f"sizes={sizes!r:.60}",
        why="sizes are a list of at least one whole number, each 1 or more and below\n"
        "2**63: what a 64-bit index can count",
        fix="for one size: simgpu.breakeven(what, [64])",
    )


def _is_size(size: Any) -> bool:
    return is_whole(size) and 1 <= size <= MOST


def _refused(what: str, why: str, fix: str) -> UnsupportedError:
    where = "simgpu.breakeven(op_or_kernel, sizes, host)"
    return UnsupportedError(what, where=where, why=why, fix=fix)
