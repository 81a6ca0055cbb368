"""`like`: an array of a shape and dtype for an estimate, without its bytes.

Source: NumPy, `zeros` (memory that is only reserved until somebody writes it).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.arch import check_dtype
from tinytorch_gpu.executor.global_memory import GlobalArray
from tinytorch_gpu.memory import ALIGNMENT

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["StandIn", "kernel_array_of", "like"]

_addresses = itertools.count(2**40, 2**30)


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

    Example:
        >>> like((4096, 4096)).shape
        (4096, 4096)

    Limits: a kernel whose addresses or branches depend on values needs real ones.
    """
    lengths = (shape,) if isinstance(shape, int) else tuple(shape)
    return StandIn(lengths, check_dtype(dtype, "stand-in"))


class _Nowhere:
    """The allocation of a stand-in: it has an address, and nothing to put back."""

    def __init__(self) -> None:
        self.address = next(_addresses) // ALIGNMENT * ALIGNMENT

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
