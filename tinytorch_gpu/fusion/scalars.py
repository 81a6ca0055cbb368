"""Numbers with a name: parameters of a fused kernel instead of constants in it.

A learning rate is another number in each epoch, a step's count in each step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Labelled", "derived", "labelled"]


class Labelled(float):
    """A number that a kernel takes as a parameter.

    Args:
        label: the parameter's name.
    """

    label: str


def labelled(name: str, value: float) -> Labelled:
    """Give a number a name.

    Args:
        name: of the kernel's parameter.
        value: the number.

    Example:
        >>> rate = labelled("lr", 0.5)
        >>> rate, rate.label
        (0.5, 'lr')
    """
    number = Labelled(value)
    number.label = name
    return number


def derived(label: str, function: Callable[..., float], *numbers: Any) -> float:
    """Return a function of numbers, with a name if one of them has one.

    Args:
        label: name of the kernel's parameter.
        function: of the numbers.
        *numbers: ints and floats.

    Example:
        >>> derived("rate", lambda b, n: 1 - b**n, 0.5, labelled("step", 2)).label
        'rate'
        >>> derived("rate", lambda b, n: 1 - b**n, 0.5, 2)
        0.75
    """
    value = function(*numbers)
    is_named = any(isinstance(number, Labelled) for number in numbers)
    return labelled(label, value) if is_named else value
