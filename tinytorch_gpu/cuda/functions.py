"""Python functions that a kernel may call: builtins, math, operator and NumPy's.

`FUNCTIONS` maps the function object itself to what the lane program calls and how the
operation is counted. Types and rounding are the executor's.
"""

from __future__ import annotations

import builtins
import functools
import math
import operator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.cuda.numba_types import from_numba
from tinytorch_gpu.cuda.operators import kind_of
from tinytorch_gpu.cuda.spelling import spell
from tinytorch_gpu.cuda.types import ScalarType
from tinytorch_gpu.errors import KernelTypeError
from tinytorch_gpu.executor.arithmetic import (
    BINARY,
    COMPARE,
    UNARY,
    absolute,
    maximum,
    minimum,
)
from tinytorch_gpu.executor.conversion import cast, dtype_of
from tinytorch_gpu.executor.math_functions import (
    BINARY_MATH,
    UNARY_MATH,
    round_half_even,
    round_to,
)
from tinytorch_gpu.executor.numpy_functions import NUMPY_FUNCTIONS, SPECIAL_NUMPY
from tinytorch_gpu.executor.typing_rules import result_dtype

if TYPE_CHECKING:
    import ast
    from collections.abc import Callable, Iterator

__all__ = ["FUNCTIONS", "Lowered", "known_function"]


@dataclass(frozen=True)
class Lowered:
    """What a call becomes.

    Args:
        function: called with the lanes' values.
        kind: how it is counted: `arithmetic`, `special`, `division` or `convert`.
        fewest: arguments that it needs.
        most: arguments that it takes.
    """

    function: Callable[..., Any]
    kind: str
    fewest: int = 1
    most: int = 1

    def check_count(self, node: ast.Call, where: str) -> None:
        """Refuse a call with too few or too many arguments.

        Raises:
            KernelTypeError: it has as many.
        """
        count = len(node.args)
        if self.fewest <= count <= self.most:
            return
        is_fixed = self.fewest == self.most
        takes = str(self.fewest) if is_fixed else f"{self.fewest} to {self.most}"
        raise KernelTypeError(
            f"`{spell(node)}` has {count} arguments",
            where=where,
            why=f"`{spell(node.func)}` takes {takes}",
            fix="pass as many as it takes",
        )


def _cast_to(dtype: np.dtype[Any]) -> Callable[[Any], Any]:
    return lambda value: cast(value, dtype)


def _many(pair: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """Make a function of two or more values from one of two."""
    return lambda *values: functools.reduce(pair, values)


def _round(value: Any, digits: Any = None) -> Any:
    """Round half to even: int64, or with digits a float, as numba."""
    return round_half_even(value) if digits is None else round_to(value, digits)


def _to(row: str) -> Callable[[Any], Any]:
    """Make `int(x)` or `float(x)`: the dtype is a row of the typing table."""
    return lambda value: cast(value, result_dtype(row, dtype_of(value)))


def _divmod(a: Any, b: Any) -> tuple[Any, Any]:
    return BINARY["floordiv"](a, b), BINARY["mod"](a, b)


def _length(array: Any) -> Any:
    if isinstance(array, tuple):
        return np.int64(len(array))
    if not getattr(array, "shape", ()):
        raise KernelTypeError(
            "the length of a number",
            why="arrays and tuples have a length; a number has none",
            fix="loop over range(n), or take the length of the array itself",
        )
    return array.shape[0]


MANY = 255
_PLAIN_MATH = frozenset({
    "fabs", "copysign", "isnan", "isinf", "isfinite", "floor", "ceil", "trunc",
    "nextafter", "ldexp", "degrees", "radians",
})  # fmt: skip
_DTYPES = (
    "bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64"
)


def _math() -> Iterator[tuple[Any, Lowered]]:
    """The functions of `math`; exp2 came with Python 3.11."""
    for count, functions in ((1, UNARY_MATH), (2, BINARY_MATH)):
        for name, function in functions.items():
            if hasattr(math, name):
                kind = "arithmetic" if name in _PLAIN_MATH else "special"
                yield getattr(math, name), Lowered(function, kind, count, count)


def _operators() -> Iterator[tuple[Any, Lowered]]:
    """The functions of `operator`; the in-place forms compute the same."""
    for name, function in BINARY.items():
        kind = kind_of(name)
        lowered = Lowered(function, kind, 2, 2)
        yield getattr(operator, name), lowered
        yield getattr(operator, f"i{name.rstrip('_')}"), lowered
    for name, function in COMPARE.items():
        yield getattr(operator, name), Lowered(function, "compare", 2, 2)
    for name, function in UNARY.items():
        yield getattr(operator, name), Lowered(function, "arithmetic")


def _numpy() -> Iterator[tuple[Any, Lowered]]:
    """NumPy's functions that numba.cuda compiles for numbers, and its types."""
    for ufunc, function in NUMPY_FUNCTIONS.items():
        kind = "special" if ufunc in SPECIAL_NUMPY else "arithmetic"
        yield ufunc, Lowered(function, kind, ufunc.nin, ufunc.nin)
    for name in _DTYPES.split():
        number = getattr(np, name)
        yield number, Lowered(_cast_to(np.dtype(number)), "convert")


_BUILTINS: dict[Any, Lowered] = {
    builtins.int: Lowered(_to("int"), "convert"),
    builtins.float: Lowered(_to("float"), "convert"),
    builtins.bool: Lowered(_cast_to(np.dtype("bool")), "convert"),
    builtins.abs: Lowered(absolute, "arithmetic"),
    builtins.min: Lowered(_many(minimum), "arithmetic", 2, MANY),
    builtins.max: Lowered(_many(maximum), "arithmetic", 2, MANY),
    builtins.pow: Lowered(BINARY["pow"], "special", 2, 2),
    builtins.divmod: Lowered(_divmod, "division", 2, 2),
    builtins.round: Lowered(_round, "convert", 1, 2),
    builtins.len: Lowered(_length, "convert"),
}
FUNCTIONS: dict[Any, Lowered] = {
    **_BUILTINS,
    **dict(_math()),
    **dict(_operators()),
    **dict(_numpy()),
}


def known_function(callee: Any) -> Lowered | None:
    """Return what a call's target becomes, or None if it is no known function.

    Args:
        callee: the function object, or a type used as a cast.
    """
    found = from_numba(callee)
    try:
        return FUNCTIONS.get(
            found.dtype.type if isinstance(found, ScalarType) else found
        )
    except TypeError:  # unhashable
        return None
