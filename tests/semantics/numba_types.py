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
}

UNARY = {
    "neg": "qqqqqQQQQefd",
    "pos": "qqqqqQQQQefd",
    "invert": "?qqqqQQQQ---",
    "not_": "????????????",
    "abs": "-bhiqBHIQefd",  # abs(bool) is an int8, which nobody needs
    "int": "qbhiqBHIQqqq",
    "float": "-ddddddddefd",
    "round": "qqqqqqqqqqqq",
    "bool": "????????????",
    "math.sqrt": "dddddddddefd",
    "math.exp": "dddddddddefd",
    "math.log": "dddddddddefd",
    "math.sin": "dddddddddefd",
    "math.cos": "dddddddddefd",
    "math.fabs": "dddddddddefd",
    "math.floor": "dddddddddefd",
    "math.ceil": "dddddddddefd",
    "math.trunc": "dddddddddefd",
    "math.tanh": "dddddddddffd",
    "math.log1p": "dddddddddffd",
    "math.isnan": "????????????",
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
