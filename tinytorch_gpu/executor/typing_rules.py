"""Which dtype a GPU operation gives: numba.cuda's measured rules, as one table.

Integers widen to 64 bits at every operation; float32 stays float32 only with float32
and small integers; `/` on integers gives float64. Whatever computes or stores in a
kernel looks its result's dtype up here; nothing else decides about types.

Source: types read from the numba-cuda 0.30.4 compiler (numba 0.68.1, cc 8.0).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.errors import KernelTypeError

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "BINARY_TYPES",
    "LETTERS",
    "UNARY_TYPES",
    "result_dtype",
    "unified_dtype",
]

Dtype = np.dtype[Any]

# One letter for each dtype, NumPy's: bool, int8 to 64, uint8 to 64, float16 to 64.
LETTERS = "?bhiqBHIQefd"

# A row for each left operand, a column for each right one, both in the order of
# LETTERS; the letter there is the result, `-` is refused.
BINARY_TYPES = {
    "arithmetic": (
        "qqqqqqqqqefd qqqqqqqqqefd qqqqqqqqqffd qqqqqqqqqddd "
        "qqqqqqqqqddd qqqqqQQQQffd qqqqqQQQQddd qqqqqQQQQddd "
        "qqqqqQQQQddd eefddfdddefd fffddfdddffd dddddddddddd"
    ),
    "division": (
        "dddddddddefd dddddddddefd dddddddddffd dddddddddddd "
        "dddddddddddd dddddddddffd dddddddddddd dddddddddddd "
        "dddddddddddd eefddfdddefd fffddfdddffd dddddddddddd"
    ),
    "floor": (
        "qqqqqqqqqffd qqqqqqqqqffd qqqqqqqqqffd qqqqqqqqqddd "
        "qqqqqqqqqddd qqqqqQQQQffd qqqqqQQQQddd qqqqqQQQQddd "
        "qqqqqQQQQddd fffddfdddffd fffddfdddffd dddddddddddd"
    ),
    "power": (
        "qqqqqqqqqffd qqqqqqqqqffd qqqqqqqqqffd qqqqqqqqqddd "
        "qqqqqqqqqddd qqqqqQQQQffd qqqqqQQQQddd qqqqqQQQQddd "
        "qqqqqQQQQddd fffffffffffd fffffffffffd dddddddddddd"
    ),
    "bits": (
        "?qqqqqqqq--- qqqqqqqqq--- qqqqqqqqq--- qqqqqqqqq--- "
        "qqqqqqqqq--- qqqqqQQQQ--- qqqqqQQQQ--- qqqqqQQQQ--- "
        "qqqqqQQQQ--- ------------ ------------ ------------"
    ),
    "shift": (
        "qqqqqqqqq--- qqqqqqqqq--- qqqqqqqqq--- qqqqqqqqq--- "
        "qqqqqqqqq--- QQQQQQQQQ--- QQQQQQQQQ--- QQQQQQQQQ--- "
        "QQQQQQQQQ--- ------------ ------------ ------------"
    ),
    "unify": (
        "?bhiqBHIQefd bbhiqhiqdefd hhhiqhiqdffd iiiiqiiqdddd "
        "qqqqqqqqdddd BhhiqBHIQefd HiiiqHHIQffd IqqqqIIIQddd "
        "QddddQQQQddd eefddefddefd fffddffddffd dddddddddddd"
    ),
    "angle": (
        "dddddddddffd dddddddddffd dddddddddffd dddddddddddd "
        "dddddddddddd dddddddddffd dddddddddddd dddddddddddd "
        "dddddddddddd fffddfdddffd fffddfdddffd dddddddddddd"
    ),
    "remainder": (
        "fffddfdddffd fffddfdddffd fffddfdddffd dddddddddddd "
        "dddddddddddd fffddfdddffd dddddddddddd dddddddddddd "
        "dddddddddddd fffddfdddffd fffddfdddffd dddddddddddd"
    ),
    "math_pow": (
        "ffffdfdddffd ffffdfdddffd ffffdfdddffd dddddddddddd "
        "dddddddddddd ffffdfdddffd dddddddddddd dddddddddddd "
        "dddddddddddd ffffdfdddffd ffffdffddffd dddddddddddd"
    ),
    "numpy_float": (
        "fffddffddffd fffddffddffd fffddffddffd dddddddddffd "
        "dddddddddffd fffddffddffd fffddffddffd dddddddddffd "
        "dddddddddffd fffffffffffd fffffffffffd dddddddddddd"
    ),
    "numpy_choice": (
        "?bhiqBHIQffd bbhiqhiqdffd hhhiqhiqdffd iiiiqiiqdffd "
        "qqqqqqqqdffd BhhiqBHIQffd HiiiqHHIQffd IqqqqIIIQffd "
        "QddddQQQQffd fffffffffffd fffffffffffd dddddddddddd"
    ),
    "numpy_bits": (
        "?bhiqBHIQ--- bbhiqhiq---- hhhiqhiq---- iiiiqiiq---- "
        "qqqqqqqq---- BhhiqBHIQ--- HiiiqHHIQ--- IqqqqIIIQ--- "
        "Q----QQQQ--- ------------ ------------ ------------"
    ),
}

# A column for each operand, in the order of LETTERS.
UNARY_TYPES = {
    "sign": "qqqqqQQQQefd",  # -x and +x
    "invert": "?qqqqQQQQ---",
    "abs": "bbhiqBHIQefd",
    "int": "qbhiqBHIQqqq",
    "float": "-ddddddddefd",
    "math": "dddddddddffd",
    "half_math": "dddddddddefd",  # math functions that have a float16 form
    "modf": "ddddddddddfd",
    "small_math": "fffddfdddffd",  # frexp, ldexp, cbrt, round(x, digits)
    "numpy": "fffddffddffd",  # np.sin(x) and the like
    "numpy_invert": "?bhiqBHIQ---",
    "count_bits": "bbhiqBHIQ---",  # popc, clz
    "find_bit": "---II--II---",  # ffs
    "reverse_bits": "IIIIIIIIQ---",  # brev
}


def _by_dtype(letters: str, result: Mapping[str, Dtype]) -> dict[Dtype, Dtype | None]:
    return {
        np.dtype(operand): result.get(letter)
        for operand, letter in zip(LETTERS, letters, strict=True)
    }


_DTYPES = {letter: np.dtype(letter) for letter in LETTERS}
_UNARY = {name: _by_dtype(row, _DTYPES) for name, row in UNARY_TYPES.items()}
_BINARY = {
    name: {
        np.dtype(left): _by_dtype(row, _DTYPES)
        for left, row in zip(LETTERS, rows.split(), strict=True)
    }
    for name, rows in BINARY_TYPES.items()
}


def result_dtype(operation: str, a: Dtype, b: Dtype | None = None) -> Dtype:
    """Return the dtype of an operation on one or two numbers.

    Args:
        operation: a row of `UNARY_TYPES`, or with two operands of `BINARY_TYPES`.
        a: dtype of the only or the left operand.
        b: dtype of the right operand.

    Raises:
        KernelTypeError: an operand is no number, or the compiler has no such operation.

    Example:
        >>> i4, f4 = np.dtype("int32"), np.dtype("float32")
        >>> result_dtype("arithmetic", i4, i4), result_dtype("arithmetic", f4, i4)
        (dtype('int64'), dtype('float64'))
        >>> result_dtype("math", i4)
        dtype('float64')
    """
    row: Any = _UNARY[operation] if b is None else _BINARY[operation].get(a, {})
    operand = a if b is None else b
    try:
        found: Dtype | None = row[operand]
    except KeyError:
        raise _no_number(a if a not in _UNARY["math"] else operand) from None
    if found is None:
        raise _no_such_operation(operation, a, b)
    return found


def unified_dtype(a: Dtype, b: Dtype) -> Dtype:
    """Return the dtype of a variable that is assigned both (`x if c else y`).

    Example:
        >>> unified_dtype(np.dtype("int32"), np.dtype("float32"))
        dtype('float64')
    """
    return result_dtype("unify", a, b)


def _no_number(dtype: Dtype) -> KernelTypeError:
    return KernelTypeError(
        f"a kernel cannot compute with {dtype}",
        why="kernels compute with bool, integers and floats",
        fix="convert the array before the launch",
    )


def _no_such_operation(operation: str, a: Dtype, b: Dtype | None) -> KernelTypeError:
    if operation in ("bits", "shift", "invert"):
        floating = a if a.kind == "f" or b is None else b
        return KernelTypeError(
            f"a bit operation on {floating.name}",
            why="&, |, ^, ~, << and >> take integers",
            fix="convert with int(x) first",
        )
    return KernelTypeError(
        f"`{operation}` of {a.name}",
        why="the compiler of numba.cuda has no such operation",
        fix="convert with int(x) or float32(x) first",
    )
