"""Page-locked host memory: which host arrays copies may read at the link's full speed.

Nothing is really locked. The address ranges are remembered, so that a copy from or to
them is modelled as pinned.

Source: CUDA C++ Best Practices Guide, "Pinned Memory".
"""

from __future__ import annotations

import weakref
from collections import Counter
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.errors import KernelTypeError, OutOfMemoryError
from tinytorch_gpu.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy.typing as npt

__all__ = ["is_pinned", "pin", "pinned_bytes"]

_ranges: Counter[tuple[int, int]] = Counter()


def pinned_bytes(nbytes: int) -> npt.NDArray[np.uint8]:
    """Return new pinned host memory; it is pinned for as long as a view of it lives.

    Args:
        nbytes: how many bytes.

    Returns:
        The bytes, uint8 (nbytes,), contents undefined.

    Raises:
        OutOfMemoryError: the host does not have as many bytes.

    Example:
        >>> memory = pinned_bytes(64)
        >>> is_pinned(memory[16:32].view(np.float32))
        True

    Limits: pinning takes no modelled time. On hardware it is heavyweight (the Best
    Practices Guide gives no number): pin once, outside the loop, and use it again.
    """
    memory = _host_bytes(nbytes)
    bounds = _bounds(memory)
    _ranges[bounds] += 1
    weakref.finalize(memory, _forget, bounds)
    return memory


def _host_bytes(nbytes: int) -> npt.NDArray[np.uint8]:
    """Return host memory, or tell in four parts that there is not as much."""
    try:
        return np.empty(nbytes, np.uint8)
    except (MemoryError, ValueError, OverflowError) as error:
        raise OutOfMemoryError(
            f"the host is out of memory: {format_bytes(nbytes)} requested",
            where="allocating pinned host memory: cuda.pinned_array(...), "
            "tensor.pin_memory()",
            why=f"pinned memory is host memory: {error}",
            fix="ask for fewer elements; pin the buffers of one batch and use them "
            "again",
            requested_bytes=nbytes,
        ) from error


@contextmanager
def pin(*arrays: npt.NDArray[Any]) -> Iterator[None]:
    """Pin host arrays within the `with` block.

    Args:
        *arrays: host arrays.

    Yields:
        Nothing.

    Raises:
        KernelTypeError: one is no NumPy array.

    Example:
        >>> host = np.ones(4)
        >>> with pin(host):
        ...     is_pinned(host)
        True
        >>> is_pinned(host)
        False

    Limits: as for `pinned_bytes`: pinning and unpinning take no modelled time.
    """
    for array in arrays:
        if not isinstance(array, np.ndarray):
            raise _no_host_array(array)
    pinned = [_bounds(array) for array in arrays]
    _ranges.update(pinned)
    try:
        yield
    finally:
        for bounds in pinned:
            _forget(bounds)


def _no_host_array(value: object) -> KernelTypeError:
    return KernelTypeError(
        f"a {type(value).__name__} is no memory that can be pinned",
        where="cuda.pinned(*arrays)",
        why="only NumPy arrays lie in host memory that copies read directly",
        fix="host = np.asarray(values, np.float32), and then cuda.pinned(host)",
    )


def is_pinned(array: npt.NDArray[Any]) -> bool:
    """Tell whether all bytes of a host array are pinned."""
    if not _ranges:
        return False
    first, end = _bounds(array)
    return any(low <= first and end <= high for low, high in _ranges)


def _bounds(array: npt.NDArray[Any]) -> tuple[int, int]:
    """Return the addresses of the first byte and of the end."""
    first: int = array.__array_interface__["data"][0]
    if array.size == 0:
        return first, first
    spans = [(n - 1) * step for n, step in zip(array.shape, array.strides, strict=True)]
    low = first + sum(span for span in spans if span < 0)
    high = first + sum(span for span in spans if span > 0)
    return low, high + array.itemsize


def _forget(bounds: tuple[int, int]) -> None:
    _ranges[bounds] -= 1
    if not _ranges[bounds]:
        del _ranges[bounds]
