"""`cuda.atomic`: the atomic operations under numba's names, and which types they take.

Source: the table of element types was read from the numba-cuda 0.30.4 compiler.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.cuda.intrinsics import Intrinsic, with_name
from tinytorch_gpu.errors import KernelTypeError
from tinytorch_gpu.executor.atomics import atomic as run_atomic
from tinytorch_gpu.executor.kernel_array import KernelArray

if TYPE_CHECKING:
    from tinytorch_gpu.executor.lanes import Batch
    from tinytorch_gpu.executor.mask import Mask
    from tinytorch_gpu.trace import Site

__all__ = ["atomic"]

UNSIGNED = ("uint32", "uint64")
INTEGERS = ("int32", "int64", *UNSIGNED)
NUMBERS = (*INTEGERS, "float32", "float64")


def _element_type(
    name: str, types: tuple[str, ...], array: Any, index: Any, *operands: Any
) -> Any:
    """Return a zero of the element type, which is the type of the old value.

    Raises:
        KernelTypeError: the compiler knows no such atomic.
    """
    if not isinstance(array, KernelArray):
        raise _refused(name, types, f"a {type(array).__name__}")
    if array.element_dtype.name not in types:
        raise _refused(name, types, f"an array of {array.element_dtype}")
    parts = index if isinstance(index, tuple) else (index,)
    if len(parts) != len(array.lengths):
        axes = f"{len(parts)} of {len(array.lengths)} indices"
        raise _refused(name, types, axes)
    if not all(isinstance(operand, np.generic) for operand in operands):
        raise _refused(name, types, "an operand that is no number")
    return array.element_dtype.type(0)


def _first_element(array: Any, old: Any, val: Any) -> Any:
    """Type of `compare_and_swap`, which has no index and takes one axis only."""
    return _element_type("compare_and_swap", INTEGERS, array, np.int64(0), old, val)


def _swap_first(
    batch: Batch, mask: Mask, site: Site, array: Any, old: Any, val: Any
) -> Any:
    """Do `cas` on element 0."""
    return run_atomic(batch, mask, site, "cas", array, np.int64(0), old, val)


def _refused(name: str, types: tuple[str, ...], given: str) -> KernelTypeError:
    return KernelTypeError(
        f"cuda.atomic.{name} given {given}",
        why="it takes one element of an array of " + ", ".join(types),
        fix="use an array of one of these types, and one index for each axis",
    )


def _make(
    name: str, types: tuple[str, ...], effect: str, operands: str = "val"
) -> Intrinsic:
    return Intrinsic(
        f"atomic.{name}",
        with_name(run_atomic, name),
        f"atomic.{name}(ary, idx, {operands}): {effect}; gives the old value.",
        signature=f"ary, idx, {operands}",
        needs="mask",
        infer=partial(_element_type, name, types),
        touches_memory=True,
    )


class _Atomic:
    """`cuda.atomic`: change one element in one step, whoever else changes it.

    Each takes an array, an index (a tuple for several axes) and a value, and gives the
    element's old value in the element's type. Lanes that meet take turns in lane order.
    """

    add = _make("add", NUMBERS, "ary[idx] += val")
    sub = _make("sub", NUMBERS, "ary[idx] -= val")
    max = _make("max", NUMBERS, "ary[idx] = max(ary[idx], val), a NaN in memory stays")
    min = _make("min", NUMBERS, "ary[idx] = min(ary[idx], val), a NaN in memory stays")
    nanmax = _make("nanmax", NUMBERS, "as max, but a number replaces a NaN in memory")
    nanmin = _make("nanmin", NUMBERS, "as min, but a number replaces a NaN in memory")
    and_ = _make("and_", INTEGERS, "ary[idx] &= val")
    or_ = _make("or_", INTEGERS, "ary[idx] |= val")
    xor = _make("xor", INTEGERS, "ary[idx] ^= val")
    exch = _make("exch", INTEGERS, "ary[idx] = val")
    inc = _make("inc", UNSIGNED, "ary[idx] += 1, but 0 where it was val or more")
    dec = _make("dec", UNSIGNED, "ary[idx] -= 1, but val where it was 0 or above val")
    cas = _make("cas", INTEGERS, "ary[idx] = val where it was old", "old, val")
    compare_and_swap = Intrinsic(
        "atomic.compare_and_swap",
        _swap_first,
        "atomic.compare_and_swap(ary, old, val): cas on ary[0]; gives the old value.",
        signature="ary, old, val",
        needs="mask",
        infer=_first_element,
        touches_memory=True,
    )


atomic = _Atomic()
