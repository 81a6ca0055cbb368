"""What ran on device operands gives a result on the device, or is refused."""

from __future__ import annotations

from typing import Any

import numpy as np

from tinytorch_gpu.errors import DeviceMismatchError
from tinytorch_gpu.memory import DeviceArray

__all__ = ["check_stayed"]


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
