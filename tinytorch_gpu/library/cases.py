"""Cases: the inputs that `check` runs an op on, made anew each time from one seed.

A case holds host arrays and how to view them, so that the device array gets the same
strides. `OpFacts` is what a table of references holds of an op.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.runtime import to_device

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = [
    "SEED",
    "SUMMED",
    "Case",
    "Given",
    "OpFacts",
    "case",
    "real",
    "single",
    "whole",
]

SEED = 7
SUMMED = 10.0  # slack of sums of up to 1,100 terms: rounding grows with their number


@dataclass(frozen=True, eq=False)
class Given:
    """An array operand: the elements as they lie in memory, and the view that is given.

    Args:
        base: host array, contiguous.
        view: makes the operand of it, on the host and on the device.
        note: what the view or the elements are, in words.
    """

    base: np.ndarray[Any, Any]
    view: Callable[[Any], Any] = lambda array: array
    note: str = ""

    def on_host(self) -> Any:
        """Return the operand as a host array."""
        return self.view(self.base)

    def on_device(self) -> tuple[Any, Any]:
        """Return a fresh device array of all elements, and the operand in it."""
        base = to_device(self.base)
        return base, self.view(base)

    def __str__(self) -> str:
        """Tell dtype, shape and note."""
        told = f"{self.base.dtype.name} {self.on_host().shape}"
        return f"{told} {self.note}".strip()


@dataclass(frozen=True)
class Case:
    """One call of an op.

    Args:
        operands: arrays as `Given`, tuples of them, and other values.
        parameters: what the op takes by name.
    """

    operands: tuple[Any, ...]
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Elements of all array operands."""
        return sum(given.base.size for given in self.arrays())

    @property
    def is_empty(self) -> bool:
        """Whether an array operand has no elements."""
        return not all(given.base.size for given in self.arrays())

    def arrays(self) -> list[Given]:
        """Return the array operands, those within tuples too."""
        found: list[Given] = []
        self.made(found.append)
        return found

    def made(self, make: Callable[[Given], Any]) -> tuple[Any, dict[str, Any]]:
        """Return operands and parameters, with what a function makes of each array.

        Args:
            make: called with one array after the other, in the order of the call.
        """
        operands = tuple(_made(value, make) for value in self.operands)
        named = self.parameters.items()
        return operands, {name: _made(value, make) for name, value in named}

    def with_other_values(self) -> Case:
        """Return the case with other floats in the same shapes.

        Each array gets numbers of its own only, so that they stay within its limits.
        """
        operands, named = self.made(lambda given: replace(given, base=_other(given)))
        return Case(operands, named)

    def __str__(self) -> str:
        """Tell operands and parameters as a call would list them."""
        given = [operand for operand in self.operands if isinstance(operand, Given)]
        named = [
            f"{name}=operand {given.index(value)}"
            if value in given
            else f"{name}={_told(value)}"
            for name, value in self.parameters.items()
        ]
        return ", ".join([*map(_told, self.operands), *named])


@dataclass(frozen=True)
class OpFacts:
    """What is known of an op beside its rule.

    Args:
        reference: the op in NumPy; float arrays come in float64.
        cases: yields the cases.
        mutates: positions of the operands that the op changes.
        slack: by how much the tolerance is wider than that of one operation; 0 for ops
            that give numbers as they are, rounded by nothing.
        is_relative: small results too are right in all their digits.
    """

    reference: Callable[..., Any]
    cases: Callable[[], Iterator[Case]]
    mutates: tuple[int, ...] = ()
    slack: float = 1.0
    is_relative: bool = False


def case(*operands: Any, **parameters: Any) -> Case:
    """Return a case; host arrays become operands as they are.

    Example:
        >>> print(case(np.ones((2, 3), np.float32), axis=0))
        float32 (2, 3), axis=0
    """
    named = {name: _given(value) for name, value in parameters.items()}
    return Case(tuple(map(_given, operands)), named)


def real(
    shape: Sequence[int],
    dtype: str = "float32",
    *,
    low: float = -3.0,
    high: float = 3.0,
    seed: int = SEED,
) -> np.ndarray[Any, Any]:
    """Return evenly drawn numbers, the same for the same arguments.

    Example:
        >>> real((2,), low=1, high=1).tolist()
        [1.0, 1.0]
    """
    rng = np.random.default_rng([seed, *shape])
    return np.asarray(rng.uniform(low, high, tuple(shape))).astype(dtype)


def whole(shape: Sequence[int]) -> np.ndarray[Any, Any]:
    """Return whole numbers whose sums are exact in any order; the last two stand out.

    What leaves out the end of a long array is found by them, in a maximum too.

    Example:
        >>> whole((4,))[2:].tolist()
        [-50.0, 80.0]
    """
    numbers: np.ndarray[Any, Any] = np.rint(real(shape))
    numbers.reshape(-1)[-2:] = (-50, 80)[-numbers.size :]
    return numbers


def single(values: Any) -> np.ndarray[Any, Any]:
    """Return numbers as a float32 array.

    Example:
        >>> single([1, 2]).dtype.name
        'float32'
    """
    return np.array(values, np.float32)


def _other(given: Given) -> Any:
    """Return the first half of an array's floats, backwards and twice."""
    base = given.base
    if base.dtype.kind != "f" or not base.size:
        return base
    half = base.reshape(-1)[: base.size // 2 + 1]
    return np.resize(half[::-1], base.shape)


def _given(value: Any) -> Any:
    if isinstance(value, (tuple, list)):
        return tuple(map(_given, value))
    return Given(value) if isinstance(value, np.ndarray) else value


def _made(value: Any, make: Callable[[Given], Any]) -> Any:
    if isinstance(value, tuple):
        return tuple(_made(part, make) for part in value)
    return make(value) if isinstance(value, Given) else value


def _told(value: Any) -> str:
    if isinstance(value, tuple) and any(isinstance(part, Given) for part in value):
        return f"({', '.join(map(_told, value))})"
    return str(value)
