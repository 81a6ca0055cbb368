"""Views (outer, n, inner) around one axis, and launches of one thread per element."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tinytorch_gpu.kernels.layout import configuration

if TYPE_CHECKING:
    from tinytorch_gpu.memory import DeviceArray

__all__ = ["around", "launch_flat"]


def around(x: DeviceArray, axis: int, axes: int = 1) -> DeviceArray:
    """View x as (outer, n, inner), where `axes` axes from `axis` on became n.

    A view if strides express it, else a copy: only what is read may come through here.

    Args:
        x: device array.
        axis: the first axis of n, not negative.
        axes: how many axes are joined.

    Example:
        >>> from tinytorch_gpu import cuda
        >>> around(cuda.device_array((2, 3, 4, 5)), 1).shape
        (2, 3, 20)
    """
    last = axis + axes
    parts = (x.shape[:axis], x.shape[axis:last], x.shape[last:])
    return x.reshape(tuple(math.prod(part) for part in parts))


def launch_flat(kernel: Any, arguments: tuple[Any, ...], elements: int) -> None:
    """Launch `kernel(*arguments)` with one thread for each element along x.

    Args:
        kernel: finds its element by `cuda.grid(1)`.
        arguments: what it takes.
        elements: how many; none launches nothing.
    """
    if elements:
        kernel[configuration(elements)](*arguments)
