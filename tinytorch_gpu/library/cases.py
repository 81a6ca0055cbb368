"""Cases: the inputs that `check` runs an op on, made anew each time from one seed.

A case holds host arrays and how to view them, so that the device array gets the same
strides. The lists here go from small to large: what fails first fails on little.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.runtime import to_device

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

__all__ = [
    "SUMMED",
    "Case",
    "Given",
    "OpFacts",
    "case",
    "pairs",
    "real",
    "single",
    "spread",
]

SEED = 7
SHAPES: tuple[tuple[int, ...], ...] = ((1,), (7,), (2, 3), (33,), (5, 40), (300,))
LARGE = 1e4  # exp overflows, squares and sums do not
SUMMED = 10.0  # slack of sums of up to 5,000 terms: rounding grows with their number


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

    def __str__(self) -> str:
        """Tell operands and parameters as a call would list them."""
        named = [f"{name}={_told(value)}" for name, value in self.parameters.items()]
        return ", ".join([*map(_told, self.operands), *named])


@dataclass(frozen=True)
class OpFacts:
    """What is known of an op beside its rule.

    Args:
        reference: the op in NumPy; float arrays come in float64.
        cases: yields the cases.
        mutates: positions of the operands that the op changes.
        slack: by how much the tolerance is wider than that of one operation.
        is_view: it may answer without a launch.
    """

    reference: Callable[..., Any]
    cases: Callable[[], Iterator[Case]]
    mutates: tuple[int, ...] = ()
    slack: float = 1.0
    is_view: bool = False


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


def single(values: Any) -> np.ndarray[Any, Any]:
    """Return numbers as a float32 array.

    Example:
        >>> single([1, 2]).dtype.name
        'float32'
    """
    return np.array(values, np.float32)


def spread(
    low: float = -3.0, high: float = 3.0, *, special: bool = True
) -> list[Given]:
    """Return operands of all kinds: shapes, strides, empty, NaN, large, float64.

    Args:
        low: of the numbers.
        high: of the numbers.
        special: NaN, infinite and large numbers too.
    """
    drawn = _drawn(low, high)
    plain = [Given(drawn(*shape)) for shape in SHAPES]
    strided = [
        Given(drawn(5, 3), lambda a: a.T, "transposed"),
        Given(drawn(9), lambda a: a[::2], "every second"),
        Given(drawn(4, 6), lambda a: a[1:, 2:5], "a part"),
        Given(drawn(2, 3, 4), lambda a: a.transpose((2, 0, 1)), "axes moved"),
    ]
    others = [Given(drawn()), Given(drawn(0)), Given(drawn(3, 0)), Given(drawn(40, 50))]
    odd = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5], np.float32)
    large = np.array([LARGE, -LARGE, LARGE, 2.0], np.float32)
    specials = [Given(odd, note="with NaN and inf"), Given(large, note="large")]
    double = [Given(drawn(6, dtype="float64"))]
    return [*plain, *strided, *others, *(specials if special else ()), *double]


def pairs(
    low: float = -3.0, high: float = 3.0, *, special: bool = True
) -> list[tuple[Any, Any]]:
    """Return pairs of operands: of one shape, broadcasting, and with a scalar.

    Args:
        low: of the numbers.
        high: of the numbers.
        special: NaN, infinite and large numbers too.
    """
    drawn = _drawn(low, high)
    same = [
        (x, Given(_other(x, low, high), x.view, x.note))
        for x in spread(low, high, special=special)
    ]
    ints = np.arange(1, 7, dtype=np.int32)
    return [
        *same,
        (Given(drawn(4, 1)), Given(drawn(5))),
        (Given(drawn(3)), Given(drawn(2, 3, seed=1))),
        (Given(drawn(5, 1, 3)), Given(drawn(4, 1, seed=1))),
        (Given(drawn(3, 4), lambda a: a.T, "transposed"), Given(drawn(4, 3, seed=1))),
        (Given(drawn(7)), 2.0),
        (1.5, Given(drawn(7))),
        (Given(drawn(4)), Given(drawn(4, dtype="float64"))),
        (Given(ints), Given(ints[::-1].copy())),
    ]


def _drawn(low: float, high: float) -> Callable[..., Any]:
    """Return what draws arrays by their lengths, all of numbers in one range."""
    return lambda *shape, **more: real(shape, low=low, high=high, **more)


def _other(x: Given, low: float, high: float) -> Any:
    return real(x.base.shape, x.base.dtype.name, low=low, high=high, seed=SEED + 1)


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
