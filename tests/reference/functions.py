"""Functions that a kernel may call, for one thread's numbers."""

import builtins
import functools
import math
from fractions import Fraction

import numpy as np

from tests.reference.arithmetic import (
    binary,
    binary_dtype,
    cast,
    literal,
    unary_dtype,
    unified,
    wrapped,
)
from tests.semantics.numba_types import UNARY

# Builtins.


def smaller(*values):
    """Return the least in the unified type; a NaN loses, and -0.0 < +0.0."""
    return _fold(np.fmin, any, values)


def larger(*values):
    """Return the greatest in the unified type; a NaN loses, and +0.0 > -0.0."""
    return _fold(np.fmax, all, values)


def _fold(function, is_negative, values):
    result = literal(values[0])
    for value in map(literal, values[1:]):
        dtype = binary_dtype("unify", result.dtype, value.dtype)
        pair = (cast(result, dtype), cast(value, dtype))
        result = function(*pair)
        if dtype.kind == "f" and pair == (0, 0):  # NumPy may give either zero
            result = dtype.type(-0.0 if is_negative(map(np.signbit, pair)) else 0.0)
    return result


def ranged(*bounds):
    """Count in int64."""
    return map(np.int64, builtins.range(*map(int, bounds)))


def enumerated(values, start=0):
    """Pair each value with its number, an int64."""
    return ((np.int64(k), v) for k, v in builtins.enumerate(values, int(start)))


def absolute(value):
    return np.abs(literal(value))


def length(value):
    return np.int64(len(value))


def rounded(value, digits=None):
    """Round half to even, to an int64; with digits in the value's own type."""
    value = literal(value)
    if digits is None:
        return cast(np.rint(np.float64(value)), "int64")
    return np.round(value, int(digits))


def integer(value):
    value = literal(value)
    return cast(value, unary_dtype("int", value.dtype))


def floating(value):
    value = literal(value)
    return cast(value, unary_dtype("float", value.dtype))


def power(a, b):
    return binary("pow", a, b)


def converter(dtype):
    """Return what stands for a type name: it converts, and arrays ask its type."""
    convert = functools.partial(cast, dtype=dtype)
    convert.element_type = np.dtype(dtype)
    return convert


# math.

OF_ONE = {
    "sqrt": np.sqrt,
    "exp": np.exp,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "tanh": np.tanh,
    "fabs": np.fabs,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "isnan": np.isnan,
    "isinf": np.isinf,
}
OF_TWO = {
    "atan2": np.arctan2,
    "hypot": np.hypot,
    "copysign": np.copysign,
    "fmod": np.fmod,
    "pow": np.power,
}


def _float_dtype(*values):
    """Floats keep the wider of their types; with an integer, float64."""
    dtypes = [v.dtype for v in values]
    is_float = all(d.kind == "f" for d in dtypes)
    return np.result_type(*dtypes) if is_float else np.dtype("float64")


def of_one(name, function):
    def compute(value):
        value = literal(value)
        known = f"math.{name}" in UNARY and not name.startswith("is")
        of = unary_dtype(f"math.{name}", value.dtype) if known else _float_dtype(value)
        return function(cast(value, of))

    return compute


def of_two(function):
    def compute(a, b):
        a, b = literal(a), literal(b)
        dtype = _float_dtype(a, b)
        return function(cast(a, dtype), cast(b, dtype))

    return compute


# cuda's arithmetic.


def _bits(value):
    """Return the bits of an integer as text, one character for each."""
    value = literal(value)
    width = 8 * value.dtype.itemsize
    return f"{int(value) & (2**width - 1):0{width}b}"


def popc(x):
    return literal(x).dtype.type(_bits(x).count("1"))


def clz(x):
    return literal(x).dtype.type(len(_bits(x)) - len(_bits(x).lstrip("0")))


def ffs(x):
    """Place of the lowest bit that is set, counted from 1; 0 where none is."""
    return np.uint32(_bits(x)[::-1].find("1") + 1)


def brev(x):
    """Reverse the bits; numba has forms for uint32 and uint64, and prefers the first."""
    x = literal(x)
    x = x if x.dtype == np.uint64 else cast(x, "uint32")
    return x.dtype.type(int(_bits(x)[::-1], 2))


def selp(condition, a, b):
    a, b = unified(a, b)
    return a if condition else b


def fma(a, b, c):
    """Return `a * b + c`, exact before its only rounding."""
    a, b, c = map(literal, (a, b, c))
    dtype = _float_dtype(a, b, c)
    a, b, c = (cast(v, dtype) for v in (a, b, c))
    if not all(map(math.isfinite, (a, b, c))):
        return dtype.type(a * b + c)
    exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
    if exact == 0:  # then nothing is rounded, and the zero gets its sign
        return dtype.type(a * b + c)
    return _nearest(exact, dtype)


def _nearest(exact, dtype):
    """Round a fraction once: to the nearest of three numbers, ties to an even one."""
    largest = np.finfo(dtype).max
    half_a_step = Fraction(float(largest - np.nextafter(largest, dtype.type(0)))) / 2
    if abs(exact) >= Fraction(float(largest)) + half_a_step:
        return dtype.type(math.inf if exact > 0 else -math.inf)
    guess = dtype.type(float(exact))
    near = guess, np.nextafter(guess, dtype.type(-np.inf)), np.nextafter(guess, np.inf)
    unsigned = np.dtype(f"u{dtype.itemsize}")
    finite = [dtype.type(n) for n in near if np.isfinite(n)]
    return min(
        finite,
        key=lambda n: (abs(Fraction(float(n)) - exact), int(n.view(unsigned)) % 2),
    )


def cbrt(x):
    """Return the cube root, by way of float64, which rounds float32 rightly."""
    x = literal(x)
    return _float_dtype(x).type(np.cbrt(np.float64(x)))


def increased(old, limit):
    """Count up to the limit, then start at 0 (atomic inc)."""
    return 0 if old >= limit else old + 1


def decreased(old, limit):
    """Count down to 0, then start at the limit (atomic dec)."""
    return limit if old == 0 or old > limit else old - 1


# What an atomic stores, from the old value and the given one, both Python numbers for
# integers and NumPy scalars for floats.
ATOMIC = {
    "add": lambda old, value: old + value,
    "sub": lambda old, value: old - value,
    "max": max,
    "min": min,
    "and_": lambda old, value: old & value,
    "or_": lambda old, value: old | value,
    "xor": lambda old, value: old ^ value,
    "exch": lambda _old, value: value,
    "inc": increased,
    "dec": decreased,
}


def combined(operation, old, value):
    """Return what an atomic operation leaves in memory."""
    value = cast(value, old.dtype)
    if old.dtype.kind == "f":
        return ATOMIC[operation](old, value)
    return wrapped(ATOMIC[operation](int(old), int(value)), old.dtype)


NUMPY_TYPES = (
    "int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64"
)
FUNCTIONS = {
    range: ranged,
    enumerate: enumerated,
    min: smaller,
    max: larger,
    abs: absolute,
    len: length,
    round: rounded,
    pow: power,
    int: integer,
    float: floating,
    bool: converter("?"),
    **{getattr(math, name): of_one(name, f) for name, f in OF_ONE.items()},
    **{getattr(math, name): of_two(f) for name, f in OF_TWO.items()},
    **{getattr(np, name): converter(name) for name in NUMPY_TYPES.split()},
}
