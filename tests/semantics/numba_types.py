"""Result types of numba-cuda 0.30.4 (numba 0.68.1), asked of its own typing context.

One letter for each dtype, NumPy's (`q` is int64, `d` float64, `?` bool); `-` where
numba refuses the operation. Rows are the left operand, columns the right one.
`bool ** int32` gives float32, by accident; tests leave it out.
"""

import numpy as np

DTYPES = "?bhiqBHIQefd"

_ARITHMETIC = (
    "qqqqqqqqqefd qqqqqqqqqefd qqqqqqqqqffd qqqqqqqqqddd qqqqqqqqqddd qqqqqQQQQffd "
    "qqqqqQQQQddd qqqqqQQQQddd qqqqqQQQQddd eefddfdddefd fffddfdddffd dddddddddddd"
)
_DIVISION = (
    "dddddddddefd dddddddddefd dddddddddffd dddddddddddd dddddddddddd dddddddddffd "
    "dddddddddddd dddddddddddd dddddddddddd eefddfdddefd fffddfdddffd dddddddddddd"
)
_FLOOR = (
    "qqqqqqqqqffd qqqqqqqqqffd qqqqqqqqqffd qqqqqqqqqddd qqqqqqqqqddd qqqqqQQQQffd "
    "qqqqqQQQQddd qqqqqQQQQddd qqqqqQQQQddd fffddfdddffd fffddfdddffd dddddddddddd"
)
_POWER = (
    "qqqfqqqqqffd qqqqqqqqqffd qqqqqqqqqffd qqqqqqqqqddd qqqqqqqqqddd qqqqqQQQQffd "
    "qqqqqQQQQddd qqqqqQQQQddd qqqqqQQQQddd fffffffffffd fffffffffffd dddddddddddd"
)
_BITS = (
    "?qqqqqqqq--- qqqqqqqqq--- qqqqqqqqq--- qqqqqqqqq--- qqqqqqqqq--- qqqqqQQQQ--- "
    "qqqqqQQQQ--- qqqqqQQQQ--- qqqqqQQQQ--- ------------ ------------ ------------"
)
_SHIFT = (
    "qqqqqqqqq--- qqqqqqqqq--- qqqqqqqqq--- qqqqqqqqq--- qqqqqqqqq--- QQQQQQQQQ--- "
    "QQQQQQQQQ--- QQQQQQQQQ--- QQQQQQQQQ--- ------------ ------------ ------------"
)
_UNIFY = (
    "?bhiqBHIQefd bbhiqhiqdefd hhhiqhiqdffd iiiiqiiqdddd qqqqqqqqdddd BhhiqBHIQefd "
    "HiiiqHHIQffd IqqqqIIIQddd QddddQQQQddd eefddefddefd fffddffddffd dddddddddddd"
)

_ANGLE = (
    "dddddddddffd dddddddddffd dddddddddffd dddddddddddd dddddddddddd dddddddddffd "
    "dddddddddddd dddddddddddd dddddddddddd fffddfdddffd fffddfdddffd dddddddddddd"
)
_REMAINDER = (
    "fffddfdddffd fffddfdddffd fffddfdddffd dddddddddddd dddddddddddd fffddfdddffd "
    "dddddddddddd dddddddddddd dddddddddddd fffddfdddffd fffddfdddffd dddddddddddd"
)
_MATH_POW = (
    "ffffdfdddffd ffffdfdddffd ffffdfdddffd dddddddddddd dddddddddddd ffffdfdddffd "
    "dddddddddddd dddddddddddd dddddddddddd ffffdfdddffd ffffdffddffd dddddddddddd"
)
_LDEXP = (
    "ffffffffffff ffffffffffff ffffffffffff dddddddddddd dddddddddddd ffffffffffff "
    "dddddddddddd dddddddddddd dddddddddddd ffffffffffff ffffffffffff dddddddddddd"
)
_NUMPY_FLOAT = (
    "fffddffddffd fffddffddffd fffddffddffd dddddddddffd dddddddddffd fffddffddffd "
    "fffddffddffd dddddddddffd dddddddddffd fffffffffffd fffffffffffd dddddddddddd"
)
_NUMPY_CHOICE = (
    "?bhiqBHIQffd bbhiqhiqdffd hhhiqhiqdffd iiiiqiiqdffd qqqqqqqqdffd BhhiqBHIQffd "
    "HiiiqHHIQffd IqqqqIIIQffd QddddQQQQffd fffffffffffd fffffffffffd dddddddddddd"
)
_NUMPY_BITS = (
    "?bhiqBHIQ--- bbhiqhiq---- hhhiqhiq---- iiiiqiiq---- qqqqqqqq---- BhhiqBHIQ--- "
    "HiiiqHHIQ--- IqqqqIIIQ--- Q----QQQQ--- ------------ ------------ ------------"
)
_COMPARED = " ".join(["?" * 12] * 12)

BINARY = {
    "add": _ARITHMETIC,
    "sub": _ARITHMETIC,
    "mul": _ARITHMETIC,
    "truediv": _DIVISION,
    "floordiv": _FLOOR,
    "mod": _FLOOR,
    "pow": _POWER,
    "and_": _BITS,
    "or_": _BITS,
    "xor": _BITS,
    "lshift": _SHIFT,
    "rshift": _SHIFT,
    "unify": _UNIFY,
    "math.atan2": _ANGLE,
    "math.hypot": _ANGLE,
    "math.fmod": _REMAINDER,
    "math.remainder": _REMAINDER,
    "math.copysign": _REMAINDER,
    "math.nextafter": _REMAINDER,
    "math.pow": _MATH_POW,
    "math.ldexp": _LDEXP,
    "np.arctan2": _NUMPY_FLOAT,
    "np.hypot": _NUMPY_FLOAT,
    "np.true_divide": _NUMPY_FLOAT,
    "np.minimum": _NUMPY_CHOICE,
    "np.maximum": _NUMPY_CHOICE,
    "np.fmin": _NUMPY_CHOICE,
    "np.fmax": _NUMPY_CHOICE,
    "np.bitwise_and": _NUMPY_BITS,
    "np.bitwise_or": _NUMPY_BITS,
    "np.bitwise_xor": _NUMPY_BITS,
    "np.less": _COMPARED,
    "np.logical_and": _COMPARED,
}

_HALF_MATH = [
    "cos",
    "sin",
    "exp",
    "exp2",
    "log",
    "log2",
    "log10",
    "sqrt",
    "fabs",
    "ceil",
    "floor",
    "trunc",
]
_MATH = [
    "acos",
    "asin",
    "atan",
    "acosh",
    "asinh",
    "atanh",
    "tan",
    "cosh",
    "sinh",
    "tanh",
    "erf",
    "erfc",
    "expm1",
    "gamma",
    "lgamma",
    "log1p",
    "degrees",
    "radians",
]
_NUMPY = [
    "sin",
    "cos",
    "tan",
    "arcsin",
    "arccos",
    "arctan",
    "sinh",
    "cosh",
    "tanh",
    "arcsinh",
    "arccosh",
    "arctanh",
    "log",
    "log2",
    "log10",
    "degrees",
    "radians",
    "rad2deg",
    "deg2rad",
]

UNARY = {
    "neg": "qqqqqQQQQefd",
    "pos": "qqqqqQQQQefd",
    "invert": "?qqqqQQQQ---",
    "not_": "????????????",
    "abs": "bbhiqBHIQefd",
    "int": "qbhiqBHIQqqq",
    "float": "-ddddddddefd",
    "round": "qqqqqqqqqqqq",
    "bool": "????????????",
    **{f"math.{name}": "dddddddddefd" for name in _HALF_MATH},
    **{f"math.{name}": "dddddddddffd" for name in _MATH},
    "math.isnan": "????????????",
    "math.isinf": "????????????",
    "math.isfinite": "????????????",
    "math.frexp": "fffddfdddffd",  # of the tuple's first part; the second is int32
    "math.modf": "ddddddddddfd",  # of both parts
    **{f"np.{name}": "fffddffddffd" for name in _NUMPY},
    "np.isnan": "????????????",
    "np.invert": "?bhiqBHIQ---",
    "np.logical_not": "????????????",
    # popc, clz and brev accept floats in the real compiler: it converts them to int8
    # or uint32 first, which is never meant.
    "popc": "bbhiqBHIQ---",
    "clz": "bbhiqBHIQ---",
    "ffs": "---II--II---",  # the others have a type but no code
    "brev": "IIIIIIIIQ---",
    "cbrt": "fffddfdddffd",
}


def binary_dtype(operation, left, right):
    """Return numba's result dtype of an operation on two dtypes, or None."""
    rows = BINARY[operation].split()
    return _dtype(rows[_position(left)][_position(right)])


def unary_dtype(operation, operand):
    """Return numba's result dtype of an operation on one dtype, or None."""
    return _dtype(UNARY[operation][_position(operand)])


def _position(dtype):
    dtype = np.dtype(dtype)
    return next(i for i, c in enumerate(DTYPES) if np.dtype(c) == dtype)


def _dtype(letter):
    return None if letter == "-" else np.dtype(letter)
