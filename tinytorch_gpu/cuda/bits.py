"""`cuda.popc`, `clz`, `ffs`, `brev`, `selp`, `fma`, `cbrt`: functions without memory.

Names, parameter names and result types are numba.cuda's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tinytorch_gpu.cuda.intrinsics import Intrinsic
from tinytorch_gpu.errors import KernelTypeError
from tinytorch_gpu.executor.arithmetic import select, typed_unary
from tinytorch_gpu.executor.bits import (
    count_leading_zeros,
    count_ones,
    find_first_set,
    reverse_bits,
)
from tinytorch_gpu.executor.conversion import dtype_of
from tinytorch_gpu.executor.fused import fused_multiply_add

__all__ = ["brev", "cbrt", "clz", "ffs", "fma", "popc", "selp"]

BOOL = np.dtype("bool")
_SELECTABLE = frozenset(map(np.dtype, ("i2", "i4", "i8", "u2", "u4", "u8", "f4", "f8")))


def _selp(condition: Any, if_true: Any, if_false: Any) -> Any:
    """Choose by lane between two values of one dtype, both computed before."""
    one, other = dtype_of(if_true), dtype_of(if_false)
    if dtype_of(condition) != BOOL:
        raise KernelTypeError(
            f"cuda.selp on a condition of type {condition.dtype.name}",
            why="the hardware selects by a predicate, which is a bool",
            fix="compare first: cuda.selp(x != 0, a, b)",
        )
    if one != other or one not in _SELECTABLE:
        raise KernelTypeError(
            f"cuda.selp of {one.name} and {other.name}",
            why="both need one type: a 16- to 64-bit integer, float32 or float64",
            fix="cast one: cuda.selp(p, a, int32(0)), or write `a if p else b`",
        )
    return select(condition, if_true, if_false)


def _cube_root(x: Any) -> Any:
    """Through float64: NumPy's float32 form misses even the roots of cubes."""
    return np.cbrt(x.astype(np.float64)).astype(x.dtype)


def _pure(name: str, signature: str, lower: Any, doc: str, kind: str) -> Intrinsic:
    return Intrinsic(name, lower, doc, signature=signature, needs="", kind=kind)


popc = _pure(
    "popc", "x", count_ones, "popc(x): number of set bits, in x's type.", "arithmetic"
)
clz = _pure(
    "clz",
    "x",
    count_leading_zeros,
    "clz(x): zero bits above the highest set one, in x's type; of 0 x's width.",
    "arithmetic",
)
ffs = _pure(
    "ffs",
    "x",
    find_first_set,
    "ffs(x): position of the lowest set bit from 1 on, uint32; 0 if none is set.",
    "arithmetic",
)
brev = _pure(
    "brev",
    "x",
    reverse_bits,
    "brev(x): bits in reverse; uint64 for uint64, else uint32 of the low 32 bits.",
    "arithmetic",
)
selp = _pure(
    "selp",
    "a, b, c",
    _selp,
    "selp(a, b, c): b if a else c, both evaluated, of one type.",
    "arithmetic",
)
fma = _pure(
    "fma", "a, b, c", fused_multiply_add, "fma(a, b, c): a * b + c, rounded once.",
    "arithmetic",
)  # fmt: skip
cbrt = _pure(
    "cbrt",
    "a",
    typed_unary(_cube_root, "small_math"),
    "cbrt(a): cube root, of negative numbers as well.",
    "special",
)
