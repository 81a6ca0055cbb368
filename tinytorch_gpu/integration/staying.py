"""What ran on device operands gives a result on the device, or is refused."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

import numpy as np

from tinytorch_gpu.errors import DeviceMismatchError
from tinytorch_gpu.integration.moving import copies_out
from tinytorch_gpu.memory import DeviceArray

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["check_stayed", "staying"]


def staying(call: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a layer's `__call__` or `forward`: see `check_stayed`.

    A layer that itself says `x.cpu()` has said where its result shall be.

    Args:
        call: the method.
    """

    @functools.wraps(call)
    def wrapper(self: Any, *args: Any, **options: Any) -> Any:
        operands = (*args, *options.values())
        arrays = tuple(getattr(v, "__dict__", {}).get("data") for v in operands)
        before = copies_out()
        out = call(self, *args, **options)
        is_there = any(isinstance(array, DeviceArray) for array in arrays)
        if is_there and copies_out() == before:
            check_stayed(f"{type(self).__name__}.forward", arrays, out)
        return out

    return wrapper


def check_stayed(name: str, operands: tuple[Any, ...], out: Any) -> None:
    """Refuse a Tensor in host memory that was made from operands on a device.

    Args:
        name: whose code made it, for example `"Clip.forward"`.
        operands: the arrays that it was given.
        out: the Tensor that it gave.

    Raises:
        DeviceMismatchError: its data is a host array.
    """
    data = getattr(out, "data", None)
    if not isinstance(data, np.ndarray):
        return
    arrays = [o for o in operands if isinstance(o, DeviceArray)]
    raise DeviceMismatchError(
        f"`{name}` gave a host array of shape {data.shape} from operands on a device",
        where=f"{name}: {', '.join(f'{a.device} {a.shape}' for a in arrays)}",
        why="what device operands give is in device memory, as in PyTorch; this one and"
        "\nits gradient would be on the host",
        fix="compute it with NumPy functions of the operands (np.exp(x), x.sum()); for "
        "new\narrays np.zeros_like(x): np.zeros(shape) and float(x) are on the host",
        op=name,
        shapes=tuple(array.shape for array in arrays),
    )
