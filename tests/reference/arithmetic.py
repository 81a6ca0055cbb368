"""Numbers of one thread: numba's types, integers that wrap, one value at a time."""

import ast
import functools

import numpy as np

from tests.semantics import numba_types

OPERATORS = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.BitAnd: "and_",
    ast.BitOr: "or_",
    ast.BitXor: "xor",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
}
ON_FLOATS = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "truediv": np.divide,
    "floordiv": np.floor_divide,
    "mod": np.remainder,
    "pow": np.power,
}
ON_INTEGERS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b if b else 0,
    "mod": lambda a, b: a % b if b else 0,
    "pow": lambda a, b: a**b if b >= 0 else 0,
    "and_": lambda a, b: a & b,
    "or_": lambda a, b: a | b,
    "xor": lambda a, b: a ^ b,
}
ON_ONE = {"neg": lambda a: -a, "pos": lambda a: a, "invert": lambda a: ~a}
KINDS = {bool: np.bool_, int: np.int64, float: np.float64}

binary_dtype = functools.cache(numba_types.binary_dtype)
unary_dtype = functools.cache(numba_types.unary_dtype)


def literal(value):
    """Give a Python number its GPU type: int64, float64 or bool."""
    kind = KINDS.get(type(value))
    return value if kind is None else kind(value)


def cast(value, dtype):
    """Convert a number: integers wrap; floats lose their fraction and are clamped.

    PTX has no such conversion to 8 bits: numba keeps the low byte of one to 16 bits.
    From float16 it writes another instruction, which rounds and knows 8 bits.
    """
    value, dtype = literal(value), np.dtype(dtype)
    if value.dtype == dtype:
        return value
    if dtype.kind == "b":
        return np.bool_(value != 0)
    if dtype.kind == "f":
        return dtype.type(value)
    if value.dtype.kind != "f":
        return wrapped(int(value), dtype)
    if value.dtype == np.float16:
        return dtype.type(clamped(np.rint(value), dtype))
    wide = np.dtype(f"{dtype.kind}2") if dtype.itemsize == 1 else dtype
    return wrapped(clamped(np.trunc(value), wide), dtype)


def clamped(whole, dtype):
    """Return a whole float as a Python integer within the limits; NaN becomes 0."""
    limits = np.iinfo(dtype)
    if np.isnan(whole):
        return 0
    if np.isinf(whole):
        return int(limits.max if whole > 0 else limits.min)
    return int(min(max(int(whole), limits.min), limits.max))


def wrapped(number, dtype):
    """Keep the low bits of a Python integer."""
    bits = 8 * dtype.itemsize
    low = number & (2**bits - 1)
    is_negative = dtype.kind == "i" and low >= 2 ** (bits - 1)
    return dtype.type(low - 2**bits if is_negative else low)


def binary(operator, a, b):
    """Compute `a operator b` in the type that numba gives it."""
    a, b = literal(a), literal(b)
    dtype = binary_dtype(operator, a.dtype, b.dtype)
    if operator == "pow" and dtype.kind == "f" and a.dtype == dtype:
        return np.power(a, cast(b, dtype))
    if operator in ("lshift", "rshift"):
        return shift(operator, cast(a, dtype), int(cast(b, np.uint64)), dtype)
    x, y = cast(a, dtype), cast(b, dtype)
    if dtype.kind == "b":
        return np.bool_(ON_INTEGERS[operator](bool(x), bool(y)))
    if dtype.kind == "f":
        return dtype.type(ON_FLOATS[operator](x, y))
    return wrapped(ON_INTEGERS[operator](int(x), int(y)), dtype)


def shift(operator, value, count, dtype):
    """Shift at 64 bits; beyond 63 everything is shifted out."""
    if operator == "lshift":
        return wrapped(int(value) << count if count < 64 else 0, dtype)
    return wrapped(int(value) >> min(count, 64), dtype)


def unary(operator, a):
    """Compute `-a`, `+a` or `~a`."""
    a = literal(a)
    dtype = unary_dtype(operator, a.dtype)
    if dtype.kind == "f":
        return np.negative(a) if operator == "neg" else a
    if dtype.kind == "b":
        return ~a
    return wrapped(ON_ONE[operator](int(cast(a, dtype))), dtype)


def unified(a, b):
    """Return both in the type of a variable that may hold either."""
    a, b = literal(a), literal(b)
    dtype = binary_dtype("unify", a.dtype, b.dtype)
    return cast(a, dtype), cast(b, dtype)
