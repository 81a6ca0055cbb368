"""Numbers beside numbers: where two results differ by more than rounding.

The tolerances are those of `torch.testing.assert_close`, but for float64: its 1e-7 is
what float32 arithmetic gives, and that is to be found. Sums of many terms get ten times
as much, since each addition rounds. Integers and bools are compared exactly, and so is
what an op gives as it was, as a maximum.

Source: PyTorch documentation, torch.testing.assert_close, table of default rtol, atol.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["TOLERANCES", "Difference", "difference", "tolerance"]

# By dtype, relative and absolute.
TOLERANCES = {
    "float16": (1e-3, 1e-5),
    "float32": (1.3e-6, 1e-5),
    "float64": (1e-11, 1e-11),
}


@dataclass(frozen=True)
class Difference:
    """Where a result differs from the reference.

    Args:
        index: of the first element that differs.
        got: what stands there.
        expected: what the reference has there.
        count: how many elements differ.
        total: how many there are.
        largest: the largest absolute difference; NaN counts as infinite.
    """

    index: tuple[int, ...]
    got: Any
    expected: Any
    count: int
    total: int
    largest: float


def tolerance(
    dtype: str, slack: float = 1.0, *, is_relative: bool = False
) -> tuple[float, float]:
    """Return by how much floats may differ, relative and absolute.

    Args:
        dtype: its name.
        slack: by how much both tolerances are wider; 0 for none.
        is_relative: small numbers too are right in all digits that they have.

    Example:
        >>> tolerance("float32"), tolerance("float32", 0)
        ((1.3e-06, 1e-05), (0.0, 0.0))
    """
    relative, absolute = TOLERANCES[dtype]
    if is_relative:  # below the smallest normal number digits get lost
        absolute = min(absolute, float(np.finfo(dtype).tiny))
    return slack * relative, slack * absolute


def difference(
    got: Any, expected: Any, slack: float = 1.0, *, is_relative: bool = False
) -> Difference | None:
    """Compare a result with the reference; None if it is right.

    Args:
        got: host array.
        expected: what the reference gave, of the same shape.
        slack: by how much both tolerances are wider; 0 for none.
        is_relative: small numbers too are right in all digits that they have.

    Example:
        >>> found = difference(np.float32([1, 2, 3]), np.float64([1, 2.1, 3]))
        >>> found.index, found.count, found.total
        ((1,), 1, 3)
    """
    with np.errstate(all="ignore"):
        wanted = np.asarray(expected).astype(got.dtype)
        if got.dtype.kind == "f":
            rtol, atol = tolerance(got.dtype.name, slack, is_relative=is_relative)
            is_close = np.isclose(got, wanted, rtol, atol, equal_nan=True)
        else:
            is_close = np.asarray(got == wanted)
        if is_close.all():
            return None
        apart = np.abs(got.astype(np.float64) - wanted.astype(np.float64))
    where = ~is_close
    index = tuple(int(i) for i in np.argwhere(where)[0])
    largest = float(np.nan_to_num(apart[where], nan=np.inf, posinf=np.inf).max())
    count, total = int(where.sum()), got.size
    return Difference(index, got[index], wanted[index], count, total, largest)
