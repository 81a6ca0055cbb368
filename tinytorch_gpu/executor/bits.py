"""Bit operations over lanes: counting, finding and reversing bits.

Each works on the unsigned integers of the same width. Types are the compiler's, among
them two that surprise: `brev` of a signed 64-bit number reverses its low 32 bits, since
numba has the forms uint32 and uint64 and picks the first; `ffs` gives uint32.

Source: types and PTX of numba-cuda 0.30.4 (cc 8.0).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tinytorch_gpu.executor.arithmetic import typed_unary
from tinytorch_gpu.executor.conversion import dtype_of
from tinytorch_gpu.executor.typing_rules import result_dtype

__all__ = ["count_leading_zeros", "count_ones", "find_first_set", "reverse_bits"]

# Groups of 1, 2, 4 ... 32 bits within a 64-bit word: the mask of every second group.
_GROUPS = tuple(
    (np.uint64(width), np.uint64((2**64 - 1) // (2**width + 1)))
    for width in (1, 2, 4, 8, 16, 32)
)


def _unsigned(x: Any) -> Any:
    """Return the same bits as unsigned integers."""
    return x.view(np.dtype(f"u{x.dtype.itemsize}"))


def _ones(words: Any) -> Any:
    """Count the bits of uint64 words by adding neighbouring groups of bits."""
    for width, mask in _GROUPS:
        words = (words & mask) + ((words >> width) & mask)
    return words


def _popc(x: Any) -> Any:
    return _ones(_unsigned(x).astype(np.uint64)).astype(x.dtype)


def _clz(x: Any) -> Any:
    bits = 8 * x.dtype.itemsize
    words = _unsigned(x).astype(np.uint64)
    for width, _ in _GROUPS:  # copy the highest bit into all lower ones
        words = words | (words >> width)
    return (np.uint64(bits) - _ones(words)).astype(x.dtype)


def _brev(x: Any) -> Any:
    words = x.astype(np.uint64)
    for width, mask in _GROUPS:  # swap neighbouring groups of bits
        words = ((words & mask) << width) | ((words >> width) & mask)
    return (words >> np.uint64(64 - 8 * x.dtype.itemsize)).astype(x.dtype)


count_ones = typed_unary(_popc, "count_bits")
count_leading_zeros = typed_unary(_clz, "count_bits")
reverse_bits = typed_unary(_brev, "reverse_bits")


def find_first_set(x: Any) -> Any:
    """Return the position of the lowest set bit from 1 on, uint32; 0 gives 0.

    Raises:
        KernelTypeError: x is no 32- or 64-bit integer.

    Example:
        >>> find_first_set(np.int32(12)), find_first_set(np.int64(2**40))
        (np.uint32(3), np.uint32(41))
    """
    dtype = result_dtype("find_bit", dtype_of(x))
    words = _unsigned(x).astype(np.uint64)
    below = words ^ (words - np.uint64(1))  # the lowest set bit and the zeros below
    return np.where(words == 0, np.uint64(0), _ones(below)).astype(dtype)[()]
