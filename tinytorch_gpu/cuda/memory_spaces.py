"""Memory that a kernel makes for itself: `cuda.shared`, `cuda.local`, `cuda.const`.

Shapes and dtypes are fixed when the kernel is compiled; the rewriter reads them and
writes the allocation into the lane program.
"""

from __future__ import annotations

from tinytorch_gpu.cuda.intrinsics import Intrinsic

__all__ = ["const", "local", "shared"]


class _Shared:
    """`cuda.shared`: memory that the threads of one block share."""

    array = Intrinsic(
        "shared.array",
        lambda *_: None,
        "shared.array(shape, dtype): one array for each block; contents undefined. "
        "Shape 0 is the dynamic shared memory, whose bytes the launch gives.",
        signature="shape, dtype, alignment=None",
        role="shared_array",
    )


class _Local:
    """`cuda.local`: memory that each thread has for itself."""

    array = Intrinsic(
        "local.array",
        lambda *_: None,
        "local.array(shape, dtype): one array for each thread; contents undefined.",
        signature="shape, dtype, alignment=None",
        role="local_array",
    )


class _Constant:
    """`cuda.const`: read-only copies of host arrays."""

    array_like = Intrinsic(
        "const.array_like",
        lambda *_: None,
        "const.array_like(ndarray): a read-only copy, taken when the kernel is "
        "compiled.",
        signature="ndarray",
        role="const_array",
    )


shared = _Shared()
local = _Local()
const = _Constant()
