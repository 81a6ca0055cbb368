"""`like`: an array of a shape and dtype for an estimate, without its bytes.

Source: NumPy, `zeros` (memory that is only reserved until somebody writes it).
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.arch import check_dtype
from tinytorch_gpu.errors import ShapeError
from tinytorch_gpu.executor.global_memory import GlobalArray
from tinytorch_gpu.units import format_bytes, is_whole

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["StandIn", "kernel_array_of", "like"]

MOST_BYTES = 2**40  # several times the memory of any GPU
_numbers = itertools.count()


@dataclass(frozen=True)
class StandIn:
    """An array that is told by its shape and dtype.

    Args:
        shape: lengths.
        dtype: element type.
    """

    shape: tuple[int, ...]
    dtype: np.dtype[Any]


def like(shape: int | tuple[int, ...], dtype: npt.DTypeLike = "float32") -> StandIn:
    """Stand for an array in `profiler.estimate`; all its elements are 0.

    Args:
        shape: lengths; an int for one axis.
        dtype: one that device memory holds.

    Returns:
        The stand-in.

    Raises:
        DtypeError: device memory does not hold the dtype.
        ShapeError: a length is no whole number or negative, or no GPU has room for it.

    Example:
        >>> like((4096, 4096)).shape
        (4096, 4096)

    Limits: a kernel whose addresses or branches depend on values needs real ones.
    """
    lengths = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    kind = check_dtype(dtype, "stand-in")
    if not all(_is_length(length) for length in lengths):
        raise _no_shape(shape, "a length is a whole number, 0 or more", "(4096, 4096)")
    nbytes = math.prod(map(int, lengths)) * kind.itemsize
    if nbytes > MOST_BYTES:
        needs = f"{format_bytes(nbytes)} are more than {format_bytes(MOST_BYTES)}"
        raise _no_shape(shape, f"{needs}, and no GPU has as much memory", "2**30")
    return StandIn(tuple(map(int, lengths)), kind)


def _is_length(value: Any) -> bool:
    return is_whole(value) and value >= 0


def _no_shape(shape: Any, why: str, instead: str) -> ShapeError:
    return ShapeError(
        f"no array has the shape {shape!r}",
        where="profiler.like(shape, dtype)",
        why=why,
        fix=f"for example profiler.like({instead}, np.float32)",
    )


class _Nowhere:
    """The allocation of a stand-in: it has an address, and nothing to put back."""

    def __init__(self) -> None:
        # Apart from all others, however large they are.
        self.address = (1 + next(_numbers) % 2**20) * MOST_BYTES

    def elements(self, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
        """Return no bytes: what a stand-in held before is never asked for."""
        return np.empty(0, dtype)


def kernel_array_of(values: npt.NDArray[Any]) -> GlobalArray:
    """Return an array as a kernel sees it, outside the device's memory.

    Args:
        values: C-contiguous; the kernel writes into it.
    """
    steps = tuple(stride // values.itemsize for stride in values.strides)
    buffer: Any = _Nowhere()
    return GlobalArray(buffer, values.ravel(), np.int64(0), values.shape, steps)
