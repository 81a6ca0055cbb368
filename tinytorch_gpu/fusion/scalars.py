"""Numbers that remember how they were made, so that a kernel can take them again.

A learning rate is another number in each epoch, a step's count in each step. While the
ops of a function are recorded, its int and float arguments are such numbers: what is
computed from them with operators is one, too, and becomes a parameter of the kernel
instead of a constant in it.
"""

from __future__ import annotations

import operator
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "LOOKED_AT",
    "Remembered",
    "TracedFloat",
    "TracedInt",
    "remembered",
    "traced",
]

Values = dict[str, Any]
Number = TypeVar("Number", int, float)


class Remembered:
    """What both kinds of numbers have.

    Args:
        label: name of the kernel's parameter.
        compute: makes the number from the arguments.
    """

    label: str
    compute: Callable[[Values], Any]


class TracedFloat(float, Remembered):
    """A float that remembers how it was made."""


class TracedInt(int, Remembered):
    """An int that remembers how it was made."""


def traced(name: str, value: float) -> TracedFloat | TracedInt:
    """Return an argument as a number that remembers its name.

    Args:
        name: the argument's.
        value: an int or float.

    Example:
        >>> rest = 1 - traced("beta", 0.75)
        >>> rest, rest.compute({"beta": 0.5})
        (0.25, 0.5)
    """
    return _made(value, name, operator.itemgetter(name))


def remembered(label: str, function: Callable[..., float], *numbers: float) -> float:
    """Return a function of numbers, which remembers the function if one of them does.

    Args:
        label: name of the kernel's parameter.
        function: of the numbers.
        *numbers: ints and floats.

    Example:
        >>> rate = remembered("rate", lambda b, n: 1 - b**n, 0.5, traced("step", 1))
        >>> rate, rate.compute({"step": 2})
        (0.5, 0.75)
    """
    value = function(*map(_plain, numbers))
    if not any(isinstance(number, Remembered) for number in numbers):
        return value
    parts = [_of(number) for number in numbers]
    return _made(value, label, lambda v: function(*(part(v) for part in parts)))


def _made(
    value: Any, label: str, compute: Callable[[Values], Any]
) -> TracedFloat | TracedInt:
    kind = TracedInt if isinstance(value, int) else TracedFloat
    number = kind(value)
    number.label, number.compute = label, compute
    return number


def _of(value: Any) -> Callable[[Values], Any]:
    return value.compute if isinstance(value, Remembered) else lambda _values: value


def _binary(op: Callable[[Any, Any], Any], word: str, *, swapped: bool) -> Any:
    def method(self: Any, other: Any) -> Any:
        if not isinstance(other, (int, float)):
            return NotImplemented
        a, b = (other, self) if swapped else (self, other)
        result = op(_plain(a), _plain(b))
        if not isinstance(result, (int, float)):
            return result
        first, second = _of(a), _of(b)
        label = "_".join(n.label for n in (a, b) if isinstance(n, Remembered))
        return _made(result, f"{word}_{label}", lambda v: op(first(v), second(v)))

    return method


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, int) else float(value)


def _negative(self: Any) -> Any:
    own = _of(self)
    return _made(-_plain(self), f"minus_{self.label}", lambda v: -own(v))


OPERATORS = (
    ("add", operator.add, "sum"),
    ("sub", operator.sub, "rest"),
    ("mul", operator.mul, "product"),
    ("truediv", operator.truediv, "ratio"),
    ("pow", operator.pow, "power"),
)
for _kind in (TracedFloat, TracedInt):
    for _name, _op, _word in OPERATORS:
        setattr(_kind, f"__{_name}__", _binary(_op, _word, swapped=False))
        setattr(_kind, f"__r{_name}__", _binary(_op, _word, swapped=True))
    setattr(_kind, "__neg__", _negative)  # noqa: B010  (as those above)


LOOKED_AT: set[str] = set()  # arguments that decided something else than a result
PACKAGE = str(Path(__file__).parents[1])
LOOKS = (
    *("lt", "le", "gt", "ge", "eq", "ne", "bool", "int", "float", "index", "hash"),
    *("round", "floor", "ceil", "trunc", "abs", "str", "repr", "format", "divmod"),
    *("floordiv", "mod", "rfloordiv", "rmod", "rdivmod"),
)


def _look(kind: type, name: str) -> Any:
    """Make a method that does what it did, and tells that the number was looked at."""
    plain = getattr(kind.__mro__[1], name)

    def method(self: Any, *others: Any) -> Any:
        caller = sys._getframe(1).f_code.co_filename  # noqa: SLF001  (who asks?)
        if name == "__index__" or not caller.startswith(PACKAGE):
            LOOKED_AT.add(self.label)
        return plain(self, *others)

    return method


for _kind in (TracedFloat, TracedInt):
    for _name in LOOKS:
        if hasattr(_kind, f"__{_name}__"):
            setattr(_kind, f"__{_name}__", _look(_kind, f"__{_name}__"))
