"""Fakes: arrays without elements, and what an op makes of them.

Comes in: the operands of an op, arrays as `FakeArray`. Goes out: shape and dtype of
what the op gives. The shipped ops have their rules in `rules.py`, the learner's ops get
theirs from `register_fake`. In PyTorch's words a rule is a fake (or meta) kernel.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, overload

import numpy as np

from tinytorch_gpu.errors import UnsupportedError
from tinytorch_gpu.library.registration import check_takes, fallthrough_kernel
from tinytorch_gpu.library.rules import RULES
from tinytorch_gpu.library.schema import known_op, schema_of
from tinytorch_gpu.memory import DeviceArray

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["FakeArray", "expected_results", "register_fake", "rule_of"]

Function = TypeVar("Function", bound="Callable[..., Any]")


@dataclass(frozen=True)
class FakeArray:
    """An array of which only shape and dtype are known.

    Args:
        shape: its lengths.
        dtype: of its elements.

    Example:
        >>> x = FakeArray((2, 3), np.dtype(np.float32))
        >>> x.ndim, x.size, x.new_empty((4,)).dtype.name
        (2, 6, 'float32')
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)

    def new_empty(self, shape: tuple[int, ...], dtype: Any = None) -> FakeArray:
        """Return a fake of another shape, as torch's `new_empty` does.

        Args:
            shape: its lengths.
            dtype: of its elements; this one's if None.
        """
        return FakeArray(tuple(shape), np.dtype(self.dtype if dtype is None else dtype))

    def __str__(self) -> str:
        """Tell dtype and shape."""
        return f"{self.dtype.name} {self.shape}"


_fakes: dict[str, Callable[..., Any]] = {}


@overload
def register_fake(op: str, /) -> Callable[[Function], Function]: ...


@overload
def register_fake(op: str, func: Function, /) -> Function: ...


def register_fake(
    op: str, func: Function | None = None, /
) -> Function | Callable[[Function], Function]:
    """Register what an op's results look like; a call, or a decorator without `func`.

    Every result of the op is compared with it. It replaces a rule that is there.

    Args:
        op: the op.
        func: takes what the op takes, arrays as `FakeArray`; returns `FakeArray`s.

    Raises:
        OpNotFoundError: no op has that name.
        UnsupportedError: what is registered cannot be called, or is a fallthrough.
        SchemaError: it does not take what the op's schema says.

    Example:
        >>> from tinytorch_gpu.library.schema import define
        >>> define("lesson::row_sums", "(x)")
        >>> @register_fake("lesson::row_sums")
        ... def row_sums(x):
        ...     return x.new_empty(x.shape[:1])
        >>> print(row_sums(FakeArray((2, 3), np.dtype(np.float32))))
        float32 (2,)
    """
    name = known_op(op)

    def register(function: Function) -> Function:
        _check_is_fake(function, name)
        _fakes[name] = function
        return function

    return register if func is None else register(func)


def _check_is_fake(function: Any, op: str) -> None:
    """Refuse what tells no results: no function, a fallthrough, other parameters."""
    if not callable(function) or function is fallthrough_kernel:
        kind = type(function).__name__
        given = f"a value of type {kind}" if kind != "function" else "a fallthrough"
        raise UnsupportedError(
            f"{given} registered as the fake of op `{op}`",
            where="library.register_fake",
            why="a fake is a function that returns what the results look like, and\n"
            "there is no other one to pass a call on to",
            fix="def fake(x): return x.new_empty(x.shape)",
        )
    check_takes(function, op, schema_of(op))


def rule_of(op: str) -> Callable[..., Any] | None:
    """Return what tells an op's results from fakes, or None."""
    return _fakes.get(op) or RULES.get(op.removeprefix("tinytorch::"))


def fake_of(value: Any) -> Any:
    """Return the fake of an array, also within lists and tuples; else the value."""
    if isinstance(value, (DeviceArray, np.ndarray)):
        return FakeArray(value.shape, value.dtype)
    if isinstance(value, (list, tuple)):
        return tuple(fake_of(part) for part in value)
    return value


def expected_results(
    op: str, operands: tuple[Any, ...], parameters: dict[str, Any]
) -> tuple[FakeArray | None, ...] | None:
    """Return what an op has to give, or None if it has no rule.

    Args:
        op: qualified name.
        operands: what it is called with.
        parameters: what it takes by name.

    Example:
        >>> x = np.ones((2, 3), np.float32)
        >>> print(*expected_results("tinytorch::sum", (x,), {"axis": 0}))
        float32 (3,)
    """
    rule = rule_of(op)
    if rule is None:
        return None
    named = {name: fake_of(value) for name, value in parameters.items()}
    made = rule(*fake_of(operands), **named)
    return made if isinstance(made, tuple) else (made,)
